import Glibc
import StrataModel

/// The command-line tool: finds the command, runs it, and turns whatever happens into an exit code.
public enum Tool {
    public static let version = "0.1.0"

    /// - Parameter words: the command line without the program's own name.
    public static func run(_ words: [String]) -> ExitCode {
        // A reader that has seen enough closes the pipe; the write that meets it reports that instead of killing us.
        signal(SIGPIPE, SIG_IGN)
        let output = Output()
        var name: String?
        do {
            do {
                let code = try dispatch(words, output, &name)
                try output.flush()
                return code
            } catch let error where !(error is OutputError) {
                // What was printed before it happened comes first.
                try output.flush()
                throw error
            }
        } catch OutputError.closedPipe {
            return .success
        } catch {
            report(error, by: name)
            return error is UsageError ? .usage : .unreadable
        }
    }

    private static func dispatch(_ words: [String], _ output: Output, _ name: inout String?) throws -> ExitCode {
        guard let first = words.first else { throw UsageError("a command is missing") }
        switch first {
        case "--version":
            output.write("strata \(version)\n")
            return .success
        case "--help", "-h": return try HelpCommand.run(Arguments(), output)
        case _ where first.hasPrefix("-"):
            throw UsageError(
                "unknown option \(first)", suggestion: Suggestion.closest(to: first, among: ["--help", "--version"]))
        default: break
        }
        let command = try CommandRegistry.command(named: first)
        name = command.name
        let arguments = try ArgumentParser(command).parse(Array(words.dropFirst()))
        if arguments[Option.help] {
            HelpText.write(command, to: output)
            return .success
        }
        return try command.run(arguments, output)
    }

    private static func report(_ error: any Error, by command: String?) {
        switch error {
        case let error as UsageError: Diagnostics.report(error.message(for: command), by: command)
        case let error as StrataError:
            Diagnostics.report(error.description, advice: Advice.advice(for: error), by: command)
        default: Diagnostics.report("\(error)", by: command)
        }
    }
}
