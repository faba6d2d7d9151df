import Foundation
import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

@Suite struct ExportCommandTests {
    private static func objects(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test func theFirstAndTheLastLine() throws {
        let result = try StoreFixture.small().run("export", "Notes.strata")
        #expect(result.code == 0 && result.errors.isEmpty && result.lines.count == 6)
        #expect(
            result.lines.first == """
                {"format":"strata export","version":1,"content":"commits","storeID":"910a2dec89025cc1beeb8da1658eec67",\
                "container":"iCloud.test","first":1,"last":4,"gapless":true,"complete":true,"missing":[],\
                "assets":false,"keys":false}
                """)
        #expect(result.lines.last == #"{"end":true,"count":4,"last":4,"chain":"57803e49"}"#)
        let objects = try Self.objects(result.output)
        try PromisedKeys.expect(try #require(objects.first), follows: "The first line of an export")
        try PromisedKeys.expect(try #require(objects.last), follows: "The last line of an export")
    }

    @Test func aCommit() throws {
        let result = try StoreFixture.small().run("export", "Notes.strata", "--commits")
        #expect(
            result.lines[2] == """
                {"offset":2,"id":"00000000000000a00000000000000002","time":1795240003000000,"chain":"56460910",\
                "header":{"user":1,"userName":"anna","device":1,"deviceName":"phone","operationKind":1,\
                "operationName":"modify records"},"events":[{"kind":16,"name":"record saved",\
                "body":"AQEGbm90ZS0xEAAAAREBFQXXDTJZ5OHLYxxmPPTXPEwEAsvaEQ==",\
                "content":{"zone":1,"zoneName":"Notes","type":1,"typeName":"Note","record":"note-1",\
                "change":"create","policy":"if server record unchanged","full":true,"fields":[{"field":1,\
                "fieldName":"title","value":"data","valueBytes":21}]}}],\
                "checksum":"\(try Self.checksum(ofCommit: 2))"}
                """, "\(result.lines[2])")
    }

    private static func checksum(ofCommit offset: UInt64) throws -> String {
        let fixture = try StoreFixture.small()
        let commit = try #require(try LogReader.open(at: fixture.path).commit(at: offset))
        return hexadecimal(commit.payload.withUnsafeBytes { CRC32C.checksum($0) })
    }

    /// Bodies as they are in the log, except for the bytes of the secret, beside the content that `log --json` prints.
    @Test func everyEventHasItsBytes() throws {
        let world = try VersionedStore.varied().world
        let objects = try Self.objects(try world.run("export", "Notes.strata").output)
        var cursor = try LogReader.open(at: world.path).read(from: 1)
        var contents: Set<String> = []
        for object in objects.dropFirst().dropLast() {
            try PromisedKeys.expect(object, follows: "A commit of an export")
            let header = try #require(object["header"] as? [String: Any])
            try PromisedKeys.expect(header, follows: "The header of a commit of an export")
            let next = try cursor.next()
            let commit = try #require(next)
            let envelope = try Envelope(decoding: commit.payload)
            let events = try #require(object["events"] as? [[String: Any]])
            #expect(events.count == envelope.events.count)
            for (exported, event) in zip(events, envelope.events) {
                try PromisedKeys.expect(exported, follows: "An event of an export")
                let text = try #require(exported["body"] as? String)
                let body = try #require(Data(base64Encoded: text))
                #expect(try [UInt8](body) == Self.printed(event) && exported["kind"] as? UInt64 == event.kind.rawValue)
                if exported["content"] is [String: Any] { contents.insert("\(event.kind)") }
            }
        }
        #expect(
            contents.isSuperset(of: [
                "name interned", "record saved", "record deleted", "zone saved", "request refused", "secret drawn",
            ]), "\(contents)")
    }

    /// The body of an event; zeros take the place of the secret (docs/security.md §1).
    private static func printed(_ event: Event) throws -> [UInt8] {
        guard event.kind == .secretDrawn else { return Array(event.body) }
        var drawn = try SecretDrawnEvent(decoding: event.body)
        #expect(drawn.secret.contains { $0 != 0 })
        drawn.secret = Array(repeating: 0, count: SecretDrawnEvent.byteCount)
        return Array(try drawn.event().body)
    }

    @Test func ranges() throws {
        let (world, offsets) = try VersionedStore.varied()
        func lines(_ words: String...) throws -> (first: [String: Any], offsets: [UInt64]) {
            let objects = try Self.objects(try world.run(["export", "Notes.strata"] + words).output)
            return (try #require(objects.first), objects.compactMap { $0["offset"] as? UInt64 })
        }
        let some = try lines("--from", "\(offsets.updated)", "--to", "\(offsets.photo)")
        #expect(some.offsets == [offsets.updated, offsets.photo])
        #expect(some.first["complete"] as? Bool == false && some.first["gapless"] as? Bool == false)
        #expect(
            some.first["missing"] as? [String]
                == ["the commits before commit \(offsets.updated)", "the commits after commit \(offsets.photo)"])
        let front = try lines("--to", "\(offsets.photo)")
        #expect(front.first["gapless"] as? Bool == true && front.first["complete"] as? Bool == false)
        #expect(front.offsets == Array(1...offsets.photo))
        let time = VersionedStore.startTime + 2_000_000
        #expect(try lines("--since", "@\(time)", "--until", "@\(time)").offsets == [offsets.created])
        let zone = try lines("--zone", "Photos")
        #expect(zone.first["zone"] as? String == "Photos" && zone.first["gapless"] as? Bool == false)
        #expect(zone.offsets == [offsets.zones, offsets.photo, offsets.deleted, offsets.again])
        #expect(try lines("--from", "1", "--to", "\(offsets.refused)").first["complete"] as? Bool == true)
    }

    @Test func whatIsNotThere() throws {
        let fixture = try StoreFixture.small()
        for words in [["--zone", "Lists"], ["--records", "--zone", "Lists"]] {
            let result = try ToolProcess.run(["export", fixture.name, "Out"] + words, in: fixture.directory.path)
            #expect(result.code == 1 && result.errors.contains("no zone 'Lists'"), "\(result)")
            #expect(try !RealFileSystem().exists(fixture.directory.path("Out")))
        }
        #expect(try fixture.run("export", "Nothing.strata").code == 3)
    }

    @Test(
        arguments: [
            (["--commits", "--records"], "--commits and --records cannot be combined"),
            (["--records", "--from", "3"], "--from chooses commits; --records takes --at"),
            (["--at", "3"], "--at is for --records; commits take --to"),
            (["--from", "3", "--to", "2"], "--from 3 is after --to 2"),
        ] as [([String], String)])
    func wrongArguments(_ words: [String], _ message: String) throws {
        let result = try ToolProcess.run(["export", "S"] + words, in: "/tmp")
        #expect(result.code == 2 && result.output.isEmpty)
        #expect(result.errors.hasPrefix("strata export: \(message);"), "\(result.errors)")
    }

    // MARK: Files

    @Test func aFileGetsItsNameOnceItIsWhole() throws {
        let fixture = try StoreFixture.small()
        let expected = try fixture.run("export", fixture.name).output
        let path = fixture.directory.path("Notes.jsonl")
        try Data("before".utf8).write(to: URL(fileURLWithPath: path))
        let result = try fixture.run("export", fixture.name, "Notes.jsonl")
        #expect(result.code == 0 && result.output.isEmpty)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == expected)
        let left = try RealFileSystem().list(fixture.directory.path).filter { $0.contains("exporting") }
        #expect(left.isEmpty)
    }

    @Test func filesThatAreRefused() throws {
        let fixture = try StoreFixture.small()
        let inside = try fixture.run("export", fixture.name, "Notes.strata/log/out")
        #expect(inside.code == 2 && inside.errors.contains("FILE is inside STORE"))
        let folder = try fixture.run("export", fixture.name, ".")
        #expect(folder.code == 2 && folder.errors.contains("FILE is a directory"))
        let missing = try fixture.run("export", fixture.name, "nowhere/out")
        #expect(missing.code == 3 && missing.errors.contains("/nowhere/out: no such file or directory\n"))
        let report = try fixture.run("report", fixture.name, "nowhere/page.html")
        #expect(report.code == 3 && report.errors.contains("/nowhere/page.html: no such file"), "\(report)")
        // A name that the tool made up, and advice about stores, would mislead.
        for result in [missing, report] {
            #expect(!result.errors.contains("exporting-") && !result.errors.contains("Notes.strata"), "\(result)")
        }
    }

    /// What is no file is written to, and stays what it is.
    @Test func aDeviceIsNotReplaced() throws {
        let fixture = try StoreFixture.small()
        #expect(try fixture.run("export", fixture.name, "/dev/null").code == 0)
        var status = stat()
        #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    }

    @Test func ofADamagedStoreAPart() throws {
        let fixture = try StateFixture()
        try fixture.damage(4)
        let result = try fixture.run("export", fixture.name)
        #expect(result.code == 3 && result.errors.contains("(badChecksum)"))
        let objects = try Self.objects(result.output)
        #expect(objects.compactMap { $0["offset"] as? Int } == [1, 2, 3] && objects.last?["end"] == nil)
        let file = try fixture.run("export", fixture.name, "Out")
        #expect(file.code == 3 && file.errors.contains("the intact part before the damage is in "), "\(file)")
        #expect(try !RealFileSystem().exists(fixture.directory.path("Out")))
        let part = try String(contentsOfFile: fixture.directory.path("Out.partial"), encoding: .utf8)
        #expect(part == result.output)
    }

    @Test func historyThatWasLetGo() throws {
        let trimmed = try StoreFixture.segmented()
        try trimmed.open(segmentBytes: 64 << 10)
        let floor = try #require(try trimmed.trim(to: 200))
        try trimmed.close()
        let first = try #require(try Self.objects(try trimmed.run("export", trimmed.name).output).first)
        #expect(first["complete"] as? Bool == false && first["gapless"] as? Bool == false && first["base"] == nil)
        #expect(
            first["missing"] as? [String]
                == ["the history up to commit \(floor.offset), which no base replaces"])
        let compacted = try StateFixture()
        try compacted.change { _ = try $0.compact(before: 4) }
        let objects = try Self.objects(try compacted.run("export", compacted.name).output)
        let base = try #require(objects.first?["base"] as? [String: Any])
        #expect(base["horizon"] as? Int == 3 && objects.first?["complete"] as? Bool == true)
        let payloads = objects.dropFirst().filter { $0["base"] != nil }
        #expect(payloads.compactMap { $0["base"] as? Int } == Array(1...payloads.count) && !payloads.isEmpty)
        for payload in payloads { try PromisedKeys.expect(payload, follows: "A payload of a base") }
        #expect(objects.compactMap { $0["offset"] as? Int } == [4, 5])
    }

    @Test func besideALiveWriter() throws {
        let fixture = try StateFixture()
        let store = try fixture.open()
        try fixture.save("more", to: store)
        let objects = try Self.objects(try fixture.run("export", fixture.name).output)
        #expect(objects.last?["count"] as? Int == 6)
        try store.close()
    }

    // MARK: Records

    @Test func recordsOfAllDatabases() throws {
        let fixture = try StateFixture()
        let result = try fixture.run("export", fixture.name, "--records")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        let objects = try Self.objects(result.output)
        try PromisedKeys.expect(try #require(objects.first), follows: "The first line of an export")
        #expect(objects.first?["assets"] as? Bool == true && objects.first?["keys"] as? Bool == true)
        let zones = objects.filter { $0["zone"] != nil }
        for zone in zones { try PromisedKeys.expect(zone, follows: "A zone of an export") }
        #expect(Set(zones.compactMap { $0["zone"] as? String }) == ["Notes", "Work", "_defaultZone"])
        let records = objects.filter { $0["record"] != nil }
        for record in records { try PromisedKeys.expect(record, follows: "A record of an export") }
        let names = records.filter { $0["type"] as? String != "Users" }.compactMap { $0["record"] as? String }
        #expect(names.sorted() == ["list", "milk", "news"])
        let milk = try #require(records.first { $0["record"] as? String == "milk" })
        #expect(milk["parent"] as? String == "list" && milk["modifiedWith"] as? String == "tablet")
        let fields = try #require(milk["fields"] as? [String: [String: Any]])
        #expect(fields.mapValues { $0["type"] as? String ?? "" }["pin"] == "encrypted" && fields.count == 10)
        #expect((fields["rank"]?["value"] as? Int) == 3)
        #expect(objects.last?["count"] as? Int == records.count)
        // As it was before the update.
        let before = try Self.objects(try fixture.run("export", fixture.name, "--records", "--at", "3").output)
        let oldMilk = before.first { $0["record"] as? String == "milk" }
        let old = try #require(oldMilk?["fields"] as? [String: [String: Any]])
        #expect(old["rank"]?["value"] as? Int == 2 && before.contains { $0["record"] as? String == "gone" })
        let work = try Self.objects(try fixture.run("export", fixture.name, "--records", "--zone", "Work").output)
        #expect(work.count == 3 && work.first?["complete"] as? Bool == false)
    }
}
