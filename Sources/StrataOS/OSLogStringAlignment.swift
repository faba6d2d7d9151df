/// The columns that an interpolated value takes at least.
public struct OSLogStringAlignment: Sendable {
    /// Takes as many columns as the value has characters.
    public static var none: OSLogStringAlignment { OSLogStringAlignment(columns: 0, isRight: false) }

    /// Aligns the value at the left of columns.
    public static func left(columns: @autoclosure () -> Int) -> OSLogStringAlignment {
        OSLogStringAlignment(columns: columns(), isRight: false)
    }

    /// Aligns the value at the right of columns.
    public static func right(columns: @autoclosure () -> Int) -> OSLogStringAlignment {
        OSLogStringAlignment(columns: columns(), isRight: true)
    }

    private let columns: Int
    private let isRight: Bool

    func applied(to text: String) -> String {
        guard columns > 0 else { return text }
        return text.padded(with: " ", to: columns, atEnd: !isRight)
    }
}

extension String {
    private static let longestPadding = 1_000

    /// Returns the text with as many characters as asked for, at most a thousand of them added.
    func padded(with character: Character, to count: Int, atEnd: Bool) -> String {
        let padding = String(repeating: character, count: min(max(0, count - self.count), Self.longestPadding))
        return atEnd ? self + padding : padding + self
    }
}
