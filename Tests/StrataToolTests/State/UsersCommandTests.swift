import Foundation
import StrataModel
import StrataStore
import Testing

@testable import StrataTool

@Suite struct UsersCommandTests {
    private let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    private func users(_ words: String...) throws -> ToolResult { try fixture.run(["users", fixture.name] + words) }

    private func object(_ user: String, _ words: String...) throws -> [String: Any] {
        let result = try fixture.run(["users", fixture.name, "--json"] + words)
        let objects = try result.lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        return try #require(objects.first { $0["user"] as? String == user })
    }

    @Test func `Each user has a paragraph, in the order in which they came`() throws {
        let anna = try object("anna")
        let used = try #require(anna["usedBytes"] as? Int)
        let (zones, records) = (anna["privateZones"] as? Int ?? 0, anna["privateRecords"] as? Int ?? 0)
        let result = try users()
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(
            result.output.hasPrefix(
                """
                user anna
                    record   \(anna["record"] as? String ?? "")
                    account  available
                    in use   \(used) bytes, no quota
                    private  \(zones) zones, \(records) records; changed by commit 5, 2026-11-21T05:46:45Z
                    device   phone, since commit 1
                    device   tablet, since commit 4
                user bert

                """), "\(result)")
        #expect(result.lines.last == "2 users" && result.lines.contains("    device   mac, since commit 3"))
        // Two that were made, and perhaps the default zone with the user's own record.
        #expect(zones >= 2 && records >= 2 && used > 16)
    }

    @Test func `JSON has the same`() throws {
        let anna = try object("anna")
        try PromisedKeys.expect(anna, follows: "A user")
        #expect(anna["status"] as? String == "available" && anna["quota"] as? Int == 0)
        #expect(anna["changed"] as? Int == 5)
        #expect((anna["changedTime"] as? NSNumber)?.int64Value == StateFixture.startTime + 5_000_000)
        let devices = try #require(anna["devices"] as? [[String: Any]])
        for device in devices { try PromisedKeys.expect(device, follows: "A device") }
        #expect(devices.map { $0["device"] as? String } == ["phone", "tablet"])
        #expect(devices.map { $0["firstSeen"] as? Int } == [1, 4])
        let bert = try object("bert")
        #expect(anna["record"] as? String != bert["record"] as? String)
    }

    @Test func `The store counts the same bytes`() throws {
        let usage = try fixture.change { try $0.usage(of: "anna") }
        #expect(try object("anna")["usedBytes"] as? Int == Int(usage))
        try fixture.change { try $0.modify(.zones(deleting: [StateFixture.notes]), as: StateFixture.phone) }
        let left = try fixture.change { try $0.usage(of: "anna") }
        let anna = try object("anna")
        #expect(left < usage && anna["usedBytes"] as? Int == Int(left))
        // That a zone went is a change too.
        #expect(anna["changed"] as? Int == 6)
    }

    @Test func `Accounts and quotas are told`() throws {
        try fixture.change { store in
            try store.setQuota(bytes: 5_000, of: "anna")
            try store.setAccountStatus(.temporarilyUnavailable, of: "anna")
        }
        let result = try users()
        #expect(result.lines.contains("    account  temporarily unavailable"), "\(result)")
        #expect(result.lines.contains { $0.hasPrefix("    in use ") && $0.hasSuffix(" bytes, quota 5000") })
        let anna = try object("anna")
        #expect(anna["status"] as? String == "temporarily unavailable" && anna["quota"] as? Int == 5_000)
        #expect(try object("bert")["status"] as? String == "available")
        #expect(try object("anna", "--at", "5")["status"] as? String == "available")
    }

    @Test func `A device says how far it was told`() throws {
        try fixture.change { store in
            let told = NotifyRequest(user: "anna", deliveries: [.init(device: "tablet", through: 4, badge: 3)])
            try store.modify(Request(database: DatabaseID(.private), .notify(told)), as: .service)
        }
        #expect(try users().lines.contains("    device   tablet, since commit 4, notified up to 4, badge 3"))
        let devices = try #require(try object("anna")["devices"] as? [[String: Any]])
        #expect(devices[0]["through"] == nil && devices[1]["through"] as? Int == 4 && devices[1]["badge"] as? Int == 3)
        try PromisedKeys.expectAll(of: "A device", in: devices)
    }

    @Test func `What is known of a person is told`() throws {
        try fixture.change { store in
            var person = Person()
            (person.givenName, person.familyName, person.nickname) = ("Anna", "Example\u{7}", "Ann")
            (person.emails, person.phones) = (["anna@example.com"], ["+1 415"])
            try store.setPerson(person, of: "anna")
            try store.setRole("Editors", of: ["anna"])
            try store.setDiscoverability(.denied, of: "anna")
        }
        let result = try users()
        let told = [
            "name      Anna Example\\u{7}", "nickname  Ann", "e-mail    anna@example.com", "phone     +1 415",
            "role      Editors", "found     denied",
        ]
        for line in told { #expect(result.lines.contains("    " + line), "\(result)") }
        let anna = try object("anna")
        try PromisedKeys.expect(anna, follows: "A user")
        let parts = ["givenName": "Anna", "familyName": "Example\u{7}", "nickname": "Ann"]
        #expect(anna["nameParts"] as? [String: String] == parts)
        #expect(anna["emails"] as? [String] == ["anna@example.com"] && anna["phones"] as? [String] == ["+1 415"])
        #expect(anna["roles"] as? [String] == ["Editors"] && anna["discoverability"] as? String == "denied")
        let bert = try object("bert")
        #expect(bert["nameParts"] as? [String: String] == [:] && bert["discoverability"] as? String == "initial")
        #expect(try object("anna", "--at", "5")["emails"] as? [String] == [])
        let log = try fixture.run(["show", fixture.name, "last"]).output
        let text = "anna: available; name Anna Example\\u{7}, nickname Ann, e-mail anna@example.com"
        #expect(log.contains(text), "\(log)")
        #expect(log.contains("role Editors, found denied"))
        let line = try fixture.run(["show", fixture.name, "last", "--json"]).output
        let commit = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let event = try #require((commit["events"] as? [[String: Any]])?.last)
        try PromisedKeys.expect(event, follows: "An event")
        #expect(event["userName"] as? String == "anna" && event["roles"] as? [String] == ["Editors"])
    }

    @Test func `An earlier state has those of then`() throws {
        #expect(try users("--at", "0").output == "0 users\n")
        #expect(try users("--at", "2").lines.last == "1 user")
        #expect(try !users("--at", "3").output.contains("tablet"))
    }

    @Test func `Names are made safe to show, and what is wrong ends with 2`() throws {
        try fixture.change { store in
            try store.modify(.zones(saving: [StateFixture.work]), as: Actor(user: "\u{1b}eve", device: "\u{7}"))
        }
        let result = try users()
        #expect(result.lines.contains("user \\u{1b}eve"), "\(result)")
        #expect(result.lines.contains { $0.hasPrefix("    device   \\u{7}, since commit 6") })
        #expect(try users("anna").code == 2)
    }
}
