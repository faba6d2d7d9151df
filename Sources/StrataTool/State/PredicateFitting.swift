import StrataModel
import StrataQuery

/// Fits the constants of a predicate to the values of its keys, and rejects comparisons that can never hold.
///
/// The format of predicates has no spelling for dates and records. A text that is compared with a date is read as a
/// time, and one that is compared with a reference as the name of a record or a user.
struct PredicateFitting {
    /// Returns the kinds of values that a key may have; none if they are unknown.
    let kinds: (_ key: String) throws -> [FieldKind]
    /// Returns the targets that a name may denote as the value of a key.
    let targets: (_ name: String, _ key: String) throws -> [PredicateValue.Target]
    /// The name of the argument with the predicate, for error messages.
    let argument: String

    /// - Throws: ``UsageError`` for a comparison that can never hold.
    func fit(_ tree: PredicateTree) throws -> PredicateTree {
        switch tree {
        case .constant: tree
        case .comparison(let comparison): try fit(comparison) ?? tree
        case .and(let parts): .and(try parts.map(fit))
        case .or(let parts): .or(try parts.map(fit))
        case .not(let part): .not(try fit(part))
        }
    }

    /// Returns nil if nothing changes.
    private func fit(_ comparison: PredicateComparison) throws -> PredicateTree? {
        switch (comparison.left, comparison.right) {
        case (.keyPath(let left), .keyPath(let right)): try check(comparison, left, right)
        case (.keyPath(let key), let other):
            if let value = other.constant { return try fit(comparison, key, value, isKeyLeft: true) }
        case (let other, .keyPath(let key)):
            if let value = other.constant { return try fit(comparison, key, value, isKeyLeft: false) }
        case (.function(let name, let parts), _), (_, .function(let name, let parts)):
            if name == Self.distance { try checkDistance(parts, of: comparison) }
        default: break
        }
        return nil
    }

    private func fit(
        _ comparison: PredicateComparison, _ key: String, _ value: PredicateValue, isKeyLeft: Bool
    ) throws -> PredicateTree? {
        let known = try kinds(key)
        if known.isEmpty || value == .null { return nil }
        func holds(_ kind: FieldKind, _ value: PredicateValue) -> Bool {
            let (key, constant) = (PredicateOperand(kind), PredicateOperand(value))
            return comparison.canHold(isKeyLeft ? (key, constant) : (constant, key))
        }
        if known.contains(where: { holds($0, value) }) { return nil }
        for kind in known {
            let values = try read(value, as: kind.element, key)
            guard let first = values.first, holds(kind, first) else { continue }
            if [.equal, .notEqual].contains(comparison.relation), first.elements?.count != value.elements?.count {
                throw PredicateMisfit.error(
                    in: argument, comparison, "several zones may have the records; choose one with --zone")
            }
            return comparison.tree(key, values, isKeyLeft: isKeyLeft)
        }
        let misfit = PredicateMisfit(
            comparison: comparison, key: key, kind: known[0], value: value, isKeyLeft: isKeyLeft)
        throw misfit.error(in: argument)
    }

    // MARK: Texts

    /// Returns the values of a kind that a constant may denote; none if a part of it denotes none. The parts of a list
    /// have one meaning each, so that a list stays one list.
    private func read(_ value: PredicateValue, as kind: FieldKind, _ key: String) throws -> [PredicateValue] {
        switch value {
        case .string(let text):
            switch kind {
            case .date:
                guard let time = Timestamp(parsingAbsolute: text) else { return [] }
                return [.date(EngineDate.seconds(time.microseconds))]
            case .reference: return try targets(text, key).map(PredicateValue.reference)
            default: return []
            }
        case .list(let elements):
            var values: [PredicateValue] = []
            for element in elements {
                let isRead = element.kindOfElement == kind || element == .null
                let found = isRead ? [element] : try read(element, as: kind, key)
                if found.isEmpty { return [] }
                values += found
            }
            return [.list(values)]
        default: return []
        }
    }

    // MARK: Comparisons without a constant

    private static let distance = "distanceToLocation:fromLocation:"

    private func check(_ comparison: PredicateComparison, _ left: String, _ right: String) throws {
        let (first, second) = (try kinds(left), try kinds(right))
        if first.isEmpty || second.isEmpty { return }
        let canHold = first.contains { left in
            second.contains { comparison.canHold((PredicateOperand(left), PredicateOperand($0))) }
        }
        guard !canHold else { return }
        throw PredicateMisfit.error(
            in: argument, comparison,
            "\(left) is \(first[0].phrase) and \(right) \(second[0].phrase); \(comparison.relation.rawValue) never "
                + "holds for them")
    }

    private func checkDistance(_ parts: [PredicateExpression], of comparison: PredicateComparison) throws {
        for case .keyPath(let key) in parts {
            let known = try kinds(key)
            if known.isEmpty || known.contains(.location) { continue }
            throw PredicateMisfit.error(
                in: argument, comparison, "\(key) is \(known[0].phrase); a distance needs a location")
        }
    }
}

/// One side of a comparison: the kinds of a value, or of the elements of a list.
struct PredicateOperand {
    let elements: [FieldKind]
    let isList: Bool

    init(_ kind: FieldKind) {
        (elements, isList) = (kind == .emptyList ? [] : [kind.element], kind.isList)
    }

    init(_ value: PredicateValue) {
        isList = value.elements != nil
        elements = (value.elements ?? [value]).compactMap { $0 == .null ? nil : $0.kindOfElement }
    }

    var single: PredicateOperand { PredicateOperand(elements: elements, isList: false) }

    private init(elements: [FieldKind], isList: Bool) { (self.elements, self.isList) = (elements, isList) }

    fileprivate var isText: Bool { elements.allSatisfy { $0 == .string } }

    fileprivate func isComparable(with other: PredicateOperand, inOrder: Bool = false) -> Bool {
        elements.allSatisfy { left in
            other.elements.allSatisfy { right in
                if left.isNumber, right.isNumber { return true }
                let kinds: [FieldKind] = inOrder ? FieldKind.ordered : FieldKind.ordered + [.location, .reference]
                return left == right && kinds.contains(left)
            }
        }
    }
}

extension PredicateComparison {
    /// Returns false if the comparison holds for no values of the operands' kinds.
    func canHold(_ operands: (left: PredicateOperand, right: PredicateOperand)) -> Bool {
        let (left, right) = (quantifier == nil ? operands.left : operands.left.single, operands.right)
        switch relation {
        case .equal, .notEqual: return left.isList == right.isList && left.isComparable(with: right)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            return !left.isList && !right.isList && left.isComparable(with: right, inOrder: true)
        case .between: return !left.isList && right.isList && left.isComparable(with: right, inOrder: true)
        case .isIn: return left.isPart(of: right)
        case .contains: return right.isPart(of: left)
        case .tokenMatches: return left.isText && right.isText
        case .beginsWith, .endsWith, .like, .matches:
            return !left.isList && !right.isList && left.isText && right.isText
        }
    }

    /// Returns the comparison with a constant that may have several meanings.
    fileprivate func tree(_ key: String, _ values: [PredicateValue], isKeyLeft: Bool) -> PredicateTree {
        func comparison(_ value: PredicateValue) -> PredicateComparison {
            var fitted = self
            if isKeyLeft { fitted.right = .value(value) } else { fitted.left = .value(value) }
            return fitted
        }
        guard values.count > 1 else { return .comparison(comparison(values[0])) }
        switch (relation, quantifier) {
        case (.equal, nil):
            // One condition, for which an index can be used.
            var fitted = self
            (fitted.left, fitted.relation, fitted.right) = (.keyPath(key), .isIn, .value(.list(values)))
            return .comparison(fitted)
        case (.notEqual, _), (_, .notAny): return .and(values.map { .comparison(comparison($0)) })
        default: return .or(values.map { .comparison(comparison($0)) })
        }
    }
}

extension PredicateOperand {
    /// True if the operand may be an element of a list, or a part of a text.
    fileprivate func isPart(of whole: PredicateOperand) -> Bool {
        if isList { return false }
        return whole.isList ? isComparable(with: whole) : isText && whole.isText
    }
}

extension PredicateValue {
    /// The kind of a constant that is not a list; encrypted values and assets count as encrypted.
    fileprivate var kindOfElement: FieldKind { kind ?? .sealed }
}

extension FieldKind {
    fileprivate static let ordered: [FieldKind] = [.string, .int64, .double, .date, .data]

    fileprivate var isNumber: Bool { self == .int64 || self == .double }

    /// `a date`, `a list of texts`.
    fileprivate var phrase: String {
        let nouns: [FieldKind: (article: String, noun: String)] = [
            .string: ("a", "text"), .int64: ("a", "number"), .double: ("a", "number"), .date: ("a", "date"),
            .data: ("", "data"), .location: ("a", "location"), .reference: ("a", "reference"), .asset: ("an", "asset"),
        ]
        guard let (article, noun) = nouns[element] else { return self == .emptyList ? "a list" : "encrypted" }
        if isList { return "a list of " + (element == .data ? noun : noun + "s") }
        return article.isEmpty ? noun : article + " " + noun
    }
}

/// A comparison that can never hold, in words.
private struct PredicateMisfit {
    let comparison: PredicateComparison
    let key: String
    let kind: FieldKind
    let value: PredicateValue
    let isKeyLeft: Bool

    func error(in argument: String) -> UsageError {
        Self.error(in: argument, comparison, "\(key) is \(kind.phrase); \(text)")
    }

    static func error(in argument: String, _ comparison: PredicateComparison, _ problem: String) -> UsageError {
        let place = comparison.place.character.map { ", character \($0)" } ?? ""
        return UsageError("\(argument)\(place): \(problem)")
    }

    private var sign: String { comparison.relation.rawValue }

    /// Says what to write instead.
    private var text: String {
        if kind.element == .asset || kind.element == .sealed { return "write \(key) == nil or \(key) != nil" }
        switch comparison.relation {
        case .beginsWith, .endsWith, .like, .matches, .tokenMatches:
            return kind == .string ? "write a text after \(sign)" : "\(sign) compares texts"
        case .contains where isKeyLeft && !kind.isList && kind != .string:
            return "CONTAINS is for texts and lists"
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .isIn, .between:
            if kind.isList, comparison.quantifier == nil, value.elements == nil || sign != "==", isKeyLeft {
                return "write ANY \(key) \(sign) …, or \(key) CONTAINS …"
            }
            if !kind.isList, value.elements != nil, ["==", "!="].contains(sign) { return "write \(key) IN {…}" }
        default: break
        }
        return spelling
    }

    /// The spelling of a constant of the kind.
    private var spelling: String {
        switch kind.element {
        case .string: return "write texts in quotes, such as \(example(or: "'a text'"))"
        case .int64, .double: return "write numbers without quotes, such as \(example(or: "10"))"
        case .date:
            return "write a time in UTC such as '2026-11-21' or '2026-11-21T05:18:03Z', or an age such as "
                + "now() - 86400"
        case .reference:
            return [.equal, .notEqual, .isIn, .contains].contains(comparison.relation)
                ? "write the name of the record or user in quotes" : "a reference has no order: use ==, != or IN"
        case .data: return "write CAST('00ff', 'NSData') for its bytes"
        default: return "write distanceToLocation:fromLocation:(\(key), CAST({52.5, 13.4}, 'CLLocation')) < 1000"
        }
    }

    /// The given constant as one of the kind, if it can be one.
    private func example(or other: String) -> String {
        switch (value, kind.element) {
        case (.int64(let number), .string): "'\(number)'"
        case (.string(let text), .int64): Int64(text).map { "\($0)" } ?? other
        case (.string(let text), .double): Double(text).map { "\($0)" } ?? other
        default: other
        }
    }
}

extension Timestamp {
    /// Parses a time that does not depend on the current one.
    fileprivate init?(parsingAbsolute text: String) {
        guard let first = Timestamp(parsing: text, now: 0), first == Timestamp(parsing: text, now: 1 << 50) else {
            return nil
        }
        self = first
    }
}
