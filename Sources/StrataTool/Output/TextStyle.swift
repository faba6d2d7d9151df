import Glibc

/// The highlighting of text where colors are available. The text is complete without it.
enum TextStyle: String, Sendable {
    case heading = "1"
    case removed = "31"
    case added = "32"
    case place = "33"
    case faint = "2"
    case damage = "1;31"

    /// The choice of when to use colors.
    enum Choice: String, Sendable, CaseIterable {
        case auto, always, never

        /// True if the standard output is colored.
        var isColored: Bool {
            switch self {
            case .always: true
            case .never: false
            case .auto:
                // https://no-color.org: set and not empty.
                isatty(STDOUT_FILENO) == 1 && (Environment.text("NO_COLOR") ?? "").isEmpty
                    && Environment.text("TERM") != "dumb"
            }
        }
    }
}

/// The caller's environment variables.
enum Environment {
    static func text(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

extension Output {
    func write(_ text: String, _ ink: TextStyle) {
        guard isColored, !text.isEmpty else { return write(text) }
        write("\u{1B}[\(ink.rawValue)m")
        write(text)
        write("\u{1B}[0m")
    }
}
