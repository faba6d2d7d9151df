import StrataModel
import Testing

@testable import StrataStore

/// The feed of a database: B150, B151, B153, B154, B156, B162, B169.
@Suite struct DatabaseFeedTests {
    private let client: Client

    init() throws { client = try Client() }

    private func page(since token: FeedToken? = nil, limit: Int = 0) throws -> DatabaseFeedPage {
        try client.store.databaseChanges(in: client.database, since: token, limit: limit, as: client.actor)
    }

    private func code(_ body: () throws -> Void) -> Refusal.Code? {
        do { try body() } catch let refusal as Refusal { return refusal.code } catch { Issue.record(error) }
        return nil
    }

    @Test func `B150 the public database has no feed; the shared one is empty`() throws {
        #expect(code { _ = try client.store.databaseChanges(in: .init(.public), as: client.actor) } == .badDatabase)
        let shared = try client.store.databaseChanges(in: .init(.shared), as: client.actor)
        #expect(shared.changed.isEmpty && shared.deleted.isEmpty && !shared.moreComing)
        let again = try client.store.databaseChanges(in: .init(.shared), since: shared.token, as: client.actor)
        #expect(again.changed.isEmpty && again.token == shared.token)
        #expect(
            code { _ = try client.store.databaseChanges(in: .init(.private), as: Actor(user: "")) } == .notAuthenticated
        )
    }

    @Test func `A database to which nobody has written has a token that holds when somebody does`() throws {
        let token = try page().token
        try client.with { $0.user = "berta" }.save("x")
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(try page(since: token).changed == [ZoneID("Notes")])
    }

    @Test func `B153 a zone comes once when it is new, changed, or has changes of its records`() throws {
        #expect(client.zones(save: ["A", "B", "C"]) == [nil, nil, nil])
        let first = try page()
        #expect(first.changed.map(\.name) == ["A", "B", "C"] && first.deleted.isEmpty)
        try client.save("x", in: "B")
        try client.save("y", in: "B")
        #expect(client.zones(save: ["A"]) == [nil])
        let second = try page(since: first.token)
        #expect(second.changed.map(\.name) == ["B"])
        #expect(client.codes(deletes: [.init("x", in: "B")]) == [nil])
        #expect(try page(since: second.token).changed.map(\.name) == ["B"])
    }

    @Test func `B153 B154 zones that are gone come with the reason; one that was made again is a change`() throws {
        #expect(client.zones(save: ["A", "B", "C", "D"]) == [nil, nil, nil, nil])
        #expect(client.codes([.init("secret", ["s": encrypted], in: "C")]) == [nil])
        let token = try page().token
        #expect(client.zones(delete: ["A", "D"]) == [nil, nil])
        #expect(client.administer(purging: "B").allSatisfy { $0 == nil })
        #expect(client.administer(purging: nil).allSatisfy { $0 == nil })
        #expect(client.zones(save: ["D"]) == [nil])
        let page = try page(since: token)
        #expect(page.changed.map(\.name) == ["D"])
        let reasons = Dictionary(uniqueKeysWithValues: page.deleted.map { ($0.zone.name, $0.reason) })
        #expect(reasons == ["A": .deleted, "B": .purged, "C": .encryptedDataReset])
        // B151: from nil only what is there.
        let fresh = try self.page()
        #expect(fresh.changed.map(\.name) == ["D"] && fresh.deleted.isEmpty)
    }

    @Test func `B156 the default zone is in no feed`() throws {
        try client.save("x")
        let first = try page()
        #expect(first.changed.isEmpty && !first.moreComing)
        try client.save("y")
        #expect(try page(since: first.token).changed.isEmpty)
    }

    @Test func `B162 B169 pages have what was asked for; the last token gives nothing`() throws {
        #expect(client.zones(save: (0..<10).map { "Z\($0)" }).allSatisfy { $0 == nil })
        for limit in [1, 3, 9, 10, 11] {
            var (names, token, pages): ([String], FeedToken?, Int) = ([], nil, 0)
            while true {
                let page = try page(since: token, limit: limit)
                names += page.changed.map(\.name)
                token = page.token
                pages += 1
                if !page.moreComing { break }
            }
            #expect(names == (0..<10).map { "Z\($0)" } && pages == (10 + limit - 1) / limit)
            #expect(try self.page(since: token).changed.isEmpty)
        }
        #expect(code { _ = try page(limit: -1) } == .invalidArguments)
    }

    private static let interferences: [(name: String, act: @Sendable (Client) throws -> Void)] = [
        ("saves into one", { try $0.save("x", in: "B") }),
        ("deletes the first", { #expect($0.zones(delete: ["A"]) == [nil]) }),
        ("deletes the last", { #expect($0.zones(delete: ["E"]) == [nil]) }),
        ("makes another", { #expect($0.zones(save: ["New"]) == [nil]) }),
        (
            "makes one again",
            {
                #expect($0.zones(delete: ["C"]) == [nil])
                #expect($0.zones(save: ["C"]) == [nil])
            }
        ),
        ("deletes all", { #expect($0.zones(delete: ["A", "B", "C", "D", "E"]).allSatisfy { $0 == nil }) }),
        ("saves elsewhere", { try $0.save("x") }),
    ]

    @Test(arguments: interferences.map(\.name), [true, false])
    func `Whatever happens between any two pages, the device knows the zones at the end`(
        _ name: String, _ startsFromNil: Bool
    ) throws {
        let act = try #require(Self.interferences.first { $0.name == name }).act
        for limit in 1...3 {
            for boundary in 0...6 {
                let client = try Client()
                var mirror = Mirror()
                if !startsFromNil { _ = try mirror.followDatabase(client, limit: limit) }
                #expect(client.zones(save: ["A", "B", "C"]) == [nil, nil, nil])
                #expect(client.zones(save: ["D", "Gone"]) == [nil, nil])
                #expect(client.zones(save: ["E"], delete: ["Gone"]) == [nil, nil])
                var pages = 0
                while true {
                    if pages == boundary { try act(client) }
                    let goesOn = try mirror.followDatabase(client, limit: limit)
                    pages += 1
                    try #require(pages < 100)
                    if !goesOn, pages > boundary { break }
                }
                #expect(
                    try mirror.zones.keys.sorted() == Mirror.stored(client).keys.sorted(),
                    "limit \(limit), after page \(boundary)")
            }
        }
    }
}
