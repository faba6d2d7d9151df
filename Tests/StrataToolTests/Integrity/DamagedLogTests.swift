import StrataSystem
import Testing

/// What the tool shows of a damaged store: everything in front of the damage, and what is wrong.
@Suite struct DamagedLogTests {
    @Test func printsWhatIsWholeInFrontOfTheDamage() throws {
        let fixture = try StoreFixture.segmented()
        let whole = try fixture.run("log", "--json", fixture.name).lines
        try fixture.flipByte(inSegment: 1)
        let damaged = try fixture.run("log", "--json", fixture.name)
        #expect(damaged.code == 3)
        let firstLost = try #require(Self.offset(in: damaged.errors))
        #expect(damaged.lines == Array(whole.prefix(firstLost - 1)))
        let first = try #require(UInt64(try fixture.segments()[1].suffix(24).dropLast(4)))
        #expect(firstLost > first, "the damage is in the middle of the second segment")
    }

    @Test func printsWhatIsWholeOfTheNewestSegment() throws {
        let fixture = try StoreFixture.small()
        try fixture.flipByte(inSegment: 0)
        let result = try fixture.run("log", "--oneline", fixture.name)
        #expect(result.code == 3)
        let firstLost = try #require(Self.offset(in: result.errors))
        #expect(result.lines.count == firstLost - 1)
    }

    /// That the beginning of a sealed segment alone is none is no damage of the store.
    @Test(arguments: [["stats"], ["export"], ["report", "-"], ["log"], ["log", "-n", "30"]])
    func tellsTheDamageOfASealedSegment(_ words: [String]) throws {
        let fixture = try StoreFixture.sealed()
        let place = try fixture.place(of: fixture.middle(ofSegment: 1))
        try fixture.change(place.path, at: place.range.lowerBound + 200) { $0 ^ 0x10 }
        let result = try ToolProcess.run(
            [words[0], fixture.name] + words.dropFirst(), in: fixture.directory.path)
        #expect(result.code == 3 && result.errors.contains("(badChecksum)"), "\(result.errors)")
        #expect(!result.errors.contains("has no end"), "\(result.errors)")
    }

    @Test func printsTheSegmentsInFrontOfAMissingOne() throws {
        let fixture = try StoreFixture.segmented()
        let segments = try fixture.segments()
        let first = try #require(Int(segments[1].suffix(24).dropLast(4)))
        try RealFileSystem().remove(segments[1])
        let result = try fixture.run("log", "--oneline", fixture.name)
        #expect(result.code == 3)
        #expect(result.lines.count == first - 1)
    }

    @Test func theEndOfALogIsPrintedThoughItsMiddleIsDamaged() throws {
        let fixture = try StoreFixture.segmented()
        let whole = try fixture.run("log", "--json", "-n", "2", fixture.name)
        try fixture.flipByte(inSegment: 1)
        let damaged = try fixture.run("log", "--json", "-n", "2", fixture.name)
        #expect(damaged.output == whole.output)
        #expect(damaged.code == 3, "the names that were read in front of it may be incomplete")
    }

    @Test func verifyTellsThePlaceLineByLine() throws {
        let fixture = try StoreFixture.small()
        try fixture.flipByte(inSegment: 0)
        let result = try fixture.run("verify", fixture.name)
        #expect(result.code == 1)
        #expect(result.lines.first == "damaged")
        let place = ["segment", "offset", "position", "path", "expected", "found"]
        for label in ["problem", "code"] + place + ["intact up to", "advice"] {
            #expect(result.lines.contains { $0.hasPrefix("  \(label): ") }, "\(label) in \(result.output)")
        }
    }

    /// The number behind "offset" in an error.
    private static func offset(in message: String) -> Int? {
        guard let range = message.firstRange(of: "offset ") else { return nil }
        return Int(message[range.upperBound...].prefix { $0.isNumber })
    }
}
