import StrataModel
import StrataSystem

/// Formats a field value for display.
enum ValueText {
    /// Returns a short text on one line for people. Quotes and brackets distinguish the types.
    static func text(of value: FieldValue) -> String {
        switch value {
        case .string(let text): return quoted(text)
        case .int64(let number): return "\(number)"
        case .double(let number): return "\(number)"
        case .date(let seconds): return microseconds(seconds).map { "\(Timestamp(microseconds: $0))" } ?? "\(seconds) s"
        case .data(let bytes): return "<\(bytes.count.counted("byte"))>"
        case .location(let place): return "<\(place.latitude), \(place.longitude)>"
        case .reference(let reference): return link(reference.target.name, isLoose: reference.isLoose)
        case .asset(let asset): return "<asset of \(asset.size.counted("byte"))>"
        case .sealed(let sealed): return sealedText(sealed)
        case .list(let list): return "[" + list.elements.map(text).joined(separator: ", ") + "]"
        }
    }

    /// Returns the text for a reference to a record, or for a parent.
    static func link(_ name: String, isLoose: Bool = false) -> String {
        "@" + Printable.escaped(name) + mark(isLoose: isLoose)
    }

    /// The text after a link that does not hold its target (docs/rules.md §5.12).
    static func mark(isLoose: Bool) -> String { isLoose ? " (loose)" : "" }

    private static func sealedText(_ sealed: FieldValue.Sealed) -> String {
        "‹encrypted, \(sealed.valueBytes.counted("byte"))›"
    }

    static func quoted(_ text: String) -> String {
        let escaped =
            text.contains(where: { $0 == "\"" || $0 == "\\" })
            ? String(text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }) : text
        return "\"" + Printable.escaped(escaped) + "\""
    }

    /// Microseconds since 1970; nil for a date outside their range.
    private static func microseconds(_ seconds: Double) -> Int64? {
        Int64(exactly: EngineDate.microseconds(seconds).rounded())
    }

    /// Writes the keys of docs/guide/tool.md, "A value".
    static func write(_ value: FieldValue, to json: inout JSONWriter) {
        json.beginObject()
        json.field("type", "\(value.kind)")
        json.key("value")
        writeContent(of: value, to: &json)
        json.endObject()
    }

    private static func writeContent(of value: FieldValue, to json: inout JSONWriter) {
        switch value {
        case .string(let text): json.value(text)
        case .int64(let number): json.value(number)
        case .double(let number): json.value(number)
        case .date(let seconds):
            if let time = microseconds(seconds) { json.value(time) } else { json.nullValue() }
        case .data(let bytes): json.value(Base64.text(bytes))
        case .location(let place):
            json.beginObject()
            json.field("latitude", place.latitude)
            json.field("longitude", place.longitude)
            json.field("altitude", place.altitude)
            json.endObject()
        case .reference(let reference):
            json.beginObject()
            json.field("record", reference.target.name)
            json.fields(ofLink: reference)
            json.endObject()
        case .asset(let asset):
            json.beginObject()
            json.field("bytes", asset.size)
            json.endObject()
        case .sealed: json.nullValue()
        case .list(let list):
            json.beginArray()
            for element in list.elements { writeContent(of: element, to: &json) }
            json.endArray()
        }
    }
}

extension JSONWriter {
    /// Writes the action of a reference.
    mutating func fields(ofLink reference: FieldValue.Reference) {
        field("deletesWithTarget", reference.action == .deleteSelf)
        if reference.isLoose { field("loose", true) }
    }
}

extension FieldValue.Sealed {
    /// The size without the cipher's tag and the value's kind.
    fileprivate var valueBytes: Int { max(0, ciphertext.count - AuthenticatedCipher.tagBytes - 1) }
}

extension Timestamp: CustomStringConvertible {
    /// Prints seconds, and microseconds only if there are any.
    var description: String {
        func digits(_ number: UInt64, _ width: Int) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let (parts, zone) = printed
        let (seconds, rest) = UInt64(parts.microseconds).quotientAndRemainder(dividingBy: 1_000_000)
        let date = [digits(UInt64(parts.month), 2), digits(UInt64(parts.day), 2)].joined(separator: "-")
        let time = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { digits($0, 2) }.joined(separator: ":")
        return (parts.year < 0 ? "-" : "") + digits(parts.year.magnitude, 4) + "-" + date + "T" + time
            + (rest == 0 ? "" : "." + digits(rest, 6)) + zone
    }
}
