import Foundation
import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

@Suite struct StatsCommandTests {
    private static func object(_ world: VersionedStore, _ words: String...) throws -> [String: Any] {
        let result = try world.run(["stats", "Notes.strata", "--json"] + words)
        #expect(result.code == 0 && result.errors.isEmpty && result.lines.count == 1, "\(result)")
        return try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    }

    /// What a list of objects has by name, in the order in which it is given.
    private static func counts(_ object: [String: Any], _ list: String, _ name: String, _ count: String) -> [String] {
        (object[list] as? [[String: Any]] ?? []).map { "\($0[name] ?? "?"): \($0[count] ?? "?")" }
    }

    /// The same numbers, counted another way: every event taken apart.
    private struct Recount {
        var kinds: [String: Int] = [:]
        var kindBytes: [String: Int] = [:]
        var fields: [UInt64: (count: Int, bytes: Int)] = [:]
        var zones: [UInt64: Int] = [:]
        var versions: [String: Int] = [:]
        var (commits, payloadBytes, events) = (0, 0, 0)

        init(_ path: String) throws {
            var cursor = try LogReader.open(at: path, extent: .written).read(from: 1)
            while let commit = try cursor.next() {
                commits += 1
                payloadBytes += commit.payload.count
                for event in try Envelope(decoding: commit.payload).events {
                    events += 1
                    kinds["\(event.kind)", default: 0] += 1
                    kindBytes["\(event.kind)", default: 0] += event.body.count
                    if event.kind == .recordSaved {
                        let saved = try RecordSavedEvent(decoding: event.body)
                        zones[saved.record.zone, default: 0] += 1
                        versions["\(saved.record.zone)/\(saved.record.name)", default: 0] += 1
                        for change in saved.fields {
                            guard let value = change.value else { continue }
                            let bytes = try value.encoded().count
                            let known = fields[UInt64(change.field)] ?? (0, 0)
                            fields[UInt64(change.field)] = (known.count + 1, known.bytes + bytes)
                        }
                    } else if event.kind == .recordDeleted {
                        let deleted = try RecordDeletedEvent(decoding: event.body)
                        zones[deleted.record.zone, default: 0] += 1
                        versions["\(deleted.record.zone)/\(deleted.record.name)", default: 0] += 1
                    }
                }
            }
        }
    }

    @Test(arguments: [false, true]) func numbersAreThoseOfTheEvents(_ isSealed: Bool) throws {
        let world = try VersionedStore.varied().world
        if isSealed {
            let log = try SegmentedLog.open(at: world.path)
            while try log.sealNext() {}
            try log.close()
        }
        let object = try Self.object(world)
        try PromisedKeys.expect(object, follows: "What `stats` prints")
        let recount = try Recount(world.path)
        #expect(object["commits"] as? Int == recount.commits && object["events"] as? Int == recount.events)
        #expect(object["payloadBytes"] as? Int == recount.payloadBytes)
        let kinds = try #require(object["kinds"] as? [[String: Any]])
        for kind in kinds {
            try PromisedKeys.expect(kind, follows: "A kind of event")
            let name = try #require(kind["name"] as? String)
            #expect(kind["events"] as? Int == recount.kinds[name], "\(name)")
            #expect(kind["bytes"] as? Int == recount.kindBytes[name], "\(name)")
        }
        #expect(kinds.count == recount.kinds.count)
        let fields = try #require(object["fields"] as? [[String: Any]])
        for field in fields {
            try PromisedKeys.expect(field, follows: "A name that is counted")
            let ordinal = try #require(field["field"] as? UInt64)
            #expect(field["values"] as? Int == recount.fields[ordinal]?.count, "\(field)")
            #expect(field["bytes"] as? Int == recount.fields[ordinal]?.bytes, "\(field)")
        }
        #expect(fields.count == recount.fields.count)
        let zones = try #require(object["zones"] as? [[String: Any]])
        for zone in zones {
            let ordinal = try #require(zone["zone"] as? UInt64)
            #expect(zone["events"] as? Int == recount.zones[ordinal])
        }
        let churn = try #require(object["churn"] as? [[String: Any]])
        for record in churn {
            try PromisedKeys.expect(record, follows: "A record with many versions")
            let (zone, name) = (try #require(record["zone"] as? Int), try #require(record["record"] as? String))
            #expect(record["versions"] as? Int == recount.versions["\(zone)/\(name)"])
        }
        #expect(churn.count == recount.versions.count && object["churnError"] as? Int == 0)
        #expect(churn.first?["record"] as? String == "note-1" && churn.first?["versions"] as? Int == 3)
    }

    @Test func savesAndWhoMadeThem() throws {
        let object = try Self.object(try VersionedStore.varied().world)
        // Of note-1: anna's first version and two more, bert's own; of note-2 and news one; of photo-1 two lives. The
        // parent of note-1 was touched. And each user has a record in the own private and in the public database.
        #expect(object["created"] as? Int == 10 && object["updated"] as? Int == 2 && object["deleted"] as? Int == 1)
        #expect(object["touched"] as? Int == 1 && object["overwritten"] as? Int == 3)
        #expect(
            Self.counts(object, "zones", "zoneName", "events")
                == ["Notes: 5", "_defaultZone: 3", "Photos: 3", "_defaultZone: 1", "_defaultZone: 1", "Notes: 1"],
            "\(object["zones"] ?? "")")
        #expect(
            Self.counts(object, "types", "typeName", "events") == ["Note: 7", "Users: 4", "Photo: 3"],
            "\(object["types"] ?? "")")
        let users = Self.counts(object, "users", "userName", "commits")
        #expect(users.contains("anna: 9") && users.contains("bert: 2"), "\(users)")
        let fields = try #require(object["fields"] as? [[String: Any]])
        let done = try #require(fields.first { $0["fieldName"] as? String == "done" })
        #expect(done["values"] as? Int == 1 && done["removed"] as? Int == 1)
    }

    @Test("Zones of the same name are told apart by their databases, as text, as JSON and drawn")
    func zonesOfSeveralUsers() throws {
        let world = try VersionedStore.varied().world
        let object = try Self.object(world)
        for list in ["zones", "churn"] {
            let found = try #require(object[list] as? [[String: Any]]).filter { $0["zoneName"] as? String == "Notes" }
            let owners = Set(found.map { "\($0["scope"] ?? "?") \($0["owner"] ?? "?")" })
            #expect(owners == ["private anna", "private bert"], "\(list)")
        }
        for words in [["stats"], ["stats", "--plot"]] {
            let text = try world.run(words + ["Notes.strata"]).output
            for owner in ["anna", "bert"] {
                #expect(
                    ["Notes         private of \(owner)", "Notes (private of \(owner))"].contains { text.contains($0) },
                    "\(words): \(text)")
            }
        }
    }

    @Test func refusalsAndConflicts() throws {
        let object = try Self.object(try VersionedStore.varied().world)
        let requests = try #require(object["refusedRequests"] as? [[String: Any]])
        let items = try #require(object["refusedItems"] as? [[String: Any]])
        for refusal in requests + items { try PromisedKeys.expect(refusal, follows: "An error that is counted") }
        #expect(requests.reduce(0) { $0 + ($1["count"] as? Int ?? 0) } == 1, "\(requests)")
        #expect(items.contains { $0["code"] as? Int == 14 && $0["count"] as? Int == 1 }, "\(items)")
        #expect(object["conflicts"] as? Int == 1)
    }

    /// Of a request that is accepted in part, the commit keeps what was not.
    @Test func itemsThatWereLeftOut() throws {
        let world = try VersionedStore()
        try world.makeZones()
        try world.save("note-1", ["rank": .int64(1)])
        var builder = RequestBuilder(DatabaseID(.private), isAtomic: false)
        for name in ["note-1", "note-2"] {
            builder.save(RecordID(name, zone: VersionedStore.notes), type: "Note", fields: ["rank": .int64(2)])
        }
        let answer = try world.store.modify(builder.request, as: VersionedStore.phone)
        try #require(answer.result.saves.count == 2)
        try world.store.close()
        let object = try Self.object(world)
        #expect((object["refusedRequests"] as? [Any])?.isEmpty == true)
        #expect(Self.counts(object, "refusedItems", "code", "count") == ["14: 1"])
        #expect(object["conflicts"] as? Int == 1)
    }

    // MARK: Choosing

    @Test func rangesOfOffsetsAndTimes() throws {
        let (world, offsets) = try VersionedStore.varied()
        let some = try Self.object(world, "--from", "\(offsets.updated)", "--to", "\(offsets.linked)")
        #expect(some["commits"] as? Int == 3 && some["created"] as? Int == 1 && some["updated"] as? Int == 2)
        #expect(some["firstOffset"] as? UInt64 == offsets.updated && some["lastOffset"] as? UInt64 == offsets.linked)
        #expect(some["compaction"] is NSNull && some["stored"] is NSNull)
        // Names come from what is in front.
        #expect(Self.counts(some, "types", "typeName", "events").contains("Note: 3"))
        let start = VersionedStore.startTime
        let early = try Self.object(world, "--until", "@\(start + 2_000_000)")
        #expect(early["lastTime"] as? Int64 == start + 2_000_000 && early["commits"] as? Int == 2)
        let late = try Self.object(world, "--since", "@\(start + 2_000_001)")
        #expect(late["firstTime"] as? Int64 == start + 3_000_000)
        let none = try Self.object(world, "--since", "@\(start + 1_000_000_000)")
        #expect(none["commits"] as? Int == 0 && none["firstOffset"] is NSNull && none["lastTime"] is NSNull)
    }

    @Test func oneZone() throws {
        let world = try VersionedStore.varied().world
        let photos = try Self.object(world, "--zone", "Photos")
        #expect(photos["zone"] as? String == "Photos" && photos["created"] as? Int == 2)
        #expect(photos["deleted"] as? Int == 1 && photos["updated"] as? Int == 0 && photos["compaction"] is NSNull)
        #expect(Self.counts(photos, "zones", "zoneName", "events") == ["Photos: 3"])
        // The zone's own saving, and of its records three commits.
        #expect(photos["commits"] as? Int == 4 && photos["events"] as? Int == 4)
        // Of that name there are two, of two users.
        let notes = try Self.object(world, "--zone", "Notes")
        #expect(Self.counts(notes, "zones", "zoneName", "events") == ["Notes: 5", "Notes: 1"])
        let nothing = try world.run("stats", "Notes.strata", "--zone", "Lists")
        #expect(nothing.code == 1 && nothing.output.isEmpty)
        #expect(nothing.errors == "strata stats: there is no zone 'Lists' in these commits\n")
    }

    @Test(
        arguments: [
            (["--from", "3", "--to", "2"], "--from 3 is after --to 2"),
            (["--since", "@3", "--until", "@2"], "--since is after --until"),
            (["--plot", "--json"], "--plot and --json cannot be combined"),
            (["--compaction", "--zone", "Notes"], "--compaction covers the whole store"),
            (["--compaction", "--until", "@2"], "--compaction covers the whole store"),
            (["--until", "tomorrow"], "--until takes a time such as "),
        ] as [([String], String)])
    func wrongArguments(_ words: [String], _ message: String) throws {
        let result = try ToolProcess.run(["stats", "S"] + words, in: "/tmp")
        #expect(result.code == 2 && result.output.isEmpty)
        #expect(result.reports(message, by: "stats"), "\(result.errors)")
    }

    // MARK: Stored bytes and compaction

    @Test func ratioAndWhatCompactionWouldGiveBack() throws {
        let world = try VersionedStore(segmentBytes: 64 << 10)
        try world.makeZones()
        let text = String(repeating: "all work and no play ", count: 40)
        var generator = SeededGenerator(seed: 4)
        for number in 0..<300 {
            let noise = FieldValue.data(generator.nextBytes(400))
            try world.save("note-\(number % 10)", ["text": .string(text), "noise": noise])
        }
        try world.store.close()
        let object = try Self.object(world)
        let stored = try #require(object["stored"] as? [String: Any])
        try PromisedKeys.expect(stored, follows: "What commits take")
        let reader = try LogReader.open(at: world.path)
        try #require(reader.segments.count > 2)
        #expect(stored["segments"] as? Int == reader.segments.count)
        #expect(stored["payloadBytes"] as? Int == object["payloadBytes"] as? Int)
        let (bytes, payloads) = (try #require(stored["bytes"] as? Int), try #require(stored["payloadBytes"] as? Int))
        let sizes = try reader.segments.map { try RealFileSystem().readAll($0.path, atMost: 1 << 30).count }
        #expect(bytes <= sizes.reduce(0, +) && bytes < payloads)
        let estimate = try #require(object["compaction"] as? [String: Any])
        try PromisedKeys.expect(estimate, follows: "What a compaction would free")
        let exact = try #require(try Self.object(world, "--compaction")["compaction"] as? [String: Any])
        try PromisedKeys.expect(exact, follows: "What a compaction would free")
        #expect(estimate["estimated"] as? Bool == true && exact["estimated"] as? Bool == false)
        // Which files would go is known in either case.
        for key in ["horizon", "segments", "freedBytes"] {
            #expect(estimate[key] as? UInt64 == exact[key] as? UInt64 && estimate[key] != nil, "\(key)")
        }
        let text2 = try world.run("stats", "Notes.strata").output
        #expect(text2.contains("\ncompaction  estimate: before \(reader.end.offset), "), "\(text2)")
        // Of a part, the segments that lie within it.
        let second = reader.segments[1]
        let part = try Self.object(
            world, "--from", "\(second.firstOffset - 1)", "--to", "\((second.lastOffset ?? 0) + 1)")
        #expect((part["stored"] as? [String: Any])?["segments"] as? Int == 1)
        #expect((part["stored"] as? [String: Any])?["bytes"] as? Int == sizes[1])
    }

    @Test func nothingToLetGoIsSaid() throws {
        let world = try VersionedStore()
        try world.makeZones()
        try world.store.close()
        #expect(try Self.object(world)["compaction"] is NSNull)
        #expect(try world.run("stats", "Notes.strata", "--compaction").code == 0)
    }

    @Test func aCompactedStore() throws {
        let world = try VersionedStore.varied().world
        let store = try Store.open(at: world.path)
        try store.compact(before: store.offset - 1)
        try store.close()
        let object = try Self.object(world)
        #expect(object["commits"] as? Int == 2)
        #expect(Self.counts(object, "zones", "zoneName", "events").contains("Photos: 1"), "names come from the base")
    }

    // MARK: Text, damage, a live writer

    @Test func humanForm() throws {
        let result = try VersionedStore.varied().world.run("stats", "Notes.strata")
        #expect(result.code == 0 && result.errors.isEmpty)
        for line in [
            "saves       13: 10 created, 2 updated, 1 touched; 23% overwrote a version",
            "deletions   1, 0 of them with another record; 0 erased", "events by kind", "events by zone",
            "commits by day", "refused", "  1 conflict", "records with the most versions",
            "  3  Notes   private of anna  note-1",
        ] {
            #expect(result.lines.contains { $0 == line }, "\(line) in \(result.output)")
        }
        let churned = result.lines.drop { $0 != "records with the most versions" }.dropFirst()
        #expect(churned.allSatisfy { !$0.hasPrefix("  1  ") }, "those with one version are no news")
        let day = result.lines.first { $0.hasPrefix("  2026-11-21  ") }
        #expect(day != nil, "\(result.output)")
    }

    /// The rules let no such name in, but a log may have any.
    @Test func namesAreMadeSafe() throws {
        let fixture = try StoreFixture()
        let names: [InternedName.Name] = [
            .user("u\u{1B}"), .database(.private, owner: 1), .zone(database: 1, owner: 1, "a\u{1B}[31m"),
            .recordType("t\u{7}"), .field("f\u{1B}"),
        ]
        let record = RecordKey(zone: 1, name: "n\u{7}")
        let save = RecordSavedEvent(.create, record, type: 1, fields: [FieldChange(1, .int64(1))])
        let interned = names.map { InternedName(ordinal: 1, name: $0).event }
        try fixture.append(Envelope(header: .init(user: 1), events: interned + [try save.event()]).encoded())
        try fixture.close()
        for words in [["stats"], ["stats", "--plot"]] {
            let text = try ToolProcess.run(words + [fixture.name], in: fixture.directory.path).output
            #expect(text.contains("a\\u{1b}[31m") && !text.contains("\u{1B}") && !text.contains("\u{7}"), "\(text)")
        }
    }

    @Test func besideALiveWriter() throws {
        let world = try VersionedStore()
        try world.makeZones()
        try world.save("note-1", ["rank": .int64(1)])
        // The note, and two records of its user.
        #expect(try Self.object(world)["created"] as? Int == 3)
        try world.save("note-1", ["rank": .int64(2)])
        #expect(try Self.object(world)["updated"] as? Int == 1)
        try world.store.close()
    }

    @Test func ofADamagedStoreWhatIsInFront() throws {
        let fixture = try StateFixture()
        try fixture.damage(4)
        let result = try fixture.run("stats", fixture.name, "--json")
        #expect(result.code == 3 && result.errors.contains("(badChecksum)"), "\(result)")
        let object = try #require(try fixture.objects("stats", fixture.name).first)
        #expect(object["commits"] as? Int == 3 && object["damage"] is [String: Any] && object["compaction"] is NSNull)
        // A zone that has no name in front of the damage may have one behind it.
        let zone = try fixture.run("stats", fixture.name, "--zone", "Elsewhere")
        #expect(zone.code == 3 && zone.errors.contains("(badChecksum)"))
    }

    @Test func payloadsThatAreNone() throws {
        let fixture = try StoreFixture.small()
        try fixture.open()
        try fixture.append([9, 9])
        try fixture.close()
        let result = try fixture.run("stats", fixture.name, "--json")
        #expect(result.code == 0 && result.output.contains("\"malformedCommits\":1,"), "\(result)")
        #expect(result.output.contains("\"commits\":5,\"payloadBytes\":225,"))
    }
}

/// Drawing.
@Suite struct StatsPlotTests {
    @Test func barsAndLines() throws {
        let world = try VersionedStore.varied().world
        let text = try world.run("stats", "Notes.strata", "--plot")
        #expect(text.code == 0 && text.errors.isEmpty)
        #expect(text.lines.first == "events by zone" && text.lines.contains { $0.hasPrefix("commits by time, ") })
        #expect(text.lines.allSatisfy { $0.count <= 80 }, "\(text.output)")
        #expect(text.lines[1].hasPrefix("Notes (private of anna)         5  "))
        #expect(text.lines.last == "00          06          12          18")
    }

    @Test func asciiWhereTheLocaleHasNoMore() throws {
        let world = try VersionedStore.varied().world
        let line = { (locale: String) in "LC_ALL=\(locale) exec \"$0\" stats Notes.strata --plot" }
        let plain = try ToolProcess.run(
            ["-c", line("C"), try ToolProcess.toolPath], in: world.directory.path, program: "/bin/sh")
        #expect(plain.code == 0 && plain.output.utf8.allSatisfy { $0 < 0x80 } && plain.output.contains("####"))
        let rich = try ToolProcess.run(
            ["-c", line("C.UTF-8"), try ToolProcess.toolPath], in: world.directory.path, program: "/bin/sh")
        #expect(rich.code == 0 && rich.output.contains("████") && !rich.output.contains("####"))
    }

    @Test func bars() {
        let rich = Terminal(columns: 80, isUnicode: true)
        #expect(rich.bar(8, of: 8, width: 4) == "████" && rich.bar(4, of: 8, width: 4) == "██")
        #expect(rich.bar(1, of: 8, width: 4) == "▌" && rich.bar(1, of: 1_000_000, width: 4) == "▏")
        #expect(rich.bar(0, of: 8, width: 4).isEmpty && rich.bar(8, of: 0, width: 4).isEmpty)
        let plain = Terminal(columns: 80, isUnicode: false)
        #expect(plain.bar(4, of: 8, width: 4) == "##" && plain.bar(1, of: 1_000_000, width: 4) == "#")
        #expect(rich.line([0, 1, 8]) == " ▁█" && plain.line([0, 1, 8]) == " .@" && rich.line([]).isEmpty)
        #expect(rich.line([UInt64.max, 1]) == "█▁")
    }
}

/// What is counted in bounded memory.
@Suite struct StatsTallyTests {
    @Test func frequentItemsAreExactAsLongAsTheyFit() {
        var items = FrequentItems<Int>(capacity: 10)
        for item in 0..<10 { for _ in 0...item { items.add(item) } }
        #expect(items.error == 0 && items.count == 10)
        #expect(items.top(3, by: <).map(\.item) == [9, 8, 7] && items.top(3, by: <).map(\.count) == [10, 9, 8])
    }

    /// Whatever comes, no count is too high, none is lower than it may be, and what comes often is found.
    @Test(arguments: [2, 16, 100]) func frequentItemsKnowTheirError(_ capacity: Int) {
        var items = FrequentItems<UInt64>(capacity: capacity)
        var exact: [UInt64: UInt64] = [:]
        var generator = SeededGenerator(seed: UInt64(capacity))
        for _ in 0..<20_000 {
            // Half of them are of a few, the others of many.
            let item = generator.next() % 2 == 0 ? generator.next() % 8 : generator.next() % 5_000
            items.add(item)
            exact[item, default: 0] += 1
        }
        let found = Dictionary(uniqueKeysWithValues: items.top(.max, by: <).map { ($0.item, $0.count) })
        #expect(found.count <= capacity && items.error > 0)
        for (item, count) in found { #expect(count <= exact[item] ?? 0) }
        for (item, count) in exact { #expect(found[item, default: 0] + items.error >= count) }
    }

    @Test func aTableOfTalliesSumsUpWhatItCannotHold() {
        var table = TallyTable<Int>(maximumKeys: 2)
        for key in [1, 2, 2, 3, 4, 1] { table.add(key, bytes: 10) }
        #expect(table.tallies == [1: Tally(count: 2, byteCount: 20), 2: Tally(count: 2, byteCount: 20)])
        #expect(table.others == Tally(count: 2, byteCount: 20))
        #expect(table.sorted(by: <).map(\.key) == [1, 2])
    }

    @Test func aTimelineOfYearsHasFewSteps() {
        var timeline = Timeline()
        let hour = Timeline.hourMicroseconds
        for number in 0..<Int64(100_000) { timeline.add(number * hour) }
        #expect(timeline.counts.count <= 4_096 && timeline.counts.reduce(0, +) == 100_000)
        #expect(timeline.stepMicroseconds == 48 * hour && timeline.counts.first == 48)
        #expect(timeline.time(ofStep: 1) == 48 * hour)
        let narrow = timeline.narrowed(to: 80)
        #expect(narrow.counts.count <= 80 && narrow.counts.count > 40 && narrow.counts.reduce(0, +) == 100_000)
    }

    @Test("A short history has short steps, and steps of any length fill a good part of the columns")
    func timelineOfAnySpan() {
        for seconds in [10, 61, 900, 5_000, 86_400, 1_000_000] as [Int64] {
            var timeline = Timeline()
            for number in 0..<Int64(1_000) { timeline.add(1_795_240_000_000_000 + number * seconds * 1_000) }
            let narrow = timeline.narrowed(to: 80)
            #expect((15...80).contains(narrow.counts.count), "\(seconds): \(narrow.counts.count)")
            #expect(narrow.counts.reduce(0, +) == 1_000)
        }
    }

    @Test func timesBefore1970AndAtTheEnds() {
        var timeline = Timeline()
        for time in [Int64.min, -1, 0, Int64.max] { timeline.add(time) }
        #expect(timeline.counts.reduce(0, +) == 4 && timeline.counts.count <= 4_096)
        #expect(timeline.narrowed(to: 1).counts.count <= 2)
        #expect(Timeline.floor(-1, by: 10) == -1 && Timeline.floor(-10, by: 10) == -1 && Timeline.floor(9, by: 10) == 0)
        #expect(StatisticsReport.day(-1) == "1969-12-31" && StatisticsReport.day(0) == "1970-01-01")
        #expect(StatisticsReport.hour(9) == "09:00" && StatisticsReport.hour(23) == "23:00")
    }
}
