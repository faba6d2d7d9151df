import StrataLog
import StrataModel

/// Commits one after another, however they are come by.
protocol CommitSupply {
    /// The next commit; nil behind the last, or in front of ``damage``.
    mutating func next() throws -> Commit?
    /// What kept some from being given; nil if nothing was met.
    var damage: StrataError? { get }
}

extension CommitSource: CommitSupply {
    var damage: StrataError? { store.damage }
}
