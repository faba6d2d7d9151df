import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// A page of a zone's feed: records, each at its last change.
public struct ZoneFeedPage: Sendable {
    /// A deleted record.
    public struct Deletion: Sendable, Hashable {
        public var id: RecordID
        public var type: String
    }

    /// Records that are new or were changed, as they are now.
    public var changed: [Record] = []
    public var deleted: [Deletion] = []
    /// Where the next page begins.
    public var token: FeedToken
    public var moreComing = false
    /// The token that the asking device last sent with a change of the zone (B65, B167).
    public var clientToken: [UInt8]?
}

/// Reads pages of a zone's feed.
struct ZoneFeed {
    /// The maximum number of records, or of entries in change lists, that a page reads.
    static let maximumEntriesRead = 4_096
    /// The number of bytes of records after which a page ends.
    static let maximumPageBytes = 8 << 20

    let engine: StoreEngine
    let snapshot: StoreSnapshot
    let place: ResolvedDatabase
    let trees: Snapshot
    let zone: UInt64
    /// The zone as a member finds it; nil for the owner.
    let shared: MemberZone?
    let origin: RecordOrigin
    let row: ZoneRow
    let limit: Int

    /// The last commit that the page covers.
    var end: UInt64 { engine.durableOffset(of: trees) }

    /// - Throws: ``Refusal`` for a token that does not fit the request (B151, B161, B363).
    func check(_ token: FeedToken) throws {
        let expiry = try max(
            trees.tokenExpiry(of: place.ordinal), trees.tokenExpiry(of: shared?.zone.database ?? place.ordinal))
        try token.check(place, .zone(zone, life: row.incarnation), engine, expiredBefore: expiry, end: end)
        try shared.map { try token.check($0.zone, in: trees) }
        guard isOfHierarchies || token.cursors == wholeZoneCursor else {
            throw FeedToken.otherShares
        }
    }

    /// True for a member who reads share by share (``MemberFeed``).
    var isOfHierarchies: Bool { shared.map { $0.zone.zonePermission == nil } ?? false }

    /// Returns a page for a reader of the whole zone.
    func page(since token: FeedToken?) throws -> ZoneFeedPage {
        switch token?.progress {
        case nil: return try scan(from: try position(end), after: [])
        case .scanningRecords(let name)?: return try scan(from: token?.position ?? position(end), after: name)
        default: return try token.map(replay) ?? scan(from: try position(end), after: [])
        }
    }

    func clientToken(of actor: Actor) throws -> [UInt8]? {
        guard let user = try snapshot.names.ordinal(of: .user(actor.user), in: trees),
            let device = try snapshot.names.ordinal(of: .device(user: user, actor.device), in: trees)
        else { return nil }
        return try trees.clientToken(zone, device)?.token
    }

    // MARK: Existing records

    private func scan(from start: Position, after name: [UInt8]) throws -> ZoneFeedPage {
        var page = ZoneFeedPage(token: token(start))
        let expected = Int(min(row.recordCount, UInt64(min(limit, Self.maximumEntriesRead))))
        page.changed.reserveCapacity(expected)
        // The last name that was read, or its short form; nil if it is that of the last record of the page.
        var seen: [UInt8]? = name
        var recordsRead = 0
        var byteCount = 0
        var batches = StateBatches(expecting: expected)
        try trees.forEachRecord(of: zone, after: name) { name, state in
            guard page.changed.count < limit, recordsRead < Self.maximumEntriesRead,
                byteCount < Self.maximumPageBytes
            else {
                page.moreComing = true
                return false
            }
            recordsRead += 1
            let isShort = KeyWriter.isShortForm(name)
            let view = try RecordStateView(state, in: 0..<state.count)
            // It changed after the start, so a later page reports it.
            let isLater = view.version.offset > start.offset
            seen = isLater || isShort ? [UInt8](name) : nil
            if isLater { return true }
            byteCount += state.count
            page.changed.append(try record(name, state, &batches))
            return true
        }
        if page.moreComing {
            let last = seen ?? page.changed.last?.nameBytes ?? name
            page.token = token(start, .scanningRecords(name: last))
        } else {
            page.moreComing = row.lastChanged > start.offset
        }
        return page
    }

    /// - Parameter name: the record's name, or its short form.
    func record(
        _ name: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer, _ batches: inout StateBatches
    ) throws -> Record {
        let stored = batches.append(name: name, state: state)
        return try Record(KeyWriter.isShortForm(name) ? stored.withWholeName() : stored, origin)
    }

    // MARK: Changed records

    /// The progress of reading the change lists for a page.
    private struct Reading {
        var page: ZoneFeedPage
        var deleted: Set<[UInt8]> = []
        var byteCount = 0
        var batches = StateBatches()
        /// The last entry that is completely in the page.
        var last: (offset: UInt64, event: UInt32)?
    }

    private func replay(_ token: FeedToken) throws -> ZoneFeedPage {
        var reading = Reading(page: ZoneFeedPage(token: token))
        var (after, seen) = (token.position.offset, UInt64.max)
        // A token within a commit: the commit is read again, and its entries up to `seen` are skipped.
        if case .within(let event) = token.progress, after > 0 { (after, seen) = (after - 1, event) }
        // The zone's row alone shows that nothing has changed.
        var isDone = row.lastChanged <= after
        var entriesRead = 0
        while !isDone {
            let list = try touches(after: after)
            let entries = list.touches.filter { entry in
                entry.offset <= end && (entry.offset > token.position.offset || UInt64(entry.eventIndex) > seen)
            }
            // The log returns all entries of a commit together, however many they are.
            let taken = entries.prefix(Self.maximumEntriesRead - entriesRead)
            guard try take(taken, &reading), taken.count == entries.count else { return try cutShort(reading) }
            entriesRead += taken.count
            after = list.readThrough
            isDone = !list.moreComing || after >= row.lastChanged
            if !isDone, entriesRead >= Self.maximumEntriesRead { return try cutShort(reading) }
        }
        reading.page.token = self.token(try position(end))
        return reading.page
    }

    private func touches(after offset: UInt64) throws -> TouchPage {
        do {
            return try engine.log.touches(
                zone: zone, after: offset, limit: min(Self.maximumEntriesRead, 2 * limit + Snapshot.keysTogether))
        } catch let error as StrataError where error.code == .outOfRange {
            throw FeedToken.compacted
        }
    }

    /// Returns false once the page is full.
    private func take(_ entries: ArraySlice<ZoneTouch>, _ reading: inout Reading) throws -> Bool {
        var rest = entries
        while !rest.isEmpty {
            // Builds no more keys than may be needed.
            let left = limit + 1 - reading.page.changed.count - reading.page.deleted.count
            let together = rest.prefix(min(Snapshot.keysTogether, max(1, left)))
            var keys = KeyList()
            for entry in together { keys.append(RecordKey.viewKey(zone: zone, name: entry.key)) }
            let goesOn = try trees.getEach(ViewTree.records, keys, in: keys.indices) { index, state in
                try take(together[together.startIndex + index], state, &reading)
            }
            guard goesOn else { return false }
            rest = rest.dropFirst(together.count)
        }
        return true
    }

    private func take(_ entry: ZoneTouch, _ state: UnsafeRawBufferPointer?, _ reading: inout Reading) throws -> Bool {
        let isFull =
            reading.page.changed.count + reading.page.deleted.count >= limit
            || reading.byteCount >= Self.maximumPageBytes
        switch (entry.kind, state) {
        case (.recordSaved, let state?):
            let view = try RecordStateView(state, in: 0..<state.count)
            guard view.version.offset == entry.offset, view.version.eventIndex == entry.eventIndex else { break }
            if isFull { return false }
            reading.byteCount += state.count
            let changed = try entry.key.withUnsafeBytes { try record($0, state, &reading.batches) }
            reading.page.changed.append(changed)
        case (.recordDeleted, nil):
            guard !reading.deleted.contains(entry.key) else { break }
            if isFull { return false }
            reading.deleted.insert(entry.key)
            let id = RecordID(String(decoding: entry.key, as: UTF8.self), zone: origin.zone)
            let type = try snapshot.names.text(.recordType, entry.type, in: trees)
            reading.page.deleted.append(.init(id: id, type: type))
        default: break
        }
        reading.last = (entry.offset, entry.eventIndex)
        return true
    }

    private func cutShort(_ reading: Reading) throws -> ZoneFeedPage {
        var page = reading.page
        page.moreComing = true
        if let last = reading.last {
            page.token = token(try position(last.offset), .within(UInt64(last.event)))
        }
        return page
    }

    func position(_ offset: UInt64) throws -> Position {
        Position(offset: offset, chain: try engine.log.chain(at: offset))
    }

    private func token(_ position: Position, _ progress: FeedToken.Progress = .whole) -> FeedToken {
        token(position, progress, wholeZoneCursor)
    }

    func token(
        _ position: Position, _ progress: FeedToken.Progress, _ cursors: [FeedToken.ShareCursor]
    ) -> FeedToken {
        FeedToken(
            store: engine.storeID, database: place.database, feed: .zone(zone, life: row.incarnation),
            position: position, progress: progress, cursors: cursors)
    }

    /// The share of the whole zone by which a member reads it; empty for the owner.
    private var wholeZoneCursor: [FeedToken.ShareCursor] {
        guard let zone = shared?.zone, zone.zonePermission != nil, let member = zone.current.first else { return [] }
        return [.init(share: member.share, membership: member.joined)]
    }
}
