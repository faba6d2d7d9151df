import StrataModel
import StrataReplication
import StrataSystem
import TestSupport

/// A sequencer that shows an entry only once somebody asked for the last number, or appended: nothing is followed by
/// itself.
final class LaggingSequencer: Sequencer {
    private let inner: MemorySequencer
    private let shown = Monitor<(last: UInt64, isClosed: Bool)>((0, false))

    init(_ sequence: MemorySequencer.Sequence) { inner = MemorySequencer(sequence) }

    var maximumEntryBytes: Int { inner.maximumEntryBytes }

    private func show(_ number: UInt64) {
        shown.withLock { $0.last = max($0.last, number) }
        shown.notifyAll()
    }

    func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
        defer { show(expecting + 1) }
        return inner.append(entry, id: id, expecting: expecting)
    }

    func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
        let last = shown.wait(milliseconds: milliseconds) { $0.isClosed || $0.last > number ? $0.last : nil }
        guard let last, last > number else { return [] }
        return try Array(inner.entries(after: number, waitingMilliseconds: 0).prefix(Int(last - number)))
    }

    func last() throws -> UInt64 {
        let last = try inner.last()
        show(last)
        return last
    }

    func trim(through number: UInt64) throws -> UInt64 { try inner.trim(through: number) }

    func close() {
        shown.withLock { $0.isClosed = true }
        shown.notifyAll()
        inner.close()
    }
}
