import StrataModel
import StrataReplication
import StrataSystem

/// A sequencer that gives one entry at a time, and none past a gate.
package final class GatedSequencer: Sequencer {
    private let inner: MemorySequencer
    private let gate: Monitor<(number: UInt64, failure: StrataError?, isClosed: Bool)>

    package init(_ sequence: MemorySequencer.Sequence, through number: UInt64 = .max) {
        inner = MemorySequencer(sequence)
        gate = Monitor((number, nil, false))
    }

    /// Moves the gate.
    package func open(through number: UInt64) {
        gate.withLock { $0.number = number }
        gate.notifyAll()
    }

    /// Fails from now on where the gate is.
    package func fail(with error: StrataError) {
        gate.withLock { $0.failure = error }
        gate.notifyAll()
    }

    package var maximumEntryBytes: Int { inner.maximumEntryBytes }

    package func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
        inner.append(entry, id: id, expecting: expecting)
    }

    package func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
        let isOpen = try gate.wait(milliseconds: milliseconds) { gate -> Bool? in
            if gate.isClosed { return false }
            if number < gate.number { return true }
            if let failure = gate.failure { throw failure }
            return nil
        }
        guard isOpen == true else { return [] }
        return Array(try inner.entries(after: number, waitingMilliseconds: milliseconds).prefix(1))
    }

    package func last() throws -> UInt64 { try inner.last() }
    package func trim(through number: UInt64) throws -> UInt64 { try inner.trim(through: number) }

    package func close() {
        gate.withLock { $0.isClosed = true }
        gate.notifyAll()
        inner.close()
    }
}
