import Foundation
import StrataModel
import StrataStore
import Testing

@testable import StrataTool

@Suite struct DeviceCommandTests {
    private let fixture: StateFixture

    /// The phone fetches the changes of a zone, then the tablet changes a note of it.
    init() throws {
        let fixture = try StateFixture(keepsAudits: true)
        self.fixture = fixture
        try fixture.change { store in
            _ = try store.zoneChanges(of: StateFixture.notes, in: DatabaseID(.private), as: StateFixture.phone)
            _ = try store.databaseChanges(in: DatabaseID(.private), as: StateFixture.phone)
            // The fetches come behind the next commit, so that they are in front of the one that is not known.
            try store.noteConsole(ConsoleNote("something that is written"))
            try fixture.save("milk", ["rank": .int64(9)], as: StateFixture.tablet, to: store)
        }
    }

    @Test("What was given, and what came behind it, has a line for each zone")
    func text() throws {
        let result = try fixture.run("device", fixture.name, "anna", "phone")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.lines.first?.hasPrefix("device anna on phone  at offset ") == true)
        #expect(result.output.contains("    fetches      2 recorded, of 2 of all devices\n"), "\(result)")
        #expect(result.output.contains("zone private of anna, Notes  given up to 5 by the fetch recorded at "))
        #expect(result.output.contains("; 2 changes behind\n"), "the note and its parent: \(result)")
        #expect(result.output.contains("zone private of anna, Work  no fetch of its changes is recorded\n"))
        #expect(result.output.contains("; 1 changed since\n"))
    }

    @Test("A record that the device does not know ends with 1 and the reason")
    func record() throws {
        let nameless = try fixture.run("device", fixture.name, "anna")
        #expect(nameless.errors.contains("DEVICE is missing: the name of a device of the user;"), "\(nameless)")
        let words = ["device", fixture.name, "anna", "phone", "--zone", "Notes", "--record"]
        let unknown = try fixture.run(words + ["milk"])
        #expect(unknown.code == 1 && unknown.errors.isEmpty, "\(unknown)")
        #expect(unknown.output.contains("record Notes/milk of private of anna  not known: the device has not fetched"))
        #expect(unknown.output.contains(", anna on tablet\n"))
        let known = try fixture.run(words + ["list", "--at", "3"])
        #expect(known.code == 0 && known.output.contains("known: the device made the change itself"), "\(known)")
        #expect(try fixture.run(words + ["nothing"]).output.contains("there is no such record, and never was"))
    }

    @Test("JSON has all of it")
    func json() throws {
        let objects = try fixture.objects(
            "device", fixture.name, "anna", "phone", "--zone", "Notes", "--record", "milk")
        let view = try #require(objects.first)
        try PromisedKeys.expect(view, follows: "What a device knew")
        let record = try #require(view["record"] as? [String: Any])
        try PromisedKeys.expect(record, follows: "What a device knows of a record")
        #expect(record["verdict"] as? String == "notFetchedSince" && record["deviceName"] as? String == "tablet")
        let zones = try #require(view["zones"] as? [[String: Any]])
        let notes = try #require(zones.first { $0["zoneName"] as? String == "Notes" })
        #expect((notes["given"] as? [String: Any])?["offset"] as? Int == 5 && notes["changesBehind"] as? Int == 2)
    }

    @Test("Who is not there ends with 1, and what cannot be understood with 2")
    func nobody() throws {
        let stranger = try fixture.run("device", fixture.name, "carl", "phone")
        #expect(stranger.code == 1 && stranger.errors == "strata device: The store has no user 'carl'.\n")
        #expect(try fixture.run("device", fixture.name, "anna", "tv").code == 1)
        #expect(try fixture.run("device", fixture.name, "anna", "phone", "--zone", "Notes").code == 2)
        #expect(try fixture.run("device", fixture.name, "anna").code == 2)
    }
}
