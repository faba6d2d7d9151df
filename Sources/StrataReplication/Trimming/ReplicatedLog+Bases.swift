import StrataLog
import StrataModel

/// Marks of bases among the entries (docs/replication-internals.md §12).
extension ReplicatedLog {
    /// Appends the mark of a base, after the entries that other processes append in the meantime, and returns its
    /// entry.
    func append(_ mark: BaseMark) throws -> SequencedEntry {
        do throws(AppendFailure) {
            return try turn.withLock { (_) throws(AppendFailure) -> SequencedEntry in
                try finishFlight(milliseconds: options.outcomeMilliseconds)
                while true {
                    let (previous, position) = state.withLock { ($0.entry, $0.position) }
                    let flight = flight(.base(mark), after: previous, position)
                    state.withLock { $0.flight = flight }
                    // If another entry was valid first, the mark is void.
                    if case .appended = try outcome(milliseconds: options.outcomeMilliseconds) { return flight.entry }
                }
            }
        } catch {
            throw StrataError(
                .outcomeUnknown, "It is not known whether the sequencer has the base's mark; run the trim again.",
                .init(path: paths.store), cause: error)
        }
    }

    /// Checks that a mark names a position of this history.
    func check(_ mark: BaseMark, _ state: State) throws {
        if mark.horizon.offset <= state.position.offset {
            // IMPORTANT: Read the floor last, because the copy may be compacted at any time.
            if try copy.has(mark.horizon) || mark.horizon.offset < copy.floor.offset { return }
        }
        throw StrataError(
            .brokenChain, "The mark of a base names a history that differs from the copy's.",
            .init(offset: mark.horizon.offset, expected: "at most \(state.position)", found: "\(mark.horizon)"))
    }
}
