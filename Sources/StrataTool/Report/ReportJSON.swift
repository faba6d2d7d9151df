/// JSON that is safe inside a script element of a page: it cannot end the element or begin another one. It is kept in
/// memory, because its size decides whether it fits into the page.
struct ReportJSON {
    private(set) var bytes: [UInt8] = []

    static func text(_ text: String) -> ReportJSON {
        var json = ReportJSON()
        json.append(text)
        return json
    }

    /// Appends digits, brackets and commas from the tool's own code.
    mutating func append(raw text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(_ number: UInt64) { bytes.append(contentsOf: "\(number)".utf8) }
    mutating func append(_ number: Int) { bytes.append(contentsOf: "\(number)".utf8) }
    mutating func append(_ other: ReportJSON) { bytes.append(contentsOf: other.bytes) }

    mutating func append(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            // "<" may begin an end tag or a comment, and the separators end a line of a script.
            case "<", ">", "&", "\u{2028}", "\u{2029}", "\u{0}"..<"\u{20}", "\u{7F}": appendEscape(scalar)
            case _ where scalar.isASCII: bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            default: bytes.append(contentsOf: String(scalar).utf8)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscape(_ scalar: Unicode.Scalar) {
        bytes.append(contentsOf: ("\\u" + String(scalar.value, radix: 16).leftPadded(to: 4, with: "0")).utf8)
    }

    /// Appends elements in brackets, separated by commas.
    mutating func append<Elements: Sequence>(
        array elements: Elements, _ body: (Elements.Element, inout ReportJSON) -> Void
    ) {
        append(raw: "[")
        var isFirst = true
        for element in elements {
            if !isFirst { append(raw: ",") }
            isFirst = false
            body(element, &self)
        }
        append(raw: "]")
    }
}
