import StrataModel
import Testing

@testable import StrataTool

/// What `--database shared` shows of the zones that others share.
@Suite struct SharedDatabaseTests {
    private let fixture: StateFixture

    init() throws {
        fixture = try StateFixture()
        try fixture.share()
        try fixture.change { try fixture.save("alone", to: $0) }
    }

    private func run(_ command: String, _ words: String..., user: String = "bert") throws -> ToolResult {
        try fixture.run([command, fixture.name] + words + ["--user", user, "--database", "shared"])
    }

    @Test("zones lists the zones that others share, with their owners")
    func zones() throws {
        let result = try run("zones")
        #expect(result.code == 0 && result.lines.first == "shared of bert", "\(result)")
        #expect(result.lines.dropFirst().first?.hasPrefix("  Notes of anna  ") == true && result.lines.last == "1 zone")
        let object = try #require(
            try fixture.objects("zones", fixture.name, "--user", "bert", "--database", "shared").first)
        try PromisedKeys.expect(object, follows: "A zone")
        #expect(object["sharedBy"] as? String == "anna" && object["database"] as? String == "shared")
        // Those that `records` lists, not all that the zone has.
        #expect(result.output.contains("  3 records  ") && object["records"] as? Int == 3, "\(result)")
        #expect(!result.output.contains("bytes") && object["bytes"] == nil, "\(result)")
        let zones = try fixture.objects("zones", fixture.name, "--user", "anna")
        let own = try #require(zones.first { $0["zone"] as? String == "Notes" })
        #expect(own["records"] as? Int == 4 && own["bytes"] as? Int != nil, "\(own)")
        #expect(try run("zones", user: "cleo").lines == ["0 zones"])
    }

    @Test("records lists what the member sees, and nothing else")
    func records() throws {
        let result = try run("records")
        #expect(result.code == 0 && result.lines.last == "3 records", "\(result)")
        #expect(result.output.contains("milk") && !result.output.contains("alone"), "\(result)")
        #expect(try run("records", "--owner", "anna", "--zone", "Notes").lines.last == "3 records")
        #expect(try run("records", "--type", "Note").lines.last == "1 record")
        #expect(try run("records", "--owner", "cleo").lines.last == "0 records")
    }

    @Test("get reads a visible record, and refuses another one as if it did not exist")
    func get() throws {
        let found = try run("get", "milk", "--zone", "Notes", "--owner", "anna")
        #expect(found.code == 0 && found.output.contains("Notes, shared of bert"), "\(found)")
        let hidden = try run("get", "alone", "--zone", "Notes", "--owner", "anna")
        #expect(hidden.code == 1 && hidden.errors.contains("Record not found: alone"), "\(hidden)")
        let stranger = try run("get", "milk", "--zone", "Notes", "--owner", "anna", user: "cleo")
        #expect(stranger.code == 1 && stranger.errors.contains("Only shared zones"), "\(stranger)")
    }

    @Test("query finds the visible records of a zone")
    func query() throws {
        let result = try run("query", "Note", "--zone", "Notes", "--owner", "anna")
        #expect(result.code == 0 && result.output.contains("milk") && !result.output.contains("alone"), "\(result)")
        let zoneless = try run("query", "Note")
        #expect(zoneless.code == 2 && zoneless.errors.contains("needs --zone NAME and --owner NAME"), "\(zoneless)")
    }

    @Test("feed prints the zones, and the changes that come into view and go out of it")
    func feed() throws {
        let zones = try run("feed")
        #expect(zones.code == 0 && zones.output.contains("changed  Notes of anna"), "\(zones)")
        let zone = try run("feed", "Notes", "--owner", "anna")
        #expect(zone.output.contains("milk") && !zone.output.contains("alone"), "\(zone)")
        let object = try #require(
            try fixture.objects("feed", fixture.name, "--user", "bert", "--database", "shared").first)
        try PromisedKeys.expect(object, follows: "What is gone, or a zone that has changed")
        #expect(object["sharedBy"] as? String == "anna")
        let stranger = try run("feed", "Notes", "--owner", "anna", user: "cleo")
        #expect(stranger.code == 1 && stranger.errors.contains("Only shared zones"), "\(stranger)")
    }

    @Test("Incomplete and mistyped places are errors")
    func mistakes() throws {
        let nobody = try fixture.run("zones", fixture.name, "--database", "shared")
        #expect(nobody.code == 2 && nobody.errors.contains("--database shared needs --user NAME"), "\(nobody)")
        #expect(try run("get", "milk", "--zone", "Notes").code == 2)
        #expect(try run("feed", "Notes").code == 2)
        #expect(try run("feed", "--owner", "anna").code == 2)
        #expect(try fixture.run("feed", fixture.name, "--user", "bert", "--database", "public").code == 2)
        let owner = try run("get", "milk", "--zone", "Notes", "--owner", "ana")
        #expect(owner.code == 1 && owner.errors.contains("Did you mean anna?"), "\(owner)")
        let other = try fixture.run("diff", fixture.name, "3", "--user", "bert", "--database", "shared")
        #expect(other.code == 2 && other.errors.contains("must be public or private"), "\(other)")
    }

    @Test("device lists the zones that others share, though nothing of them was fetched")
    func deviceOfMember() throws {
        let result = try fixture.run("device", fixture.name, "bert", "mac")
        #expect(result.output.contains("zone shared of bert, Notes of anna  no fetch of its changes"), "\(result)")
        let view = try #require(try fixture.objects("device", fixture.name, "bert", "mac").first)
        let zones = try #require(view["zones"] as? [[String: Any]])
        #expect(zones.contains { $0["sharedBy"] as? String == "anna" && $0["there"] as? Bool == true }, "\(zones)")
    }

    @Test("play shows what a member receives of the zones that others share")
    func play() throws {
        let result = try fixture.run("play", fixture.name, "--user", "bert")
        #expect(result.code == 0, "\(result)")
        #expect(result.output.contains("    changed  Notes of anna/milk, Note"), "\(result)")
        #expect(!result.output.contains("alone"), "\(result)")
        let objects = try fixture.objects("play", fixture.name, "--user", "bert")
        #expect(objects.contains { $0["name"] as? String == "milk" && $0["database"] as? String == "shared" })
    }

    @Test("device says what a member's device was given of a shared zone")
    func device() throws {
        let fixture = try StateFixture(keepsAudits: true)
        try fixture.share()
        try fixture.change { store in
            _ = try store.zoneChanges(
                of: fixture.sharedNotes(in: store), in: DatabaseID(.shared), as: StateFixture.bert)
            try store.noteConsole(ConsoleNote("something that is written"))
            try fixture.save("milk", ["rank": .int64(9)], as: StateFixture.tablet, to: store)
            try fixture.save("alone", to: store)
        }
        let words = [
            "device", fixture.name, "bert", "mac", "--zone", "Notes", "--database", "shared", "--owner", "anna",
        ]
        let milk = try fixture.run(words + ["--record", "milk"])
        #expect(milk.code == 1 && milk.output.contains("not known: the device has not fetched"), "\(milk)")
        #expect(milk.output.contains("zone shared of bert, Notes of anna  given up to 8"), "\(milk)")
        let list = try fixture.run(words + ["--record", "Share-1"])
        #expect(list.code == 0, "\(list)")
        let hidden = try fixture.run(words + ["--record", "alone"])
        #expect(hidden.code == 1 && hidden.output.contains("there is no such record"), "\(hidden)")
        #expect(try fixture.run("device", fixture.name, "bert", "mac", "--record", "milk", "--owner", "anna").code == 2)
    }
}
