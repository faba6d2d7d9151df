import StrataLog
import StrataModel
import StrataStore

/// `strata stats`: statistics of the commits of a store.
enum StatsCommand: Command {
    static let name = "stats"
    static let summary = "print statistics about a store's commits"
    static let details =
        "Counts events and bytes by kind, zone, record type, field, user, day and hour of the day. It also prints how "
        + "often records were overwritten and which ones most, refusals and conflicts, how much smaller the log is "
        + "than its payloads, and about how much the compaction of all history would free; with --compaction exactly "
        + "that, which takes longer. It reads the commits once, and can run while another program writes to the store. "
        + "Hours and days are in UTC. With --zone it counts only changes of the zone's records, and of zones with that "
        + "name. For a damaged store it counts the intact commits before the damage, and exits with 3."

    static let zone = Option.text("--zone", "NAME", help: "count only changes in zones with this name")
    static let plot = Option.flag("--plot", help: "draw events by zone, and commits by time")
    static let compaction = Option.flag(
        "--compaction", help: "compute what 'compact' would free, instead of estimating it")

    static let options: [any OptionDescription] = CommitRange.options + [zone, plot, compaction, Option.json]
    static let examples = [
        "strata stats Notes.strata", "strata stats Notes.strata --since 7d --zone Notes --plot",
        "strata stats Notes.strata --json | jq '.zones[] | [.zoneName, .events]'",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try CommitRange.check(arguments)
        if arguments[plot], arguments[Option.json] { throw UsageError("--plot and --json cannot be combined") }
        if arguments[compaction], arguments.has(zone) || CommitRange.options.contains(where: { arguments.has($0) }) {
            throw UsageError("--compaction covers the whole store, and cannot be combined with other choices")
        }
        try StoreAccess.requireDirectory(arguments.store)
        var report = try gather(arguments)
        guard report.statistics.knowsZone else {
            if let damage = report.damage { throw damage }
            return Diagnostics.refuse("there is no zone '\(arguments[zone] ?? "")' in these commits", by: name)
        }
        if arguments[compaction], report.damage == nil { try plan(arguments.store, &report) }
        if arguments[Option.json] {
            try output.writeJSON(report)
        } else if arguments[plot] {
            try StatisticsPlot(report, Terminal.ofTerminal).write(to: output)
        } else {
            try report.write(to: output)
        }
        if let damage = report.damage { throw damage }
        return .success
    }

    private static func gather(_ arguments: Arguments) throws -> StatisticsReport {
        var store = try StoreAccess(arguments.store)
        let range = try CommitRange(arguments, &store, by: name)
        var names = KnownNames()
        let damageBefore = try names.addAll(of: store, before: range.first)
        var statistics = LogStatistics(zone: arguments[zone], names: names)
        var stored = try StoredBytes(store)
        var source = try CommitSource(store, from: range.first)
        while let commit = try source.next(), range.reaches(commit) {
            statistics.add(commit)
            stored.add(commit)
        }
        stored.finish()
        let damage = source.store.damage ?? damageBefore
        var report = StatisticsReport(path: arguments.store, statistics: statistics, stored: stored, damage: damage)
        if range.isWhole, damage == nil, statistics.zone == nil {
            report.compaction = stored.compaction(statistics.records)
        }
        return report
    }

    private static func plan(_ path: String, _ report: inout StatisticsReport) throws {
        guard let estimate = report.compaction else { return }
        let store = try Store.openForReading(at: path)
        defer { try? store.close() }
        do {
            let plan = try store.compactionPlan(before: estimate.horizon + 1)
            report.compaction = .init(
                horizon: plan.horizon, segmentCount: plan.segmentCount, freedBytes: plan.freedBytes,
                baseBytes: plan.recordBytes, isEstimate: false)
        } catch let error as StrataError where error.code == .invalidArgument {
            report.compaction = nil
            report.compactionObstacle = error
        }
    }
}
