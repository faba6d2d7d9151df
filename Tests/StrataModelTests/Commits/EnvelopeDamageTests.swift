import StrataModel
import TestSupport
import Testing

@Suite("Payload envelopes that are damaged")
struct EnvelopeDamageTests {
    private func decode(_ payload: [UInt8]) throws -> Envelope {
        // A copy of exactly these bytes, so that a sanitizer sees a read behind them.
        try Envelope(decoding: payload[...])
    }

    private static let payload: [UInt8] = {
        var sample = SamplePayload(seed: 1, zones: [1, 200])
        return sample.next(events: 4, bytesPerEvent: 30, header: EnvelopeTests.fullHeader)
    }()

    @Test("Every payload that ends too early is refused")
    func truncations() {
        for length in 0..<Self.payload.count {
            let prefix = Array(Self.payload[..<length])
            #expect(thrownError { _ = try decode(prefix) } != nil, "cut to \(length) bytes")
            let touchError = thrownError { _ = try prefix.withUnsafeBytes { try Envelope.touches(of: $0) } }
            #expect(touchError != nil, "cut to \(length) bytes")
        }
    }

    @Test("Every changed byte is refused with an error of the engine, or gives an envelope")
    func changedBytes() throws {
        var refused = 0
        for index in Self.payload.indices {
            for change in [1, 2, 4, 8, 16, 32, 64, 128, 0xFF] as [UInt8] {
                var damaged = Self.payload
                damaged[index] ^= change
                do { _ = try decode(damaged) } catch is StrataError { refused += 1 }
                do { _ = try damaged.withUnsafeBytes { try Envelope.touches(of: $0) } } catch is StrataError {}
            }
        }
        #expect(refused > 0)
    }

    @Test("Noise is refused with an error of the engine, or gives an envelope")
    func noise() throws {
        try withSeeds(5_000) { seed in
            var generator = SeededGenerator(seed: seed)
            let noise = [1] + generator.nextBytes(generator.next(below: 60))
            do { _ = try decode(noise) } catch is StrataError {}
            do { _ = try noise.withUnsafeBytes { try Envelope.touches(of: $0) } } catch is StrataError {}
        }
    }

    @Test(
        "What the format forbids is refused, at the place where it is",
        arguments: [
            ([1, 6, 4, 1, 1, 2, 1, 1, 1, 24, 1, 5], 6, "header keys to be ascending"),
            ([1, 6, 2, 1, 1, 2, 1, 1, 1, 24, 1, 5], 6, "header keys to be ascending"),
            ([1, 3, 0, 1, 1, 1, 24, 1, 5], 3, "header keys to be ascending"),
            ([1, 3, 2, 2, 1, 1, 24, 1, 5], 4, "a header field to be 2 bytes"),
            ([1, 4, 2, 2, 1, 1, 1, 24, 1, 5], 5, "a header field to be the end"),
            (
                [1, 4, 2, 2, 0x80, 0, 1, 24, 1, 5], 4,
                "the user to be a varint in its shortest form of at most 10 bytes"
            ),
            ([1, 3, 19, 1, 2, 1, 24, 1, 5], 4, "the lazy mark to be at most 1"),
            ([1, 3, 7, 1, 0xFF, 1, 24, 1, 5], 4, "the operation id to be valid UTF-8"),
            ([1, 9, 2, 1, 1], 2, "the header fields to be 9 bytes"),
            ([1, 0, 0], 3, "the number of events to be at least 1"),
            ([1, 0, 2, 24, 1, 5], 6, "the kind of an event to be 1 bytes"),
            ([1, 0, 1, 24, 2, 5], 5, "the body of an event to be 2 bytes"),
            ([1, 0, 1, 24, 1, 5, 0], 6, "the payload after its last event to be the end"),
            ([1, 0, 0x80, 0x80, 0x80, 1], 2, "the number of events to be at most 1048576"),
            ([1, 0, 0x81, 0x80, 0x40], 2, "the number of events to be at most 1048576"),
            ([], 0, "the envelope version to be 1 bytes"),
        ] as [([UInt8], UInt64, String)])
    func forbidden(payload: [UInt8], position: UInt64, expected: String) {
        let error = thrownError { _ = try decode(payload) }
        #expect(error?.code == .malformed)
        #expect(error?.context.position == position)
        #expect(error?.context.expected == expected)
    }

    @Test("A count of events that the bytes cannot hold is refused without memory for them")
    func impossibleCount() {
        // 1,048,576 events in two bytes.
        let error = thrownError { _ = try decode([1, 0, 0x80, 0x80, 0x40, 24, 0]) }
        #expect(error?.code == .malformed)
        #expect(error?.context.position == 7)
    }

    @Test("Texts of the header have 255 bytes at most", arguments: [7, 13, 15] as [UInt8])
    func textLimits(key: UInt8) throws {
        for (count, isFine) in [(255, true), (256, false)] {
            let field: [UInt8] =
                [key, UInt8(count & 0x7F | 0x80), UInt8(count >> 7)] + [UInt8](repeating: 0x61, count: count)
            let payload: [UInt8] =
                [1, UInt8(field.count & 0x7F | 0x80), UInt8(field.count >> 7)] + field + [1, 24, 1, 5]
            #expect((thrownError { _ = try decode(payload) } == nil) == isFine, "\(count) bytes")
        }
    }

    @Test("A commit has 1,048,576 events at most")
    func eventLimit() throws {
        let most = Envelope(events: [Event](repeating: Event(.fetched, body: []), count: 1 << 20))
        let payload = most.encoded()
        #expect(try decode(payload).events.count == 1 << 20)
        #expect(payload[2...4] == [0x80, 0x80, 0x40])
        var oneMore = payload
        oneMore[2] = 0x81
        let error = thrownError { _ = try decode(oneMore + [0x81, 1, 0]) }
        #expect(error?.context.expected == "the number of events to be at most 1048576")
    }
}
