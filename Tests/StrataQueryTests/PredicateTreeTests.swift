import StrataModel
import Testing

@testable import StrataQuery

/// Formats with the trees that they are read as, put together from their parts.
@Suite("What predicates' texts are read as")
struct PredicateTreeTests {
    private static let relations: [(String, PredicateComparison.Relation)] = [
        ("=", .equal), ("==", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<", .less), ("<=", .lessOrEqual),
        ("=<", .lessOrEqual), (">", .greater), (">=", .greaterOrEqual), ("=>", .greaterOrEqual),
        ("BETWEEN", .between), ("between", .between), ("BetWeen", .between), ("IN", .isIn), ("iN", .isIn),
        ("CONTAINS", .contains), ("contains", .contains), ("BEGINSWITH", .beginsWith), ("beginsWith", .beginsWith),
        ("ENDSWITH", .endsWith), ("endswith", .endsWith), ("LIKE", .like), ("Like", .like), ("MATCHES", .matches),
        ("matches", .matches), ("TOKENMATCHES", .tokenMatches),
    ]

    private static let operands: [(String, PredicateExpression)] = [
        ("1", .value(.int64(1))), ("-7", .value(.int64(-7))), ("0xff", .value(.int64(255))),
        ("2.5", .value(.double(2.5))), ("1e2", .value(.double(100))), ("'x'", .value(.string("x"))),
        ("\"it's\"", .value(.string("it's"))), ("'a\\tb'", .value(.string("a\tb"))), ("TRUE", .value(.int64(1))),
        ("no", .value(.int64(0))), ("NIL", .value(.null)), ("Null", .value(.null)), ("b", .keyPath("b")),
        ("b.c.d", .keyPath("b.c.d")), ("#size", .keyPath("size")), ("self", .evaluatedObject),
        ("$v", .variable("v")), ("now()", .function("now", [])), ("(b)", .keyPath("b")),
        ("b + 2", .function("add:to:", [.keyPath("b"), .value(.int64(2))])),
    ]

    private func comparison(
        _ left: PredicateExpression, _ relation: PredicateComparison.Relation, _ right: PredicateExpression,
        _ options: TextFolding.Options = [], _ quantifier: PredicateComparison.Quantifier? = nil
    ) -> PredicateTree {
        .comparison(
            PredicateComparison(
                quantifier: quantifier, left: left, relation: relation, options: options, right: right))
    }

    @Test("Every relation takes every operand, on either side")
    func combinations() throws {
        var count = 0
        for (spelling, relation) in Self.relations {
            for (text, operand) in Self.operands {
                let right = "a \(spelling) \(text)"
                #expect(try PredicateParser.parse(right) == comparison(.keyPath("a"), relation, operand), "\(right)")
                let left = "\(text) \(spelling) a"
                #expect(try PredicateParser.parse(left) == comparison(operand, relation, .keyPath("a")), "\(left)")
                count += 2
            }
        }
        #expect(count == Self.relations.count * Self.operands.count * 2)
    }

    @Test("Options go with the relation, in any order and case")
    func options() throws {
        let letters: [(String, TextFolding.Options)] = [
            ("[c]", .caseInsensitive), ("[d]", .diacriticInsensitive), ("[C]", .caseInsensitive),
            ("[cd]", [.caseInsensitive, .diacriticInsensitive]), ("[DC]", [.caseInsensitive, .diacriticInsensitive]),
            ("[n]", .normalized), ("[l]", .localeSensitive),
        ]
        for (spelling, relation) in Self.relations {
            for (text, options) in letters {
                let format = "a \(spelling)\(text) 'x'"
                let expected = comparison(.keyPath("a"), relation, .value(.string("x")), options)
                #expect(try PredicateParser.parse(format) == expected, "\(format)")
            }
        }
    }

    @Test("Quantifiers are read in any case")
    func quantifiers() throws {
        let words: [(String, PredicateComparison.Quantifier)] = [
            ("ANY", .any), ("any", .any), ("SOME", .any), ("Some", .any), ("ALL", .all), ("all", .all),
            ("NONE", .notAny), ("none", .notAny),
        ]
        for (word, quantifier) in words {
            for (spelling, relation) in Self.relations {
                let format = "\(word) tags \(spelling) 'x'"
                let expected = comparison(.keyPath("tags"), relation, .value(.string("x")), [], quantifier)
                #expect(try PredicateParser.parse(format) == expected, "\(format)")
            }
        }
    }

    @Test("NOT binds closer than AND, AND closer than OR, in words and signs")
    func precedence() throws {
        func one(_ key: String) -> PredicateTree { comparison(.keyPath(key), .equal, .value(.int64(1))) }
        let (a, b, c) = (one("a"), one("b"), one("c"))
        for (and, or, not) in [("AND", "OR", "NOT "), ("&&", "||", "!"), ("and", "Or", "not ")] {
            let trees: [(String, PredicateTree)] = [
                ("a=1 \(or) b=1 \(and) c=1", .or([a, .and([b, c])])),
                ("a=1 \(and) b=1 \(or) c=1", .or([.and([a, b]), c])),
                ("(a=1 \(or) b=1) \(and) c=1", .and([.or([a, b]), c])),
                ("\(not)a=1 \(and) b=1", .and([.not(a), b])), ("\(not)(a=1 \(and) b=1)", .not(.and([a, b]))),
                ("\(not)\(not)a=1", .not(.not(a))), ("a=1 \(and) b=1 \(and) c=1", .and([a, b, c])),
                ("a=1 \(or) \(not)b=1 \(or) c=1", .or([a, .not(b), c])),
            ]
            for (format, tree) in trees { #expect(try PredicateParser.parse(format) == tree, "\(format)") }
        }
    }

    @Test("Every placeholder takes what fits it, and nothing else")
    func placeholders() throws {
        for placeholder in ["%@", "%d", "%i", "%u", "%ld", "%lld", "%lu", "%D", "%lli", "%llu", "%li"] {
            let tree = try PredicateParser.parse("a = \(placeholder)", [.value(.int64(7))])
            #expect(tree == comparison(.keyPath("a"), .equal, .value(.int64(7))), "\(placeholder)")
        }
        let tree = try PredicateParser.parse("%K > %f", [.value(.string("a.b")), .value(.int64(7))])
        #expect(tree == comparison(.keyPath("a.b"), .greater, .value(.double(7))))
        for (format, argument) in [
            ("a = %d", PredicateValue.string("x")), ("a = %f", .string("x")), ("%K = 1", .int64(1)), ("%K = 1", .null),
        ] {
            let error = try #require(throws: StrataError.self) {
                try PredicateParser.parse(format, [.value(argument)])
            }
            #expect(error.code == .malformed && error.context.position != nil, "\(format)")
        }
    }
}
