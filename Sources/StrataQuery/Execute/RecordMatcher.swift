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
    private let predicate: PredicateTree

    /// - Throws: ``StrataError`` for a predicate that the scene's rules refuse.
    public init(_ predicate: PredicateTree, _ scene: QueryScene) throws {
        self.predicate = try PredicateBinder(scene).bind(predicate)
        judge = try RecordJudge(self.predicate, scene, ExpressionBudget(reportsPerQuery: .max))
    }

    /// - Parameter key: the record's, in ``ViewTree/records``.
    /// - Throws: ``StrataError`` `tooLarge` if a regular expression takes too many steps.
    public func holds(key: [UInt8], state: [UInt8]) throws -> Bool {
        try key.withUnsafeBytes { key in try state.withUnsafeBytes { try holds(key: key, state: $0) } }
    }

    /// As the other one, on bytes that somebody else has.
    public func holds(key: UnsafeRawBufferPointer, state: UnsafeRawBufferPointer) throws -> Bool {
        try judge.holds(key, try RecordStateView(state, in: 0..<state.count), state)
    }

    // MARK: What it asks

    /// The fields of the record itself that it looks at, in ascending order. All else that it asks of a record is in
    /// the header of its state, or in its key.
    public func fields() throws -> [UInt32] {
        var fields: Set<UInt32> = []
        for comparison in predicate.comparisons {
            if comparison.isWordSearch { fields.formUnion(judge.scene.searchedFields) }
            for path in comparison.left.keys + comparison.right.keys {
                let key = String(path.prefix { $0 != "." })
                if case .field(let field)? = try judge.scene.subject(of: key) { fields.insert(field.field) }
            }
        }
        return fields.sorted()
    }

    /// Whether it looks into records that the record refers to, so that those decide it too.
    public var asksOtherRecords: Bool {
        predicate.comparisons.contains { ($0.left.keys + $0.right.keys).contains { $0.contains(".") } }
    }
}
