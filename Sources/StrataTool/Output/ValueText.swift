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

    /// Returns the texts of a value before and after a change: also of references that differ only in their action.
    static func change(from before: FieldValue?, to after: FieldValue?) -> (before: String?, after: String?) {
        let texts = (before: before.map(text), after: after.map(text))
        guard texts.before == texts.after, case .reference(let old) = before, case .reference(let new) = after else {
            return texts
        }
        return (texts.before.map { $0 + mark(old.action) }, texts.after.map { $0 + mark(new.action) })
    }

    /// The text after a reference whose record is deleted with its target.
    static func mark(_ action: FieldValue.Reference.Action) -> String {
        action == .deleteSelf ? ", deleted with it" : ""
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
    static func microseconds(_ seconds: Double) -> Int64? {
        Int64(exactly: EngineDate.microseconds(seconds).rounded())
    }

    static let shape = Shape<FieldValue>("A value") {
        Key("type", "as in a field of an event") { "\($0.kind)" }
        Key("value", "its content") { ValueContent(value: $0, detail: nil) }
    }
}

/// A change of something that has a name, in words. Nil stands for nothing.
struct ChangeText {
    let name: String
    let old: String?
    let new: String?

    /// `+` for an added value, `-` for a removed one, `~` for a changed one.
    var line: (text: String, ink: TextStyle) {
        switch (old, new) {
        case (nil, let new): ("+ \(name): \(new ?? "")", .added)
        case (let old?, nil): ("- \(name): \(old)", .removed)
        case (let old?, let new?): ("~ \(name): \(old) -> \(new)", .place)
        }
    }
}

extension FieldValue.Sealed {
    /// The size without the cipher's tag and the value's kind.
    fileprivate var valueBytes: Int { max(0, ciphertext.count - AuthenticatedCipher.tagBytes - 1) }
}

extension Timestamp: CustomStringConvertible {
    /// Prints seconds, and microseconds only if there are any.
    var description: String {
        func digits(_ number: UInt64, _ width: Int) -> String { "\(number)".leftPadded(to: width, with: "0") }
        let (parts, zone) = printed
        let (seconds, rest) = UInt64(parts.microseconds).quotientAndRemainder(dividingBy: 1_000_000)
        let date = [digits(UInt64(parts.month), 2), digits(UInt64(parts.day), 2)].joined(separator: "-")
        let time = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { digits($0, 2) }.joined(separator: ":")
        return (parts.year < 0 ? "-" : "") + digits(parts.year.magnitude, 4) + "-" + date + "T" + time
            + (rest == 0 ? "" : "." + digits(rest, 6)) + zone
    }
}
