import StrataLog
import StrataModel

/// A source of commits in sequence.
protocol CommitSupply {
    /// Returns the next commit; nil after the last one, or before ``damage``.
    mutating func next() throws -> Commit?
    /// The damage that ended the supply early; nil if none was found.
    var damage: StrataError? { get }
}

extension CommitSource: CommitSupply {
    var damage: StrataError? { store.damage }
}
