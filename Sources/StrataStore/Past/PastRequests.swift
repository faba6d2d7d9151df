import StrataLog
import StrataModel
import StrataViews

/// Reads the requests of single commits and notes, anywhere in the log. It reads the state of a record before a commit
/// from the record's history, while ``RequestRebuilder`` folds all earlier commits.
///
/// ```swift
/// let requests = PastRequests(of: store)
/// let asked = try requests.asked(by: commit)
/// ```
package struct PastRequests {
    private let store: Store
    /// The names of all ordinals: ordinals are only added, so the newest state has them all.
    private let names: OrdinalNames

    package init(of store: Store) throws {
        self.store = store
        names = OrdinalNames(try store.trees.fork())
    }

    /// Returns the request of a commit or note; nil if it is about none.
    ///
    /// - Throws: ``StrataError``: `erased` for values that were erased since, `malformed` for a commit that does not
    ///   fit its request, `outOfRange` if the state of the record before the commit is no longer known.
    package func asked(by commit: Commit) throws -> AskedRequest? {
        try AskedRequest.read(
            commit, names, hasCauses: { try store.trees.snapshot().statedRules(at: commit.offset) != nil }
        ) { save in
            let previous = save.previous?.resolved(in: commit.offset)
            guard let before = try previous.flatMap({ try store.past.record(save.record, at: $0) }) else {
                throw StrataError(
                    .outOfRange, "The record's state before the commit is no longer known.",
                    .init(offset: commit.offset))
            }
            return try RecordState(decoding: before[...])
        }
    }
}
