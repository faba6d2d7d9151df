import StrataModel

/// The set of predicates that a query may have.
public enum PredicateDialect: Sendable, Hashable {
    /// The predicates that CloudKit accepts.
    case cloudKit
    /// All predicates that can be evaluated.
    case extended
}

/// Checks whether a predicate is allowed in a dialect (B122–B137), without reading records or the schema.
///
/// ```swift
/// let tree = try PredicateParser.parse("age > 3 OR age < 1")
/// try PredicateCheck(.cloudKit).check(tree)  // throws: OR is refused
/// try PredicateCheck(.extended).check(tree)
/// ```
package struct PredicateCheck {
    let dialect: PredicateDialect

    package init(_ dialect: PredicateDialect) { self.dialect = dialect }

    package func check(_ tree: PredicateTree) throws(StrataError) {
        switch tree {
        case .constant: return
        case .comparison(let comparison): try check(comparison)
        case .and(let parts):
            for part in parts { try check(part) }
        case .or(let parts):
            try refuse("OR", instead: "IN for the alternatives of one key, or one query for each alternative")
            for part in parts { try check(part) }
        case .not(let part):
            try checkNegated(part)
            try check(part)
        }
    }

    private func checkNegated(_ part: PredicateTree) throws(StrataError) {
        guard dialect == .cloudKit else { return }
        switch part {
        case .constant, .not, .or: return
        case .and: try refuse("NOT of an AND", instead: "a negation of each part, in a query of its own")
        case .comparison(let comparison):
            if comparison.relation == .between {
                try refuse("NOT of BETWEEN", comparison, instead: "a query below and one above the range")
            }
            if comparison.isWordSearch {
                try refuse("NOT of a word search", comparison, instead: "leaving out such records once fetched")
            }
            if comparison.distance != nil {
                try refuse("NOT of a distance", comparison, instead: "leaving out nearby records once fetched")
            }
        }
    }

    private func check(_ comparison: PredicateComparison) throws(StrataError) {
        try checkRelation(comparison)
        try checkOperand(comparison.left, of: comparison)
        try checkOperand(comparison.right, of: comparison)
        try checkDistance(comparison)
        try checkShape(comparison)
        try checkConstants(comparison)
    }

    private func checkRelation(_ comparison: PredicateComparison) throws(StrataError) {
        let instead: String? =
            switch (comparison.quantifier, comparison.relation) {
            case (.all, _): "ANY, or a filter over what was fetched"
            case (.notAny, _): "NOT ANY"
            case (_, .endsWith): "BEGINSWITH on a key that holds the text backwards"
            case (_, .like), (_, .matches): "BEGINSWITH, or self CONTAINS for words"
            case (_, .tokenMatches): "self CONTAINS"
            default: nil
            }
        guard let instead else { return }
        let isRelation = comparison.quantifier == nil || comparison.quantifier == .any
        let name = isRelation ? comparison.relation.rawValue : comparison.quantifier?.rawValue ?? ""
        try refuse(name, comparison, instead: instead)
    }

    private func checkOperand(
        _ operand: PredicateExpression, of comparison: PredicateComparison
    ) throws(StrataError) {
        switch operand {
        case .value: return
        case .keyPath(let path): try checkPath(path, of: comparison)
        case .evaluatedObject:
            guard [.contains, .isIn, .equal, .notEqual].contains(comparison.relation) else {
                throw invalid(comparison, expected: "a key", found: "SELF")
            }
        case .variable(let name): throw invalid(comparison, expected: "a value for $\(name)", found: "none")
        case .aggregate(let parts):
            for part in parts { try checkOperand(part, of: comparison) }
        case .function(let name, let parts): try checkFunction(name, parts, of: comparison)
        }
    }

    private func checkPath(_ path: String, of comparison: PredicateComparison) throws(StrataError) {
        let names = path.split(separator: ".", omittingEmptySubsequences: false)
        if names.contains(where: \.isEmpty) {
            throw invalid(comparison, expected: "the name of a key", found: "“\(path)”")
        }
        guard names.count > 1 || path.hasPrefix("@") else { return }
        if let operatorName = names.first(where: { $0.hasPrefix("@") }) {
            try refuse(String(operatorName), comparison, instead: "a key that holds the number")
            guard operatorName == "@count", names.last == operatorName, names.count > 1 else {
                throw invalid(comparison, expected: "@count after a key", found: path)
            }
        } else {
            try refuse("the key path \(path)", comparison, instead: "a query for the records referred to, first")
        }
    }

    private func checkFunction(
        _ name: String, _ parts: [PredicateExpression], of comparison: PredicateComparison
    ) throws(StrataError) {
        for part in parts { try checkOperand(part, of: comparison) }
        switch name {
        case PredicateFunction.now:
            guard parts.isEmpty else { throw invalid(comparison, expected: "now()", found: "operands") }
        case PredicateFunction.distance:
            guard parts.count == 2 else {
                throw invalid(comparison, expected: "\(name)(key, location)", found: "\(parts.count) operands")
            }
        case PredicateFunction.tokenize:
            guard (1...2).contains(parts.count) else {
                throw invalid(comparison, expected: "\(name)(text, 'Cdl')", found: "\(parts.count) operands")
            }
        case PredicateFunction.cast:
            try refuse("CAST of what is no constant", comparison, instead: "a value of the right type as argument")
        default:
            guard PredicateFunction.arithmetic[name] != nil, parts.count == 2 else {
                throw invalid(comparison, expected: "a function that there is", found: name)
            }
            try refuse("arithmetic", comparison, instead: "the result as argument")
        }
    }
}

extension PredicateCheck {
    private func checkDistance(_ comparison: PredicateComparison) throws(StrataError) {
        guard let distance = comparison.distance else { return }
        let locations = distance.operands.filter { operand in
            guard case .value(.location) = operand else { return false }
            return true
        }
        guard locations.count == 1, distance.operands.contains(where: \.isKey) else {
            throw invalid(comparison, expected: "a key and a location to measure between", found: "other operands")
        }
        guard [.less, .lessOrEqual].contains(distance.relation) else {
            try refuse("a distance with \(comparison.relation.rawValue)", comparison, instead: "less than a radius")
            return
        }
        guard distance.limit.constant?.number != nil else {
            throw invalid(comparison, expected: "a number of metres", found: "something else")
        }
    }

    /// Checks that one side depends on the record, and the other does not.
    private func checkShape(_ comparison: PredicateComparison) throws(StrataError) {
        guard dialect == .cloudKit, comparison.distance == nil else { return }
        switch (comparison.left.isOfRecord, comparison.right.isOfRecord) {
        case (true, false), (false, true): break
        case (true, true): try refuse("comparing two keys", comparison, instead: "a key that holds the outcome")
        case (false, false): try refuse("comparing two values", comparison, instead: "TRUEPREDICATE")
        }
        let isSelf = comparison.left == .evaluatedObject || comparison.right == .evaluatedObject
        if isSelf, !comparison.isWordSearch {
            try refuse("SELF", comparison, instead: "the name of a key, or self CONTAINS 'words'")
        }
        if comparison.left.constant == .null || comparison.right.constant == .null {
            try refuse("comparing with nil", comparison, instead: "a key that says whether there is a value")
        }
    }

    private func checkConstants(_ comparison: PredicateComparison) throws(StrataError) {
        guard let value = comparison.right.constant else { return }
        switch (comparison.relation, value) {
        case (.between, .list(let bounds)) where bounds.count == 2: return
        case (.between, _): throw invalid(comparison, expected: "a list of two values", found: value.typeName)
        case (.isIn, .list), (.isIn, .string): return
        case (.isIn, _): throw invalid(comparison, expected: "a list", found: value.typeName)
        case (.matches, .string): try comparison.checkExpression()
        case (.beginsWith, .string), (.endsWith, .string), (.like, .string), (.tokenMatches, .string): return
        case (.beginsWith, _), (.endsWith, _), (.like, _), (.matches, _), (.tokenMatches, _):
            throw invalid(comparison, expected: "STRING", found: value.typeName)
        case (.less, .list), (.lessOrEqual, .list), (.greater, .list), (.greaterOrEqual, .list):
            throw invalid(comparison, expected: "a value that has an order", found: value.typeName)
        case (.less, .data), (.lessOrEqual, .data), (.greater, .data), (.greaterOrEqual, .data),
            (.less, .location), (.lessOrEqual, .location), (.greater, .location), (.greaterOrEqual, .location):
            throw invalid(comparison, expected: "= or !=", found: value.typeName)
        default:
            guard comparison.isWordSearch else { return }
            guard case .string = value else { throw invalid(comparison, expected: "words", found: value.typeName) }
        }
    }

    private func invalid(_ comparison: PredicateComparison, expected: String, found: String) -> StrataError {
        let position = comparison.place.character.map { UInt64($0) }
        return StrataError(
            .invalidArgument, "the predicate's operands do not fit",
            StrataError.Context(
                position: position, expected: "\(expected) for \(comparison.relation.rawValue)", found: found))
    }

    /// Throws an error for a predicate that only the service's dialect rejects.
    private func refuse(
        _ what: String, _ comparison: PredicateComparison? = nil, instead: String
    ) throws(StrataError) {
        guard dialect == .cloudKit else { return }
        let position = comparison?.place.character.map { UInt64($0) }
        throw StrataError(
            .invalidArgument, "CloudKit does not support this predicate; use another one",
            StrataError.Context(position: position, expected: instead, found: what))
    }
}

extension PredicateComparison {
    /// True for `self CONTAINS 'words'`.
    var isWordSearch: Bool { relation == .contains && left == .evaluatedObject }

    /// - Throws: ``StrataError`` `invalidArgument` for a constant regular expression that cannot be parsed.
    func checkExpression() throws(StrataError) {
        guard relation == .matches, case .string(let pattern) = right.constant else { return }
        do {
            _ = try TextExpression(pattern, isCaseInsensitive: options.contains(.caseInsensitive))
        } catch {
            var located = error
            located.context.position = place.character.map { UInt64($0) }
            throw located
        }
    }

    /// The operands of the distance and its limit, as if the distance were on the left.
    var distance: (operands: [PredicateExpression], relation: Relation, limit: PredicateExpression)? {
        if case .function(PredicateFunction.distance, let operands) = left { return (operands, relation, right) }
        if case .function(PredicateFunction.distance, let operands) = right {
            return (operands, relation.mirrored, left)
        }
        return nil
    }
}

extension PredicateComparison.Relation {
    /// The same relation with the operands exchanged.
    var mirrored: Self {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        default: self
        }
    }
}

extension PredicateExpression {
    var isKey: Bool {
        guard case .keyPath = self else { return false }
        return true
    }

    /// True if the expression's value depends on the record.
    var isOfRecord: Bool {
        switch self {
        case .value, .variable: false
        case .keyPath, .evaluatedObject: true
        case .aggregate(let parts), .function(_, let parts): parts.contains(where: \.isOfRecord)
        }
    }
}
