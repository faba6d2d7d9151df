import StrataTree

extension Snapshot {
    /// Calls `body` with each record's row that differs from an older state of the same store, zone by zone, until it
    /// returns false. It receives the part of the name that the key holds: see ``RecordStateView/name(keyName:)``.
    ///
    /// - Parameter zone: the ordinal of the only zone to examine; nil for all zones.
    package func forEachRecordChange(
        since old: Snapshot, ofZone zone: UInt64? = nil,
        _ body: (_ zone: UInt64, _ keyName: UnsafeRawBufferPointer, _ change: EntryChange) throws -> Bool
    ) throws {
        func visit(_ key: UnsafeRawBufferPointer, _ change: EntryChange) throws -> Bool {
            var reader = KeyReader(key)
            let found = try reader.readNumber()
            if let zone, found != zone { return false }
            return try body(found, try reader.readLastText(), change)
        }
        guard let zone else { return try forEachChange(of: ViewTree.records, since: old, visit) }
        try ViewKeys.numbers(zone).withUnsafeBytes {
            try forEachChange(of: ViewTree.records, since: old, from: $0, visit)
        }
    }
}
