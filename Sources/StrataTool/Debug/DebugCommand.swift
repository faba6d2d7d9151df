import StrataModel
import StrataReplay
import StrataRules
import StrataStore

/// `strata debug`: steps through the commits in both directions, with breakpoints and watches.
enum DebugCommand: Command {
    static let name = "debug"
    static let summary = "step through the commits, forward and back, with breakpoints and watches"
    static let details =
        "Opens an interactive session. It starts before the first commit. step, back, continue and until move through "
        + "the commits. break and watch set stopping points. print, diff, query and why show the state, the changes "
        + "and the deciding rule. help lists the commands. Without a terminal the commands come from a script, from -e "
        + "or from standard input, and each is printed before its output; the first that fails ends the session. It "
        + "can run while another program writes to the store, and does not see later commits."

    static let script = Option<String>(
        name: "--script", valueName: "FILE",
        help: "read commands from a file; - for standard input; repeat for more files", isRepeatable: true
    ) { text throws(UsageError) in text }
    static let command = Option<String>(
        name: "-e", valueName: "COMMAND", help: "run this, after the scripts; repeat for more", isRepeatable: true
    ) { text throws(UsageError) in text }
    static let start = Option.moment("--at", help: "begin after this commit, or the last one up to that time")

    static let options: [any OptionDescription] =
        [script, command, start] + RecordTimelineTarget.options + [Option.json]
    static let examples = [
        "strata debug Notes.strata --user anna",
        "strata debug Notes.strata --user anna -e 'watch milk rank' -e continue -e why",
        "strata debug Notes.strata --script hunt.txt --json | jq .offset",
    ]

    static func isPaged(_ arguments: Arguments) -> Bool { false }
    static func showsProgress(_ arguments: Arguments) -> Bool { false }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        _ = try DatabaseOptions(arguments)
        try StoreAccess.requireDirectory(arguments.store)
        let input = try DebugInput(arguments)
        var options = StoreOptions.embedded
        // A misspelled type must not look like a type without records.
        options.unknownTypesAreErrors = true
        return try StateAccess.read(arguments.store, options: options, by: name, output) { access in
            input.startAgain()
            defer { TerminalMode.leave() }
            let session = try DebugSession(access, arguments, isWatched: input.isInteractive, output)
            if let moment = arguments[start] { try begin(session, moment) }
            if input.isInteractive { greet(arguments.store, session) }
            return try run(session, input)
        }
    }

    private static func begin(_ session: DebugSession, _ moment: Moment) throws {
        _ = try Refusal.unlessFound {
            try session.stepper.jump(to: min(try moment.offset(in: session.store.log), session.stepper.end))
        }
    }

    private static func greet(_ store: String, _ session: DebugSession) {
        StopRequest.listen()
        let stepper = session.stepper
        session.output.write(
            "\(Printable.escaped(store)), offsets \(stepper.floor + 1) to \(stepper.end); 'help' lists the commands\n")
    }

    private static func run(_ session: DebugSession, _ input: DebugInput) throws -> ExitCode {
        let output = session.output
        while !session.hasEnded {
            try output.flush()
            let prompt = session.prompt
            guard let line = try input.next(session) else { break }
            if !input.isInteractive, !session.asJSON, !line.text.isEmpty {
                try output.writeLine(prompt + Printable.escaped(line.text))
            }
            // An empty line in a script is skipped.
            if line.text.isEmpty, !input.isInteractive { continue }
            do { try session.run(line.text) } catch let error where !(error is OutputError) {
                if StateAccess.startsOver(after: error) { throw error }
                try output.flush()
                guard input.isInteractive else { return report(error, line.place) }
                Diagnostics.write(text(of: error).map { Printable.escaped($0) }.joined(separator: "\n  ") + "\n")
            }
        }
        return .success
    }

    // MARK: Mistakes

    /// Reports an error of a script and returns the exit code.
    private static func report(_ error: any Error, _ place: String) -> ExitCode {
        let lines = text(of: error)
        let (code, result): (StrataError.Code, ExitCode) =
            switch error {
            case is UsageError: (.usage, .usage)
            case let refusal as Refusal: (.init(refusal.code), .no)
            case let error as StrataError:
                (error.code, [.outOfRange, .invalidArgument].contains(error.code) ? .no : .unreadable)
            default: (.unexpected, .unreadable)
            }
        Diagnostics.report(place + ": " + lines[0], code: code, list: Array(lines.dropFirst()), by: name)
        return result
    }

    /// Returns a description of an error, and advice.
    private static func text(of error: any Error) -> [String] {
        switch error {
        case let error as UsageError:
            [error.problem + (error.suggestion.map { "; did you mean \($0)?" } ?? "; see 'help'")] + error.list
        case let refusal as Refusal: [refusal.message]
        case let error as StrataError: [error.description] + [Advice.advice(for: error)].compactMap(\.self)
        default: ["\(error)"]
        }
    }
}
