import Foundation

/// Folds texts by removing differences that a search ignores.
///
/// ```swift
/// TextFolding.fold("Café", [.caseInsensitive, .diacriticInsensitive])  // "cafe"
/// ```
package enum TextFolding {
    package struct Options: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let caseInsensitive = Self(rawValue: 1)
        package static let diacriticInsensitive = Self(rawValue: 2)
        package static let normalized = Self(rawValue: 4)
        package static let localeSensitive = Self(rawValue: 8)
    }

    package static func fold(_ text: String, _ options: Options) -> String {
        // ASCII has no accents and a single form; Foundation takes a hundred times as long to determine that.
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return options.contains(.caseInsensitive) ? String(decoding: text.utf8.map(lowercase), as: UTF8.self) : text
        }
        var comparison: String.CompareOptions = []
        if options.contains(.caseInsensitive) { comparison.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { comparison.insert(.diacriticInsensitive) }
        let folded = comparison.isEmpty ? text : text.folding(options: comparison, locale: nil)
        return options.contains(.normalized) ? folded.precomposedStringWithCanonicalMapping : folded
    }

    /// Returns the lowercase form of an ASCII letter; other bytes stay unchanged.
    @inlinable
    package static func lowercase(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}

/// Splits texts into words for `self CONTAINS 'words'` (B132, B133).
package enum SearchWords {
    /// The words that are too frequent to distinguish records.
    package static let stopWords: Set<String> = [
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not",
        "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was",
        "will", "with",
    ]

    /// Returns the words to search for, without case and accents.
    package static func words(in text: String) -> Set<String> {
        let folded = TextFolding.fold(text, [.caseInsensitive, .diacriticInsensitive])
        var words: Set<String> = []
        if folded.utf8.allSatisfy({ $0 < 0x80 }) {
            for word in folded.utf8.split(whereSeparator: { !isLetterOrDigit($0) }) {
                words.insert(String(Substring(word)))
            }
        } else {
            for word in folded.split(whereSeparator: { !$0.isLetter && !$0.isNumber }) { words.insert(String(word)) }
        }
        words.subtract(stopWords)
        return words
    }

    /// Returns true for ASCII digits and lowercase ASCII letters.
    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte &- 0x61 < 26 || byte &- 0x30 < 10
    }
}
