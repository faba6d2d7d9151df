import StrataModel

/// Compares two values according to a comparison of a predicate.
struct ValueComparison {
    private let relation: PredicateComparison.Relation
    private let options: PredicateComparison.Options
    private let failure: PredicateFailure

    init(_ comparison: PredicateComparison, _ failure: PredicateFailure) {
        relation = comparison.relation
        options = comparison.options
        self.failure = failure
    }

    func holds(_ left: PredicateValue?, _ right: PredicateValue?) -> Bool {
        if right == .null || left == .null { return comparesWithNull(left, right) }
        guard let left, let right else { return false }
        switch relation {
        case .equal: return areEqual(left, right)
        case .notEqual: return !areEqual(left, right)
        case .less: return left.isOrdered(before: right, options) == true
        case .greater: return right.isOrdered(before: left, options) == true
        case .lessOrEqual: return right.isOrdered(before: left, options) == false
        case .greaterOrEqual: return left.isOrdered(before: right, options) == false
        case .between: return isBetween(left, right)
        case .isIn: return contains(right, left)
        case .contains: return contains(left, right)
        case .beginsWith, .endsWith, .like, .matches, .tokenMatches: return matches(left, right)
        }
    }

    private func comparesWithNull(_ left: PredicateValue?, _ right: PredicateValue?) -> Bool {
        let areBothMissing = (left ?? .null) == .null && (right ?? .null) == .null
        return switch relation {
        case .equal: areBothMissing
        case .notEqual: !areBothMissing
        default: false
        }
    }

    private func areEqual(_ left: PredicateValue, _ right: PredicateValue) -> Bool {
        switch (left, right) {
        case (.list(let left), .list(let right)):
            left.count == right.count && zip(left, right).allSatisfy(areEqual)
        case (.data, _), (.location, _), (.reference, _): left == right
        default:
            left.isOrdered(before: right, options) == false && right.isOrdered(before: left, options) == false
        }
    }

    private func isBetween(_ value: PredicateValue, _ bounds: PredicateValue) -> Bool {
        guard let bounds = bounds.elements, bounds.count == 2 else { return false }
        return value.isOrdered(before: bounds[0], options) == false
            && bounds[1].isOrdered(before: value, options) == false
    }

    private func contains(_ whole: PredicateValue, _ part: PredicateValue) -> Bool {
        switch (whole, part) {
        case (.list(let elements), _): elements.contains { areEqual($0, part) }
        case (.string(let text), .string(let part)):
            Array(text.utf8).withUnsafeBytes { TextSearch(part, options).finds($0) }
        default: false
        }
    }

    private func matches(_ left: PredicateValue, _ right: PredicateValue) -> Bool {
        guard case .string(let pattern) = right else { return false }
        if relation == .tokenMatches {
            let wanted = SearchWords.words(in: pattern)
            let texts = (left.elements ?? [left]).compactMap(\.text)
            return texts.contains { !wanted.isDisjoint(with: SearchWords.words(in: $0)) }
        }
        guard case .string(let text) = left else { return false }
        return switch relation {
        case .beginsWith: folded(text).utf8.starts(with: folded(pattern).utf8)
        case .endsWith: folded(text).utf8.reversed().starts(with: folded(pattern).utf8.reversed())
        case .like: Wildcards.match(folded(text), folded(pattern))
        default: matchesExpression(text, pattern)
        }
    }

    /// An invalid pattern in a record matches nothing.
    private func matchesExpression(_ text: String, _ pattern: String) -> Bool {
        let isCaseInsensitive = options.contains(.caseInsensitive)
        guard let expression = try? TextExpression(pattern, isCaseInsensitive: isCaseInsensitive) else { return false }
        return failure.answering { try expression.matches(text, failure.budget) } ?? false
    }

    private func folded(_ text: String) -> String { TextFolding.fold(text, options) }
}

/// LIKE patterns: `?` for one character and `*` for any number of characters.
enum Wildcards {
    static func match(_ text: String, _ pattern: String) -> Bool {
        let text = Array(text)
        let pattern = Array(pattern)
        var (at, next) = (0, 0)
        // The last star and the extent of its match: only the last star ever needs to match more.
        var star: (pattern: Int, text: Int)?
        while at < text.count {
            if next < pattern.count, pattern[next] == "*" {
                star = (next, at)
                next += 1
            } else if next < pattern.count, pattern[next] == "?" || pattern[next] == text[at] {
                at += 1
                next += 1
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                (at, next) = (last.text + 1, last.pattern + 1)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == "*" }
    }
}

extension PredicateValue {
    public var elements: [PredicateValue]? {
        guard case .list(let elements) = self else { return nil }
        return elements
    }

    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// Nil for two values without an order. Texts are ordered by their Unicode scalars, which is the order of their
    /// bytes.
    func isOrdered(before other: PredicateValue, _ options: PredicateComparison.Options = []) -> Bool? {
        switch (self, other) {
        case (.string(let left), .string(let right)):
            TextFolding.fold(left, options).utf8.lexicographicallyPrecedes(
                TextFolding.fold(right, options).utf8)
        case (.int64(let left), .int64(let right)): left < right
        case (.int64(let left), .double(let right)): right.isNaN ? nil : left < right
        case (.double(let left), .int64(let right)): left.isNaN ? nil : left < right
        case (.double(let left), .double(let right)), (.date(let left), .date(let right)):
            left.isNaN || right.isNaN ? nil : left < right
        case (.data(let left), .data(let right)): left.lexicographicallyPrecedes(right)
        default: nil
        }
    }
}

extension Int64 {
    // Exact, unlike a conversion of the integer to Double.
    fileprivate static func < (left: Int64, right: Double) -> Bool {
        if right >= 0x1p63 { return true }
        if right < -0x1p63 { return false }
        return left < Int64(right.rounded(.up))
    }

    fileprivate static func < (left: Double, right: Int64) -> Bool {
        if left >= 0x1p63 { return false }
        if left < -0x1p63 { return true }
        return Int64(left.rounded(.down)) < right
    }
}
