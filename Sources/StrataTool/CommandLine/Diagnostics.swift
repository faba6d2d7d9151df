import Glibc
import StrataSystem

/// Writes problems and notes to the standard error, never results.
enum Diagnostics {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The sentence that says which parts of the command line come from the environment; nil for none.
    private static let origin = Lock<String?>(nil)

    static func begin(origin: String?) { self.origin.withLock { $0 = origin } }

    /// Reports a problem.
    ///
    /// - Parameters:
    ///   - advice: A suggestion, printed on a line of its own.
    ///   - list: Items to print, each on a line of its own.
    static func report(_ problem: String, advice: String? = nil, list: [String] = [], by command: String?) {
        let more = [advice].compactMap(\.self) + list + [origin.withLock { $0 }].compactMap(\.self)
        write(problem, more, by: command)
    }

    /// Reports why the answer of a command is no.
    static func refuse(_ problem: String, advice: String? = nil, by command: String) -> ExitCode {
        report(problem, advice: advice, by: command)
        return .no
    }

    /// Says something that is not a problem of its own.
    static func remark(_ text: String, by command: String?) { write(text, [], by: command) }

    /// Prints how an ambiguous command line was interpreted.
    static func note(_ text: String, by command: String) { remark("note: \(text)", by: command) }

    private static func write(_ text: String, _ more: [String], by command: String?) {
        Cleanup.yield()
        Progress.wipe()
        let tool = command.map { "strata \($0): " } ?? "strata: "
        // Each line is escaped separately: a path may contain a line break, and must not imitate a line of the tool.
        let lines = [tool + text] + more.map { "  " + $0 }
        write(lines.map { Printable.escaped($0) + "\n" }.joined())
    }

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
