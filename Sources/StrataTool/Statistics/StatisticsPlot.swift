/// Draws numbers with characters: bars by zone, and lines by time.
struct StatisticsPlot {
    /// The maximum number of zones to draw.
    private static let mostBars = 20
    /// The width at which zone names are cut.
    private static let widestZone = 18

    private let report: StatisticsReport
    private let canvas: Terminal

    init(_ report: StatisticsReport, _ canvas: Terminal) { (self.report, self.canvas) = (report, canvas) }

    func write(to output: Output) throws {
        try writeBars(to: output)
        try writeTimeline(to: output)
        try writeHours(to: output)
    }

    private func writeBars(to output: Output) throws {
        let numbers = report.statistics
        let zones = numbers.zones.sorted(by: <)
        try output.writeLine("events by zone", .heading)
        let rows = zones.prefix(Self.mostBars).map { ordinal, tally in
            (name: label(ofZone: ordinal), count: tally.count)
        }
        let nameWidth = rows.map { DisplayWidth.width(of: $0.name) }.max() ?? 0
        let countWidth = rows.map { "\($0.count)".count }.max() ?? 0
        let barWidth = max(1, canvas.columns - nameWidth - countWidth - 4)
        for row in rows {
            try output.writeLine(
                row.name.padded(to: nameWidth + 2) + "\(row.count)".leftPadded(to: countWidth) + "  "
                    + canvas.bar(row.count, of: rows[0].count, width: barWidth))
        }
        let rest = zones.dropFirst(Self.mostBars)
        if rest.isEmpty, numbers.zones.others.count == 0 { return }
        let count = rest.reduce(numbers.zones.others.count) { $0 + $1.value.count }
        try output.writeLine("\(canvas.isUnicode ? "…" : "...") others: \(count)")
    }

    /// Returns the zone's name with its database, since several users may have zones of one name.
    private func label(ofZone ordinal: UInt64) -> String {
        let names = report.statistics.names
        let zone = cut(names.shownZone(ordinal), at: Self.widestZone)
        guard let database = names.databaseID(ofZone: ordinal)?.shownText else { return zone }
        return cut("\(zone) (\(database))", at: max(Self.widestZone, canvas.columns / 2))
    }

    private func cut(_ name: String, at width: Int) -> String {
        guard name.count > width else { return name }
        let mark = canvas.isUnicode ? "…" : "..."
        return String(name.prefix(width - mark.count)) + mark
    }

    private func writeTimeline(to output: Output) throws {
        let timeline = report.statistics.timeline.narrowed(to: canvas.columns)
        guard let first = report.statistics.commits.firstTime, let last = report.statistics.commits.lastTime else {
            return
        }
        output.write("\n")
        let step = TimeSpan.text(timeline.stepMicroseconds)
        try output.writeLine(
            "commits by time, a column for each \(step), \(timeline.counts.max() ?? 0) at most", .heading)
        try output.writeLine(canvas.line(timeline.counts))
        try output.writeLine("\(Timestamp(microseconds: first)) to \(Timestamp(microseconds: last))")
    }

    private func writeHours(to output: Output) throws {
        let counts = report.statistics.hours.map(\.count)
        output.write("\n")
        try output.writeLine("commits by hour of the day, in UTC, \(counts.max() ?? 0) at most", .heading)
        // Two columns for each hour leave room for labels below.
        try output.writeLine(canvas.line(counts.flatMap { [$0, $0] }))
        try output.writeLine("00          06          12          18")
    }
}
