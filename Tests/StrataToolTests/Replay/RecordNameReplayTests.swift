import Foundation
import StrataModel
import StrataSystem
import StrataViews
import Testing

@testable import StrataStore
@testable import StrataTool

/// The names of users' own records in histories that commands judge again.
@Suite("Names of users' records, judged again by commands")
struct RecordNameReplayTests {
    private let fixture: StateFixture
    /// The names in the store of the fixture.
    private let names: [String: String]

    /// Commit 6 chooses the name of the record of carl, who first writes with 7; 8 is of dora, 9 of bert.
    init() throws {
        let made = try StateFixture()
        try made.change { store in
            try made.step { try store.setPerson(Person(), of: "carl", recordName: "_carl") }
            for user in ["carl", "dora", "bert"] {
                let actor = Actor(user: user, device: "phone")
                try made.save("plan", zone: ZoneID("_defaultZone"), as: actor, to: store)
            }
            #expect(store.offset == 9)
        }
        fixture = made
        names = try Self.names(made.name, made)
        try #require(names.keys.sorted() == ["anna", "bert", "carl", "dora"] && names["carl"] == "_carl")
    }

    /// The names of the records of all users of a store.
    private static func names(_ store: String, _ fixture: StateFixture) throws -> [String: String] {
        let users = try fixture.objects("users", store)
        return try Dictionary(
            uniqueKeysWithValues: users.map {
                (try #require($0["user"] as? String), try #require($0["record"] as? String))
            })
    }

    private func expectDeterminism(_ store: String, count: Int) throws {
        let object = try #require(try fixture.objects("verify", "--judge", store).first)
        let report = try #require(object["judged"] as? [String: Any])
        #expect(report["verdict"] as? String == "same", "\(report)")
        #expect(report["judgedCount"] as? Int == count)
    }

    @Test("With nothing changed nothing differs, and every commit is judged as it was")
    func unchanged() throws {
        try expectDeterminism(fixture.name, count: 9)
        let result = try fixture.run("what-if", fixture.name)
        #expect(result.code == 0 && result.lines.first == "nothing differs", "\(result)")
    }

    @Test("Whatever is dropped, users keep their names", arguments: [1, 3, 6, 7])
    func dropped(_ offset: Int) throws {
        let result = try fixture.run("what-if", fixture.name, "--drop", "\(offset)", "--out", "New.strata")
        #expect(result.code == 1 && result.output.contains("saved as New.strata"), "\(result)")
        let found = try Self.names("New.strata", fixture)
        #expect(found.count >= 3)
        for (user, name) in found { #expect(name == names[user], "\(user)") }
        let verified = try fixture.run("verify", "New.strata", "--deep", "--judge")
        #expect(verified.code == 0, "\(verified)")
    }

    @Test("Without the request that chose a name, and without the commit that met a user, no record is another one")
    func sameRecords() throws {
        let chosen = try fixture.run("what-if", fixture.name, "--drop", "6")
        #expect(!chosen.output.contains("Users") && !chosen.output.contains("plan"), "\(chosen)")
        let met = try fixture.run("what-if", fixture.name, "--drop", "3")
        #expect(met.output.contains("news") && !met.output.contains("Users"), "\(met)")
    }

    @Test("A store imported from commits has another secret, keeps its names, and is judged with them")
    func imported() throws {
        let text = try fixture.run("export", fixture.name).output
        try Data(text.utf8).write(to: URL(fileURLWithPath: fixture.directory.path("Out")))
        let result = try fixture.run("import", "New.strata", "Out")
        #expect(result.code == 0 && result.output.contains("draws a secret of its own"), "\(result)")
        #expect(try Self.names("New.strata", fixture) == names)
        try expectDeterminism("New.strata", count: 9)
        // Users whom it meets later get names from the new secret.
        let old = try fixture.change { $0.recordName(of: "nina") }
        let new = try Store.open(at: fixture.directory.path("New.strata"))
        #expect(new.recordName(of: "nina") != old)
        try fixture.save("plan", zone: ZoneID("_defaultZone"), as: Actor(user: "nina", device: "phone"), to: new)
        #expect(try new.snapshot().recordedName(of: "nina") == new.recordName(of: "nina"))
        try new.close()
        try expectDeterminism("New.strata", count: 10)
        let changed = try fixture.run("what-if", "New.strata", "--drop", "6")
        #expect(!changed.output.contains("Users"), "\(changed)")
    }

    @Test("A compacted store, too")
    func compacted() throws {
        try fixture.change { _ = try $0.compact(before: 8) }
        #expect(try Self.names(fixture.name, fixture) == names)
        try expectDeterminism(fixture.name, count: 2)
        let result = try fixture.run("what-if", fixture.name, "--drop", "8", "--out", "New.strata")
        #expect(result.code == 1 && result.output.contains("saved as New.strata"), "\(result)")
        for (user, name) in try Self.names("New.strata", fixture) { #expect(name == names[user], "\(user)") }
    }
}
