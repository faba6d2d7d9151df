import StrataLog
import StrataModel

/// The statistics of some commits, and their size on disk.
struct StatisticsReport {
    /// The number of records to list among those with the most versions.
    static let churnCount = 20

    let path: String
    let statistics: LogStatistics
    let stored: StoredBytes
    let damage: StrataError?
    /// Nil if only a part was counted, or nothing can be compacted.
    var compaction: StoredBytes.Compaction?
    /// The reason why nothing can be compacted.
    var compactionObstacle: StrataError?

    var churn: [(item: LogStatistics.RecordName, count: UInt64)] {
        statistics.churn.top(Self.churnCount) { left, right in
            left.zone == right.zone ? left.name.text < right.name.text : left.zone < right.zone
        }
    }

    /// True if all commits in the segments are counted, so that the size of the segments is theirs alone.
    var tellsStoredBytes: Bool { statistics.zone == nil && stored.segmentCount > 0 }
}

// MARK: For people

extension StatisticsReport {
    /// The maximum number of rows of a table; the rest are summed up. `--json` lists them all.
    private static let mostRows = 20

    func write(to output: Output) throws {
        try writeTotals(to: output)
        let (numbers, names) = (statistics, statistics.names)
        func writeRows(_ title: String, _ rows: [(String, Tally)], _ others: Tally = Tally()) throws {
            try write(title, rows.map { ([$0.0], $0.1) }, others, to: output)
        }
        func writeTable(_ title: String, _ table: TallyTable<UInt64>, _ name: (UInt64) -> String) throws {
            try writeRows(title, table.sorted(by: <).map { (name($0.key), $0.value) }, table.others)
        }
        let kinds = numbers.kinds.sorted { $0.rawValue < $1.rawValue }
        try writeRows("events by kind", kinds.map { ("\($0.key)", $0.value) })
        let zones = numbers.zones.sorted(by: <).map { (zoneCells($0.key), $0.value) }
        try write("events by zone", zones, numbers.zones.others, to: output)
        try writeTable("events by record type", numbers.types) { names.shownType($0) }
        try writeTable("values by field", numbers.fields) { names.shownField($0) }
        try writeTable("commits by user", numbers.users) { names.actorText($0, 0) }
        let days = numbers.days.tallies.sorted { $0.key < $1.key }
        try writeRows("commits by day", days.map { (Self.day($0.key), $0.value) }, numbers.days.others)
        let hours = numbers.hours.enumerated().filter { $0.element.count > 0 }
        try writeRows("commits by hour", hours.map { (Self.hour($0.offset), $0.element) })
        try numbers.refused.write(to: output)
        try writeChurn(to: output)
    }

    private func writeTotals(to output: Output) throws {
        var lines = statistics.commits.lines
        if tellsStoredBytes {
            let size = SavedSpace.text(of: stored.payloadBytes, in: stored.storedBytes)
            let segments = stored.segmentCount == 1 ? "1 segment" : "\(stored.segmentCount) whole segments"
            let bytes = stored.storedBytes.counted("byte")
            lines.append(("stored", "\(bytes) in \(segments), for \(stored.payloadBytes) of payloads: \(size)"))
        }
        lines += statistics.records.lines
        if let text = compactionText { lines.append(("compaction", text)) }
        try Columns.write(lines.map { [$0.0, Printable.escaped($0.1)] }, to: output)
    }

    private var compactionText: String? {
        if let compactionObstacle { return "\(compactionObstacle)" }
        guard let compaction else { return nil }
        let going =
            "\(compaction.segmentCount.counted("segment")), \(compaction.freedBytes.counted("byte")) would be freed"
        let base = compaction.baseBytes.counted("byte")
        if compaction.isEstimate {
            return "estimate: before \(compaction.horizon + 1), \(going), and a base of about \(base) would be added"
        }
        return "before \(compaction.horizon + 1), \(going); the base would have \(base) of records before compression"
    }

    /// Returns a zone's name and database, since several users may have zones of one name.
    private func zoneCells(_ ordinal: UInt64) -> [String] {
        [statistics.names.shownZone(ordinal), statistics.names.shownDatabase(ofZone: ordinal)]
    }

    private func write(
        _ title: String, _ rows: [(cells: [String], tally: Tally)], _ others: Tally, to output: Output
    ) throws {
        if rows.isEmpty { return }
        output.write("\n")
        try output.writeLine(title, .heading)
        let shown = rows.prefix(Self.mostRows)
        try Columns.write(
            shown.map { row in
                row.cells.map { Printable.escaped($0) } + ["\(row.tally.count)", row.tally.byteCount.counted("byte")]
            }, indentation: 2, to: output)
        let rest = rows.dropFirst(Self.mostRows)
        guard !rest.isEmpty || others.count > 0 else { return }
        let count = rest.reduce(others.count) { $0 + $1.1.count }
        let bytes = rest.reduce(others.byteCount) { $0 + $1.1.byteCount }
        let what = others.count > 0 ? "all others" : "\(rest.count) more"
        try output.writeLine("  … \(what): \(count), \(bytes.counted("byte"))")
    }

    private func writeChurn(to output: Output) throws {
        let top = churn.filter { $0.1 > 1 }
        if top.isEmpty { return }
        let error = statistics.churn.error
        output.write("\n")
        output.write("records with the most versions", .heading)
        try output.writeLine(error == 0 ? "" : ", each at most \(error) too low")
        let rows = top.map { item, count in
            ["\(count)"] + (zoneCells(item.zone) + [item.name.text]).map { Printable.escaped($0) }
        }
        try Columns.write(rows, indentation: 2, to: output)
    }

    static func day(_ number: Int64) -> String {
        // Noon keeps the day of UTC, whatever zone is used to print times.
        let noon = number &* Timestamp.microsecondsPerDay &+ Timestamp.microsecondsPerDay / 2
        return String("\(Timestamp(microseconds: noon))".prefix { $0 != "T" })
    }

    static func hour(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number):00" }
}
