import StrataSystem
import Testing

@Suite struct VerifyCommandTests {
    @Test func fineStore() throws {
        let result = try StoreFixture.small().run("verify", "Notes.strata")
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(result.output == "ok: 4 commits, 10 events, 1 segment, 688 bytes, end 4/57803e49\n")
    }

    @Test func json() throws {
        let result = try StoreFixture.small().run("verify", "--json", "Notes.strata")
        #expect(
            result.output == """
                {"ok":true,"commits":4,"events":10,"segments":1,"bytes":688,"end":4,"chain":"57803e49",\
                "base":null,"unfinishedTail":null,"damage":null,"extent":null}

                """)
    }

    @Test func anUnfinishedTailIsNoted() throws {
        let fixture = try StoreFixture.small()
        try fixture.addUnfinishedTail()
        let result = try fixture.run("verify", fixture.name)
        #expect(result.code == 0)
        #expect(result.lines.count == 2 && result.lines[0].hasPrefix("ok: 4 commits, "))
        #expect(result.lines.last?.hasPrefix("note: 100 bytes after the end are unfinished, at position ") == true)
        #expect(try fixture.run("verify", "--json", fixture.name).output.contains("\"bytes\":100,\"reason\":"))
    }

    /// The example of docs/guide/repair.md.
    @Test func theExtentOfDamage() throws {
        let fixture = try StoreFixture.small()
        try fixture.change(fixture.segments()[0], at: 470) { $0 ^ 0x10 }
        let result = try fixture.run("verify", "Notes.strata")
        #expect(result.code == 1)
        #expect(
            result.output == """
                damaged
                  problem: The checksum of a frame's body does not match.
                  code: badChecksum
                  segment: 1
                  offset: 3
                  position: 384
                  path: Notes.strata/log/00000000000000000001.seg
                  expected: 26870e5c
                  found: d04af39b
                  intact up to: 2/56460910, with 2 commits
                  damaged bytes: 384 to 503 of Notes.strata/log/00000000000000000001.seg
                  lost offsets: 3
                  intact after it: 4
                  advice: copy the store before doing anything else with it; 'strata log' prints the intact commits \
                before the damage, 'strata repair' shows what a repair would keep

                """)
    }

    @Test func aBase() throws {
        let fixture = try StoreFixture.small()
        try fixture.open()
        try fixture.replaceHistory(to: 2)
        try fixture.close()
        let result = try fixture.run("verify", fixture.name)
        #expect(result.code == 0)
        #expect(result.output.hasPrefix("ok: 2 commits, 2 events, 1 segment, "), "\(result.output)")
        #expect(
            result.output.hasSuffix(" end 4/57803e49, after a base for all commits up to 2/56460910\n"),
            "\(result.output)")
        #expect(try fixture.run("verify", "--json", fixture.name).output.contains("\"base\":2,"))
        let base = "\(fixture.path)/log/00000000000000000002.base"
        try fixture.change(base, at: 150) { ~$0 }
        let damaged = try fixture.run("verify", fixture.name)
        #expect(damaged.code == 1)
        // The commits that it stands for are still in the segment.
        for line in [
            "  intact up to: 0/00000000, with 0 commits", "  lost offsets: none known",
            "  intact after it: 1 to 4",
        ] {
            #expect(damaged.lines.contains { $0 == line }, "\(line) in \(damaged.output)")
        }
        let repair = try fixture.run("repair", "--apply", fixture.name)
        #expect(repair.code == 1 && repair.output.contains("cannot be repaired: The base, which replaces all commits"))
    }

    @Test func damageInJSON() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.flipByte(inSegment: 1)
        let result = try fixture.run("verify", "--json", fixture.name)
        #expect(result.code == 1 && result.lines.count == 1)
        #expect(result.output.hasPrefix("{\"ok\":false,"))
        for key in ["code", "message", "segment", "offset", "position", "path", "expected", "found"] {
            #expect(result.output.contains("\"\(key)\":"), "\(key) in \(result.output)")
        }
    }

    /// How many segments are read does not depend on where the damage lies: what is whole in front of it is counted.
    @Test(arguments: ["missing", "foreign header", "unsealed"]) func tellsHowMuchIsWholeInFrontOf(_ damage: String)
        throws
    {
        let fixture = try StoreFixture.segmented()
        let segments = try fixture.segments()
        switch damage {
        case "missing": try RealFileSystem().remove(segments[2])
        case "foreign header": try fixture.change(segments[2], at: 30) { ~$0 }
        // The seal's own header is the last that a closed segment has.
        default: try fixture.change(segments[1], at: RealFileSystem().open(segments[1], .read).size() - 30) { ~$0 }
        }
        let whole = try fixture.run("log", "--oneline", fixture.name).lines.count
        #expect(whole >= 100)
        let text = try fixture.run("verify", fixture.name)
        #expect(text.code == 1)
        #expect(
            text.lines.contains {
                $0.hasSuffix(", with \(whole) commits") && $0.hasPrefix("  intact up to: \(whole)/")
            })
        let json = try fixture.run("verify", "--json", fixture.name)
        #expect(json.code == 1 && json.output.contains(",\"commits\":\(whole),"), "\(json.output)")
        #expect(json.output.contains(",\"segments\":2,") && json.output.contains(",\"end\":\(whole),"))
    }

    /// A segment that is missing is met before any commit is read, but is not the first place that is wrong.
    @Test func theFirstDamageIsTheOneFarthestInFront() throws {
        let fixture = try StoreFixture.segmented()
        let segments = try fixture.segments()
        try fixture.flipByte(inSegment: 0)
        try RealFileSystem().remove(segments[2])
        let result = try fixture.run("verify", "--json", fixture.name)
        #expect(result.code == 1 && result.output.contains("\"damage\":{\"code\":\"badChecksum\""), "\(result.output)")
        #expect(result.output.contains("\"segment\":1,"))
    }

    @Test func nothingIsChanged() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.addUnfinishedTail()
        let before = try fixture.content()
        for command in ["info", "log", "verify"] { _ = try fixture.run(command, fixture.name) }
        #expect(try fixture.content() == before)
    }
}
