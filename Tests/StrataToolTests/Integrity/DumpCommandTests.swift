import StrataSystem
import Testing

@Suite struct DumpCommandTests {
    @Test func everythingOfASmallStore() throws {
        let result = try StoreFixture.small().run("dump", "Notes.strata")
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(result.lines.prefix(2) == ["Notes.strata/STORE", "header, at 0:"])
        for line in [
            "       0  53 74 72 61 74 61 53 74                          magic StrataSt",
            "Notes.strata/log/00000000000000000001.seg", "a commit, at 128:", "a mark, at 624:",
        ] {
            #expect(result.lines.contains { $0 == line }, "\(line) in \(result.output)")
        }
    }

    @Test func framesOfACommit() throws {
        let result = try StoreFixture.small().run("dump", "--offset", "2", "Notes.strata")
        #expect(result.code == 0)
        #expect(
            result.output == """
                Notes.strata/log/00000000000000000001.seg

                a commit, at 264:
                     264  53 74 46 72                                      magic StFr
                     268  01                                               kind 1, a commit
                     269  00                                               codec 0, stored as is
                     270  00 00                                            flags
                     272  02 00 00 00 00 00 00 00                          offset 2
                     280  00 00 00 00 00 00 00 a0 00 00 00 00 00 00 00 02  commit id
                     296  c0 56 aa e2 c2 60 06 00                          time 1795240003000000
                     304  33 00 00 00                                      raw length 51
                     308  33 00 00 00                                      stored length 51
                     312  10 09 46 56                                      chain
                     316  02 00 00 00                                      undurable 2
                     320  09 94 2c 88                                      body checksum
                     324  6c 78 9a cb                                      header checksum
                     328  01                                               envelope version 1
                     329  09                                               9 bytes of header fields
                     330  02 01 01                                         field 1: 1 byte
                     333  04 01 01                                         field 2: 1 byte
                     336  09 01 01                                         field 4, optional: 1 byte
                     339  01                                               1 event
                     340  10 25                                            kind 16, record saved; 37 bytes
                     342  01 01 06 6e 6f 74 65 2d 31 10 00 00 01 11 01 15  its body
                     358  05 d7 0d 32 59 e4 e1 cb 63 1c 66 3c f4 d7 3c 4c
                     374  04 02 cb da 11
                     379  00 00 00 00 00                                   padding

                """)
    }

    @Test func aBaseAndItsFloor() throws {
        let fixture = try StoreFixture.small()
        try fixture.open()
        try fixture.replaceHistory(to: 2)
        try fixture.close()
        let result = try fixture.run("dump", fixture.name)
        #expect(result.code == 0)
        for line in [
            "Notes.strata/log/00000000000000000002.base", "horizon 2", "base id", "kind 7, state", "floor 2",
            "1: a base replaces the compacted commits",
        ] {
            #expect(result.lines.contains { $0.hasSuffix(line) }, "\(line) in \(result.output)")
        }
        #expect(!result.output.contains("unknown field"))
    }

    @Test func limits() throws {
        let fixture = try StoreFixture.segmented()
        let first = try fixture.run("dump", "--segment", "1", "--limit", "2", fixture.name)
        #expect(first.lines.count { $0.hasPrefix("a commit, at ") } == 2)
        #expect(first.lines.count { $0.contains("… ") } == 1, "a body of 700 bytes is not printed as a whole")
        let all = try fixture.run("dump", "--segment", "1", "--limit", "2", "--bytes", "10000", fixture.name)
        #expect(!all.output.contains("…") && all.lines.count > first.lines.count)
        let none = try fixture.run("dump", "--segment", "1", "--limit", "0", fixture.name)
        #expect(none.lines.count { $0.contains(", at ") } == 1)
    }

    @Test func whatIsNotThere() throws {
        let fixture = try StoreFixture.small()
        let segment = try fixture.run("dump", "--segment", "7", fixture.name)
        #expect(segment.code == 1 && segment.errors.contains("there is no segment 7; the segments are: 1"))
        let offset = try fixture.run("dump", "--offset", "7", fixture.name)
        #expect(offset.code == 1 && offset.errors.contains("no segment has a valid frame of a commit at offset 7"))
        let both = try fixture.run("dump", "--offset", "1", "--segment", "1", fixture.name)
        #expect(both.code == 2)
    }

    /// Every byte of a segment is printed once, whole or damaged.
    @Test(arguments: [0, 40, 130, 300, 500, 630]) func damagedPlacesArePrintedAsTheyAre(_ place: Int) throws {
        let fixture = try StoreFixture.small()
        let path = try fixture.segments()[0]
        try fixture.change(path, at: place) { ~$0 }
        let result = try fixture.run("dump", "--segment", "1", "--bytes", "100000", fixture.name)
        #expect(result.code == 0)
        let digits = result.lines.filter { $0.hasPrefix("   ") }.flatMap { line in
            line.dropFirst(10).prefix(47).split(separator: " ").prefix { $0.count == 2 }.compactMap {
                UInt8($0, radix: 16)
            }
        }
        #expect(try digits == RealFileSystem().readAll(path, atMost: 1 << 20))
        let isMarked = result.lines.contains {
            $0.hasPrefix("no valid frame or block") || $0.hasPrefix("a header that cannot")
        }
        #expect(isMarked || place == 500, "a body is not checked, a header is")
    }
}
