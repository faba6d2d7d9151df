import StrataModel

/// `strata log`: the commits.
enum LogCommand: Command {
    static let name = "log"
    static let summary = "print the commits of a store"
    static let details =
        "The range options choose the commits to read by offset or time; the other options choose which of those to "
        + "print. All options about events must match the same event. -n keeps the last N of the matching commits. On "
        + "a terminal the newest commit comes first; in pipes and files, and with --json or --follow, the oldest. With "
        + "--zone or --record only commits that changed them are read. It takes no lock and can run while another "
        + "program writes to the store. For a damaged store it prints the intact commits before the damage and exits "
        + "with 3. Exits with 1 if the log does not have a given name."

    static let limit = Option.limit("-n", help: "print only the last N commits")
    static let from = Option.commit(
        "--from", help: "begin with this offset; 10..20 stands for --from 10 --to 20, HEAD~1 for the last but one")
    static let to = Option.commit("--to", help: "end with this offset")
    static let since = Option.time(
        "--since",
        help: "begin with the first commit at or after this time: 2026-11-21, 2026-11-21T05:18:03Z, 15m or \"15 "
            + "minutes ago\" (also s, h, d, w), today, yesterday, \"last week\" or @MICROSECONDS")
    static let oneline = Option.flag(
        "--oneline",
        help: "print one line for each commit: + for records it created, ~ with the fields that it changed, - for "
            + "deletions, ! for refusals with the error code")
    static let stat = Option.flag(
        "--stat", help: "print the numbers of events by kind, and of zones, records and bytes, of each commit")
    static let patch = Option.flag(
        "--patch", help: "print what each event changed in its record: the fields before and after")
    static let reveal = Option.flag(
        QueryCommand.reveal.name, help: "with --patch: print encrypted values, with the keys of the store")
    static let reverse = Option.flag(
        "--reverse", help: "reverse the order: the newest first, or on a terminal the oldest")
    static let follow = Option.flag(
        "--follow", help: "keep printing new commits as they are appended, until interrupted")

    static let readsAddresses = true
    static let operands = [Operand.storeOrAddress]
    static let options: [any OptionDescription] =
        [Option.json, follow, limit, reverse, from, to, since, CommitRange.until] + LogFilterOptions.all
        + [oneline, stat, patch, reveal, AddressCopy.directory, SequencerAddress.files]
    static let examples = [
        "strata log Notes.strata -n 10",
        "strata log Notes.strata --since 2h --oneline",
        "strata log Notes.strata --zone Notes --record note-1 --patch",
        "strata log Notes.strata --type Note --where \"rank > 3\" --reverse -n 5",
        "strata log Notes.strata --outcome refused --user anna",
        "strata log Notes.strata --json --follow | jq .offset",
    ]

    private static let contradictions: [(any OptionDescription, any OptionDescription)] = [
        (oneline, Option.json), (stat, Option.json), (stat, patch), (reverse, follow), (follow, CommitRange.until),
    ]

    /// Following has no end, so it is not paged.
    static func isPaged(_ arguments: Arguments) -> Bool { !arguments[follow] }
    static func showsProgress(_ arguments: Arguments) -> Bool { !arguments[follow] }

    /// True if the newest commit comes first, as it does at a terminal. Pipes and files get ascending order.
    static func isReversed(_ arguments: Arguments, to output: Output) -> Bool {
        let isForPeople = output.columns != nil && !arguments[Option.json] && !arguments[follow]
        return arguments[reverse] != isForPeople
    }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try CommitRange.check(arguments)
        for (one, other) in contradictions where arguments.has(one) && arguments.has(other) {
            throw UsageError("\(one.name) and \(other.name) cannot be combined")
        }
        if arguments[reveal], !arguments[patch] { throw UsageError("--reveal is for --patch") }
        let filter = try LogFilterOptions.filter(arguments)
        try StoreAccess.requireDirectory(arguments.store)
        var run = try LogFilterRun(arguments, filter, output)
        try run.printWhatIsThere()
        if arguments[follow] {
            try run.follow()
        } else if let problem = run.unknownName {
            try output.flush()
            return Diagnostics.refuse(problem, by: name)
        } else if let first = arguments[from]?.offset(upTo: run.end), first > run.end + 1 {
            return Diagnostics.refuse(run.absence(of: first), code: .outOfRange, by: name)
        } else if let emptiness = try run.emptiness {
            try output.flush()
            Diagnostics.note(emptiness, by: name)
        }
        return try run.secrets?.secrets.reportClosed(by: name, output) ?? .success
    }
}
