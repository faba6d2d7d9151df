import StrataModel
import TestSupport
import Testing

@testable import StrataQuery
@testable import StrataStore

/// Subscriptions found by a condition of their predicates, against asking each predicate.
@Suite struct CandidateTests {
    @Test(arguments: seeds(12))
    func `No subscription is overlooked whose predicate holds`(_ seed: UInt64) throws {
        let counts = try compare(seed)
        #expect(counts.overlooked == 0)
        // Or the comparison proves nothing.
        #expect(counts.holding > 500 && counts.spared > 500)
    }

    @Test func `The canary: a subscription that is not found is noticed`() throws {
        #expect(try compare(1, losing: true).overlooked > 0)
    }

    @Test func `A bound that is no number leaves the others where they are found`() throws {
        var group = QueryGroup()
        for _ in 0..<3 {
            let tree = PredicateTree.comparison(
                .init(left: .keyPath("a"), relation: .between, right: .value(.list([.double(.nan), .int64(5)]))))
            #expect(SelectiveCondition(tree) == nil)
        }
        group.insert(try entry(1, "a >= 1"))
        #expect(group.candidates { _ in .int64(2) }.count == 1)
    }

    private func entry(_ number: UInt64, _ predicate: String) throws -> QueryGroup.Entry {
        let subscription = Subscription("s\(number)", .query, recordType: 1, predicate: predicate, options: .creation)
        return QueryGroup.Entry(
            SubscriptionSavedEvent(database: 1, user: 1, subscription), Version(offset: number, eventIndex: 0))
    }

    private func compare(
        _ seed: UInt64, losing: Bool = false
    ) throws -> (holding: Int, spared: Int, overlooked: Int) {
        var predicates = SmallPredicates(seed: seed)
        var group = QueryGroup()
        var entries: [QueryGroup.Entry] = []
        for number in 0..<300 as Range<UInt64> {
            let entry = try entry(number, PredicateWriter.text(of: predicates.tree(depth: 2)))
            group.insert(entry)
            entries.append(entry)
        }
        for _ in 0..<100 { group.remove(entries.remove(at: predicates.random.next(below: entries.count))) }
        if losing { group.remove(entries[0]) }
        var counts = (holding: 0, spared: 0, overlooked: 0)
        for _ in 0..<150 {
            let record = PlainRecord(fields: predicates.record())
            let found = Set(group.candidates { record.fields[$0] }.map(\.key))
            let evaluator = PredicateEvaluator(subject: record, now: 0)
            for (place, entry) in entries.enumerated() {
                let holds = losing && place == 0 || (try? evaluator.holds(entry.predicate)) == true
                if holds { counts.holding += 1 }
                if !found.contains(entry.key) { counts.spared += 1 }
                if holds, !found.contains(entry.key) { counts.overlooked += 1 }
            }
        }
        return counts
    }
}

/// A record's fields, as predicates are asked of them.
private struct PlainRecord: PredicateSubject {
    let fields: [String: FieldValue]
    var searchedTexts: [String] { [] }

    func predicateValue(forKey key: String) -> PredicateValue? { fields[key].flatMap(Self.value) }

    private static func value(_ value: FieldValue) -> PredicateValue? {
        switch value {
        case .string(let text): .string(text)
        case .int64(let number): .int64(number)
        case .double(let number): .double(number)
        case .date(let seconds): .date(seconds)
        case .list(let list): .list(list.elements.compactMap(Self.value))
        default: nil
        }
    }
}

/// Predicates about few keys and few values, so that many hold.
private struct SmallPredicates {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func one<Value>(of values: [Value]) -> Value { values[random.next(below: values.count)] }

    mutating func tree(depth: Int) -> PredicateTree {
        switch random.next(below: depth > 0 ? 8 : 4) {
        case 4, 5: .and([tree(depth: depth - 1), tree(depth: depth - 1)])
        case 6: .or([tree(depth: depth - 1), tree(depth: depth - 1)])
        case 7: .not(tree(depth: depth - 1))
        default: .comparison(comparison())
        }
    }

    private mutating func comparison() -> PredicateComparison {
        let key = PredicateExpression.keyPath(one(of: ["a", "a", "b", "c.d", "b.@count"]))
        let relation = one(of: [.equal, .equal] + PredicateComparison.Relation.allCases)
        let isList = relation == .between || relation == .isIn
        let operand =
            isList ? PredicateValue.list([value(), value()]) : random.next(below: 12) == 0 ? .null : value()
        let other: PredicateExpression =
            random.next(below: 10) == 0
            ? .keyPath("b")
            : random.next(below: 10) == 0
                ? .function("add:to:", [.keyPath("b"), .value(.int64(1))])
                : .value(operand)
        let isTurned = random.next(below: 4) == 0
        return PredicateComparison(
            quantifier: one(of: [nil, nil, nil, nil, .any, .all, .notAny]), left: isTurned ? other : key,
            relation: relation, options: one(of: [[], [], [], .caseInsensitive, [.diacriticInsensitive]]),
            right: isTurned ? key : other)
    }

    private static let numbers: [Int64] = [0, 1, 2, -1, 1 << 53, (1 << 53) + 1, (1 << 53) + 2, .max, .max - 1, .min]
    private static let fractions = [0.0, -0.0, 1, 1.5, 0x1p53, 0x1p63, -0x1p63, 1e300, .leastNonzeroMagnitude]
    private static let texts = ["", "a", "A", "e\u{301}", "\u{e9}", "ab", "1"]

    private mutating func value() -> PredicateValue {
        switch random.next(below: 8) {
        case 0..<3: .int64(one(of: Self.numbers))
        case 3, 4: .double(one(of: Self.fractions))
        case 5: .date(one(of: [0, 1, 1.5]))
        default: .string(one(of: Self.texts))
        }
    }

    private mutating func field() -> FieldValue {
        switch random.next(below: 8) {
        case 0..<3: .int64(one(of: Self.numbers))
        case 3: .double(one(of: Self.fractions + [.nan, .infinity]))
        case 4: .date(one(of: [0, 1, 1.5]))
        default: .string(one(of: Self.texts))
        }
    }

    mutating func record() -> [String: FieldValue] {
        var fields: [String: FieldValue] = [:]
        for key in ["a", "b"] where random.next(below: 8) > 0 {
            let first = field()
            fields[key] = random.next(below: 6) == 0 ? (try? FieldList([first, first])).map { .list($0) } : first
        }
        return fields
    }
}
