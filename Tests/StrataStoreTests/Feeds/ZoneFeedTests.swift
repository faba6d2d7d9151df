import StrataModel
import Testing

@testable import StrataStore

/// The feed of a zone: B151, B156 to B162, B167 to B169.
@Suite struct ZoneFeedTests {
    private let client: Client

    init() throws {
        client = try Client().with { $0.zone = "Notes" }
        #expect(client.zones(save: ["Notes", "Other"]) == [nil, nil])
    }

    private func page(
        since token: FeedToken? = nil, limit: Int = 0, keys: [String]? = nil, zone: String = "Notes"
    ) throws -> ZoneFeedPage {
        try client.store.zoneChanges(
            of: ZoneID(zone), in: client.database, since: token, desiredKeys: keys, limit: limit, as: client.actor)
    }

    private func refusal(_ body: () throws -> Void) -> Refusal? {
        do { try body() } catch let refusal as Refusal { return refusal } catch { Issue.record(error) }
        return nil
    }

    @Test func `B151 B157 from nil come the live records; since a token what changed, as it is now`() throws {
        try client.save("a", ["n": .int64(1)])
        try client.save("b")
        try client.save("c")
        #expect(client.codes(deletes: ["c"]) == [nil])
        let first = try page()
        #expect(first.changed.map(\.id.name) == ["a", "b"] && first.deleted.isEmpty && !first.moreComing)
        let base = try client.save("a", ["n": .int64(2)], base: first.changed[0].version)
        let last = try client.save("a", ["n": .int64(3)], base: base)
        #expect(client.codes(deletes: ["b"]) == [nil])
        try client.save("d", in: "Other")
        let second = try page(since: first.token)
        #expect(second.changed.map(\.version) == [last])
        #expect(try second.changed[0]["n"] == .int64(3))
        #expect(second.deleted == [.init(id: client.id("b"), type: "Note")])
        #expect(!second.moreComing)
        // A token can be used any number of times.
        #expect(try page(since: first.token).deleted == second.deleted)
    }

    @Test func `B169 the latest token gives nothing, and one that can be used`() throws {
        try client.save("a")
        let first = try page()
        var token = first.token
        for _ in 0..<3 {
            let again = try page(since: token)
            #expect(again.changed.isEmpty && again.deleted.isEmpty && !again.moreComing)
            token = again.token
            try client.save(
                "x", in: "Other",
                base: client.exists("x", in: "Other") ? client.fetch("x", in: "Other").get().version : nil)
        }
        try client.save("b")
        #expect(try page(since: token).changed.map(\.id.name) == ["b"])
    }

    @Test func `B158 B159 every deletion comes: of what came since the token too, and cascaded ones`() throws {
        try client.save("owner")
        #expect(client.codes([.init("owned", ["of": owner("owner")])]) == [nil])
        let token = try page().token
        try client.save("brief")
        #expect(client.codes(deletes: ["brief", "owner"]) == [nil, nil])
        let page = try page(since: token)
        #expect(page.changed.isEmpty)
        #expect(Set(page.deleted.map(\.id.name)) == ["brief", "owner", "owned"])
    }

    @Test func `B61 a parent whose child was saved is in the feed`() throws {
        try client.save("parent")
        let token = try page().token
        try client.save("child", parent: "parent")
        #expect(Set(try page(since: token).changed.map(\.id.name)) == ["child", "parent"])
    }

    @Test func `B162 pages have what was asked for, whatever one commit holds, and moreComing is exact`() throws {
        #expect(client.codes((0..<20).map { .init("n-\($0)") }).allSatisfy { $0 == nil })
        for limit in [1, 3, 7, 19, 20, 21] {
            for token in [nil, try tokenBefore()] {
                var (names, next, counts): ([String], FeedToken?, [Int]) = ([], token, [])
                while true {
                    let page = try page(since: next, limit: limit)
                    names += page.changed.map(\.id.name)
                    counts.append(page.changed.count)
                    next = page.token
                    if !page.moreComing { break }
                }
                #expect(names.count == 20 && Set(names).count == 20)
                #expect(counts.dropLast().allSatisfy { $0 == limit } && counts.count == (20 + limit - 1) / limit)
            }
        }
        #expect(refusal { _ = try page(limit: -1) }?.code == .invalidArguments)
        #expect(try page(limit: 1_000_000).changed.count == 20)
    }

    /// A token of the zone when it was empty.
    private func tokenBefore() throws -> FeedToken {
        let log = client.store.log
        guard case .zone(let zone, let life) = try page().token.feed else { throw Refusal(.internalError, "") }
        return FeedToken(
            store: client.store.engine.storeID, database: DatabaseID(.private, owner: "anna"),
            feed: .zone(zone, life: life), position: .init(offset: 1, chain: try log.chain(at: 1)))
    }

    @Test func `B168 desired keys are those that come`() throws {
        try client.save("a", ["n": .int64(1), "m": .int64(2)])
        #expect(try page(keys: ["n"]).changed[0].fields == ["n": .int64(1)])
        #expect(try page(keys: []).changed[0].fields == [:])
    }

    @Test func `B65 B167 a device's own last client token comes back`() throws {
        let phone = client.with { $0.token = [1, 2] }
        let tablet = client.with {
            $0.device = "tablet"
            $0.token = [3]
        }
        #expect(try page().clientToken == nil)
        try phone.save("a")
        try tablet.save("b")
        try client.with { $0.token = nil }.save("c")
        #expect(try page().clientToken == [1, 2])
        let other = try client.store.zoneChanges(of: ZoneID("Notes"), in: client.database, as: tablet.actor)
        #expect(other.clientToken == [3])
    }

    @Test func `B156 default zones have no feed; B160 zones that are not there neither`() throws {
        #expect(refusal { _ = try page(zone: "_defaultZone") }?.code == .invalidArguments)
        #expect(refusal { _ = try page(zone: "Missing") }?.code == .zoneNotFound)
        #expect(client.zones(delete: ["Notes"]) == [nil])
        #expect(refusal { _ = try page() }?.code == .zoneNotFound)
        #expect(client.administer(purging: "Other").allSatisfy { $0 == nil })
        #expect(refusal { _ = try page(zone: "Other") }?.code == .userDeletedZone)
    }

    @Test func `B153 B161 a token of a zone's earlier life has expired`() throws {
        try client.save("a")
        let token = try page().token
        #expect(client.zones(delete: ["Notes"]) == [nil])
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(refusal { _ = try page(since: token) }?.code == .changeTokenExpired)
        #expect(try page().changed.isEmpty)
    }

    /// What others do between two pages.
    private static let interferences: [(name: String, act: @Sendable (Client) throws -> Void)] = [
        ("nothing", { _ in }),
        ("changes one", { try $0.save("b", ["n": .int64(9)], base: try $0.fetch("b").get().version) }),
        ("changes the last", { try $0.save("f", ["n": .int64(9)], base: try $0.fetch("f").get().version) }),
        ("deletes the first", { #expect($0.codes(deletes: ["a"]) == [nil]) }),
        ("deletes the last", { #expect($0.codes(deletes: ["f"]) == [nil]) }),
        ("saves a first", { try $0.save("0") }),
        ("saves a last", { try $0.save("z") }),
        (
            "deletes and saves again",
            {
                #expect($0.codes(deletes: ["c"]) == [nil])
                try $0.save("c", ["n": .int64(7)])
            }
        ),
        (
            "deletes, saves and deletes again",
            {
                #expect($0.codes(deletes: ["d"]) == [nil])
                try $0.save("d")
                #expect($0.codes(deletes: ["d"]) == [nil])
            }
        ),
        (
            "makes the zone again",
            {
                #expect($0.zones(delete: ["Notes"]) == [nil])
                #expect($0.zones(save: ["Notes"]) == [nil])
                try $0.save("e")
            }
        ),
        ("deletes all", { #expect($0.codes(deletes: ["a", "b", "c", "d", "e", "f"]).allSatisfy { $0 == nil }) }),
    ]

    @Test(arguments: interferences.map(\.name), [true, false])
    func `Whatever happens between any two pages, the device has the store's state at the end`(
        _ name: String, _ startsFromNil: Bool
    ) throws {
        let act = try #require(Self.interferences.first { $0.name == name }).act
        for limit in 1...4 {
            for boundary in 0...7 {
                let client = try Client().with { $0.zone = "Notes" }
                #expect(client.zones(save: ["Notes", "Other"]) == [nil, nil])
                var mirror = Mirror()
                _ = try mirror.followZone("Notes", client, limit: limit)
                if startsFromNil { mirror = Mirror() }
                for name in ["c", "a", "e"] { try client.save(name) }
                #expect(client.codes([.init("b"), .init("f"), .init("d")]) == [nil, nil, nil])
                var pages = 0
                while true {
                    if pages == boundary { try act(client) }
                    let goesOn = try mirror.followZone("Notes", client, limit: limit)
                    pages += 1
                    try #require(pages < 100)
                    if !goesOn, pages > boundary { break }
                }
                #expect(
                    try mirror.zones["Notes"]?.records == Mirror.stored(in: "Notes", client),
                    "limit \(limit), after page \(boundary)")
            }
        }
    }

    @Test func `A page looks at a bounded number of entries, and goes on behind them`() throws {
        let client = try Client(.embedded).with { $0.zone = "Notes" }
        #expect(client.zones(save: ["Notes"]) == [nil])
        try client.save("kept")
        var mirror = Mirror()
        _ = try mirror.followZone("Notes", client, limit: 0)
        let names = (0..<9_000).map { "n-\($0)" }
        #expect(client.codes(names.map { .init($0) }).allSatisfy { $0 == nil })
        // Both a scan and a replay have to pass over what changed since.
        var scan = Mirror()
        _ = try scan.followZone("Notes", client, limit: 1)
        let again = client.with { $0.policy = .allKeys }
        #expect(again.codes(names.map { .init($0, ["n": .int64(1)]) }).allSatisfy { $0 == nil })
        for (isScan, var mirror) in [(false, mirror), (true, scan)] {
            var (pages, empty) = (0, 0)
            while try mirror.followZone("Notes", client, limit: 10_000) {
                pages += 1
                try #require(pages < 20)
                if mirror.zones["Notes"]?.records.count ?? 0 < 100 { empty += 1 }
            }
            #expect(empty > 0, "a page that found nothing and went on")
            // 18,000 entries, 9,000 of them of one commit.
            if !isScan { #expect(pages >= 4, "a page ends within a commit") }
            #expect(try mirror.zones["Notes"]?.records == Mirror.stored(in: "Notes", client))
        }
    }

    @Test func `Long names and many types come back whole`() throws {
        let client = try Client(.embedded).with { $0.zone = "Notes" }
        #expect(client.zones(save: ["Notes"]) == [nil])
        let long = (0..<5).map { text(250) + "\($0)" }
        for (index, name) in long.enumerated() {
            #expect(client.codes([.init(name, type: "T\(index)")]) == [nil])
        }
        var mirror = Mirror()
        while try mirror.followZone("Notes", client, limit: 2) {}
        #expect(mirror.zones["Notes"]?.records.keys.sorted() == long.sorted())
        #expect(client.codes(deletes: long.map { .init($0) }).allSatisfy { $0 == nil })
        let page = try client.store.zoneChanges(
            of: ZoneID("Notes"), in: client.database, since: mirror.zones["Notes"]?.token, as: client.actor)
        #expect(Set(page.deleted.map(\.type)) == ["T0", "T1", "T2", "T3", "T4"])
    }
}
