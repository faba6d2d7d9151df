import StrataModel
import StrataStore

/// `strata export`: a store's commits or records as lines of JSON.
enum ExportCommand: Command {
    static let name = "export"
    static let summary = "write a store's commits or records as lines of JSON"
    static let details =
        "Writes commits, or with --records records. Commits are written with everything that they hold: 'strata "
        + "import' makes a store with the same commits at the same offsets. Each event has its exact bytes in base64, "
        + "and beside them its decoded content where that loses nothing. The first line describes the export and what "
        + "it lacks, such as what --from, --to, --since, --until or --zone leave out. --records writes the records at "
        + "the end, or at --at, without their history, with the participants of shares and the users whom these name. "
        + "Asset files and keys of encrypted values are in no export. FILE gets its name once it is complete. It can "
        + "run while another program writes to the store. For a damaged store it writes the intact part before the "
        + "damage, to FILE.partial if there is a FILE, and exits with 3."

    static let commits = Option.flag("--commits", help: "write commits (the default)")
    static let records = Option.flag("--records", help: "write the existing records")
    static let zone = Option.text("--zone", "NAME", help: "only changes in zones with this name")
    static let at = Option.point("with --records: the records as they were at this point")

    static let operands = [
        Operand.store,
        Operand(name: "FILE", help: "the file to write; without it, or with -, standard output", isRequired: false),
    ]
    static let options: [any OptionDescription] = [commits, records, zone, at] + CommitRange.options
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
            if let partial { Diagnostics.remark("the intact part before the damage is in \(partial)", by: name) }
        } catch let refusal as Refusal {
            try output.flush()
            return Diagnostics.refuse(refusal, by: name)
        }
        if let damage = export.damage { throw damage }
        return .success
    }

    private static func checkKind(_ arguments: Arguments) throws(UsageError) {
        if arguments[commits], arguments[records] { throw UsageError("--commits and --records cannot be combined") }
        if arguments[records], let option = CommitRange.options.first(where: { arguments.has($0) }) {
            throw UsageError("\(option.name) chooses commits; --records takes --at")
        }
        if !arguments[records], arguments.has(Option.at) {
            throw UsageError("--at is for --records; commits take --to")
        }
    }
}
