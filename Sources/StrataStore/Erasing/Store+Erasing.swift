import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

extension Store {
    /// Permanently erases everything that records hold and ever held: from the log, from the views, and the files
    /// of assets that no other record names (docs/format.md §28). The erasure is itself an event, which feeds report as
    /// a deletion; the names of the records stay.
    ///
    /// ```swift
    /// try store.erase(
    ///     [RecordID("card", zone: ZoneID("People"))], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
    /// ```
    /// Everything is done on return. An erasure that is interrupted after its commit is completed when the store is
    /// next opened. Others can continue while it runs, except while the views are rebuilt.
    ///
    /// In a store on a sequencer, everything is done in this process's copy. Every other process erases the records
    /// from its own when the commit reaches it, and the sequencer has the data until it is trimmed
    /// (docs/replication.md §14).
    ///
    /// - Parameters:
    ///   - database: the database, with the name of its owner.
    ///   - reason: the reason, which the log keeps; at most 4,096 bytes.
    ///   - committed: called once the erasure is certain, for copies that the store does not know.
    /// - Throws: ``Refusal`` `zoneNotFound` or `unknownItem` for a record that the log does not know,
    ///   `referenceViolation` if a record would lose its parent; then nothing was erased. ``StrataError`` of the disk.
    public func erase(
        _ ids: [RecordID], in database: DatabaseID, reason: String, committed: () throws -> Void = {}
    ) throws {
        try requireWritable()
        // Another process may have made the records.
        try pipeline.catchUp()
        try engine.erase {
            var names = RequestNames()
            let records = try ids.map { id in
                RecordToErase(
                    RecordKey(zone: names.ordinal(of: id.zone), name: id.name),
                    type: names.ordinal(ofType: try typeName(of: id, in: database)))
            }
            try administer(.eraseRecords(records, reason: reason), in: database, names)
            try committed()
        }
    }

    /// Returns the last type of a record in the log.
    ///
    /// - Throws: ``Refusal`` if the log does not know the record.
    func typeName(of id: RecordID, in database: DatabaseID) throws -> String {
        let newest = newest
        return try newest.reading { trees in
            guard let zone = try zoneOrdinal(of: id, in: database, newest, trees) else {
                throw Refusal.missingZone(id.zone.name)
            }
            let current = try trees.withRecord(RecordKey(zone: zone, name: id.name)) { bytes in
                try RecordStateView(bytes, in: 0..<bytes.count).header().type
            }
            guard let type = try current ?? lastType(of: Array(id.name.utf8), in: zone) else {
                throw Refusal(
                    .unknownItem, "No record named '\(id.name)' exists or ever existed.", rule: .administration)
            }
            return try newest.names.text(.recordType, type, in: trees)
        }
    }

    /// Returns true if a record was erased by a commit after an offset.
    ///
    /// ```swift
    /// if try store.isErased(card, in: DatabaseID(.private, owner: "anna"), after: draft.offset) { discard(draft) }
    /// ```
    ///
    /// - Parameter database: the database that has the record's zone, with the name of its owner.
    public func isErased(_ id: RecordID, in database: DatabaseID, after offset: UInt64) throws -> Bool {
        let newest = newest
        let zone = try newest.reading { try zoneOrdinal(of: id, in: database, newest, $0) }
        guard let zone else { return false }
        return try engine.reader.context.history.isErased(RecordKey(zone: zone, name: id.name), after: offset)
    }

    /// Calls `body` whenever other processes' erasures were carried out in the files of this one.
    package func watchErasures(_ body: @escaping @Sendable () -> Void) { engine.eraser.watch(body) }

    /// True if opening the store completed an erasure that had been interrupted.
    public var hasResumedErasure: Bool { engine.hasResumedErasure }

    /// Returns nil if the log does not know the zone.
    func zoneOrdinal(
        of id: RecordID, in database: DatabaseID, _ snapshot: StoreSnapshot, _ trees: Snapshot
    ) throws -> UInt64? {
        let names = snapshot.names
        let owner = database.scope == .public ? 0 : try names.ordinal(of: .user(database.owner), in: trees)
        guard let owner, let place = try names.ordinal(of: .database(database.scope, owner: owner), in: trees) else {
            return nil
        }
        return try names.ordinal(of: .zone(database: place, owner: owner, id.zone.name), in: trees)
    }

    private func lastType(of name: [UInt8], in zone: UInt64) throws -> UInt64? {
        var (offset, type) = (log.floor.offset, UInt64?.none)
        while true {
            let page = try log.touches(record: name, in: zone, after: offset, limit: 1_000)
            type = page.touches.last?.type ?? type
            guard page.moreComing else { return type }
            offset = page.readThrough
        }
    }
}
