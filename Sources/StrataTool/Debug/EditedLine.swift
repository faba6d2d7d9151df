/// A line being typed, with the cursor position.
struct EditedLine: Equatable {
    private(set) var text: [Character] = []
    /// The number of characters before the cursor.
    private(set) var cursor = 0

    init(_ text: String = "") {
        self.text = Array(text)
        cursor = self.text.count
    }

    var string: String { String(text) }
    var beforeCursor: String { String(text[..<cursor]) }

    // MARK: Typing

    /// Inserts a scalar. A combining one becomes part of the character before it.
    mutating func insert(_ scalar: Unicode.Scalar) {
        let before = Array(beforeCursor + String(Character(scalar)))
        let after = String(text[cursor...])
        text = before + Array(after)
        cursor = before.count
    }

    /// Replaces the characters from an index up to the cursor.
    mutating func replace(from start: Int, with text: String) {
        let before = Array(self.text[..<start]) + Array(text)
        self.text = before + self.text[cursor...]
        cursor = before.count
    }

    // MARK: Keys

    /// Returns true if the key changes the line or the cursor.
    mutating func press(_ key: LineKey) -> Bool {
        switch key {
        case .scalar(let scalar): insert(scalar)
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(text.count, cursor + 1)
        case .wordLeft: cursor = wordStart
        case .wordRight: cursor = wordEnd
        case .home: cursor = 0
        case .end: cursor = text.count
        case .backspace: remove(from: max(0, cursor - 1))
        case .delete: if cursor < text.count { text.remove(at: cursor) }
        case .killToEnd: text.removeSubrange(cursor...)
        case .killToStart: remove(from: 0)
        case .killWord: remove(from: wordStart)
        default: return false
        }
        return true
    }

    private mutating func remove(from start: Int) {
        text.removeSubrange(start..<cursor)
        cursor = start
    }

    private var wordStart: Int {
        let blank = text[..<cursor].lastIndex { !$0.isWhitespace } ?? 0
        return (text[..<blank].lastIndex { $0.isWhitespace } ?? -1) + 1
    }

    private var wordEnd: Int {
        let start = text[cursor...].firstIndex { !$0.isWhitespace } ?? text.count
        return text[start...].firstIndex { $0.isWhitespace } ?? text.count
    }
}
