/// Long texts cut so that what tells them apart is seen, and how much was cut.
struct ReportExcerpt {
    /// So many characters of a value are shown.
    static let length = 400
    /// So many of them in front of the first difference.
    private static let context = 40

    /// One text, from its beginning on.
    static func text(_ text: String, atMost length: Int = length) -> String {
        window(Array(text.unicodeScalars), from: 0, length)
    }

    /// Two texts, of which the common beginning is cut if they differ only far behind.
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
