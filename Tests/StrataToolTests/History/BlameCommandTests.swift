import Foundation
import StrataModel
import StrataStore
import StrataSystem
import Testing

@testable import StrataTool

@Suite struct BlameCommandTests {
    private func objects(_ result: ToolResult) throws -> [[String: Any]] {
        try result.lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
    }

    @Test func aLineForEachField() throws {
        let (world, at) = try VersionedStore.varied()
        let result = try world.run("blame", "Notes.strata", "note-1", "--user", "anna")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(
            result.output == """
                parent  \(at.linked)  2026-11-21T05:46:45Z  anna on phone   @note-2
                title   \(at.updated)  2026-11-21T05:46:43Z  anna on laptop  "Shopping"
                rank    \(at.linked)  2026-11-21T05:46:45Z  anna on phone   7
                tags    \(at.created)  2026-11-21T05:46:42Z  anna on phone   ["a"]

                """)
    }

    @Test func asJSON() throws {
        let (world, at) = try VersionedStore.varied()
        let found = try objects(try world.run("blame", "Notes.strata", "note-1", "--user", "anna", "--json"))
        #expect(found.map { ($0["fieldName"] ?? $0["link"]) as? String } == ["parent", "title", "rank", "tags"])
        #expect(found.map { $0["offset"] as? UInt64 } == [at.linked, at.updated, at.linked, at.created])
        #expect(found.allSatisfy { $0["exact"] as? Bool == true && $0["userName"] as? String == "anna" })
        #expect((found[1]["value"] as? [String: Any])?["value"] as? String == "Shopping")
        #expect((found[1]["time"] as? NSNumber)?.int64Value == VersionedStore.startTime + 3_000_000)
        for object in found { try PromisedKeys.expect(object, follows: "Who set a field") }
        try PromisedKeys.expectAll(of: "Who set a field", in: found, but: ["part", "participant"])
    }

    /// Who sends a value again has not set it.
    @Test func onlyAnotherValueCounts() throws {
        let world = try VersionedStore()
        try world.makeZones()
        let first = try world.save("n", ["a": .string("x"), "b": .int64(1)])
        let second = try world.save("n", ["a": .string("x"), "b": .int64(2)])
        let third = try world.save("n", ["a": .string("y")])
        let fourth = try world.save("n", ["a": .string("x")])
        // Until a full event comes, and beyond.
        for number in 0..<20 { try world.save("n", ["c": .int64(Int64(number))]) }
        let last = world.store.offset
        try world.store.close()
        func offsets(_ words: String...) throws -> [UInt64?] {
            try objects(try world.run(["blame", "Notes.strata", "n", "--json"] + words)).map { $0["offset"] as? UInt64 }
        }
        #expect(try offsets() == [fourth, second, last])
        #expect(try offsets("--at", "\(first)") == [first, first])
        #expect(try offsets("--at", "\(second)") == [first, second])
        #expect(try offsets("--at", "\(third)") == [third, second])
        let time = VersionedStore.startTime + 4_000_000
        #expect(try offsets("--at", "@\(time)") == [third, second])
        #expect(try offsets("--at", "@\(time - 1)") == [first, second])
    }

    @Test func aRecordThatIsMadeAgainBeginsAnew() throws {
        let (world, at) = try VersionedStore.varied()
        let now = try objects(try world.run("blame", "Notes.strata", "photo-1", "--json"))
        #expect(now.map { $0["offset"] as? UInt64 } == [at.again])
        let gone = try world.run("blame", "Notes.strata", "photo-1", "--at", "\(at.deleted)")
        #expect(gone.code == 1 && gone.output.isEmpty)
        #expect(gone.errors == "strata blame: the record was deleted by commit \(at.deleted)\n")
        let before = try objects(
            try world.run("blame", "Notes.strata", "photo-1", "--at", "\(at.deleted - 1)", "--json"))
        #expect(before.map { $0["offset"] as? UInt64 } == [at.photo])
        let never = try world.run("blame", "Notes.strata", "photo-1", "--at", "1")
        #expect(never.code == 1 && never.errors == "strata blame: the log does not have a record 'photo-1'\n")
    }

    @Test func aMomentThatTheStoreDoesNotHaveEndsWith1() throws {
        let (world, _) = try VersionedStore.varied()
        let result = try world.run("blame", "Notes.strata", "photo-1", "--at", "1000")
        #expect(result.code == 1 && result.output.isEmpty && result.errors.contains("(outOfRange)"), "\(result)")
        let mistake = try world.run("blame", "Notes.strata", "photo-1", "--at", "soon")
        #expect(mistake.code == 2 && mistake.errors.contains("'soon' is neither"), "\(mistake)")
    }

    // MARK: Erased, compacted and damaged stores

    @Test func ofAnErasedRecordNothingIsTold() throws {
        let world = try VersionedStore()
        try world.makeZones()
        let first = try world.save("n", ["a": .string("secret")])
        try world.erase("n")
        let last = world.store.offset
        try world.store.close()
        let result = try world.run("blame", "Notes.strata", "n")
        #expect(result.code == 1 && result.output.isEmpty)
        #expect(result.errors == "strata blame: the record was erased by commit \(last)\n")
        let before = try world.run("blame", "Notes.strata", "n", "--at", "\(first)")
        #expect(before.code == 1 && before.output.isEmpty)
        #expect(before.errors == "strata blame: the content of the record was erased later\n")
    }

    @Test func behindABaseItIsSaidHowMuchIsKnown() throws {
        let world = try VersionedStore()
        try world.makeZones()
        try world.save("n", ["a": .string("x"), "b": .int64(1)])
        let second = try world.save("n", ["b": .int64(2)], as: VersionedStore.laptop)
        try world.save("marker", ["a": .string("m")])
        _ = try world.store.compact(before: world.store.offset)
        let last = try world.save("n", ["c": .int64(3)])
        try world.store.close()
        let result = try world.run("blame", "Notes.strata", "n")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(
            result.output == """
                a  \(second) or before  2026-11-21T05:46:43Z  anna on laptop  "x"
                b  \(second) or before  2026-11-21T05:46:43Z  anna on laptop  2
                c  \(last)            2026-11-21T05:46:45Z  anna on phone   3

                """)
        let json = try objects(try world.run("blame", "Notes.strata", "n", "--json"))
        #expect(json.map { $0["exact"] as? Bool } == [false, false, true])
        // The state right behind what was let go.
        let floor = try world.run("blame", "Notes.strata", "n", "--at", "\(second + 1)")
        #expect(floor.code == 0 && floor.lines.count == 2, "\(floor)")
    }

    @Test func inFrontOfDamageItTellsWhatIsWhole() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.flipByte(inSegment: 1)
        let result = try fixture.run("blame", fixture.name, "note-3")
        #expect(result.code == 3 && result.output.hasPrefix("title  4  ") && result.errors.contains("badChecksum"))
    }

    @Test func mistakesAreExplained() throws {
        let mistakes: [([String], String)] = [
            ([], "STORE is missing: the store's directory, such as Notes.strata"),
            (["S"], "RECORD is missing: the record's name"),
            (["S", "r", "x"], "unexpected argument 'x'"),
            (["S", "r", "--follow"], "unknown option --follow"),
            (
                ["S", "r", "--owner", "a", "--database", "public"],
                "--owner and --database public cannot be combined: the public database has no owner"
            ),
        ]
        for (words, message) in mistakes {
            let result = try ToolProcess.run(["blame"] + words, in: "/tmp")
            #expect(result.code == 2 && result.errors == "strata blame: \(message); see 'strata help blame'\n")
        }
    }
}
