import Foundation
import StrataModel
import StrataStore
import Testing

@testable import StrataTool

@Suite struct ExplainCommandTests {
    private let fixture: StateFixture
    /// Of the audit of a conflict, and of an atomic failure.
    private let conflict: UInt64
    private let failure: UInt64

    /// Behind the fixture's commits the tablet changes a note twice, and the phone, which knows nothing of it, once.
    init() throws {
        let fixture = try StateFixture(keepsAudits: true)
        self.fixture = fixture
        (conflict, failure) = try fixture.change { store in
            let id = RecordID("tea", zone: StateFixture.notes)
            func save(_ base: Version?, _ fields: KeyValuePairs<String, FieldValue?>, _ more: [String] = []) -> Request
            {
                var request = RequestBuilder(DatabaseID(.private))
                request.save(id, type: "Note", base: base, fields: fields)
                for name in more { request.save(RecordID(name, zone: StateFixture.notes), type: "Note") }
                return request.request
            }
            let first = try store.modify(
                save(nil, ["rank": .int64(2), "title": .string("Tea")]), as: StateFixture.phone)
            let base = try #require(try first.result.saves.first?.get())
            try fixture.save("tea", ["due": .date(0)], as: StateFixture.tablet, to: store)
            try fixture.save("tea", ["rank": .int64(4)], as: StateFixture.tablet, to: store)
            let request = save(base, ["rank": .int64(5), "title": .string("Green \"tea\"")])
            let conflict = try fixture.note(request, in: store)
            return (conflict, try fixture.note(save(base, [:], ["new"]), in: store))
        }
    }

    private func explain(_ words: String...) throws -> ToolResult {
        try fixture.run(["explain", fixture.name] + words)
    }

    @Test("A commit may be counted from the end")
    func fromTheEnd() throws {
        let named = try explain("\(failure)").output
        #expect(try explain("last").output == named)
        #expect(try explain("-99").code == 1)
    }

    @Test("A conflict is a table of three states, and a list of the commits in between")
    func conflictText() throws {
        let result = try explain("\(conflict)")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.lines.first?.hasSuffix("  refused") == true)
        #expect(result.output.contains("save 0  Notes/tea  14 server record changed\n"), "\(result)")
        #expect(result.output.contains("    B53  A save fails if its tag differs from the stored tag"))
        #expect(
            result.output.contains(
                """
                    field  ancestor  client           server                changed by
                    due    -         not sent         2001-01-01T00:00:00Z  server
                    rank   2         5                4                     both: conflict
                    title  "Tea"     "Green \\"tea\\""  "Tea"                 client
                    commits after the client's version:

                """), "\(result)")
        #expect(result.lines.suffix(2).allSatisfy { $0.contains("anna on tablet  saved  ") })
        #expect(result.lines.last?.hasSuffix("rank") == true)
    }

    @Test("An accepted save that was made from an older version has the same table")
    func acceptedText() throws {
        let offset = try fixture.change { store in
            let base = try store.past.state(at: conflict - 4).snapshot()
                .record(RecordID("tea", zone: StateFixture.notes), in: DatabaseID(.private), as: StateFixture.phone)
            var request = RequestBuilder(DatabaseID(.private), policy: .allKeys)
            request.save(
                RecordID("tea", zone: StateFixture.notes), type: "Note", base: base.version,
                fields: ["rank": .int64(2), "title": .string("Black tea")])
            try fixture.step { try store.modify(request.request, as: StateFixture.phone) }
            return store.offset
        }
        let result = try explain("\(offset)")
        #expect(result.code == 0 && result.output.contains("save 0  Notes/tea  accepted\n"), "\(result)")
        #expect(result.output.contains(", the store had "), "\(result)")
        #expect(
            result.output.contains(
                """
                    field  ancestor  client       stored before         changed by
                    due    -         not sent     2001-01-01T00:00:00Z  server
                    rank   2         2            4                     server
                    title  "Tea"     "Black tea"  "Tea"                 client
                    commits after the client's version:

                """), "\(result)")
        #expect(result.lines.suffix(2).allSatisfy { $0.contains("anna on tablet  saved  ") })
    }

    @Test("A deletion names the records that went with it, by its cascade or its zone")
    func companions() throws {
        let offset = try fixture.change { store in
            for number in 10..<35 { try fixture.save("plan-\(number)", zone: StateFixture.work, to: store) }
            var delete = RequestBuilder(DatabaseID(.private))
            delete.delete(RecordID("list", zone: StateFixture.notes))
            try fixture.step { try store.modify(delete.request, as: StateFixture.phone) }
            try fixture.step { try store.modify(.zones(deleting: [StateFixture.work]), as: StateFixture.phone) }
            return store.offset
        }
        let cascade = try explain("\(offset - 1)")
        #expect(cascade.output.contains(" Here: 1 record goes with it: milk."), "\(cascade)")
        let zone = try explain("\(offset)")
        #expect(zone.output.contains("    B35  Deleting a zone deletes all its records."), "\(zone)")
        let names = (10..<30).map { "plan-\($0)" }
        let line = "    zone Work  25 records go with it: \(names.joined(separator: ", ")) and 5 more"
        #expect(zone.lines.contains(line[...]), "\(zone)")
        let why = try #require(try fixture.objects("explain", fixture.name, "\(offset)").first)
        try PromisedKeys.expect(why, follows: "An explanation")
        let effect = try #require((why["effects"] as? [[String: Any]])?.first)
        try PromisedKeys.expect(effect, follows: "An effect of a commit")
        #expect(effect["records"] as? [String] == names && effect["recordCount"] as? Int == 25)
    }

    @Test("An administrative act tells what it changed, before and after")
    func acts() throws {
        let offset = try fixture.change { store in
            try store.setQuota(bytes: 5_000, of: "anna")
            try store.setQuota(bytes: 0, of: "anna")
            return store.offset
        }
        let account = try explain("\(offset)")
        #expect(
            account.lines.suffix(2) == ["    account of anna", "        ~ quota: 5000 bytes -> none"], "\(account)")
        let why = try #require(try fixture.objects("explain", fixture.name, "\(offset)").first)
        let effect = try #require((why["effects"] as? [[String: Any]])?.first)
        try PromisedKeys.expect(effect, follows: "An effect of a commit")
        #expect(effect["effect"] as? String == "account" && effect["of"] as? String == "anna")
        let sharing = try StateFixture()
        try sharing.share()
        let removal = try sharing.change { store in
            try sharing.edit(ShareChange(participants: []), to: store)
            return store.offset
        }
        let share = try sharing.run("explain", sharing.name, "\(removal)")
        #expect(
            share.lines.contains("    share Share-1")
                && share.lines.contains("        - participant bert: private user, read and write, accepted"),
            "\(share)")
    }

    @Test("JSON has all of it")
    func conflictJSON() throws {
        let why = try #require(try fixture.objects("explain", fixture.name, "\(conflict)").first)
        try PromisedKeys.expect(why, follows: "An explanation")
        let item = try #require((why["items"] as? [[String: Any]])?.first)
        try PromisedKeys.expect(item, follows: "An item of an explanation")
        #expect(item["code"] as? Int == 14 && item["bystander"] as? Bool == false)
        let rule = try #require((item["rules"] as? [[String: Any]])?.first)
        try PromisedKeys.expect(rule, follows: "A rule of an explanation")
        #expect(rule["number"] as? String == "B53")
        let conflict = try #require(item["conflict"] as? [String: Any])
        try PromisedKeys.expect(conflict, follows: "A conflict")
        let fields = try #require(conflict["fields"] as? [[String: Any]])
        #expect(fields.map { $0["fieldName"] as? String } == ["due", "rank", "title"])
        #expect(fields.map { $0["side"] as? String } == ["server", "conflict", "client"])
        #expect(fields[0]["ancestor"] is NSNull && fields[0]["sent"] as? Bool == false)
        let changes = try #require(conflict["changes"] as? [[String: Any]])
        #expect(changes.map { $0["fieldNames"] as? [String] } == [["due"], ["rank"]])
        #expect(changes.allSatisfy { $0["userName"] as? String == "anna" && $0["deviceName"] as? String == "tablet" })
    }

    @Test("Of an atomic failure the bystanders name the culprit")
    func atomicFailure() throws {
        let result = try explain("\(failure)")
        #expect(result.output.contains("save 1  Notes/new  22 batch request failed, a bystander\n"), "\(result)")
        #expect(result.lines.last == "    save 0, tea, failed")
    }

    @Test("Subscriptions that did not fire say why, as text and as JSON")
    func notifications() throws {
        try fixture.change { store in
            let saves = [
                NamedSubscription("all", .database, notification: NotificationInfo()),
                NamedSubscription(
                    "high", .query, recordType: "Note", predicate: "rank > 5", options: [.creation, .update]),
            ]
            try fixture.step { try store.modify(.subscriptions(saving: saves), as: StateFixture.phone) }
            try fixture.save("milk", ["rank": .int64(4)], as: StateFixture.tablet, to: store)
        }
        let offset = try fixture.change { $0.offset }
        let result = try explain("\(offset)", "--notifications", "--user", "anna")
        #expect(result.code == 0, "\(result)")
        #expect(result.output.contains("subscription all  anna, private of anna, database  fires\n"), "\(result)")
        #expect(result.output.contains("where rank > 5 on creation, update  does not fire\n"))
        #expect(
            result.output.contains(
                "its predicate does not hold (before it the predicate did not hold, "
                    + "after it the predicate did not hold)"))
        #expect(result.output.contains("device tablet of anna  made the commit, so it is not notified"))
        let why = try #require(
            try fixture.objects("explain", fixture.name, "\(offset)", "--notifications", "--user", "anna").first)
        try PromisedKeys.expect(why, follows: "Who was notified")
        let asked = try #require(why["subscriptions"] as? [[String: Any]])
        for one in asked { try PromisedKeys.expect(one, follows: "A subscription that was asked") }
        #expect(asked.map { $0["fires"] as? Bool } == [true, false])
        let only = try explain("\(offset)", "--notifications", "--user", "anna", "--device", "phone")
        #expect(!only.output.contains("device tablet"))
    }

    @Test("A failed save of a sync engine names the engine, the other requests of the send, and what is pending")
    func syncEngine() throws {
        let offsets = try fixture.change { store in
            func send(_ request: Request, _ actor: Actor) throws -> Answer {
                try store.modify(
                    request, as: actor,
                    operation: .init(
                        id: SyncState.operationID(of: .private), groupID: "5B7C", groupName: "Upload"))
            }
            var first = RequestBuilder(DatabaseID(.private))
            first.save(RecordID("cake", zone: StateFixture.notes), type: "Note")
            let offset = try #require(try send(first.request, StateFixture.phone).offset)
            // Once more without the tag, and from a device whose send is another.
            _ = try send(first.request, StateFixture.phone)
            _ = try send(first.request, StateFixture.tablet)
            try store.noteConsole(ConsoleNote("something that is written"))
            return (offset, store.offset - 1)
        }
        let result = try explain("\(offsets.1)")
        #expect(result.output.contains("    sent by the sync engine of anna on phone, private\n"), "\(result)")
        #expect(
            result.output.contains(
                "    request 2 of 2 in the group 5B7C \"Upload\": \(offsets.0), \(offsets.1) refused\n"), "\(result)")
        #expect(result.output.contains("    the change is no longer pending: the app must add it again\n"), "\(result)")
        let why = try #require(try fixture.objects("explain", fixture.name, "\(offsets.1)").first)
        try PromisedKeys.expect(why, follows: "An explanation")
        let send = try #require(why["syncEngine"] as? [String: Any])
        try PromisedKeys.expect(send, follows: "A send of a sync engine")
        #expect(send["place"] as? Int == 1 && send["groupName"] as? String == "Upload")
        let requests = try #require(send["requests"] as? [[String: Any]])
        for request in requests { try PromisedKeys.expect(request, follows: "A request of a sync engine") }
        #expect(requests.map { $0["refused"] as? Bool } == [false, true])
        let item = try #require((why["items"] as? [[String: Any]])?.first)
        #expect(item["pending"] as? Bool == false)
        #expect(try !explain("\(conflict)").output.contains("sync engine"))
    }

    @Test("Changes that an engine sends again are pending, and subscriptions never are")
    func pendingChanges() throws {
        let offsets = try fixture.change { store in
            func refused(_ request: Request) throws -> UInt64 {
                _ = try? store.modify(
                    request, as: StateFixture.phone,
                    operation: .init(id: SyncState.operationID(of: .private), groupID: "5B7C"))
                try store.noteConsole(ConsoleNote("something that is written"))
                return store.offset
            }
            try store.setAccountStatus(.temporarilyUnavailable, of: "anna")
            var save = RequestBuilder(DatabaseID(.private))
            save.save(RecordID("cake", zone: StateFixture.notes), type: "Note")
            return (
                try refused(save.request),
                try refused(
                    .subscriptions(saving: [NamedSubscription("x", .database, notification: NotificationInfo())]))
            )
        }
        let save = try explain("\(offsets.0)")
        #expect(save.output.contains("    the change stays pending: the engine sends it again\n"), "\(save)")
        let subscription = try explain("\(offsets.1)")
        #expect(subscription.output.contains("sent by the sync engine"), "\(subscription)")
        #expect(!subscription.output.contains("pending"), "\(subscription)")
    }

    @Test("Of a commit without a request it tells what the commit did, and that nothing else is known")
    func withoutRequest() throws {
        let fixture = try StoreFixture.small()
        let result = try fixture.run("explain", fixture.name, "2")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.lines.first?.hasSuffix("  without a request") == true, "\(result)")
        #expect(result.output.contains("it is not known why it was accepted."), "\(result)")
        #expect(result.output.contains("    record saved     Notes / Note / note-1  create, 1 field"), "\(result)")
        let object = try JSONSerialization.jsonObject(
            with: Data(try fixture.run("explain", fixture.name, "2", "--json").output.utf8))
        let why = try #require(object as? [String: Any])
        try PromisedKeys.expect(why, follows: "An explanation")
        #expect(why["outcome"] as? String == "withoutRequest")
        let events = try #require(why["events"] as? [[String: Any]])
        #expect(events.map { $0["record"] as? String } == ["note-1"], "\(why)")
        let debugged = try fixture.run("debug", fixture.name, "--at", "2", "-e", "why", "--json")
        #expect(debugged.output.contains(#""record":"note-1""#), "\(debugged)")
    }

    @Test("A response that was lost is named with the request")
    func lostResponse() throws {
        let offset = try fixture.change { store in
            try fixture.save("milk", ["rank": .int64(8)], to: store)
            let offset = store.offset
            let text = "the response to modifyRecords was lost"
            store.noteFault(ConsoleNote(text, user: "anna", device: "phone"))
            try fixture.save("milk", ["rank": .int64(9)], as: StateFixture.tablet, to: store)
            return offset
        }
        let result = try explain("\(offset)")
        #expect(result.output.contains("notes about the device: the response to modifyRecords was lost"), "\(result)")
        let noted = try fixture.objects("log", fixture.name, "--device", "phone", "--outcome", "refused")
        // Beside the two requests of the phone that the rules refused.
        #expect(noted.count == 3 && noted.last?["userName"] as? String != "anna", "\(noted)")
        #expect(try fixture.objects("log", fixture.name, "--device", "tablet", "--outcome", "refused").isEmpty)
    }

    @Test("What is not there ends with 1, and what cannot be understood with 2")
    func nothing() throws {
        let end = try fixture.change { $0.offset }
        let missing = try explain("\(end + 1)")
        #expect(missing.code == 1 && missing.output.isEmpty && missing.errors.contains("no commit"), "\(missing)")
        for words in [["x"], ["0"], ["1", "--user", "anna"], ["1", "--notifications", "--device", "phone"]] {
            #expect(try fixture.run(["explain", fixture.name] + words).code == 2, "\(words)")
        }
        let empty = try StoreFixture()
        try empty.close()
        let none = "strata explain: no commit 1; this store has no commits\n"
        #expect(try empty.run("explain", empty.name, "1").errors == none)
        let stranger = try explain("1", "--notifications", "--user", "carl")
        #expect(stranger.code == 1 && stranger.errors == "strata explain: The store has no user 'carl'.\n")
    }
}

extension StateFixture {
    /// Has a refusal of a request noted, as a store does that keeps them; returns where.
    fileprivate func note(_ request: Request, in store: Store) throws -> UInt64 {
        try step { try store.modify(request, as: Self.phone) }
        try store.noteConsole(ConsoleNote("something that is written"))
        return store.offset
    }
}
