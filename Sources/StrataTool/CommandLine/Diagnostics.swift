import Glibc
import StrataModel
import StrataSystem

/// Writes problems and notes to the standard error, never results.
enum Diagnostics {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// A problem as it is printed with `--json`.
    struct Problem {
        var code: StrataError.Code
        var message: String
        var suggestion: String?

        static let shape = Shape<Self>(
            "An error",
            "With `--json`, each error is one object of this kind on standard error, on a line of its own. Notes there "
                + "remain text, and the exit code is the same as without `--json`."
        ) {
            Key("error", "what went wrong", as: content) { $0 }
        }
        private static let content = Shape<Self>("What went wrong") {
            Key(
                "code",
                "`usage` for a command line that cannot be understood, otherwise the kind, such as `notFound`, "
                    + "`outOfRange`, `locked` or `badChecksum`, or that of a refused request, such as `unknownItem`; "
                    + "later versions may add codes"
            ) { $0.code.rawValue }
            Key("message", "the problem in words, as without `--json`") { $0.message }
            Key(
                "suggestion", "what to do, or the word that was probably meant", if: "if there is something to suggest"
            ) { $0.suggestion }
        }
    }

    /// The manner in which the problems of a command line are reported.
    private struct Manner {
        var asJSON = false
        /// The sentence that says which parts of the command line come from the environment; nil for none.
        var origin: String?
    }

    private static let manner = Lock(Manner())

    /// Reports problems as JSON from now on.
    static func useJSON() { manner.withLock { $0.asJSON = true } }

    /// Adds a sentence on the origin of the command line to problems.
    static func tellOrigin(_ origin: String?) { manner.withLock { $0.origin = origin } }

    /// Reports a problem.
    ///
    /// - Parameters:
    ///   - advice: A suggestion, printed on a line of its own.
    ///   - list: Items to print, each on a line of its own.
    static func report(
        _ problem: String, code: StrataError.Code, advice: String? = nil, list: [String] = [], by command: String?
    ) {
        let manner = manner.withLock { $0 }
        let more = [advice].compactMap(\.self) + list + [manner.origin].compactMap(\.self)
        guard manner.asJSON else { return write(problem, more, by: command) }
        Cleanup.yield()
        Progress.wipe()
        let output = Output(descriptor: STDERR_FILENO)
        // If standard error fails, the failure cannot be reported.
        output.defersErrors = true
        let suggestion = more.isEmpty ? nil : more.joined(separator: "\n")
        try? output.writeJSON(Problem(code: code, message: problem, suggestion: suggestion), as: Problem.shape)
        try? output.flush()
    }

    /// Reports a command line that cannot be understood.
    static func report(_ error: UsageError, by command: String?) {
        if manner.withLock({ $0.asJSON }) {
            report(error.problem, code: .usage, advice: error.suggestion, list: error.list, by: command)
        } else {
            report(error.message(for: command), code: .usage, list: error.list, by: command)
        }
    }

    /// Reports why the answer of a command is no.
    static func refuse(
        _ problem: String, code: StrataError.Code = .notFound, advice: String? = nil, by command: String
    ) -> ExitCode {
        report(problem, code: code, advice: advice, by: command)
        return .no
    }

    /// Reports why a request was refused.
    @discardableResult
    static func refuse(_ refusal: Refusal, advice: String? = nil, by command: String) -> ExitCode {
        refuse(refusal.message, code: StrataError.Code(refusal.code), advice: advice, by: command)
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

extension StrataError.Code {
    /// A command line that cannot be understood.
    static let usage = Self(rawValue: "usage")
    /// An error that the tool does not know.
    static let unexpected = Self(rawValue: "unexpected")

    /// The code of a refused request, in the spelling of the other codes: `unknownItem`.
    init(_ code: Refusal.Code) {
        let words = code.description.split(separator: " ")
        let later = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        self.init(rawValue: ([words.first.map { String($0) } ?? ""] + later).joined())
    }
}
