/// Swift source in which comments and the content of string literals are blank, so that rules see only code.
///
/// Lines and byte columns stay where they are. Regex literals between single slashes are taken for operators.
struct CodeMask {
    private(set) var code: [UInt8]
    /// The lines, from 0, that have a comment or a part of one.
    private(set) var commentedLines: Set<Int> = []
    private var position = 0
    private var line = 0
    private var interpolations: [Interpolation] = []

    private struct Delimiter {
        var quote: UInt8
        var quotes: Int
        var hashes: Int
    }

    /// A `\(…)` that the scan is inside of.
    private struct Interpolation {
        var delimiter: Delimiter
        var openParentheses = 0
    }

    init(_ text: String) {
        code = Array(text.utf8)
        while position < code.count { scanCode() }
    }

    private func byte(_ offset: Int) -> UInt8 {
        position + offset < code.count ? code[position + offset] : 0
    }

    private func count(of wanted: UInt8, from offset: Int) -> Int {
        var count = 0
        while byte(offset + count) == wanted { count += 1 }
        return count
    }

    private mutating func blank(_ count: Int) {
        for _ in 0..<count where position < code.count {
            if code[position] == .newline { line += 1 } else { code[position] = .space }
            position += 1
        }
    }

    private mutating func pass(_ count: Int) {
        for _ in 0..<count where position < code.count {
            if code[position] == .newline { line += 1 }
            position += 1
        }
    }

    private mutating func scanCode() {
        if byte(0) == .slash, byte(1) == .slash { return scanLineComment() }
        if byte(0) == .slash, byte(1) == .star { return scanBlockComment() }
        if let delimiter = delimiterHere() {
            pass(delimiter.hashes + delimiter.quotes)
            return scanString(delimiter)
        }
        if let last = interpolations.indices.last {
            if byte(0) == UInt8(ascii: "(") { interpolations[last].openParentheses += 1 }
            if byte(0) == UInt8(ascii: ")") {
                if interpolations[last].openParentheses == 0 {
                    blank(1)
                    return scanString(interpolations.removeLast().delimiter)
                }
                interpolations[last].openParentheses -= 1
            }
        }
        pass(1)
    }

    private mutating func scanLineComment() {
        commentedLines.insert(line)
        while position < code.count, byte(0) != .newline { blank(1) }
    }

    private mutating func scanBlockComment() {
        var depth = 0
        repeat {
            commentedLines.insert(line)
            if byte(0) == .slash, byte(1) == .star {
                depth += 1
                blank(2)
            } else if byte(0) == .star, byte(1) == .slash {
                depth -= 1
                blank(2)
            } else {
                blank(1)
            }
        } while depth > 0 && position < code.count
    }

    /// The start of a string literal, or of a regex literal between `#/` and `/#`, at this position.
    private func delimiterHere() -> Delimiter? {
        let hashes = count(of: UInt8(ascii: "#"), from: 0)
        if hashes > 0, byte(hashes) == .slash { return Delimiter(quote: .slash, quotes: 1, hashes: hashes) }
        let quotes = count(of: .quote, from: hashes)
        guard quotes > 0 else { return nil }
        return Delimiter(quote: .quote, quotes: quotes >= 3 ? 3 : 1, hashes: hashes)
    }

    private mutating func scanString(_ delimiter: Delimiter) {
        while position < code.count {
            if isEnd(of: delimiter) { return pass(delimiter.quotes + delimiter.hashes) }
            if delimiter.quotes == 1, byte(0) == .newline { return }
            // In a regex literal a backslash alone escapes, whatever the number of hashes.
            let hashes = delimiter.quote == .slash ? 0 : delimiter.hashes
            if byte(0) == .backslash, count(of: UInt8(ascii: "#"), from: 1) >= hashes {
                blank(1 + hashes)
                if delimiter.quote == .quote, byte(0) == UInt8(ascii: "(") {
                    blank(1)
                    return interpolations.append(Interpolation(delimiter: delimiter))
                }
            }
            blank(1)
        }
    }

    private func isEnd(of delimiter: Delimiter) -> Bool {
        count(of: delimiter.quote, from: 0) >= delimiter.quotes
            && count(of: UInt8(ascii: "#"), from: delimiter.quotes) >= delimiter.hashes
    }
}

extension UInt8 {
    static let newline = UInt8(ascii: "\n")
    static let space = UInt8(ascii: " ")
    static let slash = UInt8(ascii: "/")
    static let star = UInt8(ascii: "*")
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")

    /// Whether an identifier may contain it; every byte of a character beyond ASCII counts.
    var isInIdentifier: Bool {
        self >= 0x80 || self == UInt8(ascii: "_")
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}
