/// A word or a single other character of Swift code.
struct Token: Sendable {
    let text: String
    /// From 0.
    let line: Int

    /// The tokens of code without comments and the content of strings.
    static func all(in code: [UInt8]) -> [Token] {
        var tokens: [Token] = []
        var line = 0
        var position = 0
        while position < code.count {
            let start = position
            position += 1
            if code[start] == .newline { line += 1 }
            if code[start] <= .space || code[start] == UInt8(ascii: "`") { continue }
            if code[start].isInIdentifier {
                while position < code.count, code[position].isInIdentifier { position += 1 }
            }
            tokens.append(Token(text: String(decoding: code[start..<position], as: UTF8.self), line: line))
        }
        return tokens
    }

    var isWord: Bool { text.utf8.first.map(\.isInIdentifier) ?? false }

    /// The keywords that begin a declaration.
    static let declarations: Set<String> = [
        "func", "init", "deinit", "subscript", "var", "let", "case", "typealias", "associatedtype", "import",
        "struct", "class", "enum", "actor", "protocol", "extension",
    ]
}

extension [Token] {
    /// The index of the brace that closes the one at `open`.
    func closingBrace(of open: Int) -> Int? {
        var depth = 0
        for index in open..<count {
            if self[index].text == "{" { depth += 1 }
            if self[index].text == "}" { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    /// What a member is called on comes with a dot before it.
    func isMember(_ index: Int) -> Bool { index > 0 && self[index - 1].text == "." }

    func text(_ index: Int) -> String { indices.contains(index) ? self[index].text : "" }
}
