import Foundation

/// Texts without the differences that a search overlooks.
///
/// ```swift
/// TextFolding.fold("Café", [.caseInsensitive, .diacriticInsensitive])  // "cafe"
/// ```
public enum TextFolding {
    public struct Options: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let caseInsensitive = Self(rawValue: 1)
        public static let diacriticInsensitive = Self(rawValue: 2)
        public static let normalized = Self(rawValue: 4)
        public static let localeSensitive = Self(rawValue: 8)
    }

    public static func fold(_ text: String, _ options: Options) -> String {
        // ASCII has no accents and one form; Foundation takes a hundred times as long to find that out.
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return options.contains(.caseInsensitive) ? String(decoding: text.utf8.map(lowercase), as: UTF8.self) : text
        }
        var comparison: String.CompareOptions = []
        if options.contains(.caseInsensitive) { comparison.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { comparison.insert(.diacriticInsensitive) }
        let folded = comparison.isEmpty ? text : text.folding(options: comparison, locale: nil)
        return options.contains(.normalized) ? folded.precomposedStringWithCanonicalMapping : folded
    }

    /// Of a letter of ASCII; other bytes stay.
    @inlinable
    public static func lowercase(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}

/// How a text is split for `self CONTAINS 'words'` (B132, B133).
public enum SearchWords {
    /// Too frequent to tell records apart.
    public static let stopWords: Set<String> = [
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not",
        "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was",
        "will", "with",
    ]

    /// The words worth looking for, without case and accents.
    public static func words(in text: String) -> Set<String> {
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

    /// Of ASCII in small letters.
    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte &- 0x61 < 26 || byte &- 0x30 < 10
    }
}
