import StrataModel
import StrataStore

/// `strata export`: a store's commits or records as lines of JSON.
enum ExportCommand: Command {
    static let name = "export"
    static let summary = "write a store's commits or records as lines of JSON"
    static let details =
        "Commits, which is what it writes without --records, are written with everything that they hold: 'strata "
        + "import' makes a store of them that has the same ones at the same offsets. Each event has its exact bytes "
        + "in base64, and beside them, where nothing is lost by it, what they say. The first line tells what the "
        + "export is of and what is missing in it, such as what --from, --to, --since, --until or --zone leave out. "
        + "--records writes the records that there are at the end, or at --at; their history is not in it. Files of "
        + "assets and keys of encrypted values are in no export. FILE gets its name once it is whole. It reads beside "
        + "a program that writes to the store. Of a damaged store it writes what is whole in front of the damage, as "
        + "FILE.partial if there is a FILE, and ends with 3."

    static let commits = Option.flag("--commits", help: "write commits, which is what is done without this")
    static let records = Option.flag("--records", help: "write the records that there are")
    static let zone = Option.text("--zone", "NAME", help: "only what concerns zones of this name")

    static let operands = [
        Operand.store,
        Operand(name: "FILE", help: "where to write; - or none for the standard output", isRequired: false),
    ]
    static let options: [any OptionDescription] = [commits, records, zone, Option.at] + CommitRange.options
    static let examples = [
        "strata export Notes.strata Notes.jsonl", "strata export Notes.strata --records | gzip > Notes.records.gz",
        "strata export Notes.strata --from 100 --to 200 | jq '.events[]?.content'",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try CommitRange.check(arguments)
        try checkKind(arguments)
        try StoreAccess.requireDirectory(arguments.store)
        let file = arguments.operands.count > 1 ? arguments.operands[1] : nil
        if arguments[records] {
            return try StateAccess.read(arguments, by: name, output) { access in
                let target = try ExportOutput(file, store: arguments.store, standard: output)
                var export = try RecordExport(access, path: arguments.store, zone: arguments[zone])
                _ = try target.write {
                    try export.write(to: $0)
                    return true
                }
                return .success
            }
        }
        var export = try CommitExport(arguments, try StoreAccess(arguments.store))
        let target = try ExportOutput(file, store: arguments.store, standard: output)
        do {
            let partial = try target.write {
                try export.write(to: $0)
                return export.damage == nil
            }
            if let partial { Diagnostics.report("what is whole in front of the damage is in \(partial)", by: name) }
        } catch let refusal as Refusal {
            try output.flush()
            Diagnostics.report(refusal.message, by: name)
            return .no
        }
        if let damage = export.damage { throw damage }
        return .success
    }

    private static func checkKind(_ arguments: Arguments) throws(UsageError) {
        if arguments[commits], arguments[records] { throw UsageError("--commits and --records exclude each other") }
        if arguments[records], let option = CommitRange.options.first(where: { arguments.has($0) }) {
            throw UsageError("\(option.name) chooses commits; --records takes --at")
        }
        if !arguments[records], arguments.has(Option.at) {
            throw UsageError("--at is for --records; commits take --to")
        }
    }
}
