import StrataModel
import StrataSystem

/// Chooses the process that appends for all (docs/replication-internals.md §6).
extension ReplicatedLog {
    /// The time after its last entry in which a process may be the home writer.
    private static let homeTime = Duration.seconds(1)

    /// The sequencer, if it carries requests between processes.
    package var carrier: (any RequestCarrier)? { sequencer as? any RequestCarrier }

    /// The process to which all send their requests: of those that wrote within the last second, the one with the
    /// smallest ID, so that all choose the same one. Nil if it is this one, or none wrote.
    package var home: Identifier? {
        let now = ContinuousClock.now
        let recent = state.withLock { state in
            state.writers = state.writers.filter { now - $0.value < Self.homeTime }
            return state.writers.keys
        }
        let home = recent.min { ($0.high, $0.low) < ($1.high, $1.low) }
        return home == writer ? nil : home
    }

    /// Chooses another home writer, until this one writes again.
    package func forget(_ process: Identifier) {
        state.withLock { $0.writers[process] = nil }
    }

    /// Notes the writer of a valid entry with commits.
    func noteWriter(_ writer: Identifier, _ state: inout State) {
        guard writer != SequencedEntry.publisher else { return }
        // Of earlier openings, which may all have ended, the last one is enough.
        if !state.hasBegun { state.writers = [:] }
        state.writers[writer] = .now
    }
}
