import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// Rebuilds the requests of single commits, anywhere in the log. It reads the state of a record before a commit from
/// the record's history, while ``RequestRebuilder`` folds all earlier commits.
///
/// ```swift
/// let requests = PastRequests(of: store)
/// let asked = try requests.request(of: commit)
/// ```
package struct PastRequests {
    private let store: Store
    /// The names of all ordinals: ordinals are only added, so the newest state has them all.
    private let names: OrdinalNames

    package init(of store: Store) {
        self.store = store
        names = OrdinalNames(store.pages.fork())
    }

    /// Returns nil for a commit without a request.
    ///
    /// - Throws: ``StrataError``: `erased` for values that were erased since, `malformed` for a commit that does not
    ///   fit its request, `outOfRange` if the state of the record before the commit is no longer known.
    package func request(of commit: Commit) throws -> RebuiltRequest? {
        guard let events = try ItemEvents.read(commit) else { return nil }
        for index in events.saves.indices where events.saves[index].hidesWhatWasAsked {
            let save = events.saves[index]
            let previous = save.previous?.resolved(in: commit.offset)
            guard let before = try previous.flatMap({ try store.past.record(save.record, at: $0) }) else {
                throw StrataError(
                    .outOfRange, "The record's state before the commit is no longer known.",
                    .init(offset: commit.offset))
            }
            events.saves[index].reduce(to: try RecordState(decoding: before[...]))
        }
        if !events.userChanges.isEmpty {
            let past = try store.asOf(commit.offset - 1)
            defer { try? past.close() }
            try events.readAccounts(in: past.snapshot().trees)
        }
        return try RequestRebuilder.request(of: events, commit, names)
    }
}
