import Glibc

/// The capabilities of a terminal: its width, and whether it shows more than ASCII.
struct Terminal: Sendable, Equatable {
    private static let usualColumns = 80

    var columns: Int
    var isUnicode: Bool

    /// The width of standard output, or `COLUMNS` if set; 80 if neither is known.
    static var ofTerminal: Terminal {
        // The order in which POSIX looks up the locale ("Environment Variables").
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].lazy
            .compactMap { Environment.text($0) }.first { !$0.isEmpty } ?? ""
        let encoding = locale.lowercased().filter { $0 != "-" }
        return Terminal(columns: widthOfTerminal ?? usualColumns, isUnicode: encoding.contains("utf8"))
    }

    private static var widthOfTerminal: Int? {
        if let columns = Environment.text("COLUMNS").flatMap({ Int($0) }), columns > 0 { return columns }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Returns a bar of at most `width` columns, in eighths of a column if possible. Values above 0 stay visible.
    func bar(_ value: UInt64, of largest: UInt64, width: Int) -> String {
        guard value > 0, largest > 0, width > 0 else { return "" }
        let length = Double(value) / Double(largest) * Double(width)
        guard isUnicode else { return String(repeating: "#", count: max(1, min(width, Int(length.rounded())))) }
        let eighths = max(1, min(width * 8, Int((length * 8).rounded())))
        let part = eighths % 8
        return String(repeating: "█", count: eighths / 8) + (part == 0 ? "" : "\(Self.eighths[part - 1])")
    }

    private static let eighths: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// Returns a column for each value. Values above 0 stay visible.
    func line(_ values: [UInt64]) -> String {
        let steps: [Character] =
            isUnicode ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : [".", ":", "-", "=", "+", "*", "#", "@"]
        let largest = values.max() ?? 0
        return String(
            values.map { value -> Character in
                guard value > 0 else { return " " }
                let step = Double(value) / Double(largest) * Double(steps.count)
                return steps[max(0, min(steps.count - 1, Int(step.rounded(.up)) - 1))]
            })
    }
}
