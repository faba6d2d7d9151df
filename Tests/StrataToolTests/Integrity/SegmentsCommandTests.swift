import StrataSystem
import Testing

@Suite struct SegmentsCommandTests {
    @Test func humanForm() throws {
        let result = try StoreFixture.segmented().run("segments", "Notes.strata")
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(
            result.output == """
                FIRST  LAST  FORM    STATE   COMMITS  BYTES    RAW  SAVED  ZONES  FROM                         TO
                    1    82  frames  closed       82  65128  59515    -9%      1  2026-11-21T05:46:41.500000Z  \
                2026-11-21T05:48:43Z
                   83   163  frames  closed       81  64992  59517    -9%      1  2026-11-21T05:48:44.500000Z  \
                2026-11-21T05:50:44.500000Z
                  164   244  frames  closed       81  64992  59535    -9%      1  2026-11-21T05:50:46Z         \
                2026-11-21T05:52:46Z
                  245   301  frames  active       57  45792  41895    -9%      1  2026-11-21T05:52:47.500000Z  \
                2026-11-21T05:54:11.500000Z

                """)
    }

    @Test func json() throws {
        let result = try StoreFixture.small().run("segments", "--json", "Notes.strata")
        #expect(
            result.output == """
                {"path":"Notes.strata/log/00000000000000000001.seg","firstOffset":1,"lastOffset":4,"form":"frames",\
                "closed":false,"commits":4,"bytes":688,"payloadBytes":223,"firstTime":1795240001500000,\
                "lastTime":1795240006000000,"zones":[{"zone":1,"changes":4}],"damage":null}

                """)
    }

    @Test func anEmptySegment() throws {
        let fixture = try StoreFixture()
        try fixture.close()
        let result = try fixture.run("segments", fixture.name)
        #expect(result.code == 0)
        #expect(
            result.lines.last
                == "    1     -  frames  active        0    128    0      -      0  -     -")
    }

    @Test func ofADamagedStoreWhatCanBeReadIsTold() throws {
        let fixture = try StoreFixture.segmented()
        let whole = try fixture.run("segments", fixture.name).lines
        try fixture.flipByte(inSegment: 1)
        let result = try fixture.run("segments", fixture.name)
        #expect(result.code == 3 && result.errors.contains("badChecksum"))
        #expect(result.lines.count == whole.count)
        #expect(result.lines.count { $0.contains(" damaged  ") } == 1 && result.lines[2].contains(" damaged  "))
    }
}
