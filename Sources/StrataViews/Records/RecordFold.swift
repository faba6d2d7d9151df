import StrataModel
import StrataTree

/// Folds gathered events of records into the trees. It is a separate value, so that folding a slice is a single access
/// to it.
struct RecordFold {
    /// The number of events between two reports of progress.
    private static let reportedEvents = 100_000

    var names = NameCache()
    var zones = ZoneTotals()
    var references = ReferenceKeys()
    /// Nil if nothing needs the changes of index rows.
    var rows: IndexRowCollector?
    private var assets = AssetRows()
    private var merger = RecordMerger()
    /// The states being built: the newest, and the next one.
    private var state = ByteWriter(reserving: 4_096)
    private var nextState = ByteWriter(reserving: 4_096)
    /// The state before the current record's events, if changes of rows are collected.
    private var oldState = ByteWriter()
    /// The zone of the previous record, if it exists.
    private var livingZone: UInt64?
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

    /// The source and destination of records: a tree that is changed, or one that is built in the order of keys.
    private struct Target {
        let fork: Fork
        var loader: BulkLoader?
    }

    mutating func fold(_ slice: inout RecordSlice, into fork: Fork) throws {
        let target = Target(fork: fork)
        try locating { fold in
            try slice.forEachEvent { try fold.apply($0, to: target) }
            try fold.finishRecord(in: target)
            try fold.assets.apply(to: target.fork)
        }
    }

    /// Folds the gathered events of one record, and leaves the others gathered.
    mutating func fold(
        _ record: UnsafeRawBufferPointer, of slice: inout RecordSlice, into fork: Fork
    ) throws {
        let target = Target(fork: fork)
        try locating { fold in
            try slice.take(record) { try fold.apply($0, to: target) }
            try fold.finishRecord(in: target)
            try fold.assets.apply(to: target.fork)
        }
    }

    /// Folds any number of events. An empty tree of records is built from full pages rather than changed.
    ///
    /// - Parameter progress: called from time to time with the number of events folded so far.
    mutating func fold(_ sorter: EventSorter, into fork: Fork, progress: (Int) -> Void) throws {
        guard fork.isEmpty(ViewTree.records) else {
            return try fold(sorter, into: Target(fork: fork), progress)
        }
        try fork.load(ViewTree.records) { loader in
            try fold(sorter, into: Target(fork: fork, loader: loader), progress)
        }
    }

    private mutating func fold(_ sorter: EventSorter, into target: Target, _ progress: (Int) -> Void) throws {
        var count = 0
        try locating { fold in
            try sorter.forEachEvent { event in
                try fold.apply(event, to: target)
                count += 1
                if count % Self.reportedEvents == 0 { progress(count) }
            }
            try fold.finishRecord(in: target)
            try fold.assets.apply(to: target.fork)
        }
    }

    /// Builds the tree of records with full pages, from events that come in the order of their keys.
    ///
    /// - Parameter events: passes one event after the other to the function that it receives.
    mutating func load(into fork: Fork, _ events: ((SortedEvent) throws -> Void) throws -> Void) throws {
        try fork.load(ViewTree.records) { loader in
            let target = Target(fork: fork, loader: loader)
            try locating { fold in
                try events { try fold.apply($0, to: target) }
                try fold.finishRecord(in: target)
                try fold.assets.apply(to: target.fork)
            }
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

    private mutating func apply(_ event: SortedEvent, to target: Target) throws {
        let isSameRecord = key.withUnsafeBytes { RecordSlice.compare($0, event.key) == 0 }
        if !isSameRecord { try finishRecord(in: target) }
        place = event.place
        if !isSameRecord { try startRecord(event, in: target) }
        if event.kind == .recordSaved {
            try save(event.body, at: event.place, over: exists)
            if assets.isFull { try assets.apply(to: target.fork) }
        } else {
            try checkDeletion(event, of: exists)
            lastChanged = event.place.version.offset
        }
        exists = event.kind == .recordSaved
    }

    private mutating func startRecord(_ event: SortedEvent, in target: Target) throws {
        key.removeAll(keepingCapacity: true)
        key.append(contentsOf: event.key)
        var reader = KeyReader(event.key)
        zone = try reader.readNumber()
        try requireLife(of: zone, in: target.fork)
        references.start(source: event.key, zone: zone)
        before = target.loader == nil ? try loadState(before: event, from: target.fork) : nil
        exists = before != nil
    }

    /// Writes the result of the current record's events, if there is a current record.
    private mutating func finishRecord(in target: Target) throws {
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
                let totals = try putState(key, in: target)
                change.recordCount += 1
                change.outwardCount += totals.isOutward ? 1 : 0
                change.usedBytes += totals.usedBytes
                change.digests += totals.digests
            } else if before != nil {
                try target.fork.delete(ViewTree.records, key)
            }
            try collectRows(key, in: target.fork)
        }
        try references.apply(to: target.fork)
        zones.add(change, to: zone)
    }

    private mutating func requireLife(of zone: UInt64, in fork: Fork) throws {
        if zone == livingZone { return }
        let database = try names.database(ofZone: zone, in: fork)
        guard try fork.zoneRow(database, zone)?.status == .alive else {
            throw StrataError(
                .brokenSequence, "A record was changed in a zone that does not exist.", .init(found: "zone \(zone)"))
        }
        livingZone = zone
    }

    private mutating func collectRows(_ key: UnsafeRawBufferPointer, in fork: Fork) throws {
        guard rows != nil, before != nil || exists else { return }
        try oldState.bytes.withUnsafeBytes { old in
            try state.bytes.withUnsafeBytes { new in
                try rows?.collect(from: before == nil ? nil : old, to: exists ? new : nil, key, in: fork)
            }
        }
    }

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
        if rows != nil {
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
        _ key: UnsafeRawBufferPointer, in target: Target
    ) throws -> Totals {
        var reader = KeyReader(key)
        _ = try reader.readNumber()
        let totals = try PackedName.withName(of: try reader.readLastText()) {
            try takeDigests(of: state.bytes, zone, $0, in: target.fork)
        }
        try state.withMutableBytes { try RecordStateView.setDigest(content: totals.digests.content, in: $0) }
        try state.bytes.withUnsafeBytes { state in
            if let loader = target.loader {
                try loader.append(key, state)
            } else {
                try target.fork.put(ViewTree.records, key, state)
            }
        }
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
