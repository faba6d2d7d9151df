import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

@Suite struct CompactCommandTests {
    private let directory: TestDirectory
    private let path: String
    private let end: UInt64

    init() throws {
        directory = try TestDirectory()
        path = directory.path("Notes.strata")
        var options = StoreOptions.service
        options.segmentBytes = 64 << 10
        let store = try Store.open(at: path, options: options)
        let anna = Actor(user: "anna")
        var names = RequestNames()
        let zone = names.ordinal(of: ZoneID("Notes"))
        let type = names.ordinal(ofType: "Note")
        _ = try store.modify(
            Request(
                database: DatabaseID(.private), names: names,
                .modifyZones(ModifyZonesRequest(saves: [.init(zone)]))), as: anna)
        for number in 0..<12 {
            let save = ModifyRecordsRequest.Save(RecordKey(zone: zone, name: "n\(number % 3)"), type: type, fields: [])
            let request = Request(
                database: DatabaseID(.private), names: names,
                .modifyRecords(ModifyRecordsRequest(saves: [save], policy: .allKeys)))
            _ = try store.modify(request, as: anna)
        }
        end = store.offset
        try store.close()
    }

    /// Fills a few segments and returns all segments of the log.
    private func fillSegments() throws -> [LogReader.Segment] {
        var options = StoreOptions.service
        options.segmentBytes = 64 << 10
        let store = try Store.open(at: path, options: options)
        var generator = SeededGenerator(seed: 1)
        for number in 0..<6 {
            var builder = RequestBuilder(DatabaseID(.private))
            builder.save(
                RecordID("large-\(number)", zone: ZoneID("Notes")), type: "Note",
                fields: ["data": .data(generator.nextBytes(30_000))])
            _ = try store.modify(builder.request, as: Actor(user: "anna"))
        }
        try store.close()
        return try LogReader.open(at: path).segments
    }

    @Test("An offset past the end is named as such", arguments: [[], ["--apply"]])
    func pastTheEnd(_ words: [String]) throws {
        let result = try ToolProcess.run(["compact", "Notes.strata", "--before", "500"] + words, in: directory.path)
        let sentence = "strata compact: no commit 500; this store has commits 1 to \(end)\n"
        #expect(result.code == 1 && result.errors == sentence, "\(result)")
    }

    private func run(_ words: String...) throws -> ToolResult {
        try ToolProcess.run(["compact", "Notes.strata"] + words, in: directory.path)
    }

    @Test func aDryRunTellsWhatWouldGoAndChangesNothing() throws {
        let writer = try Store.open(at: path)
        let text = try run("--before", "\(end)")
        #expect(text.code == 0 && text.errors.isEmpty, "\(text)")
        #expect(text.lines.first?.hasPrefix("nothing to gain: commits up to \(end - 1) would be compacted, ") == true)
        #expect(
            text.lines.contains {
                $0.hasPrefix("  Notes (private of anna): 12 changes would be removed, 3 records of ")
            },
            "\(text.output)")
        let json = try run("--before", "\(end)", "--json")
        #expect(json.code == 0 && json.output.hasPrefix("{\"horizon\":\(end - 1),\"segments\":0,"), "\(json)")
        #expect(json.output.contains("\"zone\":\"Notes\",\"changes\":12,\"records\":3,"))
        try writer.close()
        #expect(try run("--before", "\(end)").code == 0)
    }

    @Test func whereNoFileWouldGoNothingIsChanged() throws {
        let before = try StateFixture.content(path)
        for offset in [3, end] {
            let text = try run("--before", "\(offset)", "--apply")
            #expect(
                text.output
                    == "nothing can be compacted before commit \(offset): no file of the log would be removed; nothing "
                    + "was changed\n")
            #expect(text.code == 0 && text.errors.isEmpty, "\(text)")
        }
        let json = try run("--before", "3", "--apply", "--json")
        #expect(
            json.code == 0
                && json.output == #"{"horizon":0,"segments":0,"freedBytes":0,"baseBytes":0,"assets":0}"# + "\n")
        #expect(try StateFixture.content(path) == before)
    }

    @Test func whatIsLetGoIsGoneForTheOtherCommandsToo() throws {
        let newest = try fillSegments()
        let (count, end) = (newest.count - 1, try #require(newest.last?.firstOffset))
        #expect(count > 1)
        let done = try run("--before", "\(end)", "--apply", "--json")
        #expect(done.code == 0 && done.errors.isEmpty, "\(done)")
        #expect(done.output.hasPrefix("{\"horizon\":\(end - 1),\"segments\":\(count),\"freedBytes\":"), "\(done)")
        func tool(_ words: String...) throws -> ToolResult { try ToolProcess.run(words, in: directory.path) }
        let records = try tool("query", "Notes.strata", "Note", "--user", "anna", "--zone", "Notes")
        #expect(records.code == 0 && records.lines.count == 10, "\(records)")
        // Names come from the base.
        let log = try tool("log", "Notes.strata", "--oneline")
        let kept = try #require(newest.last?.lastOffset) - end + 1
        #expect(log.code == 0 && UInt64(log.lines.count) == kept && log.output.contains("anna"), "\(log)")
        #expect(try tool("verify", "Notes.strata").code == 0)
        #expect(try tool("info", "Notes.strata").code == 0)
        let segments = try tool("segments", "Notes.strata")
        #expect(segments.code == 0 && segments.lines.count == 3, "\(segments)")
        let cells = segments.lines[1].split(separator: " ").map(String.init)
        #expect(cells.prefix(5) == ["1", "\(end - 1)", "base", "closed", "0"], "\(segments)")
        let object = try tool("segments", "Notes.strata", "--json").lines[0]
        #expect(object.contains("\"firstOffset\":1,\"lastOffset\":\(end - 1),\"form\":\"base\",\"closed\":true"))
        // Damage of the base keeps nobody from the segments.
        let base = directory.path("Notes.strata/log/" + String(repeating: "0", count: 18) + "\(end - 1).base")
        var bytes = try RealFileSystem().readAll(base, atMost: 1 << 20)
        bytes[bytes.count / 2] ^= 1
        try RealFileSystem().replace(base, in: directory.path("Notes.strata/log"), with: bytes)
        let damaged = try tool("segments", "Notes.strata")
        #expect(damaged.code == 3 && damaged.lines.count == 3 && damaged.lines[1].contains("damaged"), "\(damaged)")
        bytes[bytes.count / 2] ^= 1
        try RealFileSystem().replace(base, in: directory.path("Notes.strata/log"), with: bytes)
        let again = try run("--before", "\(end + 1)", "--apply")
        #expect(
            again.code == 0 && again.output.hasPrefix("commits up to \(end) were compacted: 0 segments"), "\(again)")
        #expect(try tool("query", "Notes.strata", "Note", "--user", "anna").lines.count == 10)
        #expect(try tool("verify", "Notes.strata").code == 0)
    }

    @Test func whatCannotBeEndsWithAReason() throws {
        let late = "no commit \(end + 2); this store has commits 1 to \(end)"
        let cases = [
            (["--before", "1"], "(invalidArgument)"), (["--before", "\(end + 2)", "--apply"], late),
            (["--before", "\(end + 2)"], late),
        ]
        for (words, reason) in cases {
            let result = try ToolProcess.run(["compact", "Notes.strata"] + words, in: directory.path)
            #expect(result.code == 1 && result.output.isEmpty && result.errors.contains(reason), "\(result)")
        }
        #expect(try run().code == 2)
        #expect(try run("--before", "0", "--apply").code == 2)
        let missing = ["compact", "Missing.strata", "--before", "3", "--apply"]
        #expect(try ToolProcess.run(missing, in: directory.path).code == 3)
        let second = try #require(try fillSegments().dropFirst().first).firstOffset
        let writer = try Store.open(at: path)
        let locked = try run("--before", "\(second)", "--apply")
        #expect(locked.code == 3 && locked.errors.contains("(locked)"), "\(locked)")
        try writer.close()
        let done = try run("--before", "\(second)", "--apply")
        #expect(
            done.code == 0 && done.output.hasPrefix("commits up to \(second - 1) were compacted: 1 segment, "),
            "\(done)")
        #expect(try run("--before", "\(second)", "--apply").code == 1)
    }
}
