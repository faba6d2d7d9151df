import StrataModel
import StrataTree

/// Folds gathered events of records into the trees. A value of its own, so that a slice of events is one access to it.
struct RecordFold {
    var names = NameCache()
    var zones = ZoneTotals()
    var references = ReferenceKeys()
    private var merger = RecordMerger()
    /// States in the making: the newest, and the one that comes next.
    private var state = ByteWriter(reserving: 4_096)
    private var nextState = ByteWriter(reserving: 4_096)
    /// The zone of the record before, if it is there.
    private var livingZone: UInt64?

    mutating func fold(_ slice: inout RecordSlice, into fork: Fork) throws {
        livingZone = nil
        try slice.forEachRecord { bytes, events in
            var place = events[0].place
            do { try fold(bytes, events, &place, into: fork) } catch let error as StrataError {
                throw error.located(offset: place.version.offset)
            }
        }
    }

    /// What the zone's totals lose when the record changes.
    private struct Before {
        var digests: Digests
        var isOutward: Bool
    }

    /// Folds the events of one record, oldest first.
    ///
    /// - Parameter place: set to that of the event in work, for errors.
    private mutating func fold(
        _ bytes: UnsafeRawBufferPointer, _ events: RecordSlice.Events, _ place: inout EventPlace, into fork: Fork
    ) throws {
        let key = UnsafeRawBufferPointer(rebasing: bytes[events[0].key])
        var reader = KeyReader(key)
        let zone = try reader.readNumber()
        let name = try reader.readLastText()
        try requireLife(of: zone, in: fork)
        references.start(source: key, zone: zone)
        let before = try loadState(key, from: fork)
        var exists = before != nil
        for index in 0..<events.count {
            let event = events[index]
            place = event.place
            let body = UnsafeRawBufferPointer(rebasing: bytes[event.body])
            if event.kind == .recordSaved {
                try save(body, at: place, over: exists)
                exists = true
            } else {
                try checkDeletion(body, of: exists, in: place.version.offset)
                exists = false
            }
        }
        var change = ZoneTotals.Change(lastChanged: place.version.offset)
        if let before {
            change.recordCount -= 1
            change.outwardCount -= before.isOutward ? 1 : 0
            change.digests -= before.digests
        }
        if exists {
            let (digests, isOutward) = try putState(key, zone, name, into: fork)
            change.recordCount += 1
            change.outwardCount += isOutward ? 1 : 0
            change.digests += digests
        } else if before != nil {
            try fork.delete(ViewTree.records, key)
        }
        try references.apply(to: fork)
        zones.add(change, to: zone)
    }

    private mutating func requireLife(of zone: UInt64, in fork: Fork) throws {
        if zone == livingZone { return }
        let database = try names.database(ofZone: zone, in: fork)
        guard try fork.zoneRow(database, zone)?.status == .alive else {
            throw StrataError(
                .brokenSequence, "A record was changed in a zone that is not there.", .init(found: "zone \(zone)"))
        }
        livingZone = zone
    }

    /// Copies the state that a record has; nil if there is no such record.
    private mutating func loadState(_ key: UnsafeRawBufferPointer, from fork: Fork) throws -> Before? {
        state.removeAll()
        return try fork.get(ViewTree.records, key) { bytes in
            state.append(bytes: bytes)
            let view = try RecordStateView(bytes, in: 0..<bytes.count)
            let isOutward = try references.collectOld(view, bytes)
            return Before(
                digests: Digests(state: view.stateDigest, content: view.contentDigest), isOutward: isOutward)
        }
    }

    private mutating func save(_ body: UnsafeRawBufferPointer, at place: EventPlace, over exists: Bool) throws {
        let event = try RecordSavedView(body, in: 0..<body.count)
        nextState.removeAll()
        let old = exists ? state.bytes : []
        try old.withUnsafeBytes { try merger.apply(event, at: place, to: exists ? $0 : nil, into: &nextState) }
        swap(&state, &nextState)
    }

    private func checkDeletion(_ body: UnsafeRawBufferPointer, of exists: Bool, in offset: UInt64) throws {
        var reader = ByteReader(body)
        let event = try RecordDeletedEvent(from: &reader)
        try reader.expectEnd("an event")
        let version =
            try exists ? state.bytes.withUnsafeBytes { try RecordStateView($0, in: 0..<$0.count).version } : nil
        guard version == event.previous?.resolved(in: offset), version != nil else {
            throw StrataError(
                .brokenSequence, "A deletion does not follow the version that the record has.",
                .init(expected: version?.tag ?? "no deletion", found: event.previous?.tag ?? "none"))
        }
    }

    /// Writes the state that the events came to.
    private mutating func putState(
        _ key: UnsafeRawBufferPointer, _ zone: UInt64, _ name: UnsafeRawBufferPointer, into fork: Fork
    ) throws -> (Digests, isOutward: Bool) {
        let (digests, isOutward) = try takeDigests(of: state.bytes, zone, name, in: fork)
        try state.withMutableBytes { bytes in
            try RecordStateView.setDigests(state: digests.state, content: digests.content, in: bytes)
        }
        try state.bytes.withUnsafeBytes { try fork.put(ViewTree.records, key, $0) }
        return (digests, isOutward)
    }
}
