import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// Reads the requests of a log's commits (docs/format.md §20), so that they can be judged again.
///
/// It folds the commits one by one: a full event says what a record became, and only the state before it shows what was
/// requested.
///
/// ```swift
/// for asked in try RequestRebuilder.requests(of: log) { try store.modify(asked.request, as: asked.actor) }
/// ```
package struct RequestRebuilder {
    package let fold: Fold
    private let names: OrdinalNames

    package init() throws { self.init(Fold(try Views.emptyTrees().fork())) }

    /// Starts from a state.
    package init(_ fold: Fold) {
        self.fold = fold
        names = OrdinalNames { fold.fork }
    }

    /// Returns all requests of a log, or those after its base.
    package static func requests(of log: any EventLog) throws -> [RebuiltRequest] {
        let trees = try Views.emptyTrees()
        let rebuilder = RequestRebuilder(Fold(try trees.fork()))
        if var base = try log.readBase() {
            try rebuilder.fold.load(base: base.horizon, into: trees) { try base.next() }
        }
        var requests: [RebuiltRequest] = []
        var cursor = try log.read(from: log.floor.offset + 1)
        while let commit = try cursor.next() {
            if let request = try rebuilder.next(commit) { requests.append(request) }
        }
        return requests
    }

    /// Returns the request of a commit, which must follow the commits passed before; nil if the commit has none, or
    /// none that is recorded.
    package func next(_ commit: Commit) throws -> RebuiltRequest? {
        let asked = try asked(by: commit)
        try pass(commit)
        return asked.flatMap { $0.isNoted ? nil : RebuiltRequest($0) }
    }

    /// Returns the request of a commit or note after the folded state; nil if it is about none. Stays before the
    /// commit.
    ///
    /// - Throws: ``StrataError``: `erased` for values that were erased since, `malformed` for a commit that does not
    ///   fit its request.
    package func asked(by commit: Commit) throws -> AskedRequest? {
        try AskedRequest.read(commit, names, hasCauses: { !fold.fork.isUnused(ViewTree.statedRules) }) { save in
            let before = try fold.withRecord(save.record) { try RecordState(decoding: [UInt8]($0)[...]) }
            guard let before else {
                throw RequestResult.mismatch(commit.offset, "an update of a record that did not exist")
            }
            return before
        }
    }

    /// Folds a commit, to continue after it.
    package func pass(_ commit: Commit) throws {
        try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
    }
}
