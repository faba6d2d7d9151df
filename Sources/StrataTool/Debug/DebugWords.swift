/// A line of a debugger session, split into words as by a shell. Quoted text forms one word.
struct DebugWords {
    struct Word {
        /// The text without quotes.
        var text: String
        /// The text as it was written.
        var written: String
        /// The number of characters before the word.
        var start: Int
        var isQuoted = false
    }

    private(set) var words: [Word] = []
    /// True if the last quote was never closed.
    private(set) var isOpen = false

    init(_ line: String) {
        var word: Word?
        var quote: Character?
        var isEscaped = false
        for (place, character) in line.enumerated() {
            if quote == nil, !isEscaped, character.isWhitespace {
                if let word { words.append(word) }
                word = nil
                continue
            }
            if word == nil { word = Word(text: "", written: "", start: place) }
            word?.written.append(character)
            if isEscaped {
                word?.text.append(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
                word?.isQuoted = true
            } else {
                word?.text.append(character)
            }
        }
        if let word { words.append(word) }
        isOpen = quote != nil
    }

    /// Returns a word, quoted if necessary.
    static func quoted(_ text: String) -> String {
        let needsQuotes = text.isEmpty || text.contains { $0.isWhitespace || "\"'\\".contains($0) }
        guard needsQuotes else { return text }
        return "\"" + text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] } + "\""
    }

    /// Joins words as they were written, because quotes belong to the predicate, unless a single quoted word is given.
    static func predicate(_ words: ArraySlice<Word>) -> String {
        if words.count == 1, let word = words.first, word.isQuoted { return word.text }
        return words.map(\.written).joined(separator: " ")
    }
}
