import Foundation

extension OSLogMessage {
    /// Creates a message from a format such as `"%{public}@ has %d notes"`.
    ///
    /// Objects and texts are private by default, everything else is public. An argument that does not fit its
    /// conversion is described; `<missing>` stands for one that is not there.
    init(format: String, _ arguments: [any CVarArg]) {
        var parts: [Part] = []
        var arguments = arguments[...]
        var rest = Substring(format)
        while let percent = rest.firstIndex(of: "%") {
            parts.append(.text(String(rest[..<percent])))
            rest = rest[percent...].dropFirst()
            guard var conversion = Conversion(&rest) else {
                parts.append(.text("%"))
                continue
            }
            conversion.takeStars(from: &arguments)
            parts.append(
                .value(
                    conversion.text(of: arguments.popFirst()), .none, conversion.privacy,
                    isPublicByDefault: !conversion.isObject))
        }
        parts.append(.text(String(rest)))
        self.init(parts: parts)
    }

    /// A conversion of a format, without its `%`.
    private struct Conversion {
        private static let kinds: Set<Character> = Set("@sSdDiuUxXoOfFeEgGaAcCp")
        private static let longestNumber = 3

        var privacy = OSLogPrivacy.auto
        /// Flags, width and precision, as in C.
        private var flags = ""
        private var kind: Character = "@"

        var isObject: Bool { "@sS".contains(kind) }

        /// Takes a conversion from the beginning of a text. Returns nil, and takes at most one `%`, if there is none.
        init?(_ text: inout Substring) {
            if text.first == "%" {
                text.removeFirst()
                return nil
            }
            var rest = text
            if rest.first == "{", let end = rest.firstIndex(of: "}") {
                let options = rest[..<end].dropFirst().split(separator: ",").map { $0.trimmingPrefix(" ") }
                privacy = Self.privacy(options)
                rest = rest[end...].dropFirst()
            }
            flags = String(rest.prefix { "-+ #0123456789.*".contains($0) })
            rest = rest.dropFirst(flags.count).drop { "hlqLztj".contains($0) }
            guard let kind = rest.popFirst(), Self.kinds.contains(kind) else { return nil }
            self.kind = kind
            text = rest
        }

        private static func privacy(_ options: [Substring]) -> OSLogPrivacy {
            let mask: OSLogPrivacy.Mask = options.contains("mask.hash") ? .hash : .none
            if options.contains("public") { return .public }
            if options.contains("private") { return .private(mask: mask) }
            if options.contains("sensitive") { return .sensitive(mask: mask) }
            return .auto(mask: mask)
        }

        /// Takes the numbers for `%*d` and `%.*f`.
        mutating func takeStars(from arguments: inout ArraySlice<any CVarArg>) {
            flags = flags.reduce(into: "") { flags, flag in
                flags += flag == "*" ? arguments.popFirst().map { "\($0)" } ?? "" : String(flag)
            }
        }

        func text(of argument: (any CVarArg)?) -> String {
            guard let argument else { return "<missing>" }
            // No format makes a text of millions of columns.
            guard flags.split(whereSeparator: { !$0.isNumber }).allSatisfy({ $0.count <= Self.longestNumber }) else {
                return String(describing: argument)
            }
            switch argument {
            case let number as any FixedWidthInteger where "cC".contains(kind):
                return String(Unicode.Scalar(UInt8(truncatingIfNeeded: number)))
            case let number as any FixedWidthInteger where "dDi".contains(kind):
                return String(format: "%\(flags)lld", Int64(truncatingIfNeeded: number))
            case let number as any FixedWidthInteger where "uUxXoO".contains(kind):
                return String(format: "%\(flags)ll\(kind == "X" ? "X" : kind.lowercased())", number.bits)
            case let number as Double where "fFeEgGaA".contains(kind): return String(format: "%\(flags)\(kind)", number)
            case let number as Float where "fFeEgGaA".contains(kind):
                return String(format: "%\(flags)\(kind)", Double(number))
            default: return String(describing: argument)
            }
        }
    }
}

extension FixedWidthInteger {
    /// The bits of the number, without those that a sign would add.
    fileprivate var bits: UInt64 { UInt64(truncatingIfNeeded: Magnitude(truncatingIfNeeded: self)) }
}
