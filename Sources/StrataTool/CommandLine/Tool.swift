import Glibc
import StrataLog
import StrataModel
import StrataSystem

/// The command-line tool: finds the command, runs it, and maps the result to an exit code.
public enum Tool {
    public static let version = "0.1.0-dev"

    /// - Parameter words: the command line without the program's name, as received from the operating system.
    public static func run(_ words: [UnsafePointer<CChar>]) -> ExitCode {
        run(words.map { (String(cString: $0), String(validatingCString: $0) != nil) })
    }

    private static func run(_ words: [(text: String, isText: Bool)]) -> ExitCode {
        // When the reader closes the pipe, the write must return an error rather than end the process.
        signal(SIGPIPE, SIG_IGN)
        occupyStandardStreams()
        let output = Output()
        var name: String?
        var stores: [String] = []
        if words.prefix(while: { $0.text != "--" }).contains(where: { $0.text == Option<Bool>.json.name }) {
            Diagnostics.useJSON()
        }
        do {
            do {
                // The decoded text would name a different file.
                if let word = words.first(where: { !$0.isText }) {
                    throw UsageError("'\(word.text)' is not valid UTF-8; use a symbolic link whose name is")
                }
                let code = try dispatch(
                    CommandRegistry.spelledOut(words.map(\.text)), output, name: &name, stores: &stores)
                try output.flush()
                Cleanup.yield()
                Progress.end()
                return code
            } catch let error where !(error is OutputError) {
                Cleanup.yield()
                // Output printed before the error comes first.
                try output.flush()
                throw error
            }
        } catch OutputError.closedPipe {
            return .success
        } catch {
            report(error, by: name, stores)
            return error is UsageError ? .usage : .unreadable
        }
    }

    /// Prevents a file that is opened later from taking the descriptor of a closed standard stream, and receiving the
    /// output.
    private static func occupyStandardStreams() {
        var descriptor: CInt
        repeat { descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC) } while (0...2).contains(descriptor)
        if descriptor > 2 { close(descriptor) }
    }

    /// - Parameter stores: receives the paths of stores on the command line.
    private static func dispatch(
        _ words: [String], _ output: Output, name: inout String?, stores: inout [String]
    ) throws -> ExitCode {
        guard let first = words.first else { throw UsageError("a command is missing") }
        if words.starts(with: CompletionsCommand.question) {
            return try CompletionsCommand.answer(Array(words.dropFirst(2)), output)
        }
        switch first {
        case "--version", "-V", "-v", "version":
            guard words.count == 1 else { throw UsageError("unexpected argument '\(words[1])'") }
            output.write("strata \(version)\n")
            return .success
        case "--help", "-h":
            let arguments = try ArgumentParser(HelpCommand.self).parse(Array(words.dropFirst()))
            return try HelpCommand.run(arguments, output)
        case _ where first.hasPrefix("-"):
            throw UsageError(
                "unknown option \(first)", suggestion: Suggestion.closest(to: first, among: ["--help", "--version"]))
        default: break
        }
        let command = try CommandRegistry.command(named: first)
        name = command.name
        let parser = ArgumentParser(command, variables: CommandVariable.values())
        let arguments = try parser.parse(Array(words.dropFirst()))
        Diagnostics.tellOrigin(CommandVariable.origin(arguments.variables))
        stores = command.stores(arguments)
        output.isColored = (arguments[Option.color] ?? .auto).isColored
        if arguments[Option.local] { LocalTime.use() }
        if isatty(STDOUT_FILENO) == 1 { output.columns = Terminal.ofTerminal.columns }
        let isPaged = !arguments[Option.noPager] && (arguments[Option.help] || command.isPaged(arguments))
        var pager: Pager?
        // The pager starts with the first byte. Until then the command owns the terminal.
        output.opensOnFirstByte = {
            if isPaged, output.columns != nil {
                Progress.end()
                pager = Pager(by: command.name)
            }
            return pager?.descriptor
        }
        defer {
            output.redirect(to: STDOUT_FILENO)
            pager?.finish()
        }
        // Input typed at the terminal needs the line.
        let isTyped = arguments.operands.contains("-") && isatty(STDIN_FILENO) == 1
        if !isTyped, command.showsProgress(arguments) { Progress.begin(command.name) }
        return try run(command, arguments, output)
    }

    private static func run(
        _ command: any Command.Type, _ arguments: Arguments, _ output: Output
    ) throws -> ExitCode {
        if arguments[Option.help] {
            HelpText.write(command, to: output)
            return .success
        }
        return try AddressCopy.resolving(arguments, of: command) { try run(command, resolved: $0, output) }
    }

    private static func run(
        _ command: any Command.Type, resolved arguments: Arguments, _ output: Output
    ) throws -> ExitCode {
        try requireNoFile(command, arguments)
        while true {
            let floor = floorOffset(arguments)
            do { return try command.run(arguments, output) } catch let error as StrataError
                where [.outOfRange, .notFound].contains(error.code) && floorOffset(arguments) != floor
            {
                // Another program compacted the history during the read, and removed its files.
                guard !output.hasHandedOn else {
                    throw StrataError(
                        .outOfRange, "Another program compacted the history while it was read; run the command again.",
                        .init(path: error.context.path, found: error.context.found), cause: error)
                }
                output.startAgain()
            }
        }
    }

    /// - Throws: ``StrataError`` `notAStore` if the path names a file.
    private static func requireNoFile(_ command: any Command.Type, _ arguments: Arguments) throws {
        for path in command.stores(arguments) {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { continue }
            throw StrataError(.notAStore, "This is a file, but a store is a directory.", .init(path: path))
        }
    }

    /// Returns the offset up to which the store of the first operand was compacted; nil if there is no such store.
    private static func floorOffset(_ arguments: Arguments) -> UInt64? {
        arguments.operands.first.flatMap { try? LogReader.floorOffset(in: $0, files: RealFileSystem()) }
    }

    private static func report(_ error: any Error, by command: String?, _ stores: [String]) {
        switch error {
        case let error as UsageError:
            Diagnostics.report(error, by: command)
        case let error as StrataError:
            let error = Advice.told(error, stores: stores)
            Diagnostics.report(
                Advice.problem(error, stores: stores), code: error.code,
                advice: Advice.advice(for: error, stores: stores), by: command)
        default:
            Diagnostics.report("\(error)", code: error is OutputError ? .inputOutput : .unexpected, by: command)
        }
    }
}
