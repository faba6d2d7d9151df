import Glibc

/// What goes to the standard error: problems and notes, never results.
enum Diagnostics {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static func report(_ message: String, by command: String?) {
        write((command.map { "strata \($0): " } ?? "strata: ") + Printable.escaped(message, keepsNewlines: true) + "\n")
    }

    static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            // Nobody is left to be told that nobody can be told.
            if count <= 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
