import StrataModel
import StrataStore
import StrataViews

/// The state of a device's sync engine, compared with its store: what it has to send, what it has fetched, and what its
/// next fetch would bring.
struct SyncStateReport {
    /// The number of changed zones of a database, or of changed records of a zone.
    struct Fetch {
        var changed = 0
        var deleted = 0
        var pages = 0
        /// The reason why the zone would be fetched from its beginning; nil if it would not.
        var restart: String?
        /// The error instead of changes.
        var refusal: Refusal?
    }

    struct Zone {
        let zone: ZoneID
        let isThere: Bool
        var hasToken = false
        /// Nil also for a token that is not of this release.
        var token: TokenReport?
        /// True if the engine knows of changes that it has not fetched.
        var isUnfetched = false
        var change: SyncState.ZoneChange?
        var saveCount = 0
        var deleteCount = 0
        /// Nil if the next fetch would not ask for it.
        var next: Fetch?
    }

    let state: SyncState
    let actor: Actor
    let database: DatabaseID
    /// The offset of the store's state.
    let offset: UInt64
    /// The reason why an engine of this device would start without the state; nil if it would use it.
    let reasonUnused: String?
    private(set) var databaseToken: TokenReport?
    /// The number of zones that the next fetch would name; nil for a state that would not be used.
    private(set) var next: Fetch?
    private(set) var zones: [Zone] = []

    /// - Throws: ``Refusal`` if the user has no such database.
    init(_ state: SyncState, of actor: Actor, in access: StateAccess) throws {
        self.state = state
        self.actor = actor
        database = DatabaseID(state.scope, owner: state.scope == .public ? "" : actor.user)
        offset = access.store.offset
        reasonUnused = try Self.reasonUnused(state, actor, access)
        let feed = try Feeds(access, actor, database)
        databaseToken = try state.databaseToken.flatMap { try feed.report(of: $0) }
        zones = try Self.zones(of: state, feed)
        guard reasonUnused == nil, state.scope != .public else { return }
        let (fetch, named) = try feed.next(since: databaseToken, hasToken: state.databaseToken != nil)
        next = fetch
        let known = Set(zones.map(\.zone))
        zones += named.filter { !known.contains($0) }.map { Zone(zone: $0, isThere: feed.hasZone($0)) }
        let asked = Set(named)
        for place in zones.indices where asked.contains(zones[place].zone) || zones[place].isUnfetched {
            zones[place].next = try feed.next(of: zones[place])
        }
    }

    /// The time of the last fetch, in microseconds since 1970.
    var lastFetch: Int64? { state.lastFetch.flatMap { Self.microseconds($0) } }
    var lastPush: Int64? { state.lastPush.flatMap { Self.microseconds($0) } }

    /// Returns nil for a date outside the range of the log.
    private static func microseconds(_ secondsSince2001: Double) -> Int64? {
        let microseconds = ((secondsSince2001 + 978_307_200) * 1e6).rounded()
        return Int64(exactly: microseconds).flatMap { (0...Int64.max >> 8).contains($0) ? $0 : nil }
    }

    private static func reasonUnused(_ state: SyncState, _ actor: Actor, _ access: StateAccess) throws -> String? {
        let store = try access.log().identity.storeID
        guard let made = state.store else { return "it was made without a store" }
        if made != store { return "it is of the store \(made), and this one is \(store)" }
        guard let user = state.user else { return "no one was signed in when it was made" }
        return try user == access.store.snapshot().recordName(of: actor.user)
            ? nil : "it is of the user \(user), and not of \(actor.user)"
    }

    private static func zones(of state: SyncState, _ feeds: Feeds) throws -> [Zone] {
        var zones: [Zone] = []
        var places: [ZoneID: Int] = [:]
        func change(_ zone: ZoneID, _ body: (inout Zone) throws -> Void) throws {
            let id = feeds.named(zone)
            let place = places[id] ?? zones.count
            if place == zones.count {
                places[id] = place
                zones.append(Zone(zone: id, isThere: feeds.hasZone(id)))
            }
            try body(&zones[place])
        }
        for (zone, token) in state.zoneTokens {
            try change(zone) { ($0.hasToken, $0.token) = (true, try feeds.report(of: token)) }
        }
        for zone in state.unfetchedZones { try change(zone) { $0.isUnfetched = true } }
        for (zone, kind) in state.zoneChanges { try change(zone) { $0.change = kind } }
        for (record, isSave) in state.recordChanges {
            try change(record.zone) { zone in
                if isSave { zone.saveCount += 1 } else { zone.deleteCount += 1 }
            }
        }
        // Tokens are in the order of a hash table.
        return zones.sorted { ($0.zone.owner, $0.zone.name) < ($1.zone.owner, $1.zone.name) }
    }

    /// The feeds of a database, as the device's engine reads them.
    private struct Feeds {
        private let access: StateAccess
        private let actor: Actor
        private let database: DatabaseID
        private let present: Set<ZoneID>
        private let recordName: String

        init(_ access: StateAccess, _ actor: Actor, _ database: DatabaseID) throws {
            (self.access, self.actor, self.database) = (access, actor, database)
            recordName = try access.store.snapshot().recordName(of: actor.user)
            var present: Set<ZoneID> = []
            if database.scope != .public {
                try FeedReading(store: access.store, database: database, zone: nil, actor: actor).forEachPage(
                    since: nil
                ) { page in
                    if case .database(let page) = page { present.formUnion(page.changed) }
                    return true
                }
            }
            self.present = present
        }

        /// Returns a zone as feeds name it: without its owner if that is the user.
        func named(_ zone: ZoneID) -> ZoneID {
            zone.owner == recordName ? ZoneID(zone.name) : zone
        }

        /// The default zone is always there, though no feed names it.
        func hasZone(_ zone: ZoneID) -> Bool { zone == .default && database.scope != .shared || present.contains(zone) }

        func report(of bytes: [UInt8]) throws -> TokenReport? {
            guard let token = try? FeedToken(unverified: bytes) else { return nil }
            let standing = try access.store.standing(ofBytes: bytes)
            return TokenReport(
                token: token, standing: standing, outlook: try TokenStatus(token, standing, access))
        }

        /// Returns the zones that the feed of the database names next.
        func next(since report: TokenReport?, hasToken: Bool) throws -> (Fetch, [ZoneID]) {
            var zones: [ZoneID] = []
            let fetch = try fetch(zone: nil, since: report, hasToken) { page in
                if case .database(let page) = page { zones += page.changed }
            }
            return (fetch, zones)
        }

        func next(of zone: Zone) throws -> Fetch {
            try fetch(zone: zone.zone, since: zone.token, zone.hasToken) { _ in }
        }

        private func fetch(
            zone: ZoneID?, since report: TokenReport?, _ hasToken: Bool, _ body: (FeedReading.Page) -> Void
        ) throws -> Fetch {
            var fetch = Fetch()
            var token = report?.token
            if let refusal = report?.refusal, refusal.code == .changeTokenExpired {
                (token, fetch.restart) = (nil, refusal.message)
            } else if report == nil {
                fetch.restart = hasToken ? "another release made the engine's token" : "the engine has no token"
            }
            do {
                try FeedReading(store: access.store, database: database, zone: zone, actor: actor)
                    .forEachPage(since: token) { page in
                        fetch.changed += page.changedCount
                        fetch.deleted += page.deletedCount
                        fetch.pages += 1
                        body(page)
                        return true
                    }
            } catch let refusal as Refusal { fetch.refusal = refusal }
            return fetch
        }
    }
}
