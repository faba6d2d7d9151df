import Foundation

/// How a text is split for `self CONTAINS 'words'` (B132, B133).
enum PredicateWords {
    /// Too frequent to tell records apart.
    static let stopWords: Set<String> = [
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not",
        "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was",
        "will", "with",
    ]

    /// The words worth looking for, without case and accents.
    static func words(in text: String) -> Set<String> {
        let folded = fold(text, [.caseInsensitive, .diacriticInsensitive])
        let words = folded.split { !$0.isLetter && !$0.isNumber }.map(String.init)
        return Set(words).subtracting(stopWords)
    }

    static func fold(_ text: String, _ options: PredicateComparison.Options) -> String {
        var comparison: String.CompareOptions = []
        if options.contains(.caseInsensitive) { comparison.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { comparison.insert(.diacriticInsensitive) }
        let folded = comparison.isEmpty ? text : text.folding(options: comparison, locale: nil)
        return options.contains(.normalized) ? folded.precomposedStringWithCanonicalMapping : folded
    }
}
