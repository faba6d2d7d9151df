import StrataLog
import StrataModel
import StrataSystem
import StrataViews
import Testing

@testable import StrataStore

/// The event that names a user's record, in the commit that meets the user: docs/rules.md §9.
@Suite("Commits that name users' records")
struct RecordNamedEventTests {
    private typealias Save = Client.Save

    /// The commit has an event for each of these users behind all its names, and no others.
    private func expect(
        _ users: [String], in store: Store, at offset: UInt64, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let commit = try #require(try store.log.commit(at: offset), sourceLocation: location)
        let events = try Envelope(decoding: commit.payload).events
        let names = events.prefix { $0.kind == .nameInterned }
        let interned = try names.map { try InternedName(decoding: $0.body) }
        let found = try events.dropFirst(names.count).prefix { $0.kind == .userRecordNamed }.map {
            try UserRecordNamedEvent(decoding: $0.body)
        }
        let named = found.compactMap { event in
            interned.first { $0.name.namespace == .user && $0.ordinal == event.user }?.name
        }
        #expect(named == users.map { InternedName.Name.user($0) }, sourceLocation: location)
        #expect(found.map(\.recordName) == users.map { store.recordName(of: $0) }, sourceLocation: location)
        #expect(events.count { $0.kind == .userRecordNamed } == users.count, sourceLocation: location)
        #expect(events.count { $0.kind == .nameInterned } == names.count, sourceLocation: location)
    }

    @Test("The first commit of a user has it once, later commits and other devices do not")
    func firstCommit() throws {
        let client = try Client()
        try client.save("a")
        try expect(["anna"], in: client.store, at: 1)
        try client.save("b")
        try client.with { $0.device = "laptop" }.save("c")
        try client.with { $0.scope = .public }.save("d")
        for offset in 2...4 as ClosedRange<UInt64> { try expect([], in: client.store, at: offset) }
    }

    @Test("Whatever it is that a user does first")
    func firstRequests() throws {
        let client = try Client()
        #expect(client.zones(save: ["Notes"]) == [nil])
        try expect(["anna"], in: client.store, at: 1)
        let subscription = Subscription("s", .database, notification: NotificationInfo())
        let subscribing = Request(
            database: DatabaseID(.private), .modifySubscriptions(ModifySubscriptionsRequest(saves: [subscription])))
        let ben = client.with { $0.user = "ben" }
        #expect(ben.ask(subscribing).map(\.result).codes == [nil])
        try expect(["ben"], in: client.store, at: 2)
        let cleo = client.with { ($0.user, $0.scope) = ("cleo", .public) }
        try cleo.save("a")
        try expect(["cleo"], in: client.store, at: 3)
        let dora = client.with { $0.user = "dora" }
        let own = Save(client.store.recordName(of: "dora"), ["nick": .string("D")], type: "Users")
        #expect(dora.codes([own]) == [nil])
        try expect(["dora"], in: client.store, at: 4)
        for client in [ben, cleo, dora] { try client.save("b") }
        for offset in 5...7 as ClosedRange<UInt64> { try expect([], in: client.store, at: offset) }
    }

    @Test("A user who only joins a share")
    func joining() throws {
        let world = try SharedStore(.publicShare)
        let store = world.store
        defer { try? store.close() }
        let token = try #require(try store.snapshot().trees.share(1)).urlToken
        let joining = Request(
            database: SharedDoor.shared, .joinShares(JoinSharesRequest(.accept, tokens: [token])))
        let asked = store.recordName(of: "nina")
        let result = try store.modify(joining, as: Actor(user: "nina", device: "phone")).result
        _ = try #require(result.saves.first).get()
        try expect(["nina"], in: store, at: store.offset)
        #expect(store.recordName(of: "nina") == asked)
        #expect(try world.record("Share-1", as: "anna").shareState?.participants.last?.id == asked)
    }

    /// Requests of the service, and the users whom they name and whom no commit has named.
    private static let requests: [(users: [String], send: @Sendable (Store) throws -> Void)] = [
        (["nina"], { try $0.setQuota(bytes: 1_000_000, of: "nina") }),
        (["nina"], { try $0.setAccountStatus(.restricted, of: "nina") }),
        (["nina"], { try $0.setDiscoverability(.granted, of: "nina") }),
        (["nina"], { try $0.addAddress("nina@example.com", to: "nina") }),
        (["nina"], { try $0.setPerson(Person(), of: "nina") }),
        (["otto", "nina"], { try $0.setRole("Editors", of: ["otto", "nina", "otto"]) }),
    ]

    @Test("Users whom only a request of the service names", arguments: requests.indices)
    func service(_ index: Int) throws {
        let (users, send) = Self.requests[index]
        for isFirst in [true, false] {
            let client = try Client()
            if !isFirst { try client.save("a") }
            let asked = users.map { client.store.recordName(of: $0) }
            try send(client.store)
            try expect(users, in: client.store, at: isFirst ? 1 : 2)
            #expect(users.map { client.store.recordName(of: $0) } == asked)
            try client.store.setAccountStatus(.available, of: "nina")
            let nina = client.with { $0.user = "nina" }
            try nina.save("b")
            try expect([], in: client.store, at: client.store.offset)
            #expect(nina.exists(client.store.recordName(of: "nina")))
        }
    }

    @Test("What is refused names nobody; what is accepted in part does")
    func refused() throws {
        let client = try Client()
        try client.save("a")
        let ben = client.with { $0.user = "ben" }
        let asked = client.store.recordName(of: "ben")
        #expect(ben.codes([Save("a", in: "Nowhere")]) == [.zoneNotFound])
        #expect(ben.codes([Save("a"), Save("a")]) == [.invalidArguments])
        #expect(ben.codes(deletes: ["nothing"]) == [nil])
        #expect(throws: Refusal.self) { try client.store.addAddress("nothing at all", to: "ben") }
        #expect(client.store.offset == 1)
        #expect(try client.store.snapshot().person(of: "ben") == nil)
        #expect(ben.codes([Save("a", in: "Nowhere"), Save("b")]) == [.zoneNotFound, nil])
        try expect(["ben"], in: client.store, at: 2)
        #expect(client.store.recordName(of: "ben") == asked)
    }

    @Test("A refusal that the log keeps names its user, once")
    func keptRefusal() throws {
        var options = StoreOptions.service
        options.recordsRefusals = true
        // Only with a batch.
        options.auditDelayMilliseconds = 3_600_000
        let client = try Client(options)
        try client.save("a")
        let ben = client.with { $0.user = "ben" }
        let asked = client.store.recordName(of: "ben")
        #expect(ben.codes([Save("a", in: "Nowhere")]) == [.zoneNotFound])
        try client.save("b")
        #expect(
            try client.events(at: 3).map(\.kind) == [
                .nameInterned, .nameInterned, .userRecordNamed, .deviceSeen, .requestRefused,
            ])
        try expect(["ben"], in: client.store, at: 3)
        try ben.save("c")
        try expect([], in: client.store, at: 4)
        #expect(ben.exists(asked))
    }
}
