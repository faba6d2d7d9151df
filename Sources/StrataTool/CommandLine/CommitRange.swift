import StrataLog
import StrataModel

/// The commits that a command line selects by offsets and times.
struct CommitRange {
    static let until = Option.time(
        "--until", help: "end with the last commit at or before this time; times as for --since")

    static let options: [any OptionDescription] = [LogCommand.from, LogCommand.to, LogCommand.since, until]

    let first: UInt64
    let last: UInt64
    /// Later commits are outside the range.
    let latestTime: Int64
    /// True if the command line sets neither a beginning nor an end.
    let isWhole: Bool

    static func check(_ arguments: Arguments) throws(UsageError) {
        if case .offset(let from)? = arguments[LogCommand.from], case .offset(let to)? = arguments[LogCommand.to] {
            try check(from, to)
        }
        if let since = arguments[LogCommand.since], let until = arguments[until], since > until {
            throw UsageError("--since is after --until")
        }
    }

    private static func check(_ from: UInt64, _ to: UInt64) throws(UsageError) {
        if from > to { throw UsageError("--from \(from) is after --to \(to)") }
    }

    /// Returns the offsets that `--from` and `--to` name in a log that ends at `end`; nil for one that is not given.
    static func offsets(
        _ arguments: Arguments, upTo end: UInt64
    ) throws(UsageError) -> (from: UInt64?, to: UInt64?) {
        let from = arguments[LogCommand.from]?.offset(upTo: end)
        let to = arguments[LogCommand.to]?.offset(upTo: end)
        if let from, let to { try check(from, to) }
        return (from, to)
    }

    /// - Parameter store: replaced by one that ends before the damage, if any is found.
    init(_ arguments: Arguments, _ store: inout StoreAccess, by command: String) throws {
        let floor = store.reader.floor.offset
        var first = floor + 1
        let (from, to) = try Self.offsets(arguments, upTo: store.reader.end.offset)
        if let from {
            if from <= floor, floor > 0 {
                Diagnostics.remark(
                    "the history up to \(floor) was removed by compaction; beginning with \(floor + 1)", by: command)
            }
            first = max(first, from)
        }
        if let time = arguments[LogCommand.since] {
            let found = try store.firstOffset(notBefore: time)
            first = max(first, found ?? store.reader.end.offset + 1)
        }
        self.first = first
        last = to ?? UInt64.max
        latestTime = arguments[Self.until] ?? Int64.max
        isWhole = !Self.options.contains { arguments.has($0) }
    }

    /// Returns true if the commit is in the range or before it.
    func reaches(_ commit: Commit) -> Bool { commit.offset <= last && commit.time <= latestTime }
}

extension HistoryLog {
    /// `commits 1 to 19`, or `no commits`.
    ///
    /// - Parameter last: the last commit to count; nil for the log's last.
    func commitsText(through last: UInt64? = nil) -> String {
        let last = last ?? end.offset
        return last > floor.offset ? "commits \(floor.offset + 1) to \(last)" : "no commits"
    }

    /// The sentence for an offset without a commit.
    func absence(of offset: UInt64, through last: UInt64? = nil) -> String {
        "no commit \(offset); this store has \(commitsText(through: last))"
    }
}
