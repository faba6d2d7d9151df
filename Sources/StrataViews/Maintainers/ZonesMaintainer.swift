import StrataModel
import StrataTree

extension ViewTree {
    package static let zones = TreeID(rawValue: 2)
}

/// The zones of all databases, including deleted ones: database, zone → ``ZoneRow``, with the digests of its records.
enum ZonesMaintainer: ViewMaintainer {
    static let tree = ViewTree.zones
    static let name = "zones"
    static let kinds: [EventKind] = [.zoneSaved, .zoneDeleted]
    static let hasDigests = true
    static let isStated = true

    static func apply(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace, to fold: Fold) throws {
        if kind == .zoneSaved {
            try fold.applyZoneSaved(try ZoneSavedEvent(decoding: body), at: place)
        } else {
            try fold.applyZoneDeleted(try ZoneDeletedEvent(decoding: body), at: place)
        }
    }

    static func state(_ entry: ViewEntry, in commit: inout CommitBuilder) throws {
        var reader = KeyReader(entry.key)
        let database = try reader.readNumber()
        let zone = try reader.readNumber()
        let row = try ZoneRow(decoding: entry.row)
        if let reason = row.status.deletionReason {
            try commit.append(
                ZoneDeletedEvent(
                    zone: zone, database: database, incarnation: row.incarnation, reason: reason, original: row.version
                ))
        } else {
            try commit.append(
                ZoneSavedEvent(
                    zone: zone, database: database, incarnation: row.incarnation, capabilities: row.capabilities,
                    encryptionScope: row.encryptionScope, original: row.version,
                    lastChanged: row.lastChanged == row.version.offset ? nil : row.lastChanged))
        }
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        _ = try reader.readNumber()
        return words.zone(try reader.readNumber())
    }

    /// Returns the offset of the commit that last changed the zone or a record in it.
    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? {
        try ZoneRow(decoding: entry.row).lastChanged
    }

    static func addDigests(of row: UnsafeRawBufferPointer, to sum: inout Digests) throws {
        let zone = try ZoneRow(decoding: row)
        sum += zone.recordDigests
        sum += zone.ownDigests
    }
}

extension Fold {
    fileprivate func applyZoneSaved(_ event: ZoneSavedEvent, at place: EventPlace) throws {
        let version = event.original ?? place.version
        try requireDatabase(event.database, of: event.zone)
        let before = try fork.zoneRow(event.database, event.zone)
        let isAlive = before?.status == .alive
        // In a base, one event describes a life that began earlier.
        let isStated = !isAlive && event.original != nil
        guard isStated || (isAlive ? before?.incarnation : nil) == event.incarnation else {
            throw StrataError(
                .brokenSequence, "A zone was saved in another life than its current one.",
                .init(
                    expected: isAlive ? before?.incarnation.tag : "a new life",
                    found: event.incarnation?.tag ?? "a new life"))
        }
        var row = before ?? ZoneRow(status: .alive, version: version, incarnation: version, lastChanged: 0)
        row.status = .alive
        row.version = version
        row.incarnation = event.incarnation ?? version
        row.capabilities = event.capabilities
        row.encryptionScope = event.encryptionScope
        row.lastChanged = event.lastChanged ?? version.offset
        try setOwnDigests(&row, event.zone)
        try put(row, event.database, event.zone, over: before)
    }

    fileprivate func applyZoneDeleted(_ event: ZoneDeletedEvent, at place: EventPlace) throws {
        try requireDatabase(event.database, of: event.zone)
        let before = try fork.zoneRow(event.database, event.zone)
        let isAlive = before?.status == .alive
        // In a base, one event describes a whole life that has ended.
        let isStated = !isAlive && event.original != nil
        guard let incarnation = event.incarnation, isStated || isAlive && before?.incarnation == incarnation else {
            throw StrataError(
                .brokenSequence, "A zone was deleted in another life than its current one.",
                .init(expected: "an existing zone", found: event.incarnation?.tag ?? "none"))
        }
        if let before, isAlive { try removeRecords(of: event.zone, before) }
        let version = event.original ?? place.version
        var row = ZoneRow(
            status: ZoneRow.Status(after: event.reason), version: version, incarnation: incarnation,
            lastChanged: version.offset)
        try setOwnDigests(&row, event.zone)
        try put(row, event.database, event.zone, over: before)
    }

    /// Checks that a zone is in the database that its name gives, through which records find the zone's row.
    private func requireDatabase(_ database: UInt64, of zone: UInt64) throws {
        let named = try records.names.database(ofZone: zone, in: fork)
        guard named == database else {
            throw StrataError(
                .malformed, "A zone is not in the database that its name belongs to.",
                .init(expected: "database \(named)", found: "\(database)"))
        }
    }

    private func setOwnDigests(_ row: inout ZoneRow, _ zone: UInt64) throws {
        let hash = try records.names.hash(.zone, zone, in: fork)
        row.ownDigests.content = DigestHash.hash(
            hash,
            words: [2, UInt64(row.status.rawValue), row.capabilities.rawValue, UInt64(row.encryptionScope.rawValue)])
        row.ownDigests.state = DigestHash.hash(
            row.ownDigests.content, words: [row.version.packed, row.incarnation.packed])
    }

    /// Removes all records of a zone with their references. References from records of other zones stay.
    private func removeRecords(of zone: UInt64, _ row: ZoneRow) throws {
        records.rows?.lose()
        try removeSharedRecords(of: zone)
        if row.outwardCount > 0 { try removeOutwardReferences(of: zone) }
        let foreign = try foreignReferences(to: zone)
        try ViewKeys.withBounds(ofNumber: zone) { lower, upper in
            try fork.deleteRange(ViewTree.references, from: lower, to: upper)
            try fork.deleteRange(ViewTree.records, from: lower, to: upper)
        }
        for key in foreign { try fork.put(ViewTree.references, key: key) }
    }

    private func removeOutwardReferences(of zone: UInt64) throws {
        var rows: [ReferenceKeys] = []
        try ViewKeys.withBounds(ofNumber: zone) { lower, upper in
            try fork.scan(ViewTree.records, from: lower, to: upper) { key, state in
                var keys = ReferenceKeys()
                keys.start(source: key, zone: zone)
                let view = try RecordStateView(state, in: 0..<state.count)
                if try keys.collectOld(view, state).isOutward { rows.append(keys) }
                return true
            }
        }
        for row in rows { try row.apply(to: fork) }
    }

    private func foreignReferences(to zone: UInt64) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        try ViewKeys.withBounds(ofNumber: zone) { lower, upper in
            try fork.scan(ViewTree.references, from: lower, to: upper) { key, _ in
                var reader = KeyReader(key)
                _ = try reader.readNumber()
                _ = try reader.readText()
                _ = try reader.readByte()
                if try reader.readNumber() != zone { keys.append([UInt8](key)) }
                return true
            }
        }
        return keys
    }
}

extension ViewKeys {
    static func zone(_ database: UInt64, _ zone: UInt64) -> [UInt8] {
        var key = KeyWriter()
        key.append(number: database)
        key.append(number: zone)
        return key.bytes
    }
}
