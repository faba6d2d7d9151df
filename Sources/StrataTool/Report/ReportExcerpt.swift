/// Shortens long texts so that their difference stays visible, and notes the original length.
struct ReportExcerpt {
    /// The maximum number of characters shown of a value.
    static let length = 400
    /// The number of characters shown before the first difference.
    private static let context = 40

    /// Shortens one text at its end.
    static func text(_ text: String, atMost length: Int = length) -> String {
        window(Array(text.unicodeScalars), from: 0, length)
    }

    /// Shortens two texts, also at their common beginning if they differ only later.
    static func pair(_ first: String, _ second: String) -> (String, String) {
        let (left, right) = (Array(first.unicodeScalars), Array(second.unicodeScalars))
        guard left.count > length || right.count > length else { return (first, second) }
        let common = zip(left, right).prefix { $0 == $1 }.count
        let start = common > length - context ? common - context : 0
        return (window(left, from: start, length), window(right, from: start, length))
    }

    private static func window(_ scalars: [Unicode.Scalar], from start: Int, _ length: Int) -> String {
        let shown = scalars.dropFirst(start).prefix(length)
        guard shown.count < scalars.count else { return String(String.UnicodeScalarView(shown)) }
        let end = start + shown.count < scalars.count ? "…" : ""
        let note = " [\(scalars.count.counted("character"))]"
        return (start > 0 ? "…" : "") + String(String.UnicodeScalarView(shown)) + end + note
    }
}
