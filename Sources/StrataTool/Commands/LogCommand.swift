import StrataLog
import StrataModel
import StrataSystem

/// `strata log`: the commits, oldest first.
enum LogCommand: Command {
    static let name = "log"
    static let summary = "print the commits of a store, newest last"
    static let details =
        "It reads beside a program that writes to the store, and takes no lock. Offsets and times choose which commits "
        + "are printed; -n then takes the last of those. Of a damaged store it prints what is whole in front of the "
        + "damage, and ends with 3."

    static let limit = Option.number("-n", "N", 0...UInt64.max, help: "print only the last N commits")
    static let from = Option.number("--from", "OFFSET", 1...Version.maximumOffset, help: "begin with this offset")
    static let to = Option.number("--to", "OFFSET", 1...Version.maximumOffset, help: "end with this offset")
    static let since = Option.time(
        "--since", "TIME",
        help: "begin with the first commit that is not older: 2026-11-21, 2026-11-21T05:18:03Z, 15m (that long ago; "
            + "also s, h, d) or @MICROSECONDS",
        now: { SystemTime().nowMicroseconds() })
    static let oneline = Option.flag("--oneline", help: "print one line for each commit")
    static let follow = Option.flag("--follow", help: "go on with new commits as they come, until interrupted")

    static let operands = [Operand.store]
    static let options: [any OptionDescription] = [Option.json, follow, limit, from, to, since, oneline]
    static let examples = [
        "strata log Notes.strata -n 10",
        "strata log Notes.strata --since 2h --oneline",
        "strata log Notes.strata --json --follow | jq .offset",
    ]

    /// How often following looks whether somebody still reads what it prints.
    private static let listenerMilliseconds = 100

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        if let from = arguments[Self.from], let to = arguments[Self.to], from > to {
            throw UsageError("--from \(from) is behind --to \(to)")
        }
        if arguments[oneline] && arguments[Option.json] { throw UsageError("--oneline and --json exclude each other") }
        try StoreAccess.requireDirectory(arguments.store)
        var store = try StoreAccess(arguments.store)
        let first = try firstOffset(arguments, &store)
        var names = KnownNames()
        let damageBefore = try names.addAll(of: store, before: first)
        var printer = LogPrinter(
            source: try CommitSource(store, from: first), earliest: arguments[since] ?? Int64.min, names: names,
            format: format(arguments), output: output)
        let last = arguments[to] ?? UInt64.max
        while true {
            try printer.printAll(upTo: last)
            if let damage = printer.source.store.damage ?? damageBefore { throw damage }
            guard arguments[follow], printer.source.store.reader.end.offset < last else { return .success }
            try output.flushToListener()
            try printer.source.wait(milliseconds: listenerMilliseconds)
        }
    }

    private static func format(_ arguments: Arguments) -> any CommitFormat {
        if arguments[Option.json] { return CommitJSON() }
        return arguments[oneline] ? CommitLine() : CommitText()
    }

    private static func firstOffset(_ arguments: Arguments, _ store: inout StoreAccess) throws -> UInt64 {
        let floor = store.reader.floor.offset
        var first = floor + 1
        if let from = arguments[from] {
            if from <= floor {
                Diagnostics.report("the history up to \(floor) has been let go; printing from \(floor + 1)", by: name)
            }
            first = max(first, from)
        }
        if let time = arguments[since] {
            let found = try store.firstOffset(notBefore: time)
            first = max(first, found ?? store.reader.end.offset + 1)
        }
        guard let count = arguments[limit] else { return first }
        let last = min(store.reader.end.offset, arguments[to] ?? UInt64.max)
        return max(first, last + 1 - min(count, last))
    }
}

/// Prints commits one after another, learning names on the way.
private struct LogPrinter {
    var source: CommitSource
    /// What is older is passed over. Times never fall, so this matters only to what comes while following.
    let earliest: Int64
    var names: KnownNames
    let format: any CommitFormat
    let output: Output

    mutating func printAll(upTo last: UInt64) throws {
        while source.nextOffset <= last, let commit = try source.next() {
            let envelope = Result { try Envelope(decoding: commit.payload) }.mapError { error in
                error as? StrataError ?? StrataError(.malformed, "The payload cannot be decoded.", cause: error)
            }
            if case .success(let envelope) = envelope {
                for event in envelope.events where event.kind == .nameInterned {
                    if let interned = try? InternedName(decoding: event.body) { names.add(interned) }
                }
            }
            if commit.time >= earliest { try format.write(commit, envelope, names, to: output) }
        }
    }
}
