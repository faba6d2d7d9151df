import StrataLog
import StrataModel
import StrataReplay

/// The content of a report, except for the histories of records.
struct ReportContent {
    let request: ReportRequest
    let identity: StoreIdentity
    let floor: Position
    let end: Position
    let scan: ReportScan
    let report: StatisticsReport
    let segments: [SegmentSummary]
    /// The last refusal first.
    let refusals: [ReportRefusal]
    /// The damage that keeps a part from being reported.
    let damage: StrataError?
    private let zones: [DatabaseID: [ExactName: UInt64]]

    init(_ request: ReportRequest) throws {
        self.request = request
        let store = try StoreAccess(request.path)
        (identity, floor, end) = (store.reader.identity, store.reader.floor, store.reader.end)
        scan = try ReportScan(store, request)
        var damage = store.damage ?? scan.damage
        var segments: [SegmentSummary] = []
        do {
            if let base = try store.reader.summaryOfBase() { segments.append(base) }
        } catch let error as StrataError where error.isDamage { damage = damage ?? error }
        segments += try store.reader.segments.map(store.reader.summary(of:))
        damage = damage ?? segments.compactMap(\.damage).first
        (self.segments, self.damage) = (segments, damage)
        report = StatisticsReport(
            path: request.path, statistics: scan.statistics, stored: scan.stored, damage: damage)
        let reader = scan.store.reader
        refusals = scan.refusals.told.compactMap { ReportRefusal($0, in: reader) }
        let names = scan.statistics.names
        var zones: [DatabaseID: [ExactName: UInt64]] = [:]
        for (ordinal, name) in names.zones {
            guard let database = names.databaseID(ofZone: ordinal) else { continue }
            zones[database, default: [:]][ExactName(text: name)] = ordinal
        }
        self.zones = zones
    }

    var names: KnownNames { scan.statistics.names }

    /// Returns the ordinal of the zone of an item in a refused request; nil if it has none.
    func zone(of target: ReportRefusal.Target, in refusal: ReportRefusal) -> UInt64? {
        guard let zone = target.zone, let database = target.database else { return nil }
        return zones[database.named(for: names.user(refusal.header.user) ?? "")]?[ExactName(text: zone)]
    }

    // MARK: Histories

    /// The number of records that have changed; nil if the count is not exact.
    var exactRecordCount: UInt64? {
        let churn = scan.statistics.churn
        return churn.error == 0 ? UInt64(churn.count) : nil
    }

    /// Returns the number of records that have changed, in words; nil if all of them are on the page.
    private func recordCount(besides histories: ReportHistories) -> String? {
        let numbers = scan.statistics
        let shown = UInt64(histories.told.count)
        if let count = exactRecordCount { return count == 0 || count == shown ? nil : ReportNumber.grouped(count) }
        let least = max(shown, UInt64(numbers.churn.count))
        // Each record that exists since before the first commit of the report was not created in it.
        let isFromStart = scan.range?.lowerBound == 1
        return isFromStart && numbers.records.created >= least
            ? "about " + ReportNumber.grouped(numbers.records.created) : "more than " + ReportNumber.grouped(least)
    }

    /// Returns how many of the records have their history on the page; nil if all have.
    func extent(of histories: ReportHistories) -> String? {
        recordCount(besides: histories).map { "\(ReportNumber.grouped(UInt64(histories.told.count))) of \($0) records" }
    }

    /// Returns a note on the histories that were omitted; nil if none were.
    func note(of histories: ReportHistories) -> String? {
        var parts: [String] = []
        if let extent = extent(of: histories) { parts.append("\(extent) have their history on the page") }
        let cut = UInt64(histories.told.count { !$0.hasAll })
        if cut > 0 { parts.append("only the last versions of \(ReportNumber.counted(cut, "record")) are included") }
        if parts.isEmpty { return nil }
        return parts.joined(separator: "; ")
            + ". Use --records and --size for more of them, and --record, --zone, --since and --until for others."
    }

    func histories(maximumBytes: Int) throws -> ReportHistories {
        try ReportHistories(
            scan.range == nil ? [] : records, in: scan.store, scan.range ?? 1...1, names, maximumBytes: maximumBytes)
    }

    /// The requested records, then alternately those that changed most and those that changed last.
    private var records: [RecordKey] {
        let limit = request.mostRecords
        let changedMost = scan.statistics.churn.top(limit) { left, right in
            left.zone == right.zone ? left.name.text < right.name.text : left.zone < right.zone
        }.map { RecordKey(zone: $0.item.zone, name: $0.item.name.text) }
        let latest = scan.latest.records
        var records = scan.wanted
        for index in 0..<max(changedMost.count, latest.count) {
            if index < changedMost.count { records.append(changedMost[index]) }
            if index < latest.count { records.append(latest[index]) }
        }
        var known: Set<RecordKey> = []
        return Array(records.filter { known.insert($0).inserted }.prefix(limit))
    }
}
