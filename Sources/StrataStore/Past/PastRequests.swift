import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// Makes the requests of single commits again, wherever they are in the log: what a record was in front of one is read
/// from the record's history, where ``RequestRebuilder`` folds all commits that lie before it.
///
/// ```swift
/// let requests = PastRequests(of: store)
/// let asked = try requests.request(of: commit)
/// ```
package struct PastRequests {
    private let store: Store
    /// Ordinals only grow, so that those of the newest state name everything.
    private let names: OrdinalNames

    package init(of store: Store) {
        self.store = store
        names = OrdinalNames(store.pages.fork())
    }

    /// Nil for a commit that came of no request.
    ///
    /// - Throws: ``StrataError``: `erased` for what was erased since, `malformed` for a commit that does not fit its
    ///   request, `outOfRange` where what the record was in front of the commit is not known any more.
    package func request(of commit: Commit) throws -> RebuiltRequest? {
        guard let events = try ItemEvents.read(commit) else { return nil }
        for index in events.saves.indices where events.saves[index].hidesWhatWasAsked {
            let save = events.saves[index]
            let previous = save.previous?.resolved(in: commit.offset)
            guard let before = try previous.flatMap({ try store.historicState(of: save.record, at: $0) }) else {
                throw StrataError(
                    .outOfRange, "What the record was in front of the commit is not known any more.",
                    .init(offset: commit.offset))
            }
            events.saves[index].reduce(to: try RecordState(decoding: before[...]))
        }
        if let change = events.userChange {
            let past = try store.asOf(commit.offset - 1)
            defer { try? past.close() }
            events.accountBefore = try past.snapshot().trees.account(of: change.user)
        }
        return try RequestRebuilder.request(of: events, commit, names)
    }
}
