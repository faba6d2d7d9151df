import StrataLog
import StrataModel
import StrataReplay
import StrataStore

/// Prints the rest of a minimized history.
struct MinimizationReport {
    private let store: Store
    private let arguments: Arguments
    private let output: Output
    private let names: KnownNames
    private let first: UInt64?
    private var asJSON: Bool { arguments[Option.json] }

    /// - Parameter first: the last commit, if it was chosen because the predicate first holds after it.
    init(_ store: Store, _ arguments: Arguments, first: UInt64?, _ output: Output) throws {
        (self.store, self.arguments, self.first, self.output) = (store, arguments, first, output)
        names = try BisectionReport.names(in: ContainerState(store))
    }

    /// Says which commit was chosen; nil if none was.
    var choice: String? { first.map { "it first holds after commit \($0), which is minimized as with --at \($0)" } }

    func write(_ request: MinimalRequest) throws {
        guard !asJSON else { return try output.writeJSON(request, as: Self.request) }
        let commit = try store.log.requiredCommit(at: request.offset)
        try CommitLine().write(commit, commit.decoded, names, to: output)
        guard !request.isWhole else { return }
        output.write("    only ")
        if request.itemCount < request.originalItemCount {
            output.write("\(request.itemCount) of its \(request.originalItemCount.counted("item"))")
            if request.fieldCount < request.originalFieldCount { output.write(", ") }
        }
        if request.fieldCount < request.originalFieldCount {
            output.write("\(request.fieldCount) of its \(request.originalFieldCount.counted("key"))")
        }
        try output.endLine()
    }

    /// - Parameter test: the test that was written; nil if none was requested.
    func writeEnd(_ history: MinimalHistory, _ test: MinimalTest?) throws {
        if asJSON { try output.writeJSON((self, history, test), as: Self.end) } else { try writeText(history, test) }
    }

    private var commitCount: UInt64 { store.offset - store.log.floor.offset }

    private func writeText(_ history: MinimalHistory, _ test: MinimalTest?) throws {
        if let choice { try output.writeLine(choice) }
        let count = history.requests.count
        if count == 0 {
            output.write("it holds before any commit: the log begins with a base in which it does")
        } else {
            output.write("\(count) of \(commitCount.counted("commit")) left")
            output.write(history.isComplete ? ", none of which can be removed" : "; more might be removable")
        }
        try output.writeLine("; \(history.trialCount.counted("history", "histories")) tried")
        if let path = arguments[MinimizeCommand.out] {
            try output.writeLine("saved as \(Printable.escaped(path)), up to offset \(end(of: history))")
        }
        guard let test else { return }
        try output.writeLine("test written to \(Printable.escaped(arguments[MinimizeCommand.test] ?? ""))")
        for what in test.leftOut {
            try output.writeLine("    not rebuilt: \(Printable.escaped(what))")
        }
    }

    private func end(of history: MinimalHistory) -> UInt64 {
        history.requests.compactMap(\.newOffset).max() ?? history.floor
    }

    // MARK: For programs

    static let request = Shape<MinimalRequest>("A commit that is left") {
        Key("offset", "in the log") { $0.offset }
        Key("newOffset", "in the new history, or null if it writes nothing") { $0.newOffset }
        Key("userName", "the user who made it") { $0.actor.user }
        Key("deviceName", "the device that made it") { $0.actor.device }
        Key("outcome", "`accepted` or `partly`") { $0.outcome.kind.rawValue }
        Key("items", "saves, deletes, joins of shares and changes of shares that remain") { $0.itemCount }
        Key("itemsBefore", "how many there were before") { $0.originalItemCount }
        Key("keys", "how many keys of its saves remain") { $0.fieldCount }
        Key("keysBefore", "how many there were before") { $0.originalFieldCount }
    }

    static let end = Shape<(report: Self, history: MinimalHistory, test: MinimalTest?)>(
        "The end of a minimization"
    ) {
        Key("commits", "of the log, up to `at`") { $0.report.commitCount }
        Key("left", "how many remain") { $0.history.requests.count }
        Key("trials", "how many histories were tried") { $0.history.trialCount }
        Key("isMinimal", "true if nothing more can be left out, false if it was interrupted") { $0.history.isComplete }
        Key("end", "the last offset of the new history") { $0.report.end(of: $0.history) }
        Key("at", "the last commit that was considered") { $0.report.store.offset }
        Key("path", "of the new store", if: "with `--out`") { $0.report.arguments[MinimizeCommand.out] }
        Key("test", "the test file that was written", if: "with `--test`") { line in
            line.test.map { _ in line.report.arguments[MinimizeCommand.test] ?? "" }
        }
        Key("notRebuilt", "what the test does not do", if: "with `--test`") { $0.test?.leftOut }
    }
}
