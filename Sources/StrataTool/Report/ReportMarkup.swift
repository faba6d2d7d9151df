/// A piece of HTML. Literals are markup, and interpolated values are escaped as text, since names in a store are not
/// trusted.
///
/// ```swift
/// let cell: ReportMarkup = "<td>\(record.name)</td>"
/// ```
struct ReportMarkup: ExpressibleByStringInterpolation, Sendable {
    private(set) var text: String

    init(stringLiteral text: String) { self.text = text }
    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ text: String) { self.text += ReportMarkup.escaped(text) }
        mutating func appendInterpolation(_ markup: ReportMarkup) { text += markup.text }
        mutating func appendInterpolation(_ pieces: [ReportMarkup]) {
            for piece in pieces { text += piece.text }
        }
        mutating func appendInterpolation(_ number: some BinaryInteger) { text += "\(number)" }
        /// Writes a number with its digits in groups: `48,210`.
        mutating func appendInterpolation(count: UInt64) { text += ReportNumber.grouped(count) }
        /// Writes a number of bytes: `1.25 MiB`.
        mutating func appendInterpolation(bytes: UInt64) { text += ReportNumber.bytes(bytes) }
    }

    static func += (markup: inout ReportMarkup, more: ReportMarkup) { markup.text += more.text }

    init(_ pieces: [ReportMarkup], separator: String = ", ") {
        text = pieces.map(\.text).joined(separator: separator)
    }

    /// Wraps the tool's own text, such as its style sheet; never text from a store.
    init(trusted text: String) { self.text = text }

    /// Escapes text for HTML content, and for attribute values in quotes. Invisible characters, such as marks that
    /// reverse the direction of writing, are spelled out.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in Printable.escaped(text).unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// Formats numbers for the page.
enum ReportNumber {
    static func grouped(_ number: UInt64) -> String {
        guard number >= 1_000 else { return "\(number)" }
        return grouped(number / 1_000) + "," + "\(number % 1_000)".leftPadded(to: 3, with: "0")
    }

    /// `1.25 MiB`; below one KiB the number of bytes.
    static func bytes(_ count: UInt64) -> String {
        var unit = 0
        var divisor: UInt64 = 1
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        while unit < units.count - 1, count / divisor >= 1_024 {
            divisor *= 1_024
            unit += 1
        }
        if unit == 0 { return count.counted("byte") }
        let hundredths = UInt64((Double(count) * 100 / Double(divisor)).rounded())
        return "\(hundredths / 100)." + "\(hundredths % 100)".leftPadded(to: 2, with: "0") + " " + units[unit]
    }

    static func counted(_ count: UInt64, _ one: String, _ many: String? = nil) -> String {
        "\(grouped(count)) \(count == 1 ? one : many ?? one + "s")"
    }
}
