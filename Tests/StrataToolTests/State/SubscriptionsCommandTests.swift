import Foundation
import StrataModel
import StrataStore
import TestSupport
import Testing

@testable import StrataTool

@Suite struct SubscriptionsCommandTests {
    private let fixture: StateFixture

    /// Commit 6 is anna's subscriptions, 7 one of bert's to the public database.
    init() throws {
        fixture = try StateFixture()
        try fixture.change { store in
            var loud = NotificationInfo()
            (loud.alertBody, loud.titleLocalizationArguments, loud.shouldBadge) = ("New \"milk\"", ["a", "b"], true)
            let saves = [
                NamedSubscription("all", .database, notification: NotificationInfo()),
                NamedSubscription(
                    "milk", .query, zone: StateFixture.notes, recordType: "Note", predicate: "rank > 3",
                    options: [.creation, .update], notification: loud),
                NamedSubscription("zone", .recordZone, zone: StateFixture.notes),
            ]
            try fixture.step { try store.modify(.subscriptions(saving: saves), as: StateFixture.phone) }
            let news = NamedSubscription(
                "news", .query, recordType: "Item", predicate: "TRUEPREDICATE", options: [.creation])
            try fixture.step {
                try store.modify(.subscriptions(saving: [news], in: DatabaseID(.public)), as: StateFixture.bert)
            }
        }
    }

    private func list(_ words: String...) throws -> ToolResult {
        try fixture.run(["subscriptions", fixture.name] + words)
    }

    @Test func `Each has a paragraph`() throws {
        let result = try list("--user", "anna")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        let event = try #require(try fixture.objects("subscriptions", fixture.name, "--user", "anna").first)
        let saved = try #require((event["saved"] as? String).flatMap { Version(tag: $0) })
        #expect(saved.offset == 6)
        #expect(result.lines.first == "subscription all" && result.lines.last == "3 subscriptions")
        #expect(
            result.output.contains(
                """
                subscription milk
                    user      anna
                    database  private of anna
                    kind      query of Note in Notes
                    where     rank > 3
                    on        creation, update
                    shows     alertBody "New \\"milk\\"", titleLocalizationArgs ["a", "b"], shouldBadge
                    saved     commit 6, event \(saved.eventIndex + 1)

                """), "\(result)")
        #expect(result.lines.contains("    shows     no notification is described"))
        #expect(result.lines.contains("    shows     nothing") && result.lines.contains("    kind      zone in Notes"))
    }

    @Test func `Those of all users and databases come together`() throws {
        let all = try list()
        #expect(all.lines.filter { $0.hasPrefix("subscription ") }.count == 4 && all.lines.last == "4 subscriptions")
        let bert = try list("--user", "bert")
        #expect(bert.lines.contains("    database  public") && bert.lines.last == "1 subscription", "\(bert)")
    }

    @Test func `JSON has all of it`() throws {
        let objects = try fixture.objects("subscriptions", fixture.name)
        for object in objects {
            try PromisedKeys.expect(object, follows: "A subscription")
            #expect((object["saved"] as? String).flatMap { Version(tag: $0) } != nil && object["firedBy"] == nil)
        }
        let milk = try #require(objects.first { $0["subscription"] as? String == "milk" })
        #expect(milk["kind"] as? String == "query" && milk["type"] as? String == "Note")
        #expect(milk["zone"] as? String == "Notes" && milk["predicate"] as? String == "rank > 3")
        #expect(milk["options"] as? String == "creation update" && milk["user"] as? String == "anna")
        let notification = try #require(milk["notification"] as? [String: Any])
        #expect(notification["alertBody"] as? String == "New \"milk\"")
        #expect(notification["titleLocalizationArgs"] as? [String] == ["a", "b"])
        #expect(notification["flags"] as? [String] == ["shouldBadge"])
        let zone = try #require(objects.first { $0["subscription"] as? String == "zone" })
        #expect(zone["notification"] is NSNull && zone["options"] as? String == "")
    }

    @Test func `One that fired once is told as such`() async throws {
        let store = try fixture.open()
        let once = NamedSubscription(
            "first", .query, recordType: "Note", predicate: "TRUEPREDICATE", options: [.creation, .once])
        try await store.modify(.subscriptions(saving: [once]), as: StateFixture.phone)
        var request = RequestBuilder(DatabaseID(.private))
        request.save(RecordID("new", zone: StateFixture.notes), type: "Note")
        let saved = try await store.modify(request.request, as: StateFixture.tablet)
        // The service ends it by a commit of its own.
        _ = try await awaited { store.offset != saved.offset }
        try store.close()
        let objects = try fixture.objects("subscriptions", fixture.name, "--user", "anna")
        let first = try #require(objects.first { $0["subscription"] as? String == "first" })
        #expect(first["saved"] == nil, "\(first)")
        #expect((first["firedBy"] as? String).flatMap { Version(tag: $0) }?.offset == saved.offset)
        try PromisedKeys.expectAll(of: "A subscription", in: objects)
        let text = try list("--user", "anna")
        #expect(text.output.contains("    fired     once, for commit \(saved.offset ?? 0), event "), "\(text)")
        #expect(try list("--user", "bert").lines.last == "1 subscription")
    }

    @Test func `An earlier state has those of then`() throws {
        #expect(try list("--at", "5").output == "0 subscriptions\n")
        #expect(try list("--at", "6").lines.last == "3 subscriptions")
        try fixture.change { store in
            try store.modify(.subscriptions(deleting: ["all"]), as: StateFixture.phone)
        }
        #expect(try list().lines.last == "3 subscriptions")
        #expect(try list("--at", "7").lines.last == "4 subscriptions")
    }

    @Test func `Who is not there ends with 1`() throws {
        let result = try list("--user", "carl")
        #expect(result.code == 1 && result.errors == "strata subscriptions: The store has no user 'carl'.\n")
        #expect(try list("--zone", "Notes").code == 2)
    }
}
