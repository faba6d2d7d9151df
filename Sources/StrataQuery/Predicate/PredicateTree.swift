import StrataModel

/// What a predicate says, as an immutable tree of bounded depth.
///
/// Equality is that of what is said: places in the text do not count.
public indirect enum PredicateTree: Sendable, Hashable {
    /// Deeper trees are refused, so that walking one cannot exhaust a thread's stack.
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
    /// Whether it depends on when it is asked.
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

/// Two operands and what is asked of them.
public struct PredicateComparison: Sendable, Hashable {
    /// How many of a list's elements must satisfy it.
    public enum Quantifier: String, Sendable {
        case any = "ANY", all = "ALL", notAny = "NONE"
    }

    /// The raw values are what is printed.
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

    public typealias Options = TextFolding.Options

    public var quantifier: Quantifier?
    public var left: PredicateExpression
    public var relation: Relation
    public var options: Options = []
    public var right: PredicateExpression
    /// Of the relation.
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
    /// By Apple's selector, arithmetic too: `add:to:`.
    case function(String, [PredicateExpression])

    public var depth: Int {
        switch self {
        case .value(let value): value.depth
        case .keyPath, .evaluatedObject, .variable: 1
        case .aggregate(let parts), .function(_, let parts): 1 + (parts.lazy.map(\.depth).max() ?? 0)
        }
    }

    /// The value that it has whatever the record.
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

/// A character's number in a predicate's text, from 1; nil in a tree that was not read from text.
public struct TextPlace: Sendable, Hashable {
    public let character: Int?

    public init(_ character: Int?) { self.character = character }

    // Where something was written is no part of what it says.
    public static func == (_: TextPlace, _: TextPlace) -> Bool { true }
    public func hash(into _: inout Hasher) {}
}

extension TextFolding.Options {
    /// The letters between brackets, in the order in which they are printed.
    static let letters: [(option: Self, letter: Character)] = [
        (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"), (.localeSensitive, "l"),
    ]
}
