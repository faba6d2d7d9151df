import StrataModel
import StrataTree
import StrataViews

/// A page of a database's feed: zones, each at its last change.
public struct DatabaseFeedPage: Sendable {
    /// A deleted zone.
    public struct Deletion: Sendable, Hashable {
        public var zone: ZoneID
        public var reason: ZoneDeletionReason
    }

    /// Zones that are new, were changed, or have changes of their records.
    public var changed: [ZoneID] = []
    public var deleted: [Deletion] = []
    /// Where the next page begins.
    public var token: FeedToken
    public var moreComing = false
}

extension Store {
    /// Returns the zones of a database that have changed since a token, or all existing zones for nil (docs/feeds.md).
    ///
    /// ```swift
    /// let page = try store.databaseChanges(in: DatabaseID(.private), since: token, as: anna)
    /// for zone in page.changed { outdated.insert(zone) }
    /// token = page.token
    /// ```
    ///
    /// - Parameter limit: 0 lets the store choose.
    /// - Throws: ``Refusal`` for a database without a feed, and for a token that does not fit (B150, B151, B161).
    public func databaseChanges(
        in database: DatabaseID, since token: FeedToken? = nil, limit: Int = 0, as actor: Actor
    ) throws -> DatabaseFeedPage {
        guard database.scope != .public else { throw Refusal.publicChanges }
        let limit = try pageLimit(limit)
        try catchUp(with: token)
        let (page, offset) = try readingFeed { snapshot in
            try snapshot.reading { trees in
                let place = try snapshot.names.place(database, actor, in: trees)
                let feed = DatabaseFeed(
                    engine: engine, names: snapshot.names, place: place, trees: trees, limit: limit)
                return try feed.page(since: token)
            }
        }
        auditFeedRead(
            of: nil, database, by: actor, at: offset, since: token,
            count: page.changed.count + page.deleted.count, page.token, moreComing: page.moreComing)
        return page
    }
}

/// Reads pages of a database's feed.
struct DatabaseFeed {
    /// The maximum number of rows that a page reads.
    static let maximumRowsRead = 4_096

    let engine: StoreEngine
    let names: Directory
    let place: ResolvedDatabase
    let trees: Snapshot
    let limit: Int

    /// The position at which reading starts, and the kind of reading.
    private struct Start {
        var position: Position
        var offset: UInt64
        var zone: UInt64
        /// True if only existing zones are reported, up to the position.
        var isScan: Bool
    }

    private var end: UInt64 { engine.durableOffset(of: trees) }

    func page(since token: FeedToken?) throws -> DatabaseFeedPage {
        let start = try start(token)
        var page = DatabaseFeedPage(token: self.token(start.position))
        let defaultZone = try defaultZone()
        /// The last row that was read.
        var seen: (offset: UInt64, zone: UInt64)?
        var rowsRead = 0
        try forEachZoneChange(after: start.offset, zone: start.zone) { offset, zone in
            rowsRead += 1
            guard rowsRead <= Self.maximumRowsRead else {
                page.moreComing = true
                return false
            }
            if zone != defaultZone {
                let isAppended = try append(zone, at: offset, start, &page)
                guard isAppended else { return false }
            }
            seen = (offset, zone)
            return true
        }
        page.token = try next(after: seen, start, moreComing: page.moreComing)
        return page
    }

    private func forEachZoneChange(
        after offset: UInt64, zone: UInt64, _ body: (_ offset: UInt64, _ zone: UInt64) throws -> Bool
    ) throws {
        guard place.database.scope == .shared else {
            return try trees.forEachZoneChange(of: place.ordinal, after: offset, zone: zone, body)
        }
        for change in try trees.sharedZoneChanges(of: place.lookup.owner)
        where (change.offset, change.zone) > (offset, zone) {
            guard try body(change.offset, change.zone) else { return }
        }
    }

    /// Returns the state of a zone and its ID.
    private func zone(_ zone: UInt64) throws -> (status: ZoneRow.Status, id: ZoneID) {
        if place.database.scope == .shared {
            let isVisible = try trees.sharedZoneChange(of: place.lookup.owner, in: zone).isVisible
            // Whatever ended the access, the zone is deleted for the member (B360).
            return (isVisible ? .alive : .deleted, try names.sharedZone(zone, in: trees))
        }
        guard let status = try trees.zoneStatus(place.ordinal, zone) else {
            throw StrataError(.malformed, "A zone that does not exist has changed.", .init(found: "zone \(zone)"))
        }
        return (status, ZoneID(try names.text(.zone, zone, in: trees)))
    }

    private func start(_ token: FeedToken?) throws -> Start {
        guard let token else {
            let position = Position(offset: end, chain: try engine.log.chain(at: end))
            return Start(position: position, offset: 0, zone: 0, isScan: true)
        }
        try token.check(
            place, .database, engine, expiredBefore: try trees.tokenExpiry(of: place.ordinal), end: end)
        let position = token.position
        switch token.progress {
        case .whole, .scanningRecords, .shares:
            return Start(position: position, offset: position.offset, zone: .max, isScan: false)
        case .within(let zone): return Start(position: position, offset: position.offset, zone: zone, isScan: false)
        case .scanningZones(let offset, let zone):
            return Start(position: position, offset: offset, zone: zone, isScan: true)
        }
    }

    /// Returns the ordinal of the default zone, which has no feed (B156).
    private func defaultZone() throws -> UInt64? {
        guard place.ordinal != 0, place.database.scope != .shared else { return nil }
        return try place.zone(.default, trees, names).ordinal
    }

    /// Returns false once the page is full.
    private func append(
        _ zone: UInt64, at offset: UInt64, _ start: Start, _ page: inout DatabaseFeedPage
    ) throws -> Bool {
        let (status, id) = try self.zone(zone)
        // The reader has never seen this zone.
        if status != .alive, start.isScan, offset <= start.position.offset { return true }
        guard page.changed.count + page.deleted.count < limit else {
            page.moreComing = true
            return false
        }
        switch status {
        case .alive: page.changed.append(id)
        case .deleted: page.deleted.append(.init(zone: id, reason: .deleted))
        case .purged: page.deleted.append(.init(zone: id, reason: .purged))
        case .encryptedDataReset: page.deleted.append(.init(zone: id, reason: .encryptedDataReset))
        }
        return true
    }

    private func next(
        after seen: (offset: UInt64, zone: UInt64)?, _ start: Start, moreComing: Bool
    ) throws -> FeedToken {
        guard moreComing, let seen else {
            return token(Position(offset: end, chain: try engine.log.chain(at: end)))
        }
        // Up to the start position, the next page must also skip deleted zones.
        if start.isScan, seen.offset <= start.position.offset {
            return token(start.position, .scanningZones(offset: seen.offset, zone: seen.zone))
        }
        return token(
            Position(offset: seen.offset, chain: try engine.log.chain(at: seen.offset)), .within(seen.zone))
    }

    private func token(_ position: Position, _ progress: FeedToken.Progress = .whole) -> FeedToken {
        FeedToken(
            store: engine.storeID, database: place.database, feed: .database, position: position, progress: progress)
    }
}
