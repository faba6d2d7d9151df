import StrataModel

/// Decides whether a query's predicate holds for single records.
///
/// ```swift
/// let matcher = try RecordMatcher(predicate, scene)
/// if try matcher.holds(key: key, state: state) { tell(key) }
/// ```
package struct RecordMatcher {
    private let judge: RecordJudge
    private let predicate: PredicateTree

    /// - Throws: ``StrataError`` for a predicate that the scene's rules reject.
    package init(_ predicate: PredicateTree, _ scene: QueryContext) throws {
        self.predicate = try PredicateBinder(scene).bind(predicate)
        judge = try RecordJudge(self.predicate, scene, ExpressionBudget(reportsPerQuery: .max))
    }

    /// - Parameter key: the record's key in ``ViewTree/records``.
    /// - Throws: ``StrataError`` `tooLarge` if a regular expression takes too many steps.
    package func holds(key: [UInt8], state: [UInt8]) throws -> Bool {
        try key.withUnsafeBytes { key in try state.withUnsafeBytes { try holds(key: key, state: $0) } }
    }

    /// Like the overload for arrays, on borrowed bytes.
    package func holds(key: UnsafeRawBufferPointer, state: UnsafeRawBufferPointer) throws -> Bool {
        try judge.holds(key, try RecordStateView(state, in: 0..<state.count), state)
    }

    // MARK: Dependencies

    /// The fields of the record itself that the predicate reads, in ascending order. It finds everything else in the
    /// header of the record's state, or in its key.
    package func fields() throws -> [UInt32] {
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

    /// True if the predicate reads records that the record refers to, which then affect the result.
    package var asksOtherRecords: Bool {
        predicate.comparisons.contains { ($0.left.keys + $0.right.keys).contains { $0.contains(".") } }
    }
}
