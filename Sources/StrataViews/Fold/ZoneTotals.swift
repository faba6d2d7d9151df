import StrataModel
import StrataTree

/// The changes to the rows of zones, gathered so that each row is written once.
struct ZoneTotals {
    struct Change {
        var lastChanged: UInt64
        var recordCount = 0
        var outwardCount = 0
        var usedBytes = 0
        var digests = Digests()
    }

    private var changes: [UInt64: Change] = [:]

    mutating func add(_ change: Change, to zone: UInt64) {
        guard var sum = changes[zone] else {
            changes[zone] = change
            return
        }
        sum.lastChanged = max(sum.lastChanged, change.lastChanged)
        sum.recordCount += change.recordCount
        sum.outwardCount += change.outwardCount
        sum.usedBytes += change.usedBytes
        sum.digests += change.digests
        changes[zone] = sum
    }

    /// Returns all changes in the order of zones, and removes them.
    mutating func takeAll() -> [(zone: UInt64, change: Change)] {
        defer { changes.removeAll(keepingCapacity: true) }
        return changes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension Fold {
    func writeZones() throws {
        for (zone, change) in records.zones.takeAll() {
            let database = try records.names.database(ofZone: zone, in: fork)
            guard var row = try fork.zoneRow(database, zone) else { continue }
            let before = row
            row.recordCount = try Self.sum(row.recordCount, change.recordCount)
            row.outwardCount = try Self.sum(row.outwardCount, change.outwardCount)
            row.usedBytes = try Self.sum(row.usedBytes, change.usedBytes)
            row.recordDigests += change.digests
            row.lastChanged = max(row.lastChanged, change.lastChanged)
            try put(row, database, zone, over: before)
        }
    }

    /// Returns a count after a change. Damaged trees may hold any count, so overflow is an error.
    private static func sum(_ count: UInt64, _ change: Int) throws -> UInt64 {
        let (sum, isOver) =
            change < 0
            ? count.subtractingReportingOverflow(UInt64(change.magnitude))
            : count.addingReportingOverflow(UInt64(change.magnitude))
        guard !isOver else {
            throw StrataError(
                .malformed, "The totals of a zone are wrong.", .init(found: "\(count), to change by \(change)")
            )
        }
        return sum
    }

    /// Writes a zone's row, and its entry in the order of changes.
    func put(_ row: ZoneRow, _ database: UInt64, _ zone: UInt64, over before: ZoneRow?) throws {
        var writer = ByteWriter(reserving: 128)
        row.encode(into: &writer)
        try fork.put(ViewTree.zones, key: ViewKeys.zone(database, zone), row: writer.bytes)
        if before?.lastChanged == row.lastChanged { return }
        if let before {
            try ViewKeys.zoneChange(database, before.lastChanged, zone).withUnsafeBytes {
                // Mostly of the same generation, in which it leaves no mark.
                _ = try fork.delete(ViewTree.zoneChanges, $0)
            }
        }
        try fork.put(ViewTree.zoneChanges, key: ViewKeys.zoneChange(database, row.lastChanged, zone))
    }
}
