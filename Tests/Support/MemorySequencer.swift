import StrataModel
import StrataReplication
import StrataSystem

/// A sequencer in memory, for several logs of one process. Each log has a sequencer object of its own over the same
/// ``Sequence``.
///
/// ```swift
/// let sequence = MemorySequencer.Sequence()
/// let first = try ReplicatedLog.open(at: "A.strata", sequencer: MemorySequencer(sequence))
/// let second = try ReplicatedLog.open(at: "B.strata", sequencer: MemorySequencer(sequence))
/// ```
package final class MemorySequencer: RequestCarrier {
    /// The entries, which outlive the logs that use them.
    package final class Sequence: Sendable {
        fileprivate struct State {
            var entries: [[UInt8]] = []
            /// The number of entries that were trimmed.
            var trimmed: UInt64 = 0
            var closed: Set<ObjectIdentifier> = []
            /// The processes that take requests, each with its sequencer.
            var servers: [Identifier: (owner: ObjectIdentifier, body: Serving)] = [:]

            var last: UInt64 { trimmed + UInt64(entries.count) }
        }

        fileprivate let state = Monitor(State())

        package init() {}

        package var last: UInt64 { state.withLock { $0.last } }

        /// Appends regardless of the last number.
        package func force(_ entry: [UInt8]) -> UInt64 {
            let number = state.withLock { state in
                state.entries.append(entry)
                return state.last
            }
            state.notifyAll()
            return number
        }

        /// Changes the entries that are kept, as no sequencer may.
        package func tamper(_ body: (inout [[UInt8]]) -> Void) {
            state.withLock { body(&$0.entries) }
            state.notifyAll()
        }
    }

    package let maximumEntryBytes: Int
    private let sequence: Sequence

    package init(_ sequence: Sequence = Sequence(), maximumEntryBytes: Int = 80 << 20) {
        self.sequence = sequence
        self.maximumEntryBytes = maximumEntryBytes
    }

    deinit { _ = sequence.state.withLock { $0.closed.remove(ObjectIdentifier(self)) } }

    package func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
        guard entry.count <= maximumEntryBytes else {
            return .refused(
                StrataError(
                    .tooLarge, "The entry is longer than the sequencer allows.",
                    .init(expected: "at most \(maximumEntryBytes) bytes", found: "\(entry.count)")))
        }
        let answer = sequence.state.withLock { state -> SequencerAnswer in
            guard state.last == expecting else { return .taken }
            state.entries.append(entry)
            return .accepted(state.last)
        }
        sequence.state.notifyAll()
        return answer
    }

    package func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
        let found = try sequence.state.wait(milliseconds: milliseconds) { state -> [[UInt8]]? in
            if state.closed.contains(ObjectIdentifier(self)) { return [] }
            guard number >= state.trimmed else {
                throw StrataError(
                    .outOfRange, "The sequencer was trimmed past the entry; copy the store from a process that has it.",
                    .init(expected: "a number after \(state.trimmed)", found: "\(number + 1)"))
            }
            return number < state.last ? Array(state.entries[Int(number - state.trimmed)...].prefix(1_000)) : nil
        }
        return found ?? []
    }

    package func last() throws -> UInt64 { sequence.last }

    package func trim(through number: UInt64) throws -> UInt64 {
        sequence.state.withLock { state in
            let count = Int(min(number, state.last) - min(number, state.trimmed))
            state.entries.removeFirst(count)
            state.trimmed += UInt64(count)
            return state.trimmed
        }
    }

    package func close() {
        sequence.state.withLock { state in
            state.closed.insert(ObjectIdentifier(self))
            state.servers = state.servers.filter { $0.value.owner != ObjectIdentifier(self) }
        }
        sequence.state.notifyAll()
    }

    // MARK: Requests

    package typealias Serving = @Sendable ([UInt8], @escaping Answering) -> Void

    package var maximumMessageBytes: Int { 1 << 20 }

    package func serve(_ process: Identifier, _ body: @escaping Serving) {
        sequence.state.withLock { $0.servers[process] = (ObjectIdentifier(self), body) }
    }

    package func ask(_ process: Identifier, _ message: [UInt8], milliseconds: Int) -> CarriedAnswer {
        guard let server = sequence.state.withLock({ $0.servers[process] }) else { return .undelivered }
        let answer = Monitor<[UInt8]?>(nil)
        server.body(message) { bytes in
            answer.withLock { $0 = bytes }
            answer.notifyAll()
        }
        if let bytes = answer.wait(milliseconds: milliseconds, { $0 }) { return .answer(bytes) }
        return .unknown(StrataError(.outcomeUnknown, "The other process did not answer in time."))
    }
}
