import Foundation
import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataTool

@Suite struct InfoCommandTests {
    @Test func humanForm() throws {
        let result = try StoreFixture.small().run("info", "Notes.strata")
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(
            result.output == """
                store       Notes.strata
                container   iCloud.test
                id          910a2dec89025cc1beeb8da1658eec67
                format      1
                created     2026-11-21T05:46:40.000000Z
                commits     4
                floor       0/00000000
                end         4/57803e49
                first       2026-11-21T05:46:41.500000Z
                last        2026-11-21T05:46:46.000000Z
                span        4.5 s
                durable     all
                views       none
                names       1 user, 1 zone, 1 record type, 1 field
                segments    1, 688 bytes
                  1 to 4, 688 bytes, active

                """)
    }

    @Test func json() throws {
        let result = try StoreFixture.small().run("info", "--json", "Notes.strata")
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(
            result.output == """
                {"path":"Notes.strata","container":"iCloud.test","storeID":"910a2dec89025cc1beeb8da1658eec67",\
                "formatVersion":1,"created":1795240000000000,"commits":4,"floor":0,"floorChain":"00000000","end":4,\
                "chain":"57803e49","firstTime":1795240001500000,"lastTime":1795240006000000,"bytes":688,\
                "segments":[{"path":"Notes.strata/log/00000000000000000001.seg","firstOffset":1,"lastOffset":4,\
                "bytes":688,"closed":false}],"unfinishedTail":null,"base":null,\
                "durable":{"offset":4,"source":"closed"},"views":null,\
                "names":{"users":1,"devices":1,"databases":1,"zones":1,"recordTypes":1,"fields":1,"through":4},\
                "damage":null}

                """)
    }

    @Test func emptyStore() throws {
        let fixture = try StoreFixture()
        try fixture.close()
        let result = try fixture.run("info", fixture.name)
        #expect(result.output.contains("\ncommits     0\n"))
        #expect(!result.output.contains("\nfirst ") && !result.output.contains("\nlast "))
        #expect(result.output.contains("\ndurable     all\n") && result.output.contains("\nnames       0 users, "))
        #expect(result.output.hasSuffix("\n  from 1, empty, 128 bytes, active\n"))
    }

    @Test func segmentsFloorAndTail() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.open(segmentBytes: 64 << 10)
        let floor = try #require(try fixture.trim(to: 200))
        try fixture.close()
        try fixture.addUnfinishedTail()
        let result = try fixture.run("info", fixture.name)
        #expect(result.code == 0)
        #expect(result.output.contains("\ncommits     \(301 - floor.offset)\n"))
        #expect(result.output.contains("\nfloor       \(floor)\n"))
        #expect(result.output.contains("\ntail        100 unfinished bytes at position "))
        // What was interned in front of the floor is nowhere told any more.
        #expect(result.output.contains("\nnames       unknown\n"))
        let segments = result.lines.filter { $0.hasPrefix("  ") && $0.contains(" to ") }
        #expect(segments.count == (try fixture.segments().count))
        #expect(segments.dropLast().allSatisfy { $0.hasSuffix(", closed") })
        #expect(segments.last?.hasSuffix(", active") == true)
    }

    @Test func besideALiveWriter() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        try fixture.saveNotes(2)
        #expect(try fixture.run("info", fixture.name).output.contains("\ncommits     3\n"))
        try fixture.saveNotes(1)
        #expect(try fixture.run("info", fixture.name).output.contains("\ncommits     4\n"))
        try fixture.close()
    }

    @Test(
        arguments: [
            (0, "0 s"), (1, "0.000001 s"), (59_900_000, "59.9 s"), (60_000_000, "1 min 0 s"),
            (3_600_000_000, "1 h 0 min 0 s"), (93_784_500_000, "1 d 2 h 3 min 4.5 s"),
        ] as [(Int64, String)])
    func spans(_ microseconds: Int64, _ text: String) {
        #expect(StoreInfo.span(microseconds: microseconds) == text)
    }
}

/// What `info` tells of durability.
@Suite struct InfoDurabilityTests {
    @Test func ofALiveWriterWhatItSays() throws {
        let fixture = try StateFixture()
        let store = try fixture.open()
        let text = try fixture.run("info", fixture.name).output
        #expect(text.contains("\ndurable     all; process \(getpid()) writes, since 2026-11-21T"), "\(text)")
        let object = try #require(try fixture.objects("info", fixture.name).first)
        let durable = try #require(object["durable"] as? [String: Any])
        try PromisedKeys.expectAll(of: "How far a log is durable", in: [durable])
        #expect(durable["source"] as? String == "writer" && durable["process"] as? Int == Int(getpid()))
        #expect(durable["offset"] as? Int == Int(StateFixture.end))
        try store.close()
        let after = try fixture.run("info", fixture.name).output
        #expect(after.contains("\ndurable     all\n"), "\(after)")
    }

    /// Commits that nobody has synced, of a writer that is gone.
    @Test func ofACopyWhatFramesTell() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        try fixture.saveNotes(3)
        let copy = fixture.directory.path("Copy.strata")
        try FileManager.default.copyItem(atPath: fixture.path, toPath: copy)
        try fixture.close()
        let text = try fixture.run("info", "Copy.strata").output
        #expect(text.contains("\ndurable     up to 0 at least; the log was not closed\n"), "\(text)")
        let json = try fixture.run("info", "Copy.strata", "--json").output
        #expect(json.contains(#""durable":{"offset":0,"source":"witness"}"#), "\(json)")
    }
}

/// What `info` tells of views and of names.
@Suite struct InfoViewsTests {
    private let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    private var views: String { fixture.path + "/views" }

    private func paths(_ part: String = "") throws -> [String] {
        try RealFileSystem().list(views).filter { part.isEmpty || $0.contains(part) }.map { "\(views)/\($0)" }
    }

    private func found() throws -> [String: Any] {
        let object = try #require(try fixture.objects("info", fixture.name).first)
        let found = try #require(object["views"] as? [String: Any])
        try PromisedKeys.expect(found, follows: "Views on disk")
        return found
    }

    private func line(_ label: String) throws -> Substring? {
        try fixture.run("info", fixture.name).lines.first { $0.hasPrefix(label) }
    }

    private func change(_ path: String, at position: Int, _ body: (UInt8) -> UInt8) throws {
        let file = try RealFileSystem().open(path, .write)
        defer { file.close() }
        let byte = try file.read(count: 1, at: position)
        try file.write([body(byte[0])], at: position)
    }

    @Test func aStateAtTheEnd() throws {
        let size = try paths().reduce(0) { $0 + (try RealFileSystem().readAll($1, atMost: 1 << 30).count) }
        #expect(try line("views") == "views       at 5, the end; \(size) bytes")
        let found = try found()
        #expect(found["finding"] as? String == "whole" && found["offset"] as? Int == 5)
        #expect(found["bytes"] as? Int == size && (found["reasons"] as? [Any])?.isEmpty == true)
        // Besides what was saved: each user's default zone, that of everybody, and the type of users' records.
        #expect(try line("names") == "names       2 users, 5 zones, 4 record types, 10 fields")
    }

    @Test func oneThatIsBehindTheEnd() throws {
        try fixture.change { store in try fixture.save("more", ["extra": .int64(1)], to: store) }
        #expect(try line("views")?.hasPrefix("views       at 5, 1 before the end; ") == true)
        // The names behind it are counted from the commits.
        #expect(try line("names") == "names       2 users, 5 zones, 4 record types, 11 fields")
    }

    @Test func none() throws {
        let names = try line("names")
        for path in try paths() { try RealFileSystem().remove(path) }
        #expect(try line("views") == "views       no state yet; 0 bytes")
        #expect(try line("names") == names)
        try FileManager.default.removeItem(atPath: views)
        #expect(try line("views") == "views       none")
        #expect(try line("names") == names, "they are counted from the log")
    }

    @Test func thoseOfAnotherStore() throws {
        let other = fixture.directory.path("Other.strata")
        try Store.open(at: other).close()
        let store = try Store.open(at: other)
        try fixture.save("other", zone: ZoneID("_defaultZone"), to: store)
        try store.close()
        try FileManager.default.removeItem(atPath: views)
        try FileManager.default.copyItem(atPath: other + "/views", toPath: views)
        #expect(try line("views")?.contains("are foreign: A state of the views belongs to another store.") == true)
        #expect(try found()["finding"] as? String == "foreign")
        #expect(try fixture.run("info", fixture.name).code == 0, "it holds no information of its own")
    }

    @Test func oneThatTheLogHasNot() throws {
        // Longer than the log: as if the log had been put back from a copy.
        let log = fixture.directory.path("log")
        try FileManager.default.copyItem(atPath: fixture.path + "/log", toPath: log)
        try fixture.change { store in try fixture.saveMany(20, bytes: 100_000, to: store) }
        try FileManager.default.removeItem(atPath: fixture.path + "/log")
        try FileManager.default.moveItem(atPath: log, toPath: fixture.path + "/log")
        #expect(try line("end")?.hasPrefix("end         5/") == true)
        let found = try found()
        // The state before may be there still.
        #expect(["stale", "olderState"].contains(found["finding"] as? String))
        #expect((found["reasons"] as? [Any])?.isEmpty == false)
    }

    @Test func levelsOfMerges() throws {
        let id = try LogReader.open(at: fixture.path).identity.storeID
        let opened = try TreeStore.open(in: fixture.path, Views.owner(id), hashed: Views.hashed) { _ in true }
        let (trees, state) = (opened.store, try #require(opened.state))
        func flush(_ count: Int) throws {
            for _ in 0..<count {
                let fork = try trees.fork()
                try [7 as UInt8].withUnsafeBytes { try fork.put(TreeID(rawValue: 999), $0, $0) }
                try trees.publish(fork)
                try trees.freeze()
                let waiting = try #require(trees.nextToFlush())
                try trees.flush(waiting, at: state.position, opaque: state.opaque)
            }
        }
        while try trees.mergeStep(isAtRest: true) {}
        try flush(8)
        while try trees.mergeStep(isAtRest: false) {}
        try flush(2)
        let found = try found()
        let levels = try #require(found["levels"] as? [[String: Any]])
        try PromisedKeys.expectAll(of: "A level of views", in: levels)
        #expect(levels.map { $0["level"] as? String } == ["flushed", "middle", "base"])
        #expect(levels.map { $0["runs"] as? Int } == [2, 1, 1])
        let bytes = levels.map { $0["bytes"] as? Int ?? 0 }
        let (flushed, written) = (found["flushedBytes"] as? Int ?? 0, found["writtenBytes"] as? Int ?? 0)
        #expect(bytes[0] > 0 && bytes[1] > 0 && bytes[2] > bytes[1] && written >= flushed + bytes[1] + bytes[2])
        let tenths = 10 * written / max(1, flushed)
        #expect(
            try line("levels") == """
                levels      flushed 2 runs, \(bytes[0]) bytes; middle 1 run, \(bytes[1]) bytes; \
                base 1 run, \(bytes[2]) bytes; \(tenths / 10).\(tenths % 10) bytes written for each byte flushed
                """)
        #expect(found["finding"] as? String == "whole" && found["offset"] as? Int == 5)
    }

    @Test func damagedStates() throws {
        for path in try paths("state-") { try change(path, at: 40) { ~$0 } }
        let found = try found()
        #expect(found["finding"] as? String == "damaged" && found["offset"] is NSNull && found["levels"] is NSNull)
        #expect(try line("levels") == nil)
        #expect(try line("views")?.hasPrefix("views       no usable state, they are damaged") == true)
        #expect(try line("names") == "names       2 users, 5 zones, 4 record types, 10 fields")
    }

    @Test func cutShort() throws {
        for path in try paths(".run") {
            let file = try RealFileSystem().open(path, .write)
            try file.truncate(to: 3 * 4_096)
            file.close()
        }
        #expect(try found()["finding"] as? String == "damaged")
    }

    @Test func nothingIsLockedOrWritten() throws {
        let before = try fixture.content()
        #expect(try fixture.run("info", fixture.name).code == 0)
        #expect(try fixture.content() == before)
    }

    @Test func besideAWriter() throws {
        let store = try fixture.open()
        for number in 0..<20 {
            try fixture.save("n\(number)", to: store)
            let result = try fixture.run("info", fixture.name, "--json")
            #expect(result.code == 0 && result.output.contains("\"recordTypes\":4,"), "\(result)")
        }
        try store.close()
    }
}

/// What `info` tells of history that was let go.
@Suite struct InfoHistoryTests {
    @Test func aBase() throws {
        let fixture = try StateFixture()
        let names = try fixture.run("info", fixture.name).lines.first { $0.hasPrefix("names") }
        try fixture.change { _ = try $0.compact(before: 4) }
        let text = try fixture.run("info", fixture.name)
        #expect(text.code == 0 && text.output.contains("\ncommits     2\n") && text.output.contains("\nfloor       3/"))
        let object = try #require(try fixture.objects("info", fixture.name).first)
        let base = try #require(object["base"] as? [String: Any])
        try PromisedKeys.expectAll(of: "A base", in: [base])
        try PromisedKeys.expect(base, follows: "A base")
        let path = fixture.path + "/log/00000000000000000003.base"
        let size = try RealFileSystem().readAll(path, atMost: 1 << 20).count
        #expect(base["horizon"] as? Int == 3 && base["bytes"] as? Int == size)
        #expect(base["time"] as? Int64 == StateFixture.startTime + 3_000_000)
        #expect(text.output.contains("\nbase        \(size) bytes, for all commits up to 3\n"))
        // With the views, and without them.
        #expect(text.lines.first { $0.hasPrefix("names") } == names)
        try FileManager.default.removeItem(atPath: fixture.path + "/views")
        #expect(try fixture.run("info", fixture.name).lines.first { $0.hasPrefix("names") } == names)
    }

    @Test func aDamagedBaseKeepsNobodyFromTheRest() throws {
        let fixture = try StateFixture()
        try fixture.change { _ = try $0.compact(before: 4) }
        let file = try RealFileSystem().open(fixture.path + "/log/00000000000000000003.base", .write)
        try file.write([0xFF], at: 20)
        file.close()
        let result = try fixture.run("info", fixture.name, "--json")
        #expect(result.code == 3 && result.errors.contains("(badChecksum)"), "\(result)")
        #expect(result.output.contains("\"base\":null") && result.output.contains("\"commits\":2,"), "\(result)")
    }

    @Test func namesOfSealedSegments() throws {
        let fixture = try StoreFixture.segmented()
        let before = try fixture.run("info", fixture.name).lines.first { $0.hasPrefix("names") }
        try fixture.open()
        try fixture.sealAll()
        try fixture.close()
        let after = try fixture.run("info", fixture.name)
        #expect(before == "names       1 user, 1 zone, 1 record type, 1 field")
        #expect(after.lines.first { $0.hasPrefix("names") } == before)
    }
}
