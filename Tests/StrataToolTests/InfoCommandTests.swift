import Testing

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
                "bytes":688,"closed":false}],"unfinishedTail":null,"damage":null}

                """)
    }

    @Test func emptyStore() throws {
        let fixture = try StoreFixture()
        try fixture.close()
        let result = try fixture.run("info", fixture.name)
        #expect(result.output.contains("\ncommits     0\n"))
        #expect(!result.output.contains("\nfirst ") && !result.output.contains("\nlast "))
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
}
