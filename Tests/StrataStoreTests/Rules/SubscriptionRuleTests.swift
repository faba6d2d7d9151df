import StrataModel
import Testing

@testable import StrataStore

/// Subscriptions: B180 to B186, B190, B36, B121.
@Suite struct SubscriptionRuleTests {
    private let client: Client
    private let everybody: Client
    private let shared: Client

    init() throws {
        client = try Client()
        everybody = client.with { $0.scope = .public }
        shared = client.with { $0.scope = .shared }
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(client.codes([Client.Save("a", ["title": .string("x"), "n": .int64(1)], in: "Notes")]) == [nil])
    }

    private func expect(
        _ subscription: NamedSubscription, _ code: Refusal.Code, _ rule: String, in client: Client? = nil,
        at location: SourceLocation = #_sourceLocation
    ) {
        let offset = self.client.store.offset
        let refusal = (client ?? self.client).refusal(saving: subscription)
        #expect(refusal?.code == code && refusal?.rule?.number == rule, "\(refusal as Any)", sourceLocation: location)
        #expect(self.client.store.offset == offset, sourceLocation: location)
    }

    @Test func `B180 an ID is a name; saving it again changes the subscription, or writes nothing`() throws {
        for id in ["", "bell\u{7}", String(repeating: "x", count: 256)] {
            expect(.notes(id), .invalidArguments, "B180")
        }
        let first = try client.subscriptions(save: [.notes("s")]).get().saves[0].get()
        let offset = client.store.offset
        #expect(try client.subscriptions(save: [.notes("s")]).get().saves[0].get() == first)
        #expect(client.store.offset == offset)
        let changed = NamedSubscription.notes("s", where: "n > 3", options: [.update, .once])
        #expect(try client.subscriptions(save: [changed]).get().saves[0].get() > first)
        #expect(try client.fetchedSubscriptions() == [changed])
        let other = NamedSubscription("s", .database)
        #expect(client.refusal(saving: other) == nil)
        #expect(try client.fetchedSubscriptions() == [other])
        let long = String(repeating: "ä", count: 255)
        #expect(client.refusal(saving: .notes(long)) == nil)
        #expect(try client.fetchedSubscriptions().map(\.id) == ["s", long])
    }

    @Test func `B181 each kind has its databases`() throws {
        let (query, zone) = (NamedSubscription.notes("q"), NamedSubscription.zone("z", "Notes"))
        let database = NamedSubscription("d", .database)
        expect(query, .badDatabase, "B181", in: shared)
        expect(zone, .badDatabase, "B181", in: everybody)
        expect(zone, .badDatabase, "B181", in: shared)
        expect(database, .badDatabase, "B181", in: everybody)
        #expect(client.subscriptions(save: [query, zone, database]).codes == [nil, nil, nil])
        #expect(everybody.refusal(saving: query) == nil && shared.refusal(saving: database) == nil)
        #expect(try client.fetchedSubscriptions() == [database, query, zone])
        #expect(try everybody.fetchedSubscriptions() == [query])
        #expect(try shared.fetchedSubscriptions() == [database])
    }

    @Test func `B182 a zone subscription is to a zone that keeps changes`() throws {
        expect(.zone("z", "Nowhere"), .zoneNotFound, "B182")
        expect(.zone("z", "_defaultZone"), .invalidArguments, "B182")
        expect(.zone("z", "Notes", owner: "_somebody"), .zoneNotFound, "B266")
        expect(NamedSubscription("z", .recordZone), .invalidArguments, "B182")
        expect(.notes("q", in: "Nowhere"), .zoneNotFound, "B182")
        expect(.notes("q", in: "Notes"), .zoneNotFound, "B182", in: everybody)
        expect(NamedSubscription("d", .database, zone: ZoneID("Notes")), .invalidArguments, "§11")
        #expect(client.refusal(saving: .notes("default", in: "_defaultZone")) == nil)
        #expect(everybody.refusal(saving: .notes("default", in: "_defaultZone")) == nil)
        #expect(client.refusal(saving: .zone("z", "Notes")) == nil)
    }

    @Test func `§11 a subscription outlives its zone, and watches the next of that name`() throws {
        let zone = NamedSubscription.zone("z", "Notes")
        #expect(client.refusal(saving: zone) == nil)
        #expect(client.zones(delete: ["Notes"]) == [nil])
        #expect(try client.fetchedSubscriptions() == [zone])
        expect(zone, .zoneNotFound, "B182")
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(client.refusal(saving: zone) == nil)
        #expect(client.administer(purging: "Notes") == [nil])
        expect(zone, .userDeletedZone, "B38")
    }

    @Test func `B183 a query subscription fires for something, and once if it is to`() throws {
        expect(.notes("q", options: []), .invalidArguments, "B183")
        expect(.notes("q", options: .once), .invalidArguments, "B183")
        expect(.notes("q", options: [.creation, .init(rawValue: 16)]), .invalidArguments, "B183")
        expect(.zone("z", "Notes").with { $0.options = .creation }, .invalidArguments, "§11")
        expect(NamedSubscription("d", .database, predicate: "n = 1"), .invalidArguments, "§11")
        #expect(client.refusal(saving: .notes("q", options: [.creation, .once])) == nil)
        #expect(try client.fetchedSubscriptions()[0].options == [.creation, .once])
    }

    @Test func `B184 who deletes or fetches what is not there is told so, item by item`() throws {
        #expect(client.refusal(saving: .notes("a")) == nil)
        #expect(client.subscriptions(delete: ["none", "a"]).codes == [.unknownItem, nil])
        #expect(client.subscriptions(delete: ["a"]).codes == [.unknownItem])
        #expect(client.refusal(saving: .notes("b")) == nil)
        let found = try client.store.fetchSubscriptions(["a", "b"], in: client.database, as: client.actor)
        #expect(found.map { $0.refusal?.code } == [.unknownItem, nil])
        #expect(everybody.subscriptions(delete: ["b"]).codes == [.unknownItem])
        #expect(client.with { $0.user = "ben" }.subscriptions(delete: ["b"]).codes == [.unknownItem])
    }

    @Test func `B185 nobody subscribes to the same twice`() throws {
        let info = NotificationInfo()
        let all: [NamedSubscription] = [
            .notes("q", in: "Notes"), .zone("z", "Notes"), NamedSubscription("d", .database, recordType: "Note"),
        ]
        #expect(client.subscriptions(save: all).codes == [nil, nil, nil])
        for subscription in all {
            let other = subscription.with { $0.id += "2" }
            expect(other, .serverRejectedRequest, "B185")
            expect(other.with { $0.notification = info }, .serverRejectedRequest, "B185")
            #expect(client.refusal(saving: other)?.message == "subscription is duplicate of '\(subscription.id)'")
            #expect(client.with { $0.user = "ben" }.zones(save: ["Notes"]).allSatisfy { $0 == nil })
            #expect(client.with { $0.user = "ben" }.refusal(saving: subscription) == nil)
        }
        let others: [NamedSubscription] = [
            .notes("1"), .notes("2", where: "n = 1", in: "Notes"), .notes("3", options: .update, in: "Notes"),
            .notes("4", options: [.events, .once], in: "Notes"),
            .zone("5", "Notes").with { $0.recordType = "Note" }, NamedSubscription("6", .database),
        ]
        #expect(client.subscriptions(save: others).codes == Array(repeating: nil, count: 6))
        #expect(everybody.refusal(saving: .notes("q")) == nil)
    }

    @Test func `B185 within a request, what goes or changes is in nobody's way`() throws {
        #expect(client.subscriptions(save: [.notes("a"), .notes("b")]).codes == [nil, .serverRejectedRequest])
        #expect(client.subscriptions(save: [.notes("b")], delete: ["a"]).codes == [nil, nil])
        let moved = NamedSubscription.notes("b", where: "n = 1")
        #expect(client.subscriptions(save: [moved, .notes("c")]).codes == [nil, nil])
        #expect(
            client.subscriptions(save: [.notes("c", where: "n = 1"), .notes("b", where: "n = 2")]).codes
                == [.serverRejectedRequest, nil])
        #expect(client.subscriptions(delete: ["b"]).codes == [nil])
        #expect(client.refusal(saving: .notes("again", where: "n = 2")) == nil)
        #expect(client.refusal(saving: .notes("c", where: "n = 1")) == nil)
    }

    @Test func `B36 a subscription comes once in a request`() throws {
        let twice = [NamedSubscription.notes("a"), .notes("a", where: "n = 1")]
        #expect(client.subscriptions(save: twice).codes == [.invalidArguments])
        #expect(client.subscriptions(save: [twice[0]], delete: ["a"]).codes == [.invalidArguments])
        #expect(client.subscriptions(delete: ["a", "a"]).codes == [.invalidArguments])
        // Their bytes differ, though Swift holds them for equal.
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(
            client.subscriptions(save: [.notes(composed), .notes(decomposed, where: "n = 1")]).codes == [nil, nil])
        #expect(try client.fetchedSubscriptions().count == 2)
    }

    @Test func `B186 another user's subscriptions are not to be seen`() throws {
        #expect(everybody.refusal(saving: .notes("a")) == nil)
        let ben = everybody.with { $0.user = "ben" }
        #expect(try ben.fetchedSubscriptions() == [])
        #expect(ben.refusal(saving: .notes("a", where: "n = 2")) == nil)
        #expect(try everybody.fetchedSubscriptions() == [.notes("a")])
        #expect(try everybody.with { $0.device = "tablet" }.fetchedSubscriptions() == [.notes("a")])
        let named = DatabaseID(.private, owner: "ben")
        #expect(client.ask(.subscriptions(saving: [.notes("x")], in: named)).refusal?.code == .permissionFailure)
        #expect(throws: Refusal.self) { try client.store.snapshot().subscriptions(in: named, as: client.actor) }
    }

    @Test func `B220 nobody has subscriptions without an account, in the public database neither`() throws {
        let nobody = everybody.with { $0.user = "" }
        #expect(nobody.subscriptions(save: [.notes("a")]).codes == [.notAuthenticated])
        #expect(nobody.subscriptions(delete: ["a"]).codes == [.notAuthenticated])
        #expect(throws: Refusal.self) { try nobody.fetchedSubscriptions() }
        #expect(throws: Refusal.self) {
            try nobody.store.fetchSubscriptions(["a"], in: nobody.database, as: nobody.actor)
        }
        let service = client.ask(.subscriptions(saving: [.notes("a")]), as: .service)
        #expect(service.refusal?.code == .permissionFailure)
    }

    @Test func `B190 a notification has room for three desired keys`() throws {
        var info = NotificationInfo()
        info.desiredKeys = ["a", "b", "c", "d"]
        expect(.notes("q").with { $0.notification = info }, .invalidArguments, "B190")
        info.desiredKeys = ["a", "b", "c"]
        let kept = NamedSubscription.notes("q").with { $0.notification = info }
        #expect(client.refusal(saving: kept) == nil)
        #expect(try client.fetchedSubscriptions() == [kept])
        info.title = "other"
        #expect(client.refusal(saving: kept.with { $0.notification = info }) == nil)
        #expect(try client.fetchedSubscriptions()[0].notification == info)
    }

    @Test func `B6, B121, B122 types and predicates are those of a query`() throws {
        expect(.notes("q").with { $0.recordType = nil }, .invalidArguments, "B6")
        expect(.notes("q").with { $0.recordType = "_x" }, .invalidArguments, "B6")
        expect(.notes("q").with { $0.recordType = "" }, .invalidArguments, "B6")
        expect(.notes("q").with { $0.recordType = "Users" }, .invalidArguments, "B121")
        expect(NamedSubscription("d", .database, recordType: "1x"), .invalidArguments, "B6")
        for predicate in ["", "n >", "n = 1 OR n = 2", "title LIKE 'x*'", "n = $x"] {
            expect(.notes("q", where: predicate), .invalidArguments, "B122")
        }
        let extended = try Client(.embedded)
        #expect(extended.refusal(saving: .notes("q", where: "n = 1 OR n = 2")) == nil)
        #expect(extended.refusal(saving: .notes("r", where: "n = 1 OR"))?.rule == .subscriptionPredicate)
    }

    @Test func `§2 a request has its limits`() throws {
        let many = (0...client.store.options.limits.itemsPerRequest).map { NamedSubscription.notes("s\($0)") }
        #expect(client.subscriptions(save: many).codes == [.limitExceeded])
        #expect(client.subscriptions(delete: many.map(\.id)).codes == [.limitExceeded])
        #expect(throws: Refusal.self) {
            try client.store.fetchSubscriptions(many.map(\.id), in: client.database, as: client.actor)
        }
        let long = "title = '" + text(Subscription.maximumPredicateBytes) + "'"
        #expect(client.subscriptions(save: [.notes("a", where: long)]).codes == [.limitExceeded])
        var info = NotificationInfo()
        info.alertBody = text(NotificationInfo.maximumTextBytes + 1)
        #expect(client.subscriptions(save: [.notes("a").with { $0.notification = info }]).codes == [.limitExceeded])
        info.alertBody = text(NotificationInfo.maximumTextBytes)
        info.title = info.alertBody
        let heavy = (0..<20).map { number in
            NamedSubscription.notes("s\(number)", where: "n = \(number)").with { $0.notification = info }
        }
        #expect(client.subscriptions(save: heavy).codes == [.limitExceeded])
        #expect(client.subscriptions(save: Array(heavy[..<10])).codes == Array(repeating: nil, count: 10))
        #expect(client.subscriptions(delete: [text(4_097)]).codes == [.invalidArguments])
        #expect(client.subscriptions().codes == [])
        let unnamed = ModifySubscriptionsRequest(saves: [Subscription("a", .recordZone, zone: 7)])
        #expect(
            client.ask(Request(database: client.database, .modifySubscriptions(unnamed))).refusal?.code
                == .invalidArguments)
        let untyped = ModifySubscriptionsRequest(saves: [Subscription("a", .database, recordType: 7)])
        #expect(
            client.ask(Request(database: client.database, .modifySubscriptions(untyped))).refusal?.code
                == .invalidArguments)
    }

    @Test func `B24 where the schema is enforced, a type must be known`() throws {
        var options = StoreOptions.service
        options.schema = .enforced
        let client = try Client(options)
        #expect(client.refusal(saving: .notes("q"))?.rule == .enforcedSchema)
        #expect(client.refusal(saving: NamedSubscription("d", .database, recordType: "Note"))?.rule == .enforcedSchema)
        #expect(client.refusal(saving: NamedSubscription("d", .database)) == nil)
    }

    @Test func `B265 a subscription can be the first that a user writes, in any database`() throws {
        for scope in [InternedName.Scope.private, .public, .shared] {
            let client = try Client().with { $0.scope = scope }
            let first: NamedSubscription = scope == .shared ? NamedSubscription("s", .database) : .notes("s")
            #expect(try client.fetchedSubscriptions() == [])
            #expect(client.refusal(saving: first) == nil)
            #expect(try client.fetchedSubscriptions() == [first])
            let digests = try client.store.snapshot().digests()
            let again = try Store(on: client.store.log, options: .service)
            defer { try? again.close() }
            #expect(try again.snapshot().digests() == digests)
            #expect(try again.snapshot().subscriptions(in: client.database, as: client.actor) == [first])
        }
    }
}
