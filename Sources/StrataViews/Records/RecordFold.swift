import StrataModel
import StrataTree

/// Folds gathered events of records into the trees. It is a separate value, so that folding a slice is a single access
/// to it.
struct RecordFold {
    var names = NameCache()
    var zones = ZoneTotals()
    var references = ReferenceKeys()
    /// Nil until the catalog of indexes is read.
    private var indexes: IndexWriter?
    private var assets = AssetRows()
    private var merger = RecordMerger()
    /// The states being built: the newest, and the next one.
    private var state = ByteWriter(reserving: 4_096)
    private var nextState = ByteWriter(reserving: 4_096)
    /// The state before the current record's events, if there are indexes.
    private var oldState = ByteWriter()
    /// The zone of the previous record, if it exists, and its database.
    private var livingZone: UInt64?
    private var database: UInt64 = 0
    /// The key of the current record; empty if there is none.
    private var key: [UInt8] = []
    private var zone: UInt64 = 0
    /// The totals that the zone loses when the record changes; nil if the record did not exist.
    private var before: Totals?
    private var exists = false
    /// The last commit that changed the current record.
    private var lastChanged: UInt64 = 0
    /// The place of the current event.
    private var place: EventPlace?

    /// The contribution of one record to its zone's row.
    struct Totals {
        var digests: Digests
        var isOutward: Bool
        var usedBytes: Int
    }

    mutating func fold(_ slice: inout RecordSlice, into fork: Fork) throws {
        try beginIndexes(in: fork)
        try locating { fold in
            try slice.forEachEvent { try fold.apply($0, to: fork) }
            try fold.finishRecord(in: fork)
            try fold.assets.apply(to: fork)
        }
    }

    /// Folds the gathered events of one record, and leaves the others gathered.
    mutating func fold(
        _ record: UnsafeRawBufferPointer, of slice: inout RecordSlice, into fork: Fork
    ) throws {
        try beginIndexes(in: fork)
        try locating { fold in
            try slice.take(record) { try fold.apply($0, to: fork) }
            try fold.finishRecord(in: fork)
            try fold.assets.apply(to: fork)
        }
    }

    /// Adds the commit in which an error was found to errors that `body` throws.
    private mutating func locating(_ body: (inout RecordFold) throws -> Void) throws {
        (livingZone, place) = (nil, nil)
        key.removeAll(keepingCapacity: true)
        do { try body(&self) } catch let error as StrataError {
            throw place.map { error.located(offset: $0.version.offset) } ?? error
        }
    }

    // MARK: Records

    private mutating func apply(_ event: SortedEvent, to fork: Fork) throws {
        let isSameRecord = key.withUnsafeBytes { RecordSlice.compare($0, event.key) == 0 }
        if !isSameRecord { try finishRecord(in: fork) }
        place = event.place
        if !isSameRecord { try startRecord(event, in: fork) }
        if event.kind == .recordSaved {
            try save(event.body, at: event.place, over: exists)
            if assets.isFull { try assets.apply(to: fork) }
        } else {
            try checkDeletion(event, of: exists)
            lastChanged = event.place.version.offset
        }
        exists = event.kind == .recordSaved
    }

    private mutating func startRecord(_ event: SortedEvent, in fork: Fork) throws {
        key.removeAll(keepingCapacity: true)
        key.append(contentsOf: event.key)
        var reader = KeyReader(event.key)
        zone = try reader.readNumber()
        try requireLife(of: zone, in: fork)
        references.start(source: event.key, zone: zone)
        before = try loadState(before: event, from: fork)
        exists = before != nil
    }

    /// Writes the result of the current record's events, if there is a current record.
    private mutating func finishRecord(in fork: Fork) throws {
        guard !key.isEmpty else { return }
        var change = ZoneTotals.Change(lastChanged: lastChanged)
        if let before {
            change.recordCount -= 1
            change.outwardCount -= before.isOutward ? 1 : 0
            change.usedBytes -= before.usedBytes
            change.digests -= before.digests
        }
        let key = key
        try key.withUnsafeBytes { key in
            if exists {
                let totals = try putState(key, in: fork)
                change.recordCount += 1
                change.outwardCount += totals.isOutward ? 1 : 0
                change.usedBytes += totals.usedBytes
                change.digests += totals.digests
            } else if before != nil {
                try fork.deleteKnown(ViewTree.records, key)
            }
            try updateRows(key, in: fork)
        }
        try references.apply(to: fork)
        zones.add(change, to: zone)
    }

    private mutating func requireLife(of zone: UInt64, in fork: Fork) throws {
        if zone == livingZone { return }
        database = try names.database(ofZone: zone, in: fork)
        guard try fork.zoneRow(database, zone)?.status == .alive else {
            throw StrataError(
                .brokenSequence, "A record was changed in a zone that does not exist.", .init(found: "zone \(zone)"))
        }
        livingZone = zone
    }

    // MARK: Indexes

    /// Reads the catalog of indexes, unless that was done and it is the same.
    mutating func beginIndexes(in fork: Fork) throws {
        if indexes == nil { indexes = IndexWriter(try IndexCatalog(fork)) }
    }

    /// Takes note of a change of the catalog.
    mutating func forgetIndexes() { indexes = nil }

    /// Removes the index rows of a zone's records, which are removed together.
    mutating func removeRows(ofZone zone: UInt64, in database: UInt64, from fork: Fork) throws {
        try beginIndexes(in: fork)
        try indexes?.removeRows(ofZone: zone, in: database, from: fork)
    }

    private var hasIndexes: Bool { indexes?.isEmpty == false }

    private mutating func updateRows(_ key: UnsafeRawBufferPointer, in fork: Fork) throws {
        guard hasIndexes, before != nil || exists else { return }
        try oldState.bytes.withUnsafeBytes { old in
            try state.bytes.withUnsafeBytes { new in
                try indexes?.update(key, in: database, from: before == nil ? nil : old, to: exists ? new : nil, fork)
            }
        }
    }

    // MARK: States

    /// Copies the state of a record before an event and returns its totals; nil if there is no such record.
    private mutating func loadState(before event: SortedEvent, from fork: Fork) throws -> Totals? {
        state.removeAll()
        return switch event.before {
        case .unknown: try fork.get(ViewTree.records, event.key) { try load($0, in: fork) }
        case .absent: nil
        case .state(let bytes): try load(bytes, in: fork)
        }
    }

    private mutating func load(_ bytes: UnsafeRawBufferPointer, in fork: Fork) throws -> Totals {
        state.append(raw: bytes)
        if hasIndexes {
            oldState.removeAll()
            oldState.append(raw: bytes)
        }
        let view = try RecordStateView(bytes, in: 0..<bytes.count)
        let links = try references.collectOld(view, bytes)
        let loose = links.isLoose ? try looseSum(of: view, bytes, in: fork) : 0
        let content = view.contentDigest
        let state = try stateDigest(content, try view.header(), loose: loose, in: fork)
        return Totals(
            digests: Digests(state: state, content: content), isOutward: links.isOutward,
            usedBytes: try usedBytes(of: view, bytes, in: fork))
    }

    private mutating func save(_ body: UnsafeRawBufferPointer, at place: EventPlace, over exists: Bool) throws {
        let event = try RecordSavedView(body, in: 0..<body.count)
        nextState.removeAll()
        let old = exists ? state.bytes : []
        try old.withUnsafeBytes { try merger.apply(event, at: place, to: exists ? $0 : nil, into: &nextState) }
        swap(&state, &nextState)
        // An event of a base has the version of the event that it replaces.
        let version = try state.bytes.withUnsafeBytes { try RecordStateView($0, in: 0..<$0.count).version }
        lastChanged = version.offset
        try assets.collect(try event.fields, body, version)
    }

    private func checkDeletion(_ sorted: SortedEvent, of exists: Bool) throws {
        let event = try RecordDeletedEvent(sorted)
        let offset = sorted.place.version.offset
        try (exists ? state.bytes : []).withUnsafeBytes { bytes in
            let old = try exists ? RecordStateView(bytes, in: 0..<bytes.count) : nil
            guard let old, old.version == event.previous?.resolved(in: offset) else {
                throw StrataError(
                    .brokenSequence, "A deletion does not follow the record's current version.",
                    .init(expected: old?.version.tag ?? "no deletion", found: event.previous?.tag ?? "none"))
            }
            try old.require(name: event.record.name)
            try old.require(type: event.type)
        }
    }

    /// Writes the state that results from the events.
    private mutating func putState(
        _ key: UnsafeRawBufferPointer, in fork: Fork
    ) throws -> Totals {
        var reader = KeyReader(key)
        _ = try reader.readNumber()
        let totals = try PackedName.withName(of: try reader.readLastText()) {
            try takeDigests(of: state.bytes, zone, $0, in: fork)
        }
        try state.withMutableBytes { try RecordStateView.setDigest(content: totals.digests.content, in: $0) }
        try state.bytes.withUnsafeBytes { try fork.put(ViewTree.records, key, $0) }
        return totals
    }
}

extension RecordDeletedEvent {
    /// Decodes a deletion, or an erasure, which ends a record in the same way.
    fileprivate init(_ event: SortedEvent) throws {
        var reader = ByteReader(event.body)
        if event.kind == .recordErased {
            let erased = try RecordErasedEvent(from: &reader)
            self.init(erased.record, type: erased.type, previous: erased.previous)
        } else {
            self = try RecordDeletedEvent(from: &reader)
        }
        try reader.expectEnd("an event")
    }
}
