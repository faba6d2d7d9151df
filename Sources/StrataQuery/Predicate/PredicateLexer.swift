import StrataModel

/// Splits a predicate's text into words and signs.
struct PredicateLexer {
    static let maximumBytes = Subscription.maximumPredicateBytes

    private let bytes: [UInt8]
    private var position = 0
    // Counting resumes where it ended; otherwise a long text would be counted once per comparison.
    private var counted = (bytes: 0, scalars: 0)

    init(_ text: String, maximumBytes: Int) throws(StrataError) {
        bytes = Array(text.utf8)
        guard bytes.count <= maximumBytes else {
            throw StrataError.predicate(
                at: nil, expected: "at most \(maximumBytes) bytes", found: "\(bytes.count) bytes")
        }
    }

    mutating func next() throws(StrataError) -> PredicateToken {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
        let start = position
        guard start < bytes.count else { return PredicateToken(kind: .end, range: start..<start) }
        let kind = try readToken()
        return PredicateToken(kind: kind, range: start..<position)
    }

    /// The number of the character that begins at the byte, from 1.
    mutating func character(at byte: Int) -> Int {
        let isBehind = byte < counted.bytes
        let start = isBehind ? 0 : counted.bytes
        let scalars = bytes[start..<min(byte, bytes.count)].count { $0 & 0xC0 != 0x80 }
        counted = (bytes: byte, scalars: scalars + (isBehind ? 0 : counted.scalars))
        return counted.scalars + 1
    }

    /// The text of a token for an error message, truncated to a few words.
    func excerpt(_ token: PredicateToken) -> String {
        guard !token.range.isEmpty else { return "the end" }
        return "“" + String(decoding: bytes[token.range], as: UTF8.self).prefix(40) + "”"
    }

    mutating func mistake(at byte: Int, expected: String, found: String) -> StrataError {
        StrataError.predicate(at: character(at: byte), expected: expected, found: found)
    }

    private mutating func readToken() throws(StrataError) -> PredicateToken.Kind {
        switch bytes[position] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try readQuoted())
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(readNumber())
        case UInt8(ascii: ".") where Self.isDigit(byte(at: position + 1)): return .number(readNumber())
        case UInt8(ascii: "%"): return .placeholder(try readPlaceholder())
        case UInt8(ascii: "$"):
            position += 1
            return .variable(try readWord("the name of a variable"))
        case UInt8(ascii: "#"):
            position += 1
            let isQuoted = byte(at: position) == UInt8(ascii: "\"")
            return .word(isQuoted ? try readQuoted() : try readWord("a key after #"), isEscaped: true)
        case UInt8(ascii: "@"):
            position += 1
            return .word("@" + (try readWord("an operator such as @count")), isEscaped: false)
        case let byte where Self.isWordStart(byte): return .word(try readWord("a word"), isEscaped: false)
        default: return .sign(try readSign())
        }
    }

    private mutating func readWord(_ what: String) throws(StrataError) -> String {
        let start = position
        guard let first = byte(at: start), Self.isWordStart(first) else {
            throw mistake(at: start, expected: what, found: rest(start))
        }
        while let next = byte(at: position), Self.isWordStart(next) || Self.isDigit(next) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func readNumber() -> String {
        let start = position
        let isPrefixed =
            bytes[start] == UInt8(ascii: "0") && byte(at: start + 1).map { "xXoObB".utf8.contains($0) } == true
        var previous: UInt8 = 0
        while let next = byte(at: position) {
            let isSignOfExponent = "+-".utf8.contains(next) && "eE".utf8.contains(previous) && !isPrefixed
            guard Self.isDigit(next) || Self.isWordStart(next) || next == UInt8(ascii: ".") || isSignOfExponent else {
                break
            }
            previous = next
            position += 1
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func readPlaceholder() throws(StrataError) -> PredicateToken.Placeholder {
        let start = position
        position += 1
        while let next = byte(at: position), "hlqztj".utf8.contains(next) { position += 1 }
        let letter = byte(at: position) ?? 0
        position = min(position + 1, bytes.count)
        switch letter {
        case UInt8(ascii: "@"): return .object
        case UInt8(ascii: "K"): return .key
        case _ where "dDiuUxXoOc".utf8.contains(letter): return .integer
        case _ where "fFeEgGaA".utf8.contains(letter): return .floatingPoint
        case UInt8(ascii: "%"):
            let meaning =
                "a key or a value (%% is a percent sign, which means nothing outside quotes; within, % is one)"
            throw mistake(at: start, expected: meaning, found: rest(start))
        default: throw mistake(at: start, expected: "%@, %K, %d or %f", found: rest(start))
        }
    }

    private static let signs: [[UInt8]] = [
        "==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", "**", ":=", "=", "<", ">", "!", "(", ")", "{", "}", "[",
        "]", ",", "+", "-", "*", "/", ":", ".",
    ].map { Array($0.utf8) }

    private mutating func readSign() throws(StrataError) -> String {
        guard let sign = Self.signs.first(where: { bytes[position...].starts(with: $0) }) else {
            throw mistake(at: position, expected: "a word or a sign", found: rest(position))
        }
        position += sign.count
        return String(decoding: sign, as: UTF8.self)
    }

    private func byte(at index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private func rest(_ start: Int) -> String {
        guard start < bytes.count else { return "the end" }
        return "“" + String(decoding: bytes[start...], as: UTF8.self).prefix(20) + "”"
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    private static func isDigit(_ byte: UInt8?) -> Bool {
        byte.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    }

    // Every byte of a non-ASCII character counts as a letter, so that words never end inside one.
    static func isWordStart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}

extension PredicateLexer {
    private mutating func readQuoted() throws(StrataError) -> String {
        let start = position
        let quote = bytes[position]
        position += 1
        var text: [UInt8] = []
        while let next = byte(at: position) {
            position += 1
            if next == quote { return String(decoding: text, as: UTF8.self) }
            guard next == UInt8(ascii: "\\") else {
                text.append(next)
                continue
            }
            try readEscape(into: &text)
        }
        throw mistake(at: start, expected: "a closing quotation mark", found: "the end")
    }

    private mutating func readEscape(into text: inout [UInt8]) throws(StrataError) {
        let start = position
        guard let letter = byte(at: position) else { return }
        position += 1
        switch letter {
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "u"), UInt8(ascii: "x"): try readScalar(digits: letter == UInt8(ascii: "u") ? 4 : 2, &text)
        case 0x80...: throw mistake(at: start, expected: "an escape such as \\n", found: rest(start))
        default: text.append(letter)
        }
    }

    private mutating func readScalar(digits: Int, _ text: inout [UInt8]) throws(StrataError) {
        let start = position
        let end = min(position + digits, bytes.count)
        let number = UInt32(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16)
        guard end - start == digits, let number, let scalar = Unicode.Scalar(number) else {
            throw mistake(at: start, expected: "\(digits) hexadecimal digits of a character", found: rest(start))
        }
        position = end
        text.append(contentsOf: String(scalar).utf8)
    }
}

extension StrataError {
    /// The error for malformed predicate text.
    public static func predicate(at character: Int?, expected: String, found: String) -> StrataError {
        StrataError(
            .malformed, "the predicate's format is malformed",
            Context(position: character.map { UInt64($0) }, expected: expected, found: found))
    }
}
