import TestSupport

@testable import StrataQuery

/// Random trees of everything that a predicate can say.
struct PredicateGenerator {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func tree(depth: Int) -> PredicateTree {
        switch random.next(below: depth > 0 ? 8 : 4) {
        case 0: .constant(random.next(below: 2) == 0)
        case 4: .and([tree(depth: depth - 1), tree(depth: depth - 1)])
        case 5: .or([tree(depth: depth - 1), tree(depth: depth - 1), tree(depth: depth - 1)])
        case 6: .not(tree(depth: depth - 1))
        default: .comparison(comparison(depth: depth))
        }
    }

    private mutating func comparison(depth: Int) -> PredicateComparison {
        let relations = PredicateComparison.Relation.allCases
        let quantifiers: [PredicateComparison.Quantifier?] = [nil, nil, nil, .any, .all, .notAny]
        return PredicateComparison(
            quantifier: quantifiers[random.next(below: quantifiers.count)], left: expression(depth: depth),
            relation: relations[random.next(below: relations.count)],
            options: random.next(below: 3) == 0 ? .init(rawValue: UInt8(random.next(below: 16))) : [],
            right: expression(depth: depth))
    }

    private mutating func expression(depth: Int) -> PredicateExpression {
        switch random.next(below: depth > 0 ? 9 : 6) {
        case 0, 1: .keyPath(key())
        case 2: .evaluatedObject
        case 3: .variable("v")
        case 6: .aggregate([.keyPath("a"), expression(depth: depth - 1)])
        case 7: .function("add:to:", [expression(depth: depth - 1), expression(depth: depth - 1)])
        case 8: .function(["now", "f:g:", "tokenize:using:"][random.next(below: 3)], [expression(depth: depth - 1)])
        default: .value(value(depth: depth))
        }
    }

    private mutating func key() -> String {
        let keys = [
            "a", "in", "größe", "a.b", "tags.@count", "NOT.x", "odd key", "1st", "", "@count", "a..b", "e\u{301}",
        ]
        return keys[random.next(below: keys.count)]
    }

    private mutating func value(depth: Int) -> PredicateValue {
        switch random.next(below: depth > 0 ? 9 : 8) {
        case 0: .null
        case 1: .string(["", "it's \"so\"\\", "a\nb\r\t\u{0}", "ä€😀", "e\u{301}"][random.next(below: 5)])
        case 2: .int64([0, -1, .min, .max, 42][random.next(below: 5)])
        case 3: .double([0.1, -0.0, 1e300, -.leastNonzeroMagnitude, .infinity, 3][random.next(below: 6)])
        case 4: .date([0, 700_000_000.123_456, -1e12][random.next(below: 3)])
        case 5: .data(random.nextBytes(random.next(below: 5)))
        case 6: .location(latitude: -12.5, longitude: 179.999)
        case 7: .reference(.init(recordName: "r\"1", zoneName: "zone", ownerName: "__defaultOwner__"))
        default: .list([value(depth: depth - 1), value(depth: depth - 1)])
        }
    }
}
