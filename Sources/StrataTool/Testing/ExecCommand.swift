import Foundation
import Glibc
import StrataModel
import StrataReplay
import StrataStore
import StrataSystem

/// `strata exec`: runs a program or its tests over fresh stores, and keeps them if it fails.
enum ExecCommand: Command {
    static let name = "exec"
    static let summary = "run a command over fresh stores, and keep them if it fails"
    static let details =
        "Runs COMMAND with an empty directory as STRATA_HOME, so that the containers that it opens by name have fresh "
        + "stores there, which also record refusals and fetches unless STRATA_OPTIONS is set. If the command fails, "
        + "the stores are kept, each beside a report, and what 'strata doctor' finds in them is printed with the "
        + "commands to go on. If it succeeds, they are removed, except with --keep. Stores in memory leave nothing. "
        + "Exits with 0 if the command does, and otherwise with 1."

    static let seed = Option.text(
        "--seed", "STORE", help: "begin with a copy of this store, or with the store that this export makes")
    static let keep = Option.text(
        "--keep", "DIR", help: "make the stores in this new directory, and keep it also after a success")

    static let operands = [
        Operand(name: "COMMAND", help: "after --, the program to run with its arguments", isRepeatable: true)
    ]
    static let options: [any OptionDescription] = [seed, keep]
    static let examples = [
        "strata exec -- swift test", "strata exec --seed Notes.strata --keep Failed -- swift test --filter Sync",
    ]

    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    /// This program.
    private static let tool = "/proc/\(getpid())/exe"

    static func isPaged(_ arguments: Arguments) -> Bool { false }
    static func showsProgress(_ arguments: Arguments) -> Bool { false }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let home = try home(arguments)
        let isKept = arguments.has(keep)
        if !isKept { Cleanup.removes(home) }
        let status: Int32
        do {
            if let seed = arguments[seed] { try plant(seed, in: home) }
            status = try perform(arguments.operands, in: home, output)
        } catch {
            if !isKept { try? FileManager.default.removeItem(atPath: home) }
            throw error
        }
        let stores = try FileManager.default.contentsOfDirectory(atPath: home).filter { $0.hasSuffix(".strata") }
        if status != 0, !stores.isEmpty {
            Cleanup.keep(home)
            try report(status, stores.sorted().map { "\(home)/\($0)" }, in: home, output)
            return .no
        }
        if !isKept { try FileManager.default.removeItem(atPath: home) }
        if status == 0 { return .success }
        return Diagnostics.refuse(
            "the command failed with \(status), and opened no container by its name, so there is no store to keep",
            by: name)
    }

    private static func home(_ arguments: Arguments) throws -> String {
        guard let path = arguments[keep] else { return try TemporaryDirectory.make("strata-exec") }
        let url = URL(fileURLWithPath: path)
        guard !FileManager.default.fileExists(atPath: path) else {
            throw StrataError(
                .alreadyExists, "--keep names a new directory, but something has that name.", .init(path: path))
        }
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url.path
    }

    /// Puts a store under the name of its container, where the command will open it.
    private static func plant(_ seed: String, in home: String) throws {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: seed, isDirectory: &isDirectory) else {
            throw StrataError(.notFound, "--seed names a store or an export, but nothing is there.", .init(path: seed))
        }
        let draft = home + "/seed"
        if isDirectory.boolValue {
            try Store.openForReading(at: seed).closing { store in
                try BisectionStore(of: store, at: seed).make(at: draft, through: store.offset)
            }
        } else {
            let words = [tool, "import", "--", draft, seed]
            guard try ShellCommand.run(words, output: STDERR_FILENO, signals: signals + [SIGPIPE]) == 0 else {
                throw StrataError(.invalidArgument, "The seed cannot be imported.", .init(path: seed))
            }
        }
        let container = try StoreAccess(draft).reader.identity.containerIdentifier
        guard !container.isEmpty, !container.contains("/") else {
            throw StrataError(
                .invalidArgument, "The seed has no container identifier under which a program could open it.",
                .init(path: seed))
        }
        try FileManager.default.moveItem(atPath: draft, toPath: "\(home)/\(container).strata")
    }

    /// Returns the status of the command, as a shell has it.
    private static func perform(_ words: [String], in home: String, _ output: Output) throws -> Int32 {
        try output.flush()
        setenv("STRATA_HOME", home, 1)
        setenv("STRATA_OPTIONS", "recordRefusals,recordFetches", 0)
        StopRequest.listen(to: signals)
        defer { StopRequest.end(signals) }
        return try ShellCommand.run(words, signals: signals + [SIGPIPE])
    }

    // MARK: A failure

    private static func report(_ status: Int32, _ stores: [String], in home: String, _ output: Output) throws {
        Diagnostics.remark("the command failed with \(status); its stores are in \(home)", by: name)
        for variable in ["STRATA_STORE", "STRATA_USER"] { unsetenv(variable) }
        for store in stores {
            try output.writeLine(Printable.escaped(store))
            try output.flush()
            let signals = signals + [SIGPIPE]
            _ = try ShellCommand.run([tool, "doctor", "--no-pager", "-n", "5", "--", store], signals: signals)
            _ = try ShellCommand.run([tool, "report", "--", store, store + ".html"], signals: signals)
        }
        let store = RecordPlaces.shellWord(stores[0])
        try output.writeLine("to go on:")
        for words in ["doctor \(store)", "log \(store) --patch -n 10", "debug \(store)"] {
            try output.writeLine(indented: Printable.escaped("strata " + words))
        }
    }
}
