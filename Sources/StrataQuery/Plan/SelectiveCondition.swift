import StrataModel

/// A necessary condition of a predicate, simple enough to find predicates by the values of a record.
package enum SelectiveCondition: Sendable, Hashable {
    case equal(key: String, Value)
    case atLeast(key: String, Double)
    case atMost(key: String, Double)

    package enum Value: Sendable, Hashable {
        /// The bytes of a text, as compared by comparisons without options.
        case text([UInt8])
        case number(UInt64)

        /// Nil for a value that can be compared in several ways.
        package init?(_ value: FieldValue) {
            switch value {
            case .string(let text): self = .text(Array(text.utf8))
            case .int64(let number): self = .number(Self.bits(Double(number)))
            case .double(let number): self = .number(Self.bits(number))
            default: return nil
            }
        }

        init?(_ value: PredicateValue) {
            if case .string(let text) = value {
                self = .text(Array(text.utf8))
            } else if let number = value.number {
                self = .number(Self.bits(number))
            } else {
                return nil
            }
        }

        /// Integers beyond 53 bits may collide, so the predicate is evaluated on every record found.
        private static func bits(_ number: Double) -> UInt64 { number == 0 ? 0 : number.bitPattern }
    }

    package var key: String {
        switch self {
        case .equal(let key, _), .atLeast(let key, _), .atMost(let key, _): key
        }
    }

    /// The best condition of a predicate, an equality if possible; nil if it has none.
    package init?(_ tree: PredicateTree) {
        let conditions = Self.conditions(of: tree)
        let equal = conditions.first { condition in
            if case .equal = condition { true } else { false }
        }
        guard let best = equal ?? conditions.first else { return nil }
        self = best
    }

    private static func conditions(of tree: PredicateTree) -> [SelectiveCondition] {
        switch tree {
        case .and(let parts): parts.flatMap(conditions)
        case .comparison(let comparison): condition(of: comparison).map { [$0] } ?? []
        case .constant, .or, .not: []
        }
    }

    private static func condition(of comparison: PredicateComparison) -> SelectiveCondition? {
        guard comparison.quantifier == nil, comparison.options.isEmpty else { return nil }
        let (key, constant, isTurned): (String, PredicateValue, Bool)
        switch (comparison.left, comparison.right) {
        case (.keyPath(let path), let other): (key, constant, isTurned) = (path, other.constant ?? .null, false)
        case (let other, .keyPath(let path)): (key, constant, isTurned) = (path, other.constant ?? .null, true)
        default: return nil
        }
        // Keys of other records and system fields are handled elsewhere.
        guard !key.contains("."), SystemField(key) == nil else { return nil }
        if comparison.relation == .equal { return Value(constant).map { .equal(key: key, $0) } }
        if comparison.relation == .between, !isTurned, case .list(let bounds) = constant {
            return bounds.first?.number.flatMap { $0.isNaN ? nil : .atLeast(key: key, $0) }
        }
        guard let number = constant.number, !number.isNaN else { return nil }
        switch (comparison.relation, isTurned) {
        case (.greater, false), (.greaterOrEqual, false), (.less, true), (.lessOrEqual, true):
            return .atLeast(key: key, number)
        case (.less, false), (.lessOrEqual, false), (.greater, true), (.greaterOrEqual, true):
            return .atMost(key: key, number)
        default: return nil
        }
    }
}
