import StrataModel
import Testing

@testable import StrataQuery

@Suite("What may be asked of a database")
struct PredicateCheckTests {
    static let accepted = [
        "TRUEPREDICATE", "a = 1", "a != 'x' AND b >= 2.5", "a BETWEEN {1, 10}", "name BEGINSWITH 'x'",
        "ANY tags BEGINSWITH 'x'", "tags CONTAINS 'x'", "'x' IN tags", "ANY tags = 'x'", "a IN {1, 2}",
        "ANY {1, 2} = a", "self CONTAINS 'a b' AND self CONTAINS 'c'", "address CONTAINS[c] 'Cupertino'",
        "NOT a = 1", "NOT a IN {1, 2}", "creationDate > now()", "data = CAST('00', 'NSData')",
        "distanceToLocation:fromLocation:(place, CAST({1, 2}, 'CLLocation')) < 1000",
        "1000 >= distanceToLocation:fromLocation:(CAST({1, 2}, 'CLLocation'), place)",
        "parent = CAST({'a', 'z', 'o'}, 'CKReference')", "___createTime < CAST(0, 'NSDate')",
    ]

    @Test("B123, B125, B131, B134, B136: what the documents show is accepted in both dialects", arguments: accepted)
    func accepts(format: String) throws {
        let tree = try PredicateParser.parse(format)
        try PredicateCheck(.cloudKit).check(tree)
        try PredicateCheck(.extended).check(tree)
    }

    /// Text, and what of it the service refuses.
    static let refusedByService: [(String, String)] = [
        ("a = 1 OR b = 2", "OR"), ("ALL tags = 'x'", "ALL"), ("NONE tags = 'x'", "NONE"),
        ("a ENDSWITH 'x'", "ENDSWITH"),
        ("a LIKE 'x*'", "LIKE"), ("a MATCHES 'x+'", "MATCHES"), ("tags.@count > 1", "@count"),
        ("owner.name = 'x'", "owner.name"), ("NOT (a = 1 AND b = 2)", "NOT of an AND"),
        ("NOT a BETWEEN {1, 2}", "NOT of BETWEEN"), ("NOT self CONTAINS 'x'", "NOT of a word search"),
        ("NOT distanceToLocation:fromLocation:(place, CAST({1, 2}, 'CLLocation')) < 10", "NOT of a distance"),
        ("distanceToLocation:fromLocation:(place, CAST({1, 2}, 'CLLocation')) > 10", "a distance with >"),
        ("a = b", "two keys"),
        ("1 = 1", "two values"), ("a + 1 = 2", "arithmetic"), ("a = nil", "nil"), ("SELF = 'x'", "SELF"),
        ("a TOKENMATCHES[cd] 'x'", "TOKENMATCHES"), ("a = CAST(now(), 'NSNumber')", "CAST"),
        ("b = 1 AND (c = 2 AND d LIKE 'x')", "LIKE"),
    ]

    @Test("B124, B125, B137: what the service refuses only the extended dialect accepts", arguments: refusedByService)
    func refuses(format: String, what: String) throws {
        let tree = try PredicateParser.parse(format)
        try PredicateCheck(.extended).check(tree)
        let error = try #require(throws: StrataError.self) { try PredicateCheck(.cloudKit).check(tree) }
        #expect(error.code == .invalidArgument)
        #expect(error.context.found?.contains(what) == true, "\(error)")
        #expect(error.context.expected?.isEmpty == false, "what to do instead")
    }

    /// Text, and what of it has no meaning.
    static let meaningless: [(String, String)] = [
        ("a = $x", "none"), ("a BETWEEN {1}", "LIST<INT64>"), ("a BETWEEN 3", "INT64"), ("a IN 3", "INT64"),
        ("a BEGINSWITH 3", "INT64"), ("a < {1, 2}", "LIST"), ("a > CAST('00', 'NSData')", "BYTES"),
        ("a < CAST({1, 2}, 'CLLocation')", "LOCATION"), ("self CONTAINS 3", "INT64"), ("f(a) = 1", "f"),
        ("now(1) < a", "operands"),
        ("distanceToLocation:fromLocation:(a) < 3", "1 operands"),
        ("distanceToLocation:fromLocation:(a, b) < 3", "other operands"), ("#\"\" = 1", "“”"), ("a.@sum = 1", "@sum"),
        ("distanceToLocation:fromLocation:(place, CAST({1, 2}, 'CLLocation')) < 'x'", "something else"),
    ]

    @Test("B126: an operand that does not fit is refused in both dialects, and named", arguments: meaningless)
    func namesOperand(format: String, found: String) throws {
        let tree = try PredicateParser.parse(format)
        #expect(throws: StrataError.self) { try PredicateCheck(.cloudKit).check(tree) }
        let error = try #require(throws: StrataError.self) { try PredicateCheck(.extended).check(tree) }
        #expect(error.code == .invalidArgument)
        #expect(error.context.found?.contains(found) == true, "\(error)")
    }

    @Test("The place of what is refused is that of its relation")
    func place() throws {
        let tree = try PredicateParser.parse("a = 1 AND bb LIKE 'x'")
        let error = try #require(throws: StrataError.self) { try PredicateCheck(.cloudKit).check(tree) }
        #expect(error.context.position == 14)
    }
}
