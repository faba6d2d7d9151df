/// A word or sign of a predicate's text.
struct PredicateToken: Equatable {
    enum Kind: Equatable {
        /// `isEscaped`: true after `#`, so that the word is a key even if it is spelled like a keyword.
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
    /// The range of the token in the text's bytes.
    var range: Range<Int>

    /// The keyword, in capitals; nil for any other token.
    var keyword: String? {
        // Only ASCII, because some other letters change into ASCII ones when capitalized.
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
