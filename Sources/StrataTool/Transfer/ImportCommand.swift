import StrataModel
import StrataStore

/// `strata import`: a new store from the output of `strata export`.
enum ImportCommand: Command {
    static let name = "import"
    static let summary = "create a store from an export"
    static let changesStores = true
    static let details =
        "From commits it creates a store with the same commits: ids, times and payloads at the same offsets, and so "
        + "the same state; the store's id and secret are new. It refuses an incomplete export and reports what it "
        + "lacks; with --partial it accepts one that only ends early. An export of records is saved by --user into a "
        + "new store, into the public database and the user's own private one; authors, dates and history are not "
        + "preserved. Shares are made again, and accepted by the users who had accepted them. NEWSTORE is built beside "
        + "its place and gets its name once it is complete. Exits with 1 and prints the reason if something cannot be "
        + "imported, or if NEWSTORE already exists."

    static let partial = Option.flag("--partial", help: "import the commits of an export that ends early")
    static let user = Option.text("--user", "NAME", help: "the user who saves the records of an export of records")

    static let operands = [
        Operand(name: "NEWSTORE", help: "the directory of the new store"),
        Operand(name: "FILE", help: "the export; - for standard input"),
    ]
    static let options: [any OptionDescription] = [partial, user, Option.json]
    static let examples = [
        "strata import Copy.strata Notes.jsonl", "strata export Notes.strata | strata import Copy.strata -",
        "strata import Copy.strata Notes.records --user anna",
    ]

    static func isPaged(_ arguments: Arguments) -> Bool { false }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let lines = try LineReader(arguments.operands[1])
        do {
            let draft = try StoreDraft(arguments.store)
            let header = try lines.next { try ExportHeader(reading: $0) }
            guard let header else { throw StrataError(.wrongMagic, "The export is empty.", .init(path: lines.path)) }
            let report = try run(header, lines, into: draft, arguments)
            if arguments[Option.json] { try output.writeJSON(report) } else { try report.write(to: output) }
            return .success
        } catch let refusal as Refusal {
            return Diagnostics.refuse(refusal, by: name)
        } catch let error as StrataError where error.isDamage || error.code == .alreadyExists {
            return Diagnostics.refuse(error.description, code: error.code, by: name)
        }
    }

    private static func run(
        _ header: ExportHeader, _ lines: LineReader, into draft: StoreDraft, _ arguments: Arguments
    ) throws -> ImportReport {
        switch header.content {
        case .commits:
            if arguments.has(user) { throw UsageError("--user is for exports of records, but FILE has commits") }
            var commits = try CommitImport(header, lines, isPartial: arguments[partial])
            return try draft.make { try commits.run(at: draft.draftPath, named: draft.path, $0) }
        case .records:
            if arguments[partial] { throw UsageError("--partial is for exports of commits, but FILE has records") }
            guard let user = arguments[user], !user.isEmpty else {
                throw UsageError("FILE has records: --user NAME must say who saves them")
            }
            return try draft.make { try importRecords(header, lines, into: draft, as: Actor(user: user), $0) }
        }
    }

    private static func importRecords(
        _ header: ExportHeader, _ lines: LineReader, into draft: StoreDraft, as actor: Actor,
        _ didOpen: () throws -> Void
    ) throws -> ImportReport {
        var options = StoreOptions.embedded
        (options.containerIdentifier, options.durability) = (header.container, .system)
        let store = try Store.open(at: draft.draftPath, options: options)
        return try store.closing { store in
            try didOpen()
            var records = RecordImport(header, lines, into: store, as: actor)
            let count = try records.run()
            try store.sync()
            return ImportReport(
                path: draft.path, content: .records, count: count, endOffset: store.offset,
                notes: header.missing.map { "the export lacks \($0)" })
        }
    }
}
