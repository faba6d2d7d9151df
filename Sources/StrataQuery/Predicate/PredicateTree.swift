import StrataModel

/// The meaning of a predicate, as an immutable tree of bounded depth.
///
/// Positions in the text do not affect equality.
public indirect enum PredicateTree: Sendable, Hashable {
    /// Deeper trees are rejected, so that walking one cannot exhaust a thread's stack.
    public static let maximumDepth = 64

    case constant(Bool)
    case comparison(PredicateComparison)
    case and([PredicateTree])
    case or([PredicateTree])
    case not(PredicateTree)

    public var depth: Int {
        switch self {
        case .constant: 1
        case .comparison(let comparison): 1 + max(comparison.left.depth, comparison.right.depth)
        case .and(let parts), .or(let parts): 1 + (parts.lazy.map(\.depth).max() ?? 0)
        case .not(let part): 1 + part.depth
        }
    }
}

extension PredicateTree {
    /// True if the result depends on the current time.
    public var asksTheTime: Bool { comparisons.contains { $0.left.asksTheTime || $0.right.asksTheTime } }
}

extension PredicateExpression {
    fileprivate var asksTheTime: Bool {
        switch self {
        case .value, .keyPath, .evaluatedObject, .variable: false
        case .aggregate(let parts): parts.contains(where: \.asksTheTime)
        case .function(let name, let parts): name == PredicateFunction.now || parts.contains(where: \.asksTheTime)
        }
    }
}

/// Two operands and the relation between them.
public struct PredicateComparison: Sendable, Hashable {
    /// The elements of a list that must satisfy the comparison.
    public enum Quantifier: String, Sendable {
        case any = "ANY", all = "ALL", notAny = "NONE"
    }

    /// The raw values are used for printing.
    public enum Relation: String, Sendable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case between = "BETWEEN"
        case isIn = "IN"
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case like = "LIKE"
        case matches = "MATCHES"
        case tokenMatches = "TOKENMATCHES"
    }

    package typealias Options = TextFolding.Options

    public var quantifier: Quantifier?
    public var left: PredicateExpression
    public var relation: Relation
    package var options: Options = []
    public var right: PredicateExpression
    /// The position of the relation.
    public var place = TextPlace(nil)
}

/// One side of a comparison.
public indirect enum PredicateExpression: Sendable, Hashable {
    case value(PredicateValue)
    /// Names separated by dots.
    case keyPath(String)
    case evaluatedObject
    case variable(String)
    case aggregate([PredicateExpression])
    /// A call by Apple's selector, including arithmetic: `add:to:`.
    case function(String, [PredicateExpression])

    public var depth: Int {
        switch self {
        case .value(let value): value.depth
        case .keyPath, .evaluatedObject, .variable: 1
        case .aggregate(let parts), .function(_, let parts): 1 + (parts.lazy.map(\.depth).max() ?? 0)
        }
    }

    /// The expression's value if it does not depend on the record; nil otherwise.
    public var constant: PredicateValue? {
        switch self {
        case .value(let value): return value
        case .keyPath, .evaluatedObject, .variable, .function: return nil
        case .aggregate(let parts):
            let values = parts.compactMap(\.constant)
            return values.count == parts.count ? .list(values) : nil
        }
    }
}

/// The number of a character in a predicate's text, from 1; nil in a tree that was not parsed from text.
public struct TextPlace: Sendable, Hashable {
    public let character: Int?

    public init(_ character: Int?) { self.character = character }

    // The position in the text is not part of the meaning.
    public static func == (_: TextPlace, _: TextPlace) -> Bool { true }
    public func hash(into _: inout Hasher) {}
}

extension TextFolding.Options {
    /// The letters of the options, in the order in which they are printed in brackets.
    static let letters: [(option: Self, letter: Character)] = [
        (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"), (.localeSensitive, "l"),
    ]
}
