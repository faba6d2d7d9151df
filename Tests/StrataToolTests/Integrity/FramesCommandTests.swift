import Foundation
import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

@Suite struct FramesCommandTests {
    @Test("Saved space is told in percent, or in times where more is stored")
    func savedSpace() {
        let cases: [(UInt64, UInt64, String)] = [
            (100, 61, "39%"), (100_000, 1, "99.9%"), (100, 146, "-46%"), (100, 1_800, "18x larger"), (0, 1, "-"),
        ]
        for (count, stored, text) in cases { #expect(SavedSpace.percent(of: count, in: stored) == text) }
        #expect(SavedSpace.text(of: 100, in: 146) == "46% larger")
        #expect(SavedSpace.text(of: 100, in: 1_800) == "18x larger")
    }

    @Test func humanForm() throws {
        let expected = """
            Notes.strata/log/00000000000000000001.seg: 688 bytes, a segment of frames, from 1
              POSITION      BYTES  KIND     OFFSETS                  RAW     STORED  CODEC    SAVED  CHECKSUM  DURABLE
                   128        136  commit   1                         70         70  stored      0%  ok        yes
                   264        120  commit   2                         51         51  stored      0%  ok        yes
                   384        120  commit   3                         51         51  stored      0%  ok        yes
                   504        120  commit   4                         51         51  stored      0%  ok        yes
                   624         64  mark     -                          0          0  stored       -  ok        -

            """
        let result = try StoreFixture.small().run("frames", "Notes.strata")
        #expect(result.code == 0 && result.errors.isEmpty && result.output == expected, "\(result)")
    }

    /// The objects that `--json` prints, and how it ended.
    private func objects(
        _ fixture: StoreFixture, _ words: String...
    ) throws -> (objects: [[String: Any]], result: ToolResult) {
        let words = ["frames", fixture.name, "--json"] + words
        let result = try ToolProcess.run(words, in: fixture.directory.path)
        let objects = try result.lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        return (objects, result)
    }

    private func kinds(_ objects: [[String: Any]]) -> [String] { objects.compactMap { $0["kind"] as? String } }

    @Test func jsonOfFrames() throws {
        let (objects, result) = try objects(try StoreFixture.small())
        #expect(result.code == 0)
        #expect(kinds(objects) == ["file", "commit", "commit", "commit", "commit", "mark"])
        #expect(
            result.lines[2]
                == """
                {"segment":1,"kind":"commit","position":264,"bytes":120,"firstOffset":2,"lastOffset":2,"rawBytes":51,\
                "storedBytes":51,"codec":"stored","time":1795240003000000,"chain":"56460910","undurable":2,\
                "bodyChecksum":"882c9409","checksum":"ok","durable":true}
                """)
        try PromisedKeys.expect(objects[0], follows: "A file of the log")
        for object in objects.dropFirst() { try PromisedKeys.expect(object, follows: "A piece of a file") }
    }

    /// A sealed store, whose commits are in blocks.
    private func sealed() throws -> StoreFixture {
        let fixture = try StoreFixture.segmented()
        try fixture.open(segmentBytes: 64 << 10)
        try fixture.sealAll()
        try fixture.close()
        return fixture
    }

    @Test func sealedSegmentsAndTheirFooters() throws {
        let fixture = try sealed()
        let (objects, result) = try objects(fixture)
        #expect(result.code == 0 && result.errors.isEmpty)
        let files = objects.filter { $0["kind"] as? String == "file" }
        #expect(files.count == (try fixture.segments().count))
        #expect(files.dropLast().allSatisfy { $0["form"] as? String == "blocks" })
        #expect(files.last?["form"] as? String == "frames")
        for object in objects where !["file", "footer"].contains(object["kind"] as? String) {
            try PromisedKeys.expect(object, follows: "A piece of a file")
        }
        let footers = objects.filter { $0["kind"] as? String == "footer" }
        #expect(footers.count == files.count - 1)
        let reader = try LogReader.open(at: fixture.path)
        for (footer, segment) in zip(footers, reader.segments) {
            try PromisedKeys.expect(footer, follows: "A footer")
            let summary = try reader.summary(of: segment)
            #expect(footer["payloadBytes"] as? UInt64 == summary.payloadBytes)
            #expect(footer["firstTime"] as? Int64 == summary.firstTime)
            #expect(footer["lastTime"] as? Int64 == summary.lastTime)
            let blocks = try #require(footer["commitBlocks"] as? [[String: Any]])
            #expect(blocks.first?["firstOffset"] as? UInt64 == segment.firstOffset)
            #expect(blocks.last?["lastOffset"] as? UInt64 == segment.lastOffset)
            let zones = try #require(footer["zones"] as? [[String: Any]])
            #expect(zones.count == 1 && zones[0]["changes"] as? UInt64 == summary.touchCounts[1])
            #expect(footer["changes"] as? UInt64 == summary.touchCounts[1])
            #expect((zones[0]["bytes"] as? Int ?? 0) > 0)
            for key in ["filterBlocks", "changeBlocks", "nameBlocks"] {
                for block in try #require(footer[key] as? [[String: Any]]) {
                    try PromisedKeys.expect(block, follows: "A place of a block")
                }
            }
        }
        let text = try fixture.run("frames", fixture.name).output
        #expect(text.contains("a segment of blocks, from 1\n") && text.contains("\n      zone 1 Notes: 82 changes, "))
    }

    @Test func everyByteIsListedOnce() throws {
        for fixture in [try StoreFixture.segmented(), try sealed()] {
            let (objects, _) = try objects(fixture)
            for path in try fixture.segments() {
                let name = try #require(UInt64(path.suffix(24).dropLast(4)))
                var position = 128
                for object in objects where object["segment"] as? UInt64 == name {
                    guard let kind = object["kind"] as? String, !["file", "footer"].contains(kind) else { continue }
                    #expect(object["position"] as? Int == position)
                    position += object["bytes"] as? Int ?? 0
                }
                #expect(try RealFileSystem().readAll(path, atMost: 1 << 30).count == position)
            }
        }
    }

    // MARK: Choosing

    private func offsets(_ objects: [[String: Any]]) -> [Int] {
        objects.filter { $0["kind"] as? String == "commit" }.compactMap { $0["firstOffset"] as? Int }
    }

    @Test func commitsThatAreChosen() throws {
        let fixture = try StoreFixture.segmented()
        let segments = try fixture.segments()
        let second = try #require(Int(segments[1].suffix(24).dropLast(4)))
        let range = try objects(fixture, "--from", "\(second - 1)", "--to", "\(second + 1)").objects
        #expect(offsets(range) == Array(second - 1...second + 1))
        #expect(kinds(range) == ["file", "commit", "file", "commit", "commit"], "no seal, no mark")
        #expect(try offsets(objects(fixture, "-n", "2").objects) == [300, 301])
        #expect(try offsets(objects(fixture, "-n", "3", "--to", "10").objects) == [8, 9, 10])
        #expect(try objects(fixture, "-n", "0").objects.isEmpty)
        #expect(try objects(fixture, "--from", "302").objects.count == 1, "the segment where it would be")
        let one = try objects(fixture, "--segment", "\(second)").objects
        #expect(Set(one.compactMap { $0["segment"] as? Int }) == [second])
        #expect(kinds(one).last == "seal")
        #expect(try offsets(objects(fixture, "--segment", "\(second)", "--to", "\(second)").objects) == [second])
    }

    @Test func blocksThatHoldThem() throws {
        let fixture = try sealed()
        let found = try objects(fixture, "--from", "10", "--to", "11").objects
        #expect(kinds(found) == ["file", "commits"])
        let block = try #require(found.last)
        #expect((block["firstOffset"] as? Int ?? 99) <= 10 && (block["lastOffset"] as? Int ?? 0) >= 11)
    }

    @Test func whatIsNotThere() throws {
        let fixture = try StoreFixture.small()
        let segment = try fixture.run("frames", fixture.name, "--segment", "7")
        #expect(segment.code == 1 && segment.errors == "strata frames: there is no segment 7; the segments are: 1\n")
        let order = try fixture.run("frames", fixture.name, "--from", "3", "--to", "2")
        #expect(order.code == 2 && order.errors.hasPrefix("strata frames: --from 3 is after --to 2; "))
        let store = try fixture.run("frames", "Nothing.strata")
        #expect(store.code == 3 && store.errors.contains("(notFound)"))
    }

    // MARK: Durability

    @Test func besideALiveWriterWhatIsDurable() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        try fixture.saveNotes(2)
        // Nothing has been synced yet: the fixture leaves that to the system.
        let (found, result) = try objects(fixture)
        #expect(result.code == 0)
        #expect(found.compactMap { $0["durable"] as? Bool } == [false, false, false])
        try fixture.close()
        #expect(try objects(fixture).objects.compactMap { $0["durable"] as? Bool } == [true, true, true])
    }

    // MARK: Damage

    @Test func aWrongBodyIsToldAndTheRestListed() throws {
        let fixture = try StoreFixture.segmented()
        let whole = try objects(fixture).objects
        try fixture.flipByte(inSegment: 1)
        let (found, result) = try objects(fixture)
        #expect(result.code == 3 && result.errors.contains("(badChecksum)"), "\(result.errors)")
        #expect(kinds(found) == kinds(whole))
        let wrong = found.filter { $0["checksum"] as? String == "wrong" }
        #expect(wrong.count == 1 && wrong[0]["problem"] is [String: Any])
        let text = try fixture.run("frames", fixture.name)
        #expect(text.lines.count { $0.contains("  wrong     yes") } == 1, "\(text)")
    }

    @Test func aWrongHeaderIsABytesThatAreNothing() throws {
        let fixture = try StoreFixture.segmented()
        let whole = try objects(fixture).objects
        // The magic of the first frame of the second segment.
        try fixture.change(try fixture.segments()[1], at: 128) { ~$0 }
        let (found, result) = try objects(fixture)
        #expect(result.code == 3 && result.errors.contains("(malformed)"), "\(result.errors)")
        let nothing = found.filter { $0["kind"] as? String == "nothing" }
        let second = try #require(whole.first { $0["segment"] as? Int != 1 && $0["kind"] as? String == "commit" })
        #expect(nothing.count == 1 && nothing[0]["position"] as? Int == 128)
        #expect(nothing[0]["bytes"] as? Int == second["bytes"] as? Int)
        #expect(offsets(found).count == offsets(whole).count - 1)
        // It may be one of those that are asked for.
        let first = try #require(second["firstOffset"] as? Int)
        let chosen = try objects(fixture, "--from", "\(first)", "--to", "\(first)").objects
        #expect(kinds(chosen) == ["file", "nothing"])
    }

    @Test func zerosInTheMiddleAreDamageAndAtTheEndAreNot() throws {
        let fixture = try StoreFixture.segmented()
        let path = try fixture.segments()[1]
        let file = try RealFileSystem().open(path, .write)
        try file.write([UInt8](repeating: 0, count: 4_096), at: try file.size())
        let padded = try objects(fixture)
        #expect(padded.result.code == 0 && kinds(padded.objects).contains("zeros"), "\(padded.result.errors)")
        let first = try #require(
            padded.objects.first { $0["segment"] as? Int != 1 && $0["kind"] as? String == "commit" })
        let count = try #require(first["bytes"] as? Int)
        try file.write([UInt8](repeating: 0, count: count), at: 128)
        file.close()
        #expect(try objects(fixture).result.code == 3)
    }

    @Test func anUnfinishedTailIsNoDamage() throws {
        let fixture = try StoreFixture.small()
        try fixture.addUnfinishedTail()
        let (found, result) = try objects(fixture)
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(kinds(found).last == "nothing" && found.last?["bytes"] as? Int == 100)
    }

    @Test func aHeaderThatCannotBeRead() throws {
        let fixture = try StoreFixture.small()
        let whole = try objects(fixture).objects
        // The checksum alone: what it was can be worked out, and so frames are found all the same.
        try fixture.change(try fixture.segments()[0], at: 12) { ~$0 }
        let (found, result) = try objects(fixture)
        #expect(result.code == 3 && result.errors.contains("(badChecksum)"))
        #expect(found.first?["form"] is NSNull && found.first?["problem"] is [String: Any])
        #expect(kinds(found) == kinds(whole))
    }

    @Test func aStoreWithoutItsIdentity() throws {
        let fixture = try StoreFixture.small()
        try RealFileSystem().remove(fixture.path + "/STORE")
        let (found, result) = try objects(fixture)
        #expect(result.code == 0 && kinds(found).count == 6, "frames are what they are")
    }

    @Test func aDamagedFooter() throws {
        let fixture = try sealed()
        let path = try fixture.segments()[0]
        let footer = try #require(try objects(fixture).objects.first { $0["kind"] as? String == "footer" })
        let position = try #require(footer["position"] as? Int)
        try fixture.change(path, at: position + 50) { ~$0 }
        let (found, result) = try objects(fixture)
        #expect(result.code == 3)
        #expect(found.count { $0["kind"] as? String == "footer" } == (try fixture.segments().count - 2))
        #expect(found.filter { $0["checksum"] as? String == "wrong" }.compactMap { $0["kind"] as? String } == ["index"])
    }

    @Test func aBase() throws {
        let fixture = try StateFixture()
        try fixture.change { _ = try $0.compact(before: 4) }
        let found = try fixture.objects("frames", fixture.name)
        #expect(found.first?["base"] as? Int == 3 && found.first?["form"] as? String == "base")
        let base = found.filter { $0["base"] as? Int == 3 }.compactMap { $0["kind"] as? String }
        #expect(base.first == "file" && base.last == "end" && base.dropFirst().dropLast().allSatisfy { $0 == "state" })
        #expect(base.count > 3)
        #expect(try fixture.run("frames", fixture.name).output.contains(" bytes, a base for all commits up to 3\n"))
        // It holds no commits.
        #expect(try fixture.objects("frames", fixture.name, "--from", "4").allSatisfy { $0["base"] == nil })
    }
}
