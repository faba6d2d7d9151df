import StrataModel
import StrataReplication
import StrataSystem
import TestSupport

/// A sequencer that takes entries, but gives neither answers nor entries while it is muted.
final class MutedSequencer: Sequencer {
    private let inner: MemorySequencer
    let isMuted = Lock(false)

    init(_ sequence: MemorySequencer.Sequence) { inner = MemorySequencer(sequence) }

    var maximumEntryBytes: Int { inner.maximumEntryBytes }

    func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
        let answer = inner.append(entry, id: id, expecting: expecting)
        return isMuted.withLock { $0 } ? .unknown(StrataError(.outcomeUnknown, "No answer came.")) : answer
    }

    func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
        let entries = try inner.entries(after: number, waitingMilliseconds: min(milliseconds, 5))
        return isMuted.withLock { $0 } ? [] : entries
    }

    func last() throws -> UInt64 { try inner.last() }
    func trim(through number: UInt64) throws -> UInt64 { try inner.trim(through: number) }
    func close() { inner.close() }
}
