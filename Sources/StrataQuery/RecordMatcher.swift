import StrataModel
import StrataViews

/// Asks single records whether a query's predicate holds for them.
///
/// ```swift
/// let matcher = try RecordMatcher(predicate, scene)
/// if try matcher.holds(key: key, state: state) { tell(key) }
/// ```
public struct RecordMatcher {
    private let judge: RecordJudge

    /// - Throws: ``StrataError`` for a predicate that the scene's rules refuse.
    public init(_ predicate: PredicateTree, _ scene: QueryScene) throws {
        judge = try RecordJudge(try PredicateBinder(scene).bind(predicate), scene)
    }

    /// - Parameter key: the record's, in ``ViewTree/records``.
    public func holds(key: [UInt8], state: [UInt8]) throws -> Bool {
        try key.withUnsafeBytes { key in
            try state.withUnsafeBytes { state in
                try judge.holds(key, try RecordStateView(state, in: 0..<state.count), state)
            }
        }
    }
}
