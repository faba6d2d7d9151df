/// A word or sign of a predicate's text.
struct PredicateToken: Equatable {
    enum Kind: Equatable {
        /// `isEscaped`: after `#`, so that it is a key even if it is spelt as a keyword.
        case word(String, isEscaped: Bool)
        case string(String)
        /// As written.
        case number(String)
        case variable(String)
        case placeholder(Placeholder)
        case sign(String)
        case end
    }

    enum Placeholder: Equatable {
        case object, key, integer, floatingPoint
    }

    var kind: Kind
    /// Of the text's bytes.
    var range: Range<Int>

    /// The keyword that it is, in capitals.
    var keyword: String? {
        // Capitals outside ASCII can have small letters inside it, and the other way round.
        guard case .word(let word, isEscaped: false) = kind, word.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let capitals = word.uppercased()
        return Self.keywords.contains(capitals) ? capitals : nil
    }

    /// Apple's reserved words.
    static let keywords: Set<String> = [
        "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS",
        "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST",
        "SIZE", "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TRUEPREDICATE", "FALSEPREDICATE", "UTI-CONFORMS-TO",
        "UTI-EQUALS", "TOKENMATCHES",
    ]
}
