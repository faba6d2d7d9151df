import StrataModel
import Testing

@Suite("Positions, versions, identifiers")
struct VersionTests {
    private static let maximumIndex = UInt32((1 << 20) - 1)

    @Test(
        "A version's tag is offset and event index in base 36",
        arguments: [
            (0, 0, "0"), (0, 35, "z"), (0, 36, "10"), (1, 0, "mh34"), (1, 1, "mh35"),
            ((1 << 43) - 1, maximumIndex, "1y2p0ij32e8e7"),
        ] as [(UInt64, UInt32, String)])
    func tags(offset: UInt64, eventIndex: UInt32, tag: String) {
        let version = Version(offset: offset, eventIndex: eventIndex)
        #expect(version.tag == tag)
        #expect(Version(tag: tag) == version)
        #expect(version.packed == offset * 1_048_576 + UInt64(eventIndex))
    }

    @Test("Tags of both limits and between come back")
    func roundTrip() {
        for shift in 0..<43 {
            let power = UInt64(1) << UInt64(shift)
            for offset in [power, power - 1, Version.maximumOffset] {
                for eventIndex: UInt32 in [0, 1, 1_000, Self.maximumIndex - 1, Self.maximumIndex] {
                    let version = Version(offset: offset, eventIndex: eventIndex)
                    #expect(Version(tag: version.tag) == version)
                }
            }
        }
    }

    @Test(
        "Text that no version has as its tag is none",
        arguments: [
            "", "-1", "-0", "+1", "A", "MH34", "mH34", "01", "00", " 1", "1 ", "1.0", "é", "１", "1\0",
            "1y2p0ij32e8e8", "3w5e11264sgsf", "zzzzzzzzzzzzz", "3w5e11264sgsg", "zzzzzzzzzzzzzzzzzzzzzzzz",
        ])
    func badTags(tag: String) {
        #expect(Version(tag: tag) == nil)
    }

    @Test("Versions are ordered by offset, then by event")
    func order() {
        let ascending = [
            Version(offset: 1, eventIndex: 0), Version(offset: 1, eventIndex: Self.maximumIndex),
            Version(offset: 2, eventIndex: 0), Version(offset: Version.maximumOffset, eventIndex: 0),
        ]
        #expect(ascending.reversed().sorted() == ascending)
        #expect(!(ascending[0] < ascending[0]))
    }

    @Test("Identifiers and positions print all their digits")
    func printing() {
        #expect(Identifier.zero.description == "00000000000000000000000000000000")
        #expect(Identifier(high: 0xA, low: .max).description == "000000000000000affffffffffffffff")
        #expect(hexadecimal(UInt8(0xF)) == "0f")
        #expect(hexadecimal(UInt32(0xDEAD_BEEF)) == "deadbeef")
        #expect(Position(offset: 12, chain: 0xAB).description == "12/000000ab")
        #expect(Position.start.description == "0/00000000")
    }
}
