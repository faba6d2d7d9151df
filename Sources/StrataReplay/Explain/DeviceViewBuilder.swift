import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataTree
import StrataViews

/// Collects what a log has about a device. Audits have no index, so it reads the headers of all commits once.
struct DeviceViewBuilder {
    struct Fetch {
        let audit: UInt64
        let time: Int64
        var event: FetchedEvent
    }

    let actor: Actor
    let store: Store
    let snapshot: StoreSnapshot
    private let user: UInt64
    private let device: UInt64
    private(set) var fetches: [Fetch] = []
    private var allFetchCount = 0
    private var lastCommit: UInt64?
    var trees: Snapshot { snapshot.trees }

    init(_ actor: Actor, _ store: Store) throws {
        (self.actor, self.store) = (actor, store)
        snapshot = store.snapshot()
        guard let user = try snapshot.trees.ordinal(of: .user(actor.user)) else {
            throw Refusal(.unknownItem, "The store has no user '\(actor.user)'.")
        }
        guard let device = try snapshot.trees.ordinal(of: .device(user: user, actor.device)) else {
            throw Refusal(.unknownItem, "The store has no device '\(actor.device)' of '\(actor.user)'.")
        }
        (self.user, self.device) = (user, device)
        try readLog()
    }

    private mutating func readLog() throws {
        let end = snapshot.offset
        var cursor = try store.log.read(from: store.log.floor.offset + 1)
        while let commit = try cursor.next(), commit.offset <= end {
            let (isOwn, event) = try commit.payload.withUnsafeBytes { payload in
                var walker = try EventWalker(payload)
                let header = try walker.header()
                let isOwn = header.device == device
                guard header.isLazy else { return (isOwn, FetchedEvent?.none) }
                while let event = try walker.next() {
                    guard event.kind == .fetched else { continue }
                    var reader = ByteReader(UnsafeRawBufferPointer(rebasing: payload[event.body]))
                    return (isOwn, try FetchedEvent(from: &reader))
                }
                // A refused request changed nothing.
                return (false, nil)
            }
            if event != nil { allFetchCount += 1 }
            guard isOwn else { continue }
            if var event {
                event.database = event.database.named(for: actor.user)
                fetches.append(Fetch(audit: commit.offset, time: commit.time, event: event))
            } else {
                lastCommit = commit.offset
            }
        }
    }

    func make(_ asked: (id: RecordID, database: DatabaseID)?) throws -> DeviceView {
        let delivery = try trees.delivery(to: device)
        var notes: [String] = []
        if allFetchCount == 0 {
            notes.append(
                "The log has no fetches (the store option recordFetches records them), so only the device's writes "
                    + "are known.")
        } else if fetches.isEmpty {
            notes.append("The log has fetches of other devices, but none of this one.")
        }
        if store.log.floor.offset > 0 {
            notes.append(
                "Commits up to \(store.log.floor.offset) were compacted, including their traces of the device.")
        }
        let account = try trees.account(of: user).status
        let zones = try zones()
        return DeviceView(
            offset: snapshot.offset, actor: actor, firstSeen: try trees.firstSight(of: device)?.offset,
            lastCommit: lastCommit, account: account, toldThrough: delivery?.through, badge: delivery?.badge,
            fetchCount: fetches.count, allFetchCount: allFetchCount, databases: try databases(), zones: zones,
            record: try asked.map {
                try knowledge(of: $0.id, in: $0.database.named(for: actor.user), account, zones)
            },
            notes: notes)
    }

    // MARK: Feeds

    private func given(_ fetch: Fetch) throws -> (DeviceView.Given, FeedToken)? {
        guard let bytes = fetch.event.returnedToken, let token = try? FeedToken(unverified: bytes) else { return nil }
        let given = DeviceView.Given(
            audit: fetch.audit, time: fetch.time, offset: token.position.offset, isWhole: token.progress == .whole,
            moreComing: fetch.event.moreComing, refusal: try store.standing(of: token).refusal)
        return (given, token)
    }

    private func databases() throws -> [DeviceView.Database] {
        var newest: [DatabaseID: Fetch] = [:]
        for fetch in fetches where fetch.event.question == .databaseChanges { newest[fetch.event.database] = fetch }
        return try newest.values.sorted { $0.audit < $1.audit }.compactMap { fetch in
            guard let (given, token) = try given(fetch) else { return nil }
            var count = 0
            if let database = try trees.ordinal(ofDatabase: fetch.event.database) {
                try trees.forEachZoneChange(of: database, after: token.position.offset, zone: .max) { _, _ in
                    count += 1
                    return true
                }
            }
            return DeviceView.Database(database: fetch.event.database, given: given, zonesBehind: count)
        }
    }

    private func zones() throws -> [DeviceView.Zone] {
        struct Place: Hashable {
            let database: DatabaseID
            let zone: ZoneID
        }
        var newest: [Place: Fetch] = [:]
        var places: [Place] = []
        let own = DatabaseID(.private, owner: actor.user)
        if let database = try trees.ordinal(ofDatabase: own) {
            for (zone, _) in try trees.zoneRows(of: database) {
                places.append(Place(database: own, zone: ZoneID(try trees.text(.zone, zone))))
            }
        }
        let shared = DatabaseID(.shared, owner: actor.user)
        // A user whose account is not available sees no zones.
        let sharedZones = (try? snapshot.zones(in: DatabaseID(.shared), as: Actor(user: actor.user))) ?? []
        for zone in sharedZones { places.append(Place(database: shared, zone: zone.id)) }
        for fetch in fetches where fetch.event.question == .zoneChanges {
            guard let zone = fetch.event.zone else { continue }
            let place = Place(
                database: fetch.event.database,
                zone: fetch.event.database.scope == .shared ? zone : ZoneID(zone.name))
            newest[place] = fetch
            if !places.contains(place) { places.append(place) }
        }
        return try places.map { place in
            let zone = try trees.place(of: place.zone, in: place.database, as: actor)
            let given = try newest[place].flatMap { try self.given($0) }
            let row = try zone.flatMap { try trees.zoneRow($0.database, $0.zone) }
            let sharedBy = try zone.flatMap { zone -> String? in
                guard place.database.scope == .shared else { return nil }
                return try trees.requiredDatabase(zone.database).owner
            }
            return DeviceView.Zone(
                database: place.database, zone: place.zone, sharedBy: sharedBy,
                isThere: row?.status == .alive, given: given?.0,
                changesBehind: try changesBehind(given?.1, zone?.zone),
                lastClientToken: try zone.flatMap { try trees.clientToken($0.zone, device)?.version.offset })
        }
    }

    /// Returns nil if it is unknown up to where the device was given everything.
    private func changesBehind(_ token: FeedToken?, _ zone: UInt64?) throws -> UInt64? {
        guard let token, let zone, token.position.offset >= store.log.floor.offset else { return nil }
        switch token.progress {
        case .whole: break
        case .within: guard token.position.offset > store.log.floor.offset else { return nil }
        case .scanningZones, .scanningRecords, .shares: return nil
        }
        return try token.changesBehind(of: zone, through: snapshot.offset, in: store.log).changes
    }

    func isOwn(_ header: EnvelopeHeader) -> Bool { header.device == device }
}
