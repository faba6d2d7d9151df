/// A key pressed while typing a line.
enum LineKey: Equatable {
    case scalar(Unicode.Scalar)
    case left, right, wordLeft, wordRight, home, end
    case up, down
    case backspace, delete
    case killToEnd, killToStart, killWord
    case tab, enter, search, redraw
    case interrupt, endOfInput, suspend, escape
    case unknown

    /// Creates a key from the byte that Ctrl and a letter send.
    init(control byte: UInt8) {
        switch byte {
        case 0x01: self = .home
        case 0x02: self = .left
        case 0x03: self = .interrupt
        case 0x04: self = .endOfInput
        case 0x05: self = .end
        case 0x06: self = .right
        case 0x08, 0x7F: self = .backspace
        case 0x09: self = .tab
        case 0x0A, 0x0D: self = .enter
        case 0x0B: self = .killToEnd
        case 0x0C: self = .redraw
        case 0x0E: self = .down
        case 0x10: self = .up
        case 0x12: self = .search
        case 0x15: self = .killToStart
        case 0x17: self = .killWord
        case 0x1A: self = .suspend
        default: self = .unknown
        }
    }

    /// Creates a key from the bytes after an escape.
    init(sequence bytes: [UInt8]) {
        switch String(decoding: bytes, as: UTF8.self) {
        case "[A", "OA": self = .up
        case "[B", "OB": self = .down
        case "[C", "OC": self = .right
        case "[D", "OD": self = .left
        case "[H", "OH", "[1~", "[7~": self = .home
        case "[F", "OF", "[4~", "[8~": self = .end
        case "[3~": self = .delete
        case "b", "[1;5D", "[1;3D": self = .wordLeft
        case "f", "[1;5C", "[1;3C": self = .wordRight
        case "\u{7F}": self = .killWord
        case "": self = .escape
        default: self = .unknown
        }
    }
}

/// Converts the bytes that a terminal sends to keys.
struct LineKeyReader {
    /// Returns the next byte; nil at the end, or if none arrives within `milliseconds`.
    let byte: (_ milliseconds: Int32?) throws -> UInt8?
    /// The time limit for the rest of a sequence. A person who presses escape takes longer to press the next key.
    private static let sequenceMilliseconds: Int32 = 50

    /// Returns nil at the end of the input.
    func next() throws -> LineKey? {
        guard let first = try byte(nil) else { return nil }
        if first == 0x1B { return try LineKey(sequence: sequence()) }
        if first < 0x20 || first == 0x7F { return LineKey(control: first) }
        var bytes = [first]
        let count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
        while bytes.count < count, let next = try byte(Self.sequenceMilliseconds) { bytes.append(next) }
        guard let text = String(validating: bytes, as: UTF8.self), let scalar = text.unicodeScalars.first else {
            return .unknown
        }
        return .scalar(scalar)
    }

    private func sequence() throws -> [UInt8] {
        guard let first = try byte(Self.sequenceMilliseconds) else { return [] }
        var bytes = [first]
        guard first == UInt8(ascii: "[") || first == UInt8(ascii: "O") else { return bytes }
        while bytes.count < 16, let next = try byte(Self.sequenceMilliseconds) {
            bytes.append(next)
            if (0x40...0x7E).contains(next) { break }
        }
        return bytes
    }
}
