/// The names of files that differ by a number.
///
/// ```swift
/// NumberedName.state.number(in: "state-0000000000000007")   // 7
/// ```
package struct NumberedName: Sendable {
    private let prefix: String
    private let suffix: String

    /// The states of the views (docs/format-runs.md §5), which the log reads too.
    package static let state = NumberedName(prefix: "state-")

    package init(prefix: String = "", suffix: String = "") {
        (self.prefix, self.suffix) = (prefix, suffix)
    }

    /// The number in a name; nil for other files, also if another number could not follow it.
    package func number(in name: String) -> UInt64? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
        let digits = name.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt64(digits) else { return nil }
        return number < .max / 2 ? number : nil
    }
}
