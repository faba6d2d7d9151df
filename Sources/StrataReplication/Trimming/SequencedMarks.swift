import StrataModel

/// Finds the marks of bases among the entries of a sequencer.
enum SequencedMarks {
    /// The time after which an entry that the sequencer names is given up.
    private static let patienceMilliseconds = 10_000

    /// Returns the marks of the bases that the sequencer continues, in the order of its entries. All of them are read.
    static func all(in sequencer: any Sequencer) throws -> [BaseMark] {
        let last = try sequencer.last()
        let floor = try floor(of: sequencer, before: last)
        var (number, marks) = (floor, [BaseMark]())
        while number < last {
            let page = try sequencer.entries(after: number, waitingMilliseconds: patienceMilliseconds)
            if page.isEmpty { break }
            for bytes in page where SequencedEntry.mayMarkBase(bytes) {
                guard case .base(let mark) = try SequencedEntry(decoding: bytes).content else { continue }
                if mark.number >= floor { marks.append(mark) }
            }
            number += UInt64(page.count)
        }
        return marks
    }

    /// Returns the number up to which entries were trimmed, by trying.
    private static func floor(of sequencer: any Sequencer, before last: UInt64) throws -> UInt64 {
        var (low, high) = (0 as UInt64, last)
        while low < high {
            let middle = low + (high - low) / 2
            do {
                _ = try sequencer.entries(after: middle, waitingMilliseconds: 0)
                high = middle
            } catch let error as StrataError where error.code == .outOfRange { low = middle + 1 }
        }
        return low
    }
}
