import Glibc

/// How text is set off where it can be coloured. It reads as well without.
enum Ink: String, Sendable {
    case heading = "1"
    case removed = "31"
    case added = "32"
    case place = "33"
    case faint = "2"
    case damage = "1;31"

    /// When to colour.
    enum Choice: String, Sendable, CaseIterable {
        case auto, always, never

        /// Whether what goes to the standard output is coloured.
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

/// What the caller's environment says.
enum Environment {
    static func text(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

extension Output {
    func write(_ text: String, _ ink: Ink) {
        guard isColored, !text.isEmpty else { return write(text) }
        write("\u{1B}[\(ink.rawValue)m")
        write(text)
        write("\u{1B}[0m")
    }
}
