import Foundation
import StrataModel
import StrataStore
import Testing

@testable import StrataTool

@Suite struct ZonesCommandTests {
    private let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    private func zones(_ words: String...) throws -> ToolResult { try fixture.run(["zones", fixture.name] + words) }

    private func objects(_ words: String...) throws -> [[String: Any]] {
        let result = try fixture.run(["zones", fixture.name, "--json"] + words)
        return try result.lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private func object(_ zone: String, _ words: String...) throws -> [String: Any] {
        let result = try fixture.run(["zones", fixture.name, "--json"] + words)
        let objects = try result.lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        return try #require(objects.first { $0["zone"] as? String == zone })
    }

    @Test func `Every database has a heading, and each zone a line`() throws {
        let result = try zones()
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.lines.first == "private of anna" && result.lines.contains("public"), "\(result)")
        let notes = try #require(result.lines.first { $0.hasPrefix("  Notes ") })
        #expect(notes.contains("  2 records  ") && notes.contains("  changed by 5  "), "\(notes)")
        #expect(
            notes.contains("  life since commit 1, event ")
                && notes.hasSuffix("  fetch changes, atomic, sharing, zone-wide sharing"))
        let count = result.lines.count { $0.hasPrefix("  ") }
        #expect(result.lines.last == "\(count) zones")
        let anna = try zones("--user", "anna")
        #expect(anna.lines.first == "private of anna" && !anna.lines.contains("public"))
        #expect(anna.lines.contains(notes))
        #expect(try zones("--database", "public").lines.first == "public")
    }

    @Test func `JSON has what the state knows`() throws {
        let objects = try objects()
        for object in objects { try PromisedKeys.expect(object, follows: "A zone") }
        let notes = try object("Notes")
        #expect(notes["database"] as? String == "private" && notes["owner"] as? String == "anna")
        #expect(notes["records"] as? Int == 2 && notes["capabilities"] as? Int == 15)
        #expect(notes["status"] as? String == "alive" && notes["changed"] as? Int == 5)
        let life = try #require((notes["life"] as? String).flatMap { Version(tag: $0) })
        #expect(life.offset == 1 && notes["version"] as? String == life.tag)
        let (work, bytes) = (try object("Work"), try #require(notes["bytes"] as? Int))
        #expect(work["records"] as? Int == 0 && work["bytes"] as? Int == 0 && work["changed"] as? Int == 1)
        // At least the asset, the text and the numbers.
        #expect(bytes > 3 + 16 + 8)
        #expect(objects.contains { $0["database"] as? String == "public" && $0["owner"] as? String == "" })
    }

    @Test func `A first zone token has nothing to fetch from the last change on`() throws {
        let changed = try #require(try object("Notes")["changed"] as? Int)
        let none = try fixture.run(["feed", fixture.name, "Notes", "--user", "anna", "--since", "\(changed)"])
        #expect(none.output.hasPrefix("page 1: 0 changed, 0 deleted; token "), "\(none)")
        let some = try fixture.run(["feed", fixture.name, "Notes", "--user", "anna", "--since", "\(changed - 1)"])
        #expect(some.output.contains("page 1: 0 changed, 1 deleted"), "\(some)")
    }

    @Test func `Zones that are gone are listed if asked for, with the reason`() throws {
        try fixture.change { store in
            try store.modify(.zones(deleting: [StateFixture.work]), as: StateFixture.phone)
            try store.purgeZone(StateFixture.notes, of: "anna")
        }
        #expect(try !zones("--user", "anna").output.contains("Work"))
        let result = try zones("--user", "anna", "--deleted")
        #expect(result.lines.contains { $0.hasPrefix("  Work ") && $0.hasSuffix("  deleted") }, "\(result)")
        #expect(result.lines.contains { $0.hasPrefix("  Notes ") && $0.hasSuffix("  purged") })
        #expect(try object("Work", "--deleted")["status"] as? String == "deleted")
        try fixture.change { try $0.modify(.zones(saving: [StateFixture.work]), as: StateFixture.phone) }
        let again = try object("Work")
        #expect(again["status"] as? String == "alive" && again["changed"] as? Int == 8)
        #expect((again["life"] as? String).flatMap { Version(tag: $0) }?.offset == 8)
    }

    @Test func `An earlier state has its zones`() throws {
        #expect(try zones("--at", "0").output == "0 zones\n")
        #expect(try object("Notes", "--at", "2")["records"] as? Int == 3)
        #expect(try object("Notes", "--at", "2")["changed"] as? Int == 2)
        // With who comes first there is the user's own record.
        #expect(try zones("--database", "public", "--at", "2").output.contains("  1 record  "))
        #expect(try zones("--database", "public", "--at", "3").output.contains("  3 records  "))
    }

    @Test func `Who is not there ends with 1, and what is wrong with 2`() throws {
        let carl = try zones("--user", "carl")
        #expect(carl.code == 1 && carl.errors == "strata zones: The store has no user 'carl'.\n", "\(carl)")
        let denied = try zones("--user", "bert", "--owner", "anna")
        #expect(denied.code == 1 && denied.errors.contains("cannot be read"), "\(denied)")
        // He has written to the public database alone.
        let bert = try zones("--user", "bert")
        #expect(bert.code == 0 && bert.lines.last?.hasSuffix(bert.lines.count == 1 ? "0 zones" : "1 zone") == true)
        let nobody = try zones("--database", "private")
        #expect(nobody.code == 2 && nobody.errors.contains("--database private needs --user NAME"))
    }

    @Test func `Names are made safe to show`() throws {
        try fixture.change { store in
            try store.modify(.zones(saving: [StateFixture.work]), as: Actor(user: "\u{7}eve"))
        }
        let result = try zones()
        #expect(result.lines.contains("private of \\u{7}eve"), "\(result)")
    }
}
