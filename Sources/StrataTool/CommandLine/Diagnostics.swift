import Glibc

/// Writes problems and notes to the standard error, never results.
enum Diagnostics {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// - Parameters:
    ///   - advice: A suggestion, printed on a line of its own.
    ///   - list: Items to print, each on a line of its own.
    static func report(_ problem: String, advice: String? = nil, list: [String] = [], by command: String?) {
        Cleanup.yield()
        Progress.wipe()
        let tool = command.map { "strata \($0): " } ?? "strata: "
        // Each line is escaped separately: a path may contain a line break, and must not imitate a line of the tool.
        let lines = [tool + problem] + ([advice].compactMap(\.self) + list).map { "  " + $0 }
        write(lines.map { Printable.escaped($0) + "\n" }.joined())
    }

    /// Reports why the answer of a command is no.
    static func refuse(_ problem: String, advice: String? = nil, by command: String) -> ExitCode {
        report(problem, advice: advice, by: command)
        return .no
    }

    /// Prints how an ambiguous command line was interpreted.
    static func note(_ text: String, by command: String) { report("note: \(text)", by: command) }

    static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            // If standard error fails, the failure cannot be reported.
            if count <= 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
