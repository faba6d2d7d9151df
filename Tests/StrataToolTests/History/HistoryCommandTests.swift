import Foundation
import StrataModel
import StrataStore
import StrataSystem
import Testing

@testable import StrataTool

@Suite struct HistoryCommandTests {
    private func objects(_ result: ToolResult) throws -> [[String: Any]] {
        try result.lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
    }

    private func changes(_ object: [String: Any]) throws -> [String: [String: Any]] {
        let changes = try #require(object["changes"] as? [[String: Any]])
        return try Dictionary(
            uniqueKeysWithValues: changes.map { change in
                (try #require((change["fieldName"] ?? change["link"]) as? String), change)
            })
    }

    /// `value` of an object that `ValueText` writes; nil for null and for none.
    private func value(_ value: Any?) -> Any? { (value as? [String: Any])?["value"] }

    // MARK: For people

    @Test func eachVersionWithWhatItChanged() throws {
        let (world, at) = try VersionedStore.varied()
        let result = try world.run("history", "Notes.strata", "note-1", "--user", "anna")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        func tag(_ offset: UInt64, of record: String = "note-1") throws -> String {
            let json = try objects(try world.run("history", "Notes.strata", record, "--user", "anna", "--json"))
            return try #require(json.first { $0["offset"] as? UInt64 == offset }?["changeTag"] as? String)
        }
        #expect(
            result.output == """
                commit \(at.created)  2026-11-21T05:46:42.000000Z  \(try tag(at.created))  create
                    anna on phone, modify records
                    operation op-1
                    group g-1 import
                    + title: "Groceries"
                    + rank: 1
                    + tags: ["a"]

                commit \(at.updated)  2026-11-21T05:46:43.000000Z  \(try tag(at.updated))  update
                    anna on laptop, modify records
                    operation op-2
                    ~ title: "Groceries" -> "Shopping"
                    + done: 1

                commit \(at.linked)  2026-11-21T05:46:45.000000Z  \(try tag(at.linked))  update
                    anna on phone, modify records
                    + parent: @note-2
                    ~ rank: 1 -> 7
                    - done: 1


                """)
    }

    @Test func touchesAndDeletionsAreVersionsToo() throws {
        let (world, at) = try VersionedStore.varied()
        let touched = try world.run("history", "Notes.strata", "note-2").lines
        let lastWords = touched.filter { $0.hasPrefix("commit ") }.map { $0.split(separator: " ").last }
        #expect(lastWords == ["create", "touch"])
        let deleted = try world.run("history", "Notes.strata", "photo-1").lines
        let titles = deleted.filter { $0.hasPrefix("commit ") }
        #expect(titles.map { $0.split(separator: " ").last } == ["create", "delete", "create"], "\(deleted)")
        #expect(titles.map { UInt64($0.split(separator: " ")[1]) } == [at.photo, at.deleted, at.again])
        let fields = deleted.filter { "+-~".contains($0.drop { $0 == " " }.first ?? " ") }
        #expect(fields == ["    + size: 10", "    - size: 10", "    + size: 20"])
    }

    // MARK: For programs

    @Test func asJSON() throws {
        let (world, at) = try VersionedStore.varied()
        let found = try objects(try world.run("history", "Notes.strata", "note-1", "--owner", "anna", "--json"))
        #expect(found.map { $0["offset"] as? UInt64 } == [at.created, at.updated, at.linked])
        #expect(found.map { $0["change"] as? String } == ["create", "update", "update"])
        #expect(found.map { $0["deviceName"] as? String } == ["phone", "laptop", "phone"])
        #expect(found.map { $0["operationID"] as? String } == ["op-1", "op-2", ""])
        #expect(found[1]["previous"] as? String == found[0]["changeTag"] as? String)
        #expect(found[0]["groupName"] as? String == "import" && found[0]["zoneName"] as? String == "Notes")
        #expect((found[0]["time"] as? NSNumber)?.int64Value == VersionedStore.startTime + 2_000_000)
        let created = try changes(found[0])
        #expect(Set(created.keys) == ["title", "rank", "tags"] && created["title"]?["old"] is NSNull)
        #expect(value(created["tags"]?["new"]) as? [String] == ["a"])
        let linked = try changes(found[2])
        #expect(Set(linked.keys) == ["parent", "rank", "done"])
        #expect(value(linked["rank"]?["old"]) as? Int == 1 && value(linked["rank"]?["new"]) as? Int == 7)
        #expect(value(linked["done"]?["old"]) as? Int == 1 && linked["done"]?["new"] is NSNull)
        #expect((value(linked["parent"]?["new"]) as? [String: Any])?["record"] as? String == "note-2")
    }

    @Test func everyKeyIsDocumented() throws {
        let (world, _) = try VersionedStore.varied()
        var all: [[String: Any]] = []
        for words in [["note-1", "--user", "anna"], ["note-2"], ["photo-1"], ["news"]] {
            all += try objects(try world.run(["history", "Notes.strata", "--json"] + words))
        }
        for object in all { try PromisedKeys.expect(object, follows: "A version") }
        let changes = all.flatMap { $0["changes"] as? [[String: Any]] ?? [] }
        for change in changes { try PromisedKeys.expect(change, follows: "A change") }
        try PromisedKeys.expectAll(of: "A change", in: changes, but: ["oldShare", "newShare"])
    }

    // MARK: Which versions, and of which record

    @Test func theLastOnes() throws {
        let world = try VersionedStore()
        try world.makeZones()
        // More than there may be between two full events.
        for rank in 1...40 { try world.save("note-1", ["rank": .int64(Int64(rank))]) }
        try world.store.close()
        let all = try world.run("history", "Notes.strata", "note-1")
        let blocks = all.output.components(separatedBy: "\n\n").filter { !$0.isEmpty }
        #expect(blocks.count == 40 && blocks[39].hasSuffix("~ rank: 39 -> 40"), "\(all)")
        for count in [1, 2, 17, 39, 40, 41] {
            let last = try world.run("history", "Notes.strata", "note-1", "-n", "\(count)")
            #expect(last.output == blocks.suffix(count).map { $0 + "\n\n" }.joined(), "\(count)")
        }
        let none = try world.run("history", "Notes.strata", "note-1", "-n", "0")
        #expect(none.code == 0 && none.output.isEmpty && none.errors.isEmpty)
    }

    @Test func aNameThatSeveralRecordsHaveIsAskedAbout() throws {
        let (world, at) = try VersionedStore.varied()
        let result = try world.run("history", "Notes.strata", "note-1")
        #expect(result.code == 2 && result.output.isEmpty)
        #expect(
            result.errors == """
                strata history: 2 zones have a record 'note-1'; choose with --zone, --database, --user or --owner; see \
                'strata help history'
                  Notes (private of anna)
                  Notes (private of bert)

                """)
        let debugged = try world.run("debug", "Notes.strata", "-e", "print note-1")
        #expect(debugged.code == 2 && debugged.errors.hasSuffix("\n  Notes (private of bert)\n"), "\(debugged)")
        let berts = try world.run("history", "Notes.strata", "note-1", "--owner", "bert")
        #expect(berts.code == 0 && berts.output.hasPrefix("commit \(at.berts) "), "\(berts)")
        // Wherever it is, if there is but one.
        let news = try world.run("history", "Notes.strata", "news")
        #expect(news.code == 0 && news.output.contains("+ title: \"News\""), "\(news)")
        #expect(try world.run("history", "Notes.strata", "news", "--database", "public").output == news.output)
    }

    @Test func whatIsNotThereEndsWith1() throws {
        let (world, _) = try VersionedStore.varied()
        let record = try world.run("history", "Notes.strata", "note-9")
        #expect(record.code == 1 && record.output.isEmpty)
        #expect(record.errors == "strata history: the log does not have a record 'note-9'\n")
        let zone = try world.run("history", "Notes.strata", "note-1", "--zone", "Notse")
        #expect(zone.code == 1 && zone.errors == "strata history: no zone is named 'Notse'; did you mean Notes?\n")
        let elsewhere = try world.run("history", "Notes.strata", "news", "--user", "anna")
        #expect(elsewhere.code == 1 && elsewhere.errors.contains("does not have a record 'news'"), "\(elsewhere)")
        #expect(try world.run("history", "Missing.strata", "note-1").code == 3)
    }

    @Test func mistakesAreExplained() throws {
        let mistakes: [([String], String)] = [
            (["S"], "RECORD is missing: the record's name"),
            (["S", "r", "x"], "unexpected argument 'x'"),
            (["S", "r", "--user", "a", "--database", "shared"], "--database must be public or private, not 'shared'"),
            (["S", "r", "-n", "x"], "-n takes a number, not 'x'"),
        ]
        for (words, message) in mistakes {
            let result = try ToolProcess.run(["history"] + words, in: "/tmp")
            #expect(result.code == 2 && result.errors == "strata history: \(message); see 'strata help history'\n")
        }
    }

    // MARK: Erased, compacted and damaged stores

    @Test func erasedVersionsAreTold() throws {
        let world = try VersionedStore()
        try world.makeZones()
        try world.save("note-1", ["title": .string("secret")])
        try world.save("note-1", ["rank": .int64(1)])
        try world.erase("note-1")
        try world.save("note-1", ["title": .string("new")])
        try world.store.close()
        let result = try world.run("history", "Notes.strata", "note-1")
        #expect(result.code == 0 && !result.output.contains("secret"), "\(result)")
        let titles = result.lines.filter { $0.hasPrefix("commit ") }.map { $0.split(separator: "  ").last }
        #expect(titles == ["create", "update", "erase: asked for", "create"])
        #expect(result.lines.filter { $0.contains("(its content was erased later)") }.count == 2, "\(result)")
        #expect(result.lines.filter { $0.hasPrefix("    +") } == ["    + title: \"new\""])
        let json = try objects(try world.run("history", "Notes.strata", "note-1", "--json"))
        #expect(json.map { $0["erased"] as? Bool } == [true, true, nil, nil])
        #expect(json[2]["reason"] as? String == "asked for" && json[2]["change"] as? String == "erase")
        for object in json { try PromisedKeys.expect(object, follows: "A version") }
    }

    /// A store whose log begins behind a base, which has one record of three.
    private func compacted() throws -> (world: VersionedStore, last: UInt64) {
        let world = try VersionedStore()
        try world.makeZones()
        try world.save("old", ["rank": .int64(1), "title": .string("Old")])
        try world.save("old", ["rank": .int64(2)], as: VersionedStore.laptop)
        try world.save("gone", ["rank": .int64(1)])
        try world.delete("gone")
        try world.save("still", ["rank": .int64(4)], parent: .set("old"))
        let horizon = world.store.offset
        try world.save("marker", ["rank": .int64(0)])
        _ = try world.store.compact(before: horizon + 1)
        try world.save("old", ["title": .string("New"), "rank": nil])
        let last = try world.save("late", ["rank": .int64(1)])
        try world.store.close()
        return (world, last)
    }

    @Test func behindABaseItBeginsWithWhatTheRecordWas() throws {
        let (world, last) = try compacted()
        let result = try world.run("history", "Notes.strata", "old")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        let titles = result.lines.filter { $0.hasPrefix("commit ") }
        #expect(
            titles.count == 2 && titles[0].hasSuffix("  as it was when the history before it was compacted"),
            "\(result)")
        #expect(
            result.lines.filter { "+-~".contains($0.drop { $0 == " " }.first ?? " ") } == [
                "    + rank: 2", "    + title: \"Old\"", "    - rank: 2", "    ~ title: \"Old\" -> \"New\"",
            ])
        // Only the base has it.
        let still = try world.run("history", "Notes.strata", "still")
        #expect(still.code == 0 && still.lines.filter { $0.hasPrefix("commit ") }.count == 1, "\(still)")
        #expect(still.output.contains("+ parent: @old") && still.output.contains("+ rank: 4"))
        #expect(try world.run("history", "Notes.strata", "gone").code == 1)
        #expect(try world.run("history", "Notes.strata", "late").output.hasPrefix("commit \(last) "))
        // The base is a version like any other.
        let one = try world.run("history", "Notes.strata", "old", "-n", "1").lines
        #expect(one.filter { $0.hasPrefix("commit ") } == [titles[1]])
        #expect(one.contains("    ~ title: \"Old\" -> \"New\""))
        #expect(try world.run("history", "Notes.strata", "old", "-n", "2").output == result.output)
        for object in try objects(try world.run("history", "Notes.strata", "old", "--json")) {
            try PromisedKeys.expect(object, follows: "A version")
        }
    }

    /// Without a base nobody knows what was before.
    @Test func whatWasLetGoWithoutABaseIsNotKnown() throws {
        let fixture = try StoreFixture(segmentBytes: 64 << 10)
        try fixture.internNames()
        let note = RecordKey(zone: 1, name: "n")
        var previous: Version?
        for number in 0..<300 {
            let save = RecordSavedEvent(
                number == 0 ? .create : .update, note, type: 1, previous: previous,
                fields: [FieldChange(1, .data(fixture.noise(700))), FieldChange(2, .int64(Int64(number)))])
            let position = try fixture.append(Envelope(header: StoreFixture.header, events: [save.event()]).encoded())
            previous = Version(offset: position.offset, eventIndex: 0)
        }
        let floor = try #require(try fixture.trim(to: 200)).offset
        try fixture.close()
        let result = try fixture.run("history", fixture.name, "n", "--json")
        #expect(result.code == 0, "\(result.errors)")
        let found = try objects(result)
        #expect(found.first?["offset"] as? UInt64 == floor + 1 && found.count == 301 - Int(floor))
        let first = try #require(found.first?["changes"] as? [[String: Any]])
        #expect(first.count == 2 && first.allSatisfy { $0["old"] == nil && $0["new"] != nil }, "\(first)")
        let text = try fixture.run("history", fixture.name, "n", "-n", "1")
        #expect(text.output.contains("~ field 2: ? -> 299"), "\(text)")
        #expect(text.output.contains("(?: the earlier value is not in the log)"))
    }

    @Test func inFrontOfDamageItTellsWhatIsWhole() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.flipByte(inSegment: 1)
        let early = try fixture.run("history", fixture.name, "note-3")
        #expect(early.code == 3 && early.lines.first?.hasPrefix("commit 4 ") == true, "\(early)")
        #expect(early.errors.contains("badChecksum"))
        // It may be behind the damage.
        let late = try fixture.run("history", fixture.name, "note-300")
        #expect(late.code == 3 && late.errors.contains("badChecksum"), "\(late)")
    }

    @Test func segmentsOfBothFormsAreLookedThrough() throws {
        let fixture = try StoreFixture(segmentBytes: 64 << 10)
        try fixture.internNames()
        try fixture.saveNotes(150, noise: 700)
        try fixture.sealAll()
        try fixture.saveNotes(150, noise: 700)
        try fixture.close()
        for number in [1, 80, 150, 151, 220, 300] {
            let result = try fixture.run("history", fixture.name, "note-\(number)")
            #expect(result.code == 0 && result.lines.count == 3, "\(result)")
            #expect(result.output.hasPrefix("commit \(number + 1) ") && result.output.contains("anna on phone"))
        }
    }

    @Test func itReadsBesideAWriter() throws {
        let world = try VersionedStore()
        try world.makeZones()
        try world.save("note-1", ["rank": .int64(1)])
        let offset = world.store.offset
        let result = try world.run("history", "Notes.strata", "note-1")
        #expect(result.code == 0 && result.output.contains("+ rank: 1"), "\(result)")
        #expect(world.store.offset == offset)
        try world.store.close()
    }

    @Test func nothingThatATerminalObeysIsPrinted() throws {
        let world = try VersionedStore()
        try world.makeZones()
        try world.save("n", ["text": .string("\u{1B}[2J\u{202E}")], id: "\u{7}")
        try world.store.close()
        let result = try world.run("history", "Notes.strata", "n")
        #expect(result.code == 0 && result.output.contains("+ text: \"\\u{1b}[2J\\u{202e}\""), "\(result)")
        #expect(result.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0 != "\u{202E}" })
    }
}
