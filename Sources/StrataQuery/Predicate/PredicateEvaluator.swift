import Foundation
import StrataModel

/// An object on which a predicate can be evaluated.
package protocol PredicateSubject {
    /// Returns nil for a key without a value.
    func predicateValue(forKey key: String) -> PredicateValue?
    /// All texts that `self CONTAINS 'words'` searches.
    var searchedTexts: [String] { get }
}

/// Evaluates a predicate on an object in memory.
///
/// A comparison with a missing value, or of two values that cannot be compared, does not hold; its negation then does
/// (B129).
package struct PredicateEvaluator {
    let subject: any PredicateSubject
    let variables: [String: PredicateValue]
    let now: Double
    private let failure: PredicateFailure

    package init(subject: any PredicateSubject, variables: [String: PredicateValue] = [:], now: Double) {
        self.init(subject: subject, variables: variables, now: now, PredicateFailure(ExpressionBudget()))
    }

    /// - Parameter failure: receives the error that prevented an answer.
    init(
        subject: any PredicateSubject, variables: [String: PredicateValue] = [:], now: Double,
        _ failure: PredicateFailure
    ) {
        self.subject = subject
        self.variables = variables
        self.now = now
        self.failure = failure
    }

    /// - Throws: ``StrataError`` `tooLarge` if a regular expression takes too many steps.
    package func holds(_ tree: PredicateTree) throws -> Bool {
        let holds = answer(tree)
        try failure.rethrow()
        return holds
    }

    /// The result is meaningless if the failure contains an error.
    func answer(_ tree: PredicateTree) -> Bool {
        switch tree {
        case .constant(let isTrue): isTrue
        case .comparison(let comparison): holds(comparison)
        case .and(let parts): parts.allSatisfy(answer)
        case .or(let parts): parts.contains(where: answer)
        case .not(let part): !answer(part)
        }
    }

    private func holds(_ comparison: PredicateComparison) -> Bool {
        if comparison.isWordSearch { return containsWords(comparison.right) }
        let left = value(of: comparison.left)
        let right = value(of: comparison.right)
        guard let quantifier = comparison.quantifier else {
            return ValueComparison(comparison, failure).holds(left, right)
        }
        guard let left else { return quantifier == .notAny }
        let elements = left.elements ?? [left]
        let single = ValueComparison(comparison, failure)
        return switch quantifier {
        case .any: elements.contains { single.holds($0, right) }
        case .all: elements.allSatisfy { single.holds($0, right) }
        case .notAny: !elements.contains { single.holds($0, right) }
        }
    }

    private func containsWords(_ operand: PredicateExpression) -> Bool {
        guard case .string(let text) = value(of: operand) else { return false }
        let wanted = SearchWords.words(in: text)
        return subject.searchedTexts.contains { !wanted.isDisjoint(with: SearchWords.words(in: $0)) }
    }

    func value(of expression: PredicateExpression) -> PredicateValue? {
        switch expression {
        case .value(let value): return value
        case .keyPath(let path): return value(at: path)
        case .evaluatedObject: return subject.predicateValue(forKey: "recordID")
        case .variable(let name): return variables[name]
        case .aggregate(let parts):
            let values = parts.compactMap(value)
            return values.count == parts.count ? .list(values) : nil
        case .function(let name, let parts): return call(name, parts.map(value))
        }
    }

    private func value(at path: String) -> PredicateValue? {
        let suffix = ".@count"
        guard path.hasSuffix(suffix) else { return subject.predicateValue(forKey: path) }
        let counted = subject.predicateValue(forKey: String(path.dropLast(suffix.count)))
        return counted?.elements.map { .int64(Int64($0.count)) }
    }

    private func call(_ name: String, _ operands: [PredicateValue?]) -> PredicateValue? {
        switch (name, operands.count) {
        case (PredicateFunction.now, 0): .date(now)
        case (PredicateFunction.distance, 2): distance(operands[0], operands[1])
        case (PredicateFunction.tokenize, 1...2): tokens(operands[0])
        case (PredicateFunction.cast, 2): cast(operands[0], operands[1])
        case (_, 2): PredicateArithmetic.result(of: name, operands[0], operands[1])
        default: nil
        }
    }

    private func distance(_ from: PredicateValue?, _ to: PredicateValue?) -> PredicateValue? {
        guard case .location(let latitude, let longitude) = from, case .location(let north, let east) = to else {
            return nil
        }
        return .double(
            GreatCircle.distanceMetres(
                fromLatitude: latitude, longitude: longitude, toLatitude: north, longitude: east))
    }

    private func tokens(_ text: PredicateValue?) -> PredicateValue? {
        guard case .string(let text) = text else { return nil }
        return .list(SearchWords.words(in: text).sorted().map(PredicateValue.string))
    }

    private func cast(_ value: PredicateValue?, _ type: PredicateValue?) -> PredicateValue? {
        guard let value, case .string(let type) = type else { return nil }
        return PredicateCast.cast(value, to: type)
    }
}

/// Sums and products of numbers, and of a date and seconds.
enum PredicateArithmetic {
    static func result(of function: String, _ left: PredicateValue?, _ right: PredicateValue?) -> PredicateValue? {
        switch (left, right) {
        case (.int64(let left), .int64(let right)): whole(function, left, right)
        case (.date(let date), _): right?.number.flatMap { fraction(function, date, $0) }.map(PredicateValue.date)
        default: numbers(left, right).flatMap { fraction(function, $0, $1) }.map(PredicateValue.double)
        }
    }

    private static func numbers(_ left: PredicateValue?, _ right: PredicateValue?) -> (Double, Double)? {
        guard let left = left?.number, let right = right?.number else { return nil }
        return (left, right)
    }

    private static func whole(_ function: String, _ left: Int64, _ right: Int64) -> PredicateValue? {
        let exact: (partialValue: Int64, overflow: Bool)? =
            switch function {
            case "add:to:": left.addingReportingOverflow(right)
            case "from:subtract:": left.subtractingReportingOverflow(right)
            case "multiply:by:": left.multipliedReportingOverflow(by: right)
            case "divide:by:": left.dividedReportingOverflow(by: right)
            default: nil
            }
        if let exact, !exact.overflow { return .int64(exact.partialValue) }
        return fraction(function, Double(left), Double(right)).map(PredicateValue.double)
    }

    private static func fraction(_ function: String, _ left: Double, _ right: Double) -> Double? {
        switch function {
        case "add:to:": left + right
        case "from:subtract:": left - right
        case "multiply:by:": left * right
        case "divide:by:": left / right
        case "raise:toPower:": pow(left, right)
        default: nil
        }
    }
}
