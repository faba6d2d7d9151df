import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

extension Store {
    /// Takes away for good what records hold and ever held: from the log, from the page file, and the files of assets
    /// that no other record names (docs/format.md §28). It is an event itself, which feeds tell as a deletion; what the
    /// records were named stays.
    ///
    /// ```swift
    /// try store.erase(
    ///     [RecordID("card", zone: ZoneID("People"))], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
    /// ```
    /// All of it is done on return. An erasure that is interrupted behind its commit is done when the store is opened
    /// next. Others can go on meanwhile, but for the time in which the page file is made anew.
    ///
    /// - Parameters:
    ///   - database: with the name of its owner.
    ///   - reason: kept in the log, at most 4,096 bytes.
    ///   - committed: called once it is certain that they are erased, for copies of which the store does not know.
    /// - Throws: ``Refusal`` `unknownItem` for a record of which the log knows nothing, `referenceViolation` if one
    ///   would lose its parent; then nothing was erased. ``StrataError`` of the disk.
    public func erase(
        _ ids: [RecordID], in database: DatabaseID, reason: String, committed: () throws -> Void = {}
    ) throws {
        try requireWritable()
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

    /// What the log last said of a record's type.
    ///
    /// - Throws: ``Refusal`` if it never told of the record.
    func typeName(of id: RecordID, in database: DatabaseID) throws -> String {
        var newest = snapshot()
        newest.acceptsNewer = true
        return try newest.reading { trees in
            guard let zone = try zoneOrdinal(of: id, in: database, newest, trees) else {
                throw Refusal.missingZone(id.zone.name)
            }
            let current = try trees.withRecord(RecordKey(zone: zone, name: id.name)) { bytes in
                try RecordStateView(bytes, in: 0..<bytes.count).header().type
            }
            guard let type = try current ?? lastType(of: Array(id.name.utf8), in: zone) else {
                throw Refusal(.unknownItem, "There is no record '\(id.name)', and was none.", rule: .administration)
            }
            return try newest.names.text(.recordType, type, in: trees)
        }
    }

    /// Whether a record was erased by a commit behind an offset.
    ///
    /// ```swift
    /// if try store.isErased(card, in: DatabaseID(.private, owner: "anna"), behind: draft.offset) { discard(draft) }
    /// ```
    ///
    /// - Parameter database: with the name of its owner, in whose zone the record is.
    public func isErased(_ id: RecordID, in database: DatabaseID, behind offset: UInt64) throws -> Bool {
        var newest = snapshot()
        newest.acceptsNewer = true
        let zone = try newest.reading { try zoneOrdinal(of: id, in: database, newest, $0) }
        guard let zone else { return false }
        return try engine.reader.context.history.isErased(RecordKey(zone: zone, name: id.name), behind: offset)
    }

    /// Whether opening the store carried out an erasure that had been interrupted.
    public var hasResumedErasure: Bool { engine.hasResumedErasure }

    /// Nil if the log has never told of the zone.
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
