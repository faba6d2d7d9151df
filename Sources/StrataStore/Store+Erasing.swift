import StrataLog
import StrataModel
import StrataRules
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
    private func typeName(of id: RecordID, in database: DatabaseID) throws -> String {
        var newest = snapshot()
        newest.acceptsNewer = true
        return try newest.reading { trees in
            let owner = database.scope == .public ? 0 : try newest.names.ordinal(of: .user(database.owner), in: trees)
            let place = try owner.flatMap {
                try newest.names.ordinal(of: .database(database.scope, owner: $0), in: trees)
            }
            let zone = try place.flatMap {
                try newest.names.ordinal(of: .zone(database: $0, owner: owner ?? 0, id.zone.name), in: trees)
            }
            guard let zone else { throw Refusal.missingZone(id.zone.name) }
            let current = try trees.withRecord(RecordKey(zone: zone, name: id.name)) { bytes in
                try RecordStateView(bytes, in: 0..<bytes.count).header().type
            }
            guard let type = try current ?? lastType(of: Array(id.name.utf8), in: zone) else {
                throw Refusal(.unknownItem, "There is no record '\(id.name)', and was none.", rule: "§13")
            }
            return try newest.names.text(5, type, in: trees)
        }
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
