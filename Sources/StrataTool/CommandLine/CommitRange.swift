import StrataLog
import StrataModel
import StrataSystem

/// Which commits of a log a command line chooses, by offsets and times.
struct CommitRange {
    static let until = Option.time(
        "--until", "TIME", help: "end with the last commit that is not younger; as --since",
        now: { SystemTime().nowMicroseconds() })

    static let options: [any OptionDescription] = [LogCommand.from, LogCommand.to, LogCommand.since, until]

    let first: UInt64
    let last: UInt64
    /// What is younger is behind the range.
    let latestTime: Int64
    /// Whether it was left to the log where to begin and where to end.
    let isWhole: Bool

    static func check(_ arguments: Arguments) throws(UsageError) {
        if let from = arguments[LogCommand.from], let to = arguments[LogCommand.to], from > to {
            throw UsageError("--from \(from) is behind --to \(to)")
        }
        if let since = arguments[LogCommand.since], let until = arguments[until], since > until {
            throw UsageError("--since is behind --until")
        }
    }

    /// - Parameter store: may become one that ends in front of damage which was met.
    init(_ arguments: Arguments, _ store: inout StoreAccess, by command: String) throws {
        let floor = store.reader.floor.offset
        var first = floor + 1
        if let from = arguments[LogCommand.from] {
            if from <= floor {
                Diagnostics.report(
                    "the history up to \(floor) has been let go; beginning with \(floor + 1)", by: command)
            }
            first = max(first, from)
        }
        if let time = arguments[LogCommand.since] {
            let found = try store.firstOffset(notBefore: time)
            first = max(first, found ?? store.reader.end.offset + 1)
        }
        self.first = first
        last = arguments[LogCommand.to] ?? UInt64.max
        latestTime = arguments[Self.until] ?? Int64.max
        isWhole = !Self.options.contains { arguments.has($0) }
    }

    /// Whether the commit is one of the range, or in front of it.
    func reaches(_ commit: Commit) -> Bool { commit.offset <= last && commit.time <= latestTime }
}
