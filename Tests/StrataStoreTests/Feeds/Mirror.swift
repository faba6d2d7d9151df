import StrataModel
import Testing

@testable import StrataStore

/// What a device knows of a database that only asks feeds: zones with their records' versions, and its tokens.
struct Mirror: Equatable {
    struct Zone: Equatable {
        var records: [String: Version] = [:]
        var token: FeedToken?
        /// Whether all that there was has been told.
        var isWhole = false
    }

    var zones: [String: Zone] = [:]
    var token: FeedToken?

    /// What of it is to be the same as in the store.
    var content: [String: [String: Version]] { zones.mapValues(\.records) }

    /// Canaries: what a device overlooks.
    struct Faults: OptionSet {
        let rawValue: Int
        static let deletedRecords = Faults(rawValue: 1)
        static let deletedZones = Faults(rawValue: 2)
    }

    var faults: Faults = []

    // MARK: Asking

    /// Takes up one page of the database's feed; returns whether more is coming.
    mutating func followDatabase(_ client: Client, limit: Int) throws -> Bool {
        let page = try client.store.databaseChanges(
            in: client.database, since: token, limit: limit, as: client.actor)
        #expect(page.changed.count + page.deleted.count <= limit || limit == 0)
        let named = page.changed.map(\.name) + page.deleted.map(\.zone.name)
        #expect(Set(named).count == named.count, "each zone once")
        if token == nil { #expect(page.deleted.isEmpty, "B151") }
        for zone in page.changed where zones[zone.name] == nil { zones[zone.name] = Zone() }
        for deletion in page.deleted where !faults.contains(.deletedZones) { zones[deletion.zone.name] = nil }
        token = page.token
        return page.moreComing
    }

    /// Takes up one page of a zone's feed; returns whether more is coming.
    mutating func followZone(_ name: String, _ client: Client, limit: Int) throws -> Bool {
        var zone = zones[name] ?? Zone()
        let page: ZoneFeedPage
        do {
            page = try client.store.zoneChanges(
                of: ZoneID(name), in: client.database, since: zone.token, limit: limit, as: client.actor)
        } catch let refusal as Refusal where refusal.code == .changeTokenExpired {
            zones[name] = Zone()
            return true
        }
        #expect(page.changed.count + page.deleted.count <= limit || limit == 0)
        let named = page.changed.map(\.id.name) + page.deleted.map(\.id.name)
        #expect(Set(named).count == named.count, "each record once in a page")
        if zone.token == nil { #expect(page.deleted.isEmpty, "B151") }
        for record in page.changed { zone.records[record.id.name] = record.version }
        for deletion in page.deleted where !faults.contains(.deletedRecords) { zone.records[deletion.id.name] = nil }
        zone.token = page.token
        zone.isWhole = !page.moreComing
        zones[name] = zone
        return page.moreComing
    }

    /// Asks until nothing is left, a bounded number of times.
    mutating func follow(_ client: Client, limit: Int = 0) throws {
        var pages = 0
        func count() throws {
            pages += 1
            try #require(pages < 10_000, "a feed without an end")
        }
        while try followDatabase(client, limit: limit) { try count() }
        for name in zones.keys.sorted() {
            do {
                while try followZone(name, client, limit: limit) { try count() }
            } catch let refusal as Refusal where refusal.code == .zoneNotFound || refusal.code == .userDeletedZone {
                // Gone since; a device that overlooks that is what a canary is for.
                if !faults.contains(.deletedZones) { zones[name] = nil }
            }
        }
    }

    // MARK: What there is

    /// What the store has, but for its default zone.
    static func stored(_ client: Client) throws -> [String: [String: Version]] {
        let snapshot = client.store.snapshot()
        var content: [String: [String: Version]] = [:]
        for zone in try snapshot.zones(in: client.database, as: client.actor) where zone.id.name != "_defaultZone" {
            content[zone.id.name] = try stored(in: zone.id.name, client)
        }
        return content
    }

    static func stored(in zone: String, _ client: Client) throws -> [String: Version] {
        let trees = client.store.snapshot().trees
        let place = try client.store.snapshot().names.place(client.database, client.actor, in: trees)
        guard let ordinal = try place.zone(ZoneID(zone), trees, client.store.snapshot().names).ordinal else {
            return [:]
        }
        var records: [String: Version] = [:]
        try trees.forEachRecord(of: ordinal) { name, state in
            records[String(decoding: name, as: UTF8.self)] = try RecordStateView(state, in: 0..<state.count).version
            return true
        }
        return records
    }
}
