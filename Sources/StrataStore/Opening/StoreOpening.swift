import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// The result of opening a store.
public struct StoreOpening: Sendable {
    package var recovery: RecoveryReport
    /// The condition of the page file; unless it was whole, the views were folded again.
    package var views: PageFileFinding
    public var reasons: [StrataError]
}
