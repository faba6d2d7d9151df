import StrataLog
import StrataModel

/// `strata segments`: the contents of each segment of the log.
enum SegmentsCommand: Command {
    static let name = "segments"
    static let summary = "list the segments and the base of a store's log"
    static let details =
        "Reads unsealed segments and the base in full, and only the index of sealed ones. It can run while another "
        + "program writes to the store. RAW is the size of the payloads before compression, SAVED the percentage by "
        + "which the file is smaller than that (negative if larger), ZONES the number of zones with changes in the "
        + "segment. A base replaces the commits that were compacted. For a damaged store it prints what it can and "
        + "exits with 3."
    static let options: [any OptionDescription] = [Option.json]
    static let examples = ["strata segments Notes.strata", "strata segments Notes.strata --json | jq .commits"]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try StoreAccess.requireDirectory(arguments.store)
        let store = try StoreAccess(arguments.store)
        var damage = store.damage
        var summaries: [SegmentSummary] = []
        do {
            if let base = try store.reader.summaryOfBase() { summaries.append(base) }
        } catch let error as StrataError where error.isDamage { damage = damage ?? error }
        summaries += try store.reader.segments.map(store.reader.summary(of:))
        damage = damage ?? summaries.compactMap(\.damage).first
        if arguments[Option.json] {
            for summary in summaries { try output.writeJSON(summary, as: shape) }
        } else {
            try write(summaries, to: output)
        }
        if let damage { throw damage }
        return .success
    }

    private static let titles = [
        "FIRST", "LAST", "FORM", "STATE", "COMMITS", "BYTES", "RAW", "SAVED", "ZONES", "FROM", "TO",
    ]
    /// Words are aligned left, numbers right.
    private static let wordColumns: Set<Int> = [2, 3, 9, 10]
    /// The columns to drop on a narrow terminal, in this order: TO, RAW, ZONES, FORM, SAVED, BYTES and FROM.
    private static let expendable = [10, 6, 8, 2, 7, 5, 9]

    private static func write(_ summaries: [SegmentSummary], to output: Output) throws {
        let rows = [titles] + summaries.map(cells)
        let widths = titles.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let shown = Columns.fitting(widths, in: output.columns, leavingOut: expendable)
        for (number, row) in rows.enumerated() {
            for column in shown {
                let cell = row[column]
                let padding = "".padded(to: widths[column] - cell.count, separation: 0)
                if !wordColumns.contains(column) { output.write(padding) }
                if let ink = ink(ofColumn: column, in: number) { output.write(cell, ink) } else { output.write(cell) }
                guard column != shown.last else { continue }
                output.write(wordColumns.contains(column) ? padding + "  " : "  ")
            }
            try output.endLine()
        }

        func ink(ofColumn column: Int, in row: Int) -> TextStyle? {
            if row == 0 { return .heading }
            return titles[column] == "STATE" && summaries[row - 1].damage != nil ? .damage : nil
        }
    }

    private static func cells(of summary: SegmentSummary) -> [String] {
        func time(_ microseconds: Int64?) -> String { microseconds.map { "\(Timestamp(microseconds: $0))" } ?? "-" }
        return [
            "\(summary.firstOffset)", summary.lastOffset.map { "\($0)" } ?? "-", summary.form.rawValue,
            summary.damage != nil ? "damaged" : summary.isClosed ? "closed" : "active", "\(summary.commitCount)",
            "\(summary.fileBytes)", "\(summary.payloadBytes)",
            SavedSpace.percent(of: summary.payloadBytes, in: UInt64(summary.fileBytes)), "\(summary.touchCounts.count)",
            time(summary.firstTime), time(summary.lastTime),
        ]
    }

    private static let zoneShape = Shape<(key: UInt64, value: UInt64)>("A zone of a segment") {
        Key("zone", "ordinal") { $0.key }
        Key("changes", "how many changes of the zone and its records there are") { $0.value }
    }

    static let shape = Shape<SegmentSummary>(
        "What `segments` prints", "An object for the base, if there is one, and one for each segment."
    ) {
        Key("path", "of the file") { $0.path }
        Key("firstOffset", "the first offset that it holds, will hold, or as a base represents") { $0.firstOffset }
        Key("lastOffset", "the last, or null if it is empty") { $0.lastOffset }
        Key("form", "`base`, `frames` or `blocks`") { $0.form.rawValue }
        Key("closed", "true if nothing more is written to it") { $0.isClosed }
        Key("commits", "how many were read in it, 0 for a base") { $0.commitCount }
        Key("bytes", "size of the file") { $0.fileBytes }
        Key("payloadBytes", "bytes of their payloads before compression") { $0.payloadBytes }
        Key("firstTime", "time of its first commit") { $0.firstTime }
        Key("lastTime", "time of its last") { $0.lastTime }
        Key("zones", "the zones with changes in it", each: zoneShape) { $0.touchCounts.sorted { $0.key < $1.key } }
        Key("damage", "damage that was found in it") { $0.damage }
    }
}
