import StrataModel
import Testing

@testable import StrataQuery

@Suite("What predicates' texts say")
struct PredicateGrammarTests {
    /// Text, and how it is printed.
    static let good: [(String, String)] = [
        ("a = 1", "a == 1"),
        ("a == 1", "a == 1"),
        ("a <> 1", "a != 1"),
        ("a =< 1", "a <= 1"),
        ("a => 1", "a >= 1"),
        ("a<1", "a < 1"),
        ("1 < a", "1 < a"),
        ("a = -5", "a == -5"),
        ("a = -9223372036854775808", "a == -9223372036854775808"),
        ("a = 9223372036854775808", "a == 9.223372036854776e+18"),
        ("a = 0x1F", "a == 31"),
        ("a = 0o17", "a == 15"),
        ("a = 0b101", "a == 5"),
        ("a = 1.5e3", "a == 1500.0"),
        ("a = .5", "a == 0.5"),
        ("a = TRUE AND b = no", "a == 1 AND b == 0"),
        ("a = NULL or a = nil", "a == nil OR a == nil"),
        ("a = 'it\\'s'", "a == \"it's\""),
        ("a = \"say \\\"hi\\\"\\n\"", "a == \"say \\\"hi\\\"\\n\""),
        ("a = '\\u00e4\\x41'", "a == \"äA\""),
        ("größe > 3", "größe > 3"),
        ("address CONTAINS[c] 'Cupertino'", "address CONTAINS[c] \"Cupertino\""),
        ("a contains[dc] 'x'", "a CONTAINS[cd] \"x\""),
        ("a ==[c] 'x'", "a ==[c] \"x\""),
        ("a BEGINSWITH 'x' && b ENDSWITH 'y'", "a BEGINSWITH \"x\" AND b ENDSWITH \"y\""),
        ("a LIKE '*x?' || a MATCHES '[a-z]+'", "a LIKE \"*x?\" OR a MATCHES \"[a-z]+\""),
        ("a IN {1, 2, 3}", "a IN {1, 2, 3}"),
        ("a IN {}", "a IN {}"),
        ("a BETWEEN {1, 10}", "a BETWEEN {1, 10}"),
        ("ANY tags = 'x'", "ANY tags == \"x\""),
        ("some tags = 'x'", "ANY tags == \"x\""),
        ("ALL tags = 'x'", "ALL tags == \"x\""),
        ("NONE tags = 'x'", "NONE tags == \"x\""),
        ("ANY {1, 2} = a", "ANY {1, 2} == a"),
        ("NOT a = 1 AND b = 2", "NOT a == 1 AND b == 2"),
        ("NOT (a = 1 AND b = 2)", "NOT (a == 1 AND b == 2)"),
        ("!(a = 1)", "NOT a == 1"),
        ("a = 1 OR b = 2 AND c = 3", "a == 1 OR (b == 2 AND c == 3)"),
        ("(a = 1 OR b = 2) AND c = 3", "(a == 1 OR b == 2) AND c == 3"),
        ("((a)) = ((1))", "a == 1"),
        ("TRUEPREDICATE", "TRUEPREDICATE"),
        ("falsepredicate or a = 1", "FALSEPREDICATE OR a == 1"),
        ("self CONTAINS 'red blue'", "SELF CONTAINS \"red blue\""),
        ("SELF.name = 'x'", "name == \"x\""),
        ("owner.name = 'x'", "owner.name == \"x\""),
        ("tags.@count > 2", "tags.@count > 2"),
        ("#in = 1", "#in == 1"),
        ("#\"odd key\" = 1", "#\"odd key\" == 1"),
        ("a = $name", "a == $name"),
        ("date < now()", "date < now()"),
        ("date < now:()", "date < now()"),
        (
            "distanceToLocation:fromLocation:(place, CAST({1, 2}, 'CLLocation')) < 5000",
            "distanceToLocation:fromLocation:(place, CAST({1.0, 2.0}, \"CLLocation\")) < 5000"
        ),
        ("ALL tokenize('a b', 'Cdl') IN allTokens", "ALL tokenize:using:(\"a b\", \"Cdl\") IN allTokens"),
        ("date > CAST(7, 'NSDate')", "date > CAST(7.0, \"NSDate\")"),
        ("data = CAST('00ff', 'NSData')", "data == CAST(\"00ff\", \"NSData\")"),
        ("a + 1 > b * (2 - c) ** 2", "(a + 1) > (b * ((2 - c) ** 2))"),
        ("a > -b", "a > (0 - b)"),
    ]

    @Test("A format is read, and printed as it is understood", arguments: good)
    func reads(format: String, printed: String) throws {
        let tree = try PredicateParser.parse(format)
        #expect(PredicateWriter.text(of: tree) == printed)
        #expect(try PredicateParser.parse(printed) == tree)
    }

    /// Text, the character where it is wrong, and what was expected there.
    static let bad: [(String, UInt64, String)] = [
        ("", 1, "a key or a value"),
        ("a", 2, "a comparison"),
        ("a =", 4, "a key or a value"),
        ("a = = 1", 5, "a key or a value"),
        ("a === 1", 5, "a key or a value"),
        ("a = 1 AND", 10, "a key or a value"),
        ("a = 1 b = 2", 7, "AND, OR or the end"),
        ("(a = 1", 7, "“)”"),
        ("a = 1)", 6, "AND, OR or the end"),
        ("a = 'x", 5, "a closing quotation mark"),
        ("ä = 'x", 5, "a closing quotation mark"),
        ("a IN {1, 2", 11, "“,”"),
        ("a IN {1 2}", 9, "“,”"),
        ("a CONTAINS[x] 'b'", 12, "c, d or cd"),
        ("a CONTAINS[c 'b'", 14, "“]”"),
        ("a ~ 1", 3, "a word or a sign"),
        ("a = %@", 5, "an argument for “%@”"),
        ("a = %y", 5, "%@, %K, %d or %f"),
        ("a = %%", 5, "%% is a percent sign"),
        ("a %% 2 = 1", 3, "%% is a percent sign"),
        ("a = %", 5, "%@, %K, %d or %f"),
        ("a = 12x", 5, "a number"),
        ("a = 0xFFFFFFFFFFFFFFFFF", 5, "a number of 64 bits"),
        ("in = 1", 1, "#in"),
        ("a.1 = 2", 2, "a comparison"),
        ("a. = 2", 4, "a key after the dot"),
        ("$ = 2", 2, "the name of a variable"),
        ("NOT 3", 6, "a comparison"),
        ("ANY a", 6, "a comparison"),
        ("ANY (a = 1)", 1, "a value"),
        ("(a = 1) = 2", 9, "AND, OR or the end"),
        ("1 + (a = 1) > 2", 5, "a key or a value"),
        ("f(a = 1) > 2", 5, "“,”"),
        ("f:g(a) > 2", 4, "“:”"),
        ("CAST('x', 'NSDate') = a", 1, "a value that can be a NSDate"),
        ("CAST(1) = a", 1, "CAST(value"),
        ("a = '\\uD800'", 8, "4 hexadecimal digits"),
        ("a = 1e999", 5, "a number"),
    ]

    @Test("Malformed text says where it is wrong, and what was expected there", arguments: bad)
    func refuses(format: String, position: UInt64, expected: String) throws {
        let error = try #require(throws: StrataError.self) { try PredicateParser.parse(format) }
        #expect(error.code == .malformed)
        #expect(error.context.position == position)
        #expect(error.context.expected?.contains(expected) == true, "\(error)")
    }

    @Test("Deep nesting is refused, in each of its forms", arguments: ["(", "NOT ", "!", "-", "{", "f("])
    func refusesDepth(_ opening: String) throws {
        let format = String(repeating: opening, count: 60_000 / opening.utf8.count) + "a = 1"
        let error = try #require(throws: StrataError.self) { try PredicateParser.parse(format) }
        #expect(error.context.found == "deeper nesting")
    }

    @Test("A long chain is a wide tree, or one that is refused")
    func longChains() throws {
        let wide = Array(repeating: "a = 1", count: 5_000).joined(separator: " OR ")
        #expect(try PredicateParser.parse(wide).depth == 3)
        let sum = Array(repeating: "a", count: 5_000).joined(separator: " + ") + " = 1"
        #expect(throws: StrataError.self) { try PredicateParser.parse(sum) }
        #expect(throws: StrataError.self) { try PredicateParser.parse(String(repeating: " ", count: 70_000) + "a = 1") }
    }
}
