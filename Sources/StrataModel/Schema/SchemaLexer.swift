/// A token of a schema's text, with its position.
struct SchemaToken {
    enum Kind: Equatable {
        case word
        /// A name in double quotes, without the quotes.
        case quoted
        /// One of `( ) < > , ;`
        case symbol
        case end
    }

    var kind: Kind
    var text: String
    /// The position of the token. Lines and columns count from 1; columns count Unicode scalars.
    var line: Int
    var column: Int

    // The bytes of a literal live as long as the program.
    /// Returns true if the token is a keyword, which may be written in any case.
    func isKeyword(_ keyword: StaticString) -> Bool {
        guard kind == .word, text.utf8.count == keyword.utf8CodeUnitCount else { return false }
        let expected = UnsafeBufferPointer(start: keyword.utf8Start, count: keyword.utf8CodeUnitCount)
        return zip(text.utf8, expected).allSatisfy { $0 == $1 || $0 ^ $1 == 0x20 && SchemaName.isLetter($0) }
    }

    func isSymbol(_ symbol: StaticString) -> Bool { kind == .symbol && text == "\(symbol)" }

    func mistake(expected: String) -> StrataError { mistake(expected: expected, found: description) }

    func mistake(expected: String, found: String) -> StrataError {
        StrataError(
            .invalidArgument, "The schema has an error.",
            .init(expected: expected, found: found, line: line, column: column))
    }

    /// The token as an error quotes it.
    private var description: String {
        let start = text.unicodeScalars.prefix(60)
        let quote = String(String.UnicodeScalarView(start)) + (start.count < text.unicodeScalars.count ? "…" : "")
        return switch kind {
        case .word, .symbol: "'\(quote)'"
        case .quoted: "\"\(quote)\""
        case .end: "the end of the text"
        }
    }
}

/// Splits a schema's text into tokens, without comments: `// …` and `-- …` to the end of the line, `/* … */`.
struct SchemaLexer {
    private let bytes: [UInt8]
    private var place = 0
    private var line = 1
    private var column = 1

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func next() throws -> SchemaToken {
        try skipBlanks()
        var token = SchemaToken(kind: .end, text: "", line: line, column: column)
        guard place < bytes.count else { return token }
        let start = place
        switch bytes[place] {
        case UInt8(ascii: "\""):
            token.text = try quoted(token)
            token.kind = .quoted
        case let byte where SchemaName.isPart(byte):
            while place < bytes.count, SchemaName.isPart(bytes[place]) { advance() }
            token.text = String(decoding: bytes[start..<place], as: UTF8.self)
            token.kind = .word
        default:
            advance()
            // The remaining bytes of a multibyte character.
            while place < bytes.count, bytes[place] & 0xC0 == 0x80 { advance() }
            token.text = String(decoding: bytes[start..<place], as: UTF8.self)
            token.kind = .symbol
        }
        return token
    }

    private mutating func advance() {
        let byte = bytes[place]
        place += 1
        if byte == UInt8(ascii: "\n") {
            line += 1
            column = 1
        } else if byte & 0xC0 != 0x80 {
            column += 1
        }
    }

    private mutating func quoted(_ start: SchemaToken) throws -> String {
        advance()
        let first = place
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            guard bytes[place] != UInt8(ascii: "\n") else { break }
            advance()
        }
        guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else {
            throw start.mistake(expected: "a quote at the end of the name", found: "the end of the line")
        }
        defer { advance() }
        return String(decoding: bytes[first..<place], as: UTF8.self)
    }

    // MARK: Blanks and comments

    private func isNext(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
        place + 1 < bytes.count && bytes[place] == UInt8(ascii: first) && bytes[place + 1] == UInt8(ascii: second)
    }

    private mutating func skipBlanks() throws {
        while place < bytes.count {
            if isNext("/", "/") || isNext("-", "-") {
                while place < bytes.count, bytes[place] != UInt8(ascii: "\n") { advance() }
            } else if isNext("/", "*") {
                try skipComment()
            } else if bytes[place] == 0x20 || (0x09...0x0D).contains(bytes[place]) {
                advance()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws {
        let start = SchemaToken(kind: .symbol, text: "/*", line: line, column: column)
        advance()
        advance()
        while !isNext("*", "/") {
            guard place < bytes.count else {
                throw start.mistake(expected: "*/ at the end of the comment", found: "the end of the text")
            }
            advance()
        }
        advance()
        advance()
    }
}
