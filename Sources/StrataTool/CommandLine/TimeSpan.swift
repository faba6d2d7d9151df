/// Formats a duration or an age for people.
enum TimeSpan {
    private static let units: [(name: String, microseconds: Int64)] = [
        ("d", 86_400_000_000), ("h", 3_600_000_000), ("min", 60_000_000), ("s", 1_000_000), ("ms", 1_000),
    ]

    /// Returns the largest unit that fits, and the next smaller one: `3 d 4 h`, `12 s`. Smaller units are dropped.
    static func text(_ microseconds: Int64) -> String {
        guard microseconds >= 0 else { return "-" + text(microseconds == .min ? .max : -microseconds) }
        guard let first = units.firstIndex(where: { microseconds >= $0.microseconds }) else {
            return "\(microseconds) µs"
        }
        let (count, rest) = microseconds.quotientAndRemainder(dividingBy: units[first].microseconds)
        var text = "\(count) \(units[first].name)"
        if first + 1 < units.count, rest >= units[first + 1].microseconds {
            text += " \(rest / units[first + 1].microseconds) \(units[first + 1].name)"
        }
        return text
    }
}
