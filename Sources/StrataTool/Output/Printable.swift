/// Makes text from a store safe to print: names may contain anything, including control sequences for a terminal.
enum Printable {
    /// Returns the text with control characters escaped as `\u{1b}`.
    static func escaped(_ text: String) -> String {
        if isPlain(text.utf8) { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isControl(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isPlain(_ bytes: String.UTF8View) -> Bool {
        bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    }

    /// Returns true for invisible characters, except the two joiners that emoji and some scripts need.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
        default: false
        }
    }
}
