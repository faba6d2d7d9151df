import StrataModel
import TestSupport
import Testing

@Suite("Record states")
struct RecordStateTests {
    private static let sample = RecordState(
        header: RecordHeader(
            version: Version(offset: 5, eventIndex: 2), type: 3, created: 1_000_000, createdBy: 1, modified: 1_000_010,
            modifiedBy: 2, modifiedWith: 4, eventsSinceFull: 1, contentDigest: 2),
        parent: RecordKey(zone: 1, name: "list"),
        fields: [RecordField(1, .string("milk")), RecordField(9, .int64(2))])

    private static let golden = """
        02 3000 0200500000000000 02000000000000000000000000000000 40420f0000000000
        14 03 01 02 04 01 02 05 016c697374 02 11 0109 0507 016d696c6b 0204
        """

    private func encode(_ state: RecordState) throws -> [UInt8] {
        var writer = ByteWriter()
        try state.encode(into: &writer)
        return writer.bytes
    }

    @Test("A state has the bytes of the format and comes back")
    func goldenState() throws {
        #expect(try hexText(encode(Self.sample)) == Self.golden.filter { !$0.isWhitespace })
        #expect(try RecordState(decoding: hex(Self.golden)[...]) == Self.sample)
    }

    @Test("States of every shape come back, and encode to the same bytes")
    func roundTrip() throws {
        try withSeeds(300) { seed in
            var sample = SampleRecords(seed: seed)
            let state = try sample.nextState()
            let bytes = try encode(state)
            try #require(try RecordState(decoding: bytes[...]) == state)
            try bytes.withUnsafeBytes { bytes in
                let view = try RecordStateView(bytes, in: 0..<bytes.count)
                try #require(view.version == state.header.version && view.created == state.header.created)
                try #require(try view.header() == state.header)
                for field in state.fields { try #require(try view.fields().value(of: field.field) == field.value) }
                try #require(try RecordStateView.fields(of: bytes).changes() == view.fields().changes())
            }
        }
    }

    @Test("A header is found intact exactly if it can be read, whatever is damaged")
    func requiredHeaders() throws {
        var intactCount = 0
        try withSeeds(300) { seed in
            var sample = SampleRecords(seed: seed)
            var state = try sample.nextState()
            if seed % 2 == 0 {
                // As most records have them: ordinals of one byte, and a time of any length.
                state.header.type %= 128
                state.header.createdBy %= 128
                state.header.modifiedBy %= 128
                state.header.modifiedWith %= 128
            }
            let bytes = try encode(state)
            for round in 0..<40 {
                var damaged = bytes
                if round > 0 {
                    let place = 35 + sample.generator.next(below: min(24, bytes.count - 35))
                    damaged[place] = round % 2 == 0 ? 0x80 : UInt8(truncatingIfNeeded: sample.generator.next())
                }
                if round % 4 == 3 { damaged.removeLast(min(damaged.count - 35, sample.generator.next(below: 30))) }
                try damaged.withUnsafeBytes { bytes in
                    guard let view = try? RecordStateView(bytes, in: 0..<bytes.count) else { return }
                    let isReadable = thrownError { _ = try view.header() } == nil
                    try #require((thrownError { try view.requireHeader() } == nil) == isReadable, "round \(round)")
                    if isReadable { intactCount += 1 }
                }
            }
        }
        #expect(intactCount > 1_000)
    }

    @Test("The header is read though every value is damaged, and a value though the others are")
    func independentParts() throws {
        var bytes = hex(Self.golden)
        bytes[bytes.count - 7] = 0x3F
        try bytes.withUnsafeBytes { bytes in
            let view = try RecordStateView(bytes, in: 0..<bytes.count)
            try #expect(view.header() == Self.sample.header)
            try #expect(view.fields().value(of: 9) == .int64(2))
            #expect(thrownError { _ = try view.fields().value(of: 1) }?.code == .newerFormat)
        }
        #expect(thrownError { _ = try RecordState(decoding: bytes[...]) }?.code == .newerFormat)
    }

    @Test("The content's digest is put into an encoded state")
    func digest() throws {
        var bytes = try encode(Self.sample)
        try bytes.withUnsafeMutableBytes { try RecordStateView.setDigest(content: .max, in: $0) }
        var expected = Self.sample
        expected.header.contentDigest = .max
        #expect(try RecordState(decoding: bytes[...]) == expected)
        var short = [UInt8](repeating: 0, count: 34)
        #expect(
            thrownError {
                try short.withUnsafeMutableBytes { try RecordStateView.setDigest(content: 1, in: $0) }
            }?
            .code == .malformed)
    }

    @Test("Every prefix and every changed byte gives a state or an error")
    func damage() throws {
        let bytes = hex(Self.golden)
        for count in 0..<bytes.count {
            #expect(thrownError { _ = try RecordState(decoding: bytes[..<count]) } != nil, "cut to \(count)")
        }
        for index in bytes.indices {
            for change in [1, 2, 4, 8, 16, 32, 64, 128, 255] as [UInt8] {
                var damaged = bytes
                damaged[index] ^= change
                do { _ = try RecordState(decoding: damaged[...]) } catch is StrataError {}
            }
        }
    }

    @Test("A loose parent is a field of its own, beside which there is no other parent")
    func looseParent() throws {
        var state = Self.sample
        state.isParentLoose = true
        let bytes = try encode(state)
        #expect(bytes == hex(Self.golden.replacing("02 05 016c", with: "08 05 016c")))
        #expect(try RecordState(decoding: bytes[...]) == state)
        let both = Self.golden.replacing("3000", with: "3700").replacing(
            "02 05 016c697374", with: "02 05 016c697374 08 05 016c697374")
        #expect(thrownError { _ = try RecordState(decoding: hex(both)[...]) }?.code == .malformed)
        let empty = Self.golden.replacing("3000", with: "2b00").replacing("02 05 016c697374", with: "08 00")
        #expect(thrownError { _ = try RecordState(decoding: hex(empty)[...]) }?.code == .malformed)
    }

    @Test("Forms and mandatory fields of later versions are an error; a removed key is damage; limits")
    func refusals() throws {
        var bytes = hex(Self.golden)
        bytes[0] = 3
        #expect(thrownError { _ = try RecordState(decoding: bytes[...]) }?.code == .newerFormat)
        bytes = hex(Self.golden)
        bytes[bytes.count - 20] = 10
        #expect(thrownError { _ = try RecordState(decoding: bytes[...]) }?.code == .newerFormat)
        bytes = hex(Self.golden.replacing("0507", with: "0007"))
        #expect(thrownError { _ = try RecordState(decoding: bytes[...]) }?.code == .malformed)
        for (count, isFine) in [(0, true), (15, true), (16, false), (-1, false)] {
            var state = Self.sample
            state.header.eventsSinceFull = count
            #expect((thrownError { _ = try encode(state) } == nil) == isFine)
        }
        for (count, isFine) in [(4_096, true), (4_097, false)] {
            var state = Self.sample
            state.parent = RecordKey(zone: .max, name: String(repeating: "n", count: count))
            state.share = state.parent
            #expect((thrownError { _ = try RecordState(decoding: try encode(state)[...]) } == nil) == isFine)
        }
    }
}
