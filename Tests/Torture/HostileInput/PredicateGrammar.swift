import TestSupport

/// Texts that are predicates, or nearly.
struct PredicateGrammar {
    private var generator: SeededGenerator

    init(_ generator: SeededGenerator) { self.generator = generator }

    private static let keys = [
        "n", "s", "d", "at", "place", "tags", "link", "data", "recordID", "creationDate", "modificationDate", "self",
        "allTokens", "unknown", "%K", "__x", "ANY", "n.s", "tags[0]", "@count", "___modTime",
    ]
    private static let comparisons = [
        "=", "==", "!=", "<>", "<", ">", "<=", "=>", ">=", "=<", "BEGINSWITH", "BEGINSWITH[cd]", "ENDSWITH", "CONTAINS",
        "CONTAINS[c]", "LIKE", "LIKE[cd]", "MATCHES", "IN", "BETWEEN", "TOKENMATCHES[cdl]", "NOT IN", "===", "[x]",
    ]
    private static let values = [
        "1", "-1", "0x1F", "1e400", "-9223372036854775808", "9223372036854775808", "NaN", "nil", "NULL", "TRUE", "'a'",
        "\"aab\"", "'\\u12'", "''", "'(a'", "'a+b'", "'[z-a]'", "'a{2000}'", "{1, 2}", "{}", "{'a', {1}}", "%@", "%d",
        "%n", "%", "now()", "CAST(1, 'NSDate')", "1/0", "2**999", "FUNCTION(1, 'x')", "$v",
        "SUBQUERY(tags, $x, $x = 1)",
        "distanceToLocation:fromLocation:(place, %@)", "-+-1", "n + 1", "\u{1F600}", "'\u{0}'", "9999999999999999999",
    ]

    private mutating func any(_ words: [String]) -> String { words[generator.next(below: words.count)] }

    mutating func predicate(depth: Int = 0) -> String {
        switch generator.next(below: depth > 5 ? 6 : 12) {
        case 0..<6: return "\(any(Self.keys)) \(any(Self.comparisons)) \(any(Self.values))"
        case 6: return "NOT \(predicate(depth: depth + 1))"
        case 7: return "(\(predicate(depth: depth + 1)) AND \(predicate(depth: depth + 1)))"
        case 8: return "\(predicate(depth: depth + 1)) || \(predicate(depth: depth + 1))"
        case 9: return "\(any(["ANY", "ALL", "NONE", "SOME"])) \(predicate(depth: depth + 1))"
        case 10: return any(["TRUEPREDICATE", "FALSEPREDICATE", "", "(", ")", "!", "\t"])
        default: return broken(predicate(depth: depth + 1))
        }
    }

    private mutating func broken(_ text: String) -> String {
        var characters = Array(text)
        guard !characters.isEmpty else { return text }
        let place = generator.next(below: characters.count)
        switch generator.next(below: 3) {
        case 0: characters.remove(at: place)
        case 1: characters.insert(contentsOf: any(Self.values), at: place)
        default: characters.removeSubrange(place...)
        }
        return String(characters)
    }

    /// A text that is deep or long beyond any sense.
    mutating func excessive() -> String {
        let count = 1 << (10 + generator.next(below: 7))
        switch generator.next(below: 6) {
        case 0: return String(repeating: "(", count: count) + "n = 1" + String(repeating: ")", count: count)
        case 1: return String(repeating: "NOT ", count: count) + "n = 1"
        case 2: return String(repeating: "!", count: count) + "(n = 1)"
        case 3: return String(repeating: "n = 1 AND ", count: count / 8) + "n = 1"
        case 4: return "n IN {" + String(repeating: "1,", count: count) + "1}"
        default: return "n = " + String(repeating: "-", count: count) + "1"
        }
    }
}
