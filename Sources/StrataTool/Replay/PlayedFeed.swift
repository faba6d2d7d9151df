import StrataModel
import StrataStore

/// A client that follows a database and all its zones during a replay. After each commit it fetches changes with the
/// tokens of the previous fetch.
struct PlayedFeed {
    enum Change {
        case changed(Record)
        case deleted(RecordID, type: String)
        case zoneDeleted(ZoneID, ZoneDeletedEvent.Reason)
    }

    private let feed: FeedReading
    private var token: FeedToken?
    private var zones: [ZoneID: FeedToken] = [:]

    /// A client that has received everything that a database of its user now contains.
    init(_ store: Store, _ scope: InternedName.Scope, as actor: Actor) throws {
        feed = FeedReading(store: store, database: DatabaseID(scope), zone: nil, actor: actor)
        token = try feed.presentToken()
        for zone in try store.snapshot().zones(in: feed.database, as: actor) where !zone.id.isDefault {
            zones[zone.id] = try reading(zone.id).presentToken()
        }
    }

    private func reading(_ zone: ZoneID) -> FeedReading {
        FeedReading(store: feed.store, database: feed.database, zone: zone, actor: feed.actor)
    }

    /// Returns the changes since the previous call.
    mutating func changes() throws -> [Change] {
        var changes: [Change] = []
        var changed: [ZoneID] = []
        var token = token
        try feed.forEachPage(since: token) { page in
            guard case .database(let page) = page else { return false }
            token = page.token
            changed += page.changed
            for deletion in page.deleted {
                zones[deletion.zone] = nil
                changes.append(.zoneDeleted(deletion.zone, deletion.reason))
            }
            return true
        }
        self.token = token
        for zone in changed { changes += try self.changes(of: zone) }
        return changes
    }

    private mutating func changes(of zone: ZoneID) throws -> [Change] {
        do { return try changes(of: zone, since: zones[zone]) } catch let refusal as Refusal
            where refusal.code == .changeTokenExpired
        {
            // One commit deleted the zone and created it again. The client has nothing of the new life.
            return try changes(of: zone, since: nil)
        }
    }

    private mutating func changes(of zone: ZoneID, since start: FeedToken?) throws -> [Change] {
        var changes: [Change] = []
        try reading(zone).forEachPage(since: start) { page in
            guard case .zone(let page) = page else { return false }
            changes += page.changed.map { .changed($0) }
            changes += page.deleted.map { .deleted($0.id, type: $0.type) }
            zones[zone] = page.token
            return true
        }
        return changes
    }
}
