import StrataModel
import StrataSystem

/// The state of a page file as found at opening.
package enum PageFileFinding: String, Sendable, CaseIterable {
    /// The newest checkpoint was taken, without any problem.
    case whole
    /// One header slot was unusable, and the other one was taken. It holds the older checkpoint, or the newest if power
    /// failed while the next header was written.
    case otherSlot
    case missing, damaged, newer, foreign, stale, inUse
}

/// A header slot, and the verdict on it.
struct SlotReading: Sendable {
    var header: CheckpointHeader?
    var record: CheckpointRecord?
    /// The reason why the slot is unusable; nil if it is usable or empty.
    var error: StrataError?
    var finding = PageFileFinding.missing

    /// - Parameter skipsRuns: as for ``CheckpointRecord/decode(_:pageCount:skipsRuns:)``.
    static func read(
        _ index: Int, of file: PageFile, _ rules: SlotRules, skipsRuns: Bool, isValid: (Position) throws -> Bool
    ) throws -> SlotReading {
        var reading = SlotReading()
        do {
            guard let header = try CheckpointHeader.decode(try file.readSlot(index)) else { return reading }
            reading.header = header
            if let (finding, error) = rules.objection(to: header, fileBytes: try file.file.size(), path: file.path) {
                (reading.finding, reading.error) = (finding, error)
                return reading
            }
        } catch let error as StrataError {
            (reading.finding, reading.error) = (error.code == .newerFormat ? .newer : .damaged, error)
            return reading
        }
        guard let header = reading.header else { return reading }
        guard try isValid(header.position) else {
            reading.finding = .stale
            reading.error = StrataError(
                .brokenChain, "The log does not have the commits from which the checkpoint was folded.",
                .init(path: file.path, expected: "\(header.position)"))
            return reading
        }
        do {
            let bytes = try file.readRecord(header.record, epoch: header.epoch)
            reading.record = try CheckpointRecord.decode(bytes, pageCount: header.pageCount, skipsRuns: skipsRuns)
            reading.finding = .whole
        } catch let error as StrataError {
            (reading.finding, reading.error) = (.damaged, error.located(path: file.path))
        }
        return reading
    }
}

/// The requirements for a header.
struct SlotRules: Sendable {
    var store: Identifier
    var capacity: Int

    func objection(
        to header: CheckpointHeader, fileBytes: Int, path: String
    ) -> (PageFileFinding, StrataError)? {
        if header.store != store {
            let context = StrataError.Context(path: path, expected: "\(store)", found: "\(header.store)")
            return (.foreign, StrataError(.foreignSegment, "The page file belongs to another store.", context))
        }
        let pages = min(fileBytes / PageLayout.pageBytes, capacity)
        if header.pageCount > pages {
            let context = StrataError.Context(path: path, expected: "\(header.pageCount) pages", found: "\(pages)")
            return (.damaged, StrataError(.impossibleLength, "The page file is shorter than its header says.", context))
        }
        return nil
    }
}
