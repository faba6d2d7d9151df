import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// The result of opening a store.
public struct StoreOpening: Sendable {
    package var recovery: RecoveryReport
    /// The condition of the states on disk; unless it was whole, the log or a part of it was folded again.
    package var views: StateFinding
    public var reasons: [StrataError]
}
