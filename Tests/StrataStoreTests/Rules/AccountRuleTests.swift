import StrataModel
import StrataQuery
import StrataViews
import Testing

@testable import StrataStore

/// Accounts, and what the service does to them: B220, B221, docs/rules.md §13.
@Suite struct AccountRuleTests {
    private let client: Client
    private let other: Client

    init() throws {
        client = try Client()
        other = client.with { $0.user = "ben" }
    }

    private static let unavailable: [(AccountStatus, Refusal.Code)] = [
        (.couldNotDetermine, .notAuthenticated), (.restricted, .notAuthenticated), (.noAccount, .notAuthenticated),
        (.temporarilyUnavailable, .accountTemporarilyUnavailable),
    ]

    private func code(_ body: () throws -> Void) -> Refusal.Code? {
        do { try body() } catch let refusal as Refusal { return refusal.code } catch { Issue.record(error) }
        return nil
    }

    /// What every door answers that leads to somebody's own data.
    private func answers() -> [Refusal.Code?] {
        let (store, actor, own) = (client.store, client.actor, DatabaseID(.private))
        let ids = [client.id("a", in: "Notes")]
        return [
            client.codes([.init("a", in: "Notes")]).first ?? nil,
            client.with { $0.scope = .public }.codes([.init("a")]).first ?? nil,
            client.zones(save: ["New"]).first ?? nil, code { _ = try store.fetch(ids, in: own, as: actor) },
            code { _ = try store.snapshot().record(ids[0], in: own, as: actor) },
            code { _ = try store.snapshot().records(ids, in: own, as: actor) },
            code { _ = try store.snapshot().zones(in: own, as: actor) },
            code { _ = try store.snapshot().zone(ids[0].zone, in: own, as: actor) },
            code { _ = try store.query(.new(Query("Note")), in: own, as: actor) },
            code { _ = try store.plan(Query("Note"), in: own, as: actor) },
            code { _ = try store.databaseChanges(in: own, as: actor) },
            code { _ = try store.databaseChanges(in: DatabaseID(.shared), as: actor) },
            code { _ = try store.zoneChanges(of: ids[0].zone, in: own, as: actor) },
            code { _ = try store.snapshot().subscriptions(in: own, as: actor) },
            code { _ = try store.fetchSubscriptions(["s"], in: DatabaseID(.public), as: actor) },
            code { _ = try store.listen(as: actor) },
        ]
    }

    @Test(arguments: unavailable)
    func `B221 whose account is not available is refused at every door`(_ status: AccountStatus, _ wanted: Refusal.Code)
        throws
    {
        #expect(client.zones(save: ["Notes"]) == [nil])
        _ = try other.save("b")
        try client.save("a", in: "Notes")
        try client.with { $0.scope = .public }.save("everybody's")
        #expect(answers().allSatisfy { $0 != wanted })
        try client.store.setAccountStatus(status, of: "anna")
        #expect(try client.store.account(of: "anna").status == status)
        let found = answers()
        #expect(found.allSatisfy { $0 == wanted }, "\(found)")
        // Others go on, and the public database can be read.
        #expect(other.exists("b") && other.codes([.init("c")]) == [nil])
        #expect(client.with { $0.scope = .public }.exists("everybody's"))
        #expect(
            try client.store.query(.new(Query("Note")), in: DatabaseID(.public), as: client.actor).matches.count > 0)
        try client.store.setAccountStatus(.available, of: "anna")
        #expect(client.exists("a", in: "Notes") && answers().allSatisfy { $0 != wanted })
    }

    @Test func `A snapshot is read by the account that it has`() throws {
        try client.save("a")
        let before = client.store.snapshot()
        try client.store.setAccountStatus(.restricted, of: "anna")
        #expect(try before.record(client.id("a"), in: client.database, as: client.actor).id.name == "a")
    }

    @Test func `Status and quota are set apart, also of somebody who never came`() throws {
        let store = client.store
        #expect(try store.account(of: "carl") == (.available, 0))
        try store.setQuota(bytes: 0, of: "carl")
        try store.setAccountStatus(.available, of: "carl")
        #expect(store.offset == 0)
        try store.setQuota(bytes: 300, of: "carl")
        #expect(
            try client.events(at: 1).map(\.kind) == [
                .nameInterned, .userRecordNamed, .userChanged, .secretDrawn, .rulesStated,
            ])
        try store.setAccountStatus(.restricted, of: "carl")
        #expect(try store.account(of: "carl") == (.restricted, 300))
        try store.setAccountStatus(.restricted, of: "carl")
        #expect(store.offset == 2)
        try store.setAccountStatus(.available, of: "carl")
        #expect(try store.account(of: "carl") == (.available, 300))
        // What the first write makes comes all the same.
        let carl = client.with { $0.user = "carl" }
        try carl.save("x")
        #expect(carl.exists("x") && carl.exists(client.store.recordName(of: "carl")))
        #expect(code { try store.setQuota(bytes: 1, of: "") } == .invalidArguments)
        #expect(code { try store.setQuota(bytes: 1, of: text(4_097)) } == .invalidArguments)
        #expect(code { try store.setQuota(bytes: 1, of: text(4_096)) } == nil)
    }

    @Test func `Tokens from before an offset expire, those at it do not`() throws {
        let store = client.store
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(other.zones(save: ["Notes"]) == [nil])
        var tokens: [FeedToken] = []
        for name in ["a", "b", "c"] {
            try client.save(name, in: "Notes")
            tokens.append(try store.databaseChanges(in: client.database, as: client.actor).token)
        }
        let zone = try store.zoneChanges(of: ZoneID("Notes"), in: client.database, as: client.actor).token
        let ben = try store.databaseChanges(in: client.database, as: other.actor).token
        func isServed(_ token: FeedToken, _ client: Client) -> Bool {
            code { _ = try store.databaseChanges(in: client.database, since: token, as: client.actor) } == nil
        }
        let middle = tokens[1].position.offset
        try store.expireTokens(before: middle, in: DatabaseID(.private, owner: "anna"))
        #expect(tokens.map { isServed($0, client) } == [false, true, true] && isServed(ben, other))
        // What has expired stays so, without another event.
        let end = store.offset
        try store.expireTokens(before: middle - 1)
        try store.expireTokens(before: middle, in: DatabaseID(.private, owner: "anna"))
        #expect(tokens.map { isServed($0, client) } == [false, true, true])
        try store.expireTokens(before: 1, in: DatabaseID(.private, owner: "nobody"))
        #expect(store.offset == end + 1)
        let now = store.offset
        #expect(code { try store.expireTokens(before: now + 2) } == .invalidArguments)
        try store.expireTokens(before: now)
        #expect(tokens.map { isServed($0, client) } == [false, false, false] && !isServed(ben, other))
        #expect(
            code { _ = try store.zoneChanges(of: ZoneID("Notes"), in: client.database, since: zone, as: client.actor) }
                == .changeTokenExpired)
        let fresh = try store.databaseChanges(in: client.database, as: client.actor).token
        #expect(isServed(fresh, client))
        // One behind the end: also the token of a device that has seen everything.
        try store.expireTokens(before: store.offset + 1)
        #expect(!isServed(fresh, client))
        let last = try store.databaseChanges(in: client.database, as: client.actor).token
        #expect(isServed(last, client))
    }

    @Test func `What the console did is kept, and changes nothing`() throws {
        let store = client.store
        try client.save("a")
        let digests = try store.snapshot().digests()
        let note = ConsoleNote(text(4_096), user: "nobody", device: "phone")
        try store.noteConsole(note)
        let event = try #require(try client.events(at: store.offset).first)
        #expect(try event.kind == .consoleActed && ConsoleActedEvent(decoding: event.body).note == note)
        #expect(try store.snapshot().digests() == digests)
        #expect(code { try store.noteConsole(ConsoleNote(text(4_097))) } == .invalidArguments)
        #expect(code { try store.noteConsole(ConsoleNote("", user: text(4_097))) } == .invalidArguments)
    }

    @Test func `Only the service does any of it`() throws {
        let bodies: [AdministerRequest] = [
            .setAccountStatus(.restricted, user: "ben"), .setQuota(bytes: 1, user: "ben"),
            .expireTokens(before: 0, inAll: true), .note(ConsoleNote("x")),
        ]
        for body in bodies {
            let request = Request(database: DatabaseID(.private), .administer(body))
            #expect(client.ask(request).refusal?.code == .permissionFailure)
        }
        #expect(client.store.offset == 0)
    }

    @Test func `A zone is purged, and encrypted data reset, by name`() throws {
        #expect(client.zones(save: ["Notes", "Secrets"]) == [nil, nil])
        try client.save("s", ["k": encrypted], in: "Secrets")
        try client.store.purgeZone(ZoneID("Notes"), of: "anna")
        #expect(code { try client.store.purgeZone(ZoneID("Notes"), of: "anna") } == .userDeletedZone)
        try client.store.resetEncryptedData(of: "anna")
        #expect(client.fetch("s", in: "Secrets").refusal?.didResetEncryptedData == true)
    }

    @Test func `All of it can be asked again from the log`() throws {
        let store = client.store
        #expect(client.zones(save: ["Notes"]) == [nil])
        try store.setQuota(bytes: 1 << 20, of: "anna")
        try store.setAccountStatus(.temporarilyUnavailable, of: "ben")
        try store.setAccountStatus(.available, of: "ben")
        try store.expireTokens(before: 2)
        try store.expireTokens(before: 3, in: DatabaseID(.private, owner: "anna"))
        try store.noteConsole(ConsoleNote("the network is slow", device: "phone"))
        let asked = try RequestRebuilder.requests(of: store.log)
        let again = try Client()
        for request in asked {
            again.time.advance(byMicroseconds: request.time - again.time.nowMicroseconds())
            try again.store.modify(request.request, as: request.actor, operation: request.operation)
        }
        #expect(asked.count == Int(store.offset) && again.store.offset == store.offset)
        #expect(try again.store.snapshot().digests() == store.snapshot().digests())
    }
}
