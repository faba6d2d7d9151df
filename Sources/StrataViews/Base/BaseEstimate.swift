import StrataModel
import StrataTree

/// An estimate of the base of a state, from a sample of the records of each zone.
///
/// ```swift
/// let estimate = try BaseEstimate(store.snapshot())
/// for zone in estimate.zones { print(zone.zone, zone.recordCount, zone.byteCount) }
/// ```
package struct BaseEstimate: Sendable, Hashable {
    package struct Zone: Sendable, Hashable {
        /// The ordinals of the database and the zone.
        package var database: UInt64
        package var zone: UInt64
        /// The exact number of records.
        package var recordCount: UInt64
        /// The bytes of their events before compression: exact for zones of up to ``BaseEstimate/exactCount`` records.
        package var byteCount: UInt64
    }

    /// The number of records in a zone above which only a sample is read.
    package static let exactCount: UInt64 = 256
    private static let places = 64
    private static let recordsAtPlace = 4

    /// The zones that have records, in the order of their databases.
    package private(set) var zones: [Zone] = []
    /// The number of names, zones, subscriptions and other entries that are not records.
    package private(set) var otherCount: UInt64 = 0
    package var recordCount: UInt64 { zones.reduce(0) { $0 + $1.recordCount } }
    /// The bytes of the events of all records.
    package var byteCount: UInt64 { zones.reduce(0) { $0 + $1.byteCount } }

    /// Reads a row for each zone, and up to about 256 of its records.
    package init(_ snapshot: Snapshot) throws {
        otherCount = try ViewTree.stated.reduce(0) { $0 + ($1 == ViewTree.records ? 0 : try snapshot.entryCount($1)) }
        try snapshot.scan(ViewTree.zones) { key, row in
            var reader = KeyReader(key)
            let (database, zone) = (try reader.readNumber(), try reader.readNumber())
            let count = try ZoneRow(decoding: row).recordCount
            guard count > 0 else { return true }
            let bytes = try Self.byteCount(of: zone, count, snapshot)
            zones.append(Zone(database: database, zone: zone, recordCount: count, byteCount: bytes))
            return true
        }
    }

    private static func byteCount(of zone: UInt64, _ count: UInt64, _ snapshot: Snapshot) throws -> UInt64 {
        try ViewKeys.withBounds(ofNumber: zone) { lower, upper in
            guard count > exactCount else {
                return UInt64(try sample(.max, from: lower, to: upper, snapshot).bytes)
            }
            var starts = try snapshot.dividingKeys(ViewTree.records, from: lower, to: upper, count: places)
            starts.append([UInt8](lower))
            var sum = (records: 0, bytes: 0)
            for start in starts {
                let part = try start.withUnsafeBytes { try sample(recordsAtPlace, from: $0, to: upper, snapshot) }
                sum = (sum.records + part.records, sum.bytes + part.bytes)
            }
            return UInt64(Double(sum.bytes) / Double(max(1, sum.records)) * Double(count))
        }
    }

    /// Returns the number of the first records between two keys, and the bytes of their events.
    private static func sample(
        _ limit: Int, from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer, _ snapshot: Snapshot
    ) throws -> (records: Int, bytes: Int) {
        var sum = (records: 0, bytes: 0)
        var commit = CommitBuilder(notesTouches: false)
        try snapshot.scan(ViewTree.records, from: lower, to: upper) { key, row in
            commit.removeAll()
            try RecordsMaintainer.state(ViewEntry(key: key, row: row), in: &commit)
            sum = (sum.records + 1, sum.bytes + commit.byteCount)
            return sum.records < limit
        }
        return sum
    }
}
