/// JSON that is safe inside a script element of a page: it cannot end the element or begin another one. It is kept in
/// memory, because its size decides whether it fits into the page.
struct ReportJSON {
    private(set) var bytes: [UInt8] = []

    static let null = ReportJSON(bytes: Array("null".utf8))

    static func number(_ number: some BinaryInteger) -> ReportJSON { ReportJSON(bytes: Array("\(number)".utf8)) }

    static func text(_ text: String) -> ReportJSON {
        var bytes = [UInt8(ascii: "\"")]
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": bytes += "\\\(scalar)".utf8
            // "<" may begin an end tag or a comment, and the separators end a line of a script.
            case "<", ">", "&", "\u{2028}", "\u{2029}", "\u{0}"..<"\u{20}", "\u{7F}":
                bytes += ("\\u" + String(scalar.value, radix: 16).leftPadded(to: 4, with: "0")).utf8
            default: bytes.append(contentsOf: scalar.utf8)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        return ReportJSON(bytes: bytes)
    }

    /// Elements separated by commas, without brackets.
    static func list(_ elements: [ReportJSON]) -> ReportJSON {
        var list = ReportJSON()
        for element in elements {
            if !list.bytes.isEmpty { list.bytes.append(UInt8(ascii: ",")) }
            list.bytes += element.bytes
        }
        return list
    }

    static func array(_ elements: [ReportJSON]) -> ReportJSON {
        ReportJSON(bytes: [UInt8(ascii: "[")] + list(elements).bytes + [UInt8(ascii: "]")])
    }
}
