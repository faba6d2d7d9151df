import Foundation
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

@Suite("strata diff")
struct DiffCommandTests {
    @Test("Forwards, backwards, by time, and to the end")
    func moments() throws {
        let fixture = try StateFixture()
        let forwards = try fixture.run("diff", fixture.name, "3", "5")
        #expect(forwards.code == 1 && forwards.output.contains("- Note gone") && forwards.errors.isEmpty)
        #expect(forwards.output.hasSuffix("0 added, 1 removed, 2 changed\n"))
        #expect(try fixture.run("diff", fixture.name, "3").output == forwards.output)
        let backwards = try fixture.run("diff", fixture.name, "5", "3")
        #expect(backwards.output.contains("+ Note gone") && backwards.output.contains("~ rank: 3 -> 2"))
        // Each commit is a second behind the one before.
        let time = StateFixture.startTime + 3_000_000
        #expect(try fixture.run("diff", fixture.name, "@\(time)").output == forwards.output)
        let same = try fixture.run("diff", fixture.name, "5")
        #expect(same.code == 0 && same.output == "nothing differs\n")
    }

    @Test("Zones, types, databases and counts")
    func scopes() throws {
        let fixture = try StateFixture()
        #expect(try fixture.run("diff", fixture.name, "3", "--zone", "Work").output == "nothing differs\n")
        #expect(try fixture.run("diff", fixture.name, "3", "--type", "List").output.contains("1 changed"))
        #expect(try fixture.run("diff", fixture.name, "3", "--user", "bert").code == 0)
        #expect(try fixture.run("diff", fixture.name, "3", "--user", "anna").code == 1)
        let counts = try fixture.run("diff", fixture.name, "1", "--stat")
        #expect(counts.lines.contains("private of anna, Notes  List  +1  -0  ~0"), "\(counts.output)")
        let json = try fixture.run("diff", fixture.name, "1", "--stat", "--json")
        for line in json.lines {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let keys = try #require(object)
            #expect(try PromisedKeys.follows(keys, "The end of a diff"), "\(line)")
        }
    }

    @Test("A store and its copy, made by exporting and importing it, are the same until one of them changes")
    func stores() throws {
        let fixture = try StateFixture()
        let exported = fixture.directory.path("export.jsonl")
        #expect(try fixture.run("export", fixture.name, exported).code == 0)
        let imported = try fixture.run("import", "Copy.strata", exported)
        #expect(imported.code == 0, "\(imported)")
        let same = try fixture.run("diff", fixture.name, "Copy.strata")
        #expect(same.output == "nothing differs\n" && same.code == 0, "\(same)")
        try fixture.change { try fixture.save("milk", ["rank": .int64(9)], to: $0) }
        let changed = try fixture.run("diff", fixture.name, "Copy.strata")
        #expect(changed.code == 1 && changed.output.contains("~ rank: 9 -> 3"), "\(changed)")
    }

    @Test("What cannot be compared is told")
    func mistakes() throws {
        let fixture = try StateFixture()
        for (words, text, code) in [
            (["1", "x"], "B is an offset, or a time such as", 2),
            (["Copy.strata", "3"], "A is an offset, or a time such as", 2),
            (["8796093022208"], "A 8796093022208 is larger than any offset", 2), ([], "A", 2),
            (["Copy.strata"], "The file or directory does not exist", 3), (["99"], "no state at that point", 1),
            (["1", "99"], "no state at that point", 1),
            (["1", "--database", "private"], "--database private needs --user", 2),
            (["1", "--zone", "Note"], "has no zone 'Note'", 1),
            (["1", "--type", "note"], "no record type 'note'", 1),
            (["1", "--user", "Anna"], "has no user 'Anna'", 1),
        ] as [([String], String, Int32)] {
            let result = try fixture.run(["diff", fixture.name] + words)
            #expect(result.code == code && result.errors.contains(text), "\(words): \(result)")
        }
    }
}
