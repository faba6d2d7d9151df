import StrataModel
import TestSupport
import Testing

@Suite("Payload envelopes")
struct EnvelopeTests {
    static let fullHeader = EnvelopeHeader(
        user: 300, device: 7, operationID: "operation", operationKind: .modifyRecords, qualityOfService: .utility,
        groupID: "group", groupName: "Zoë's group", requestShape: [1, 2, 3], isLazy: true, judgedOn: 300,
        actorKind: .signedOut)

    @Test(
        "A header with one field set, and with all, comes back",
        arguments: [
            EnvelopeHeader(), .init(user: 1), .init(user: .max), .init(device: 1), .init(operationID: "a"),
            .init(operationKind: .init(rawValue: 10)), .init(operationKind: .init(rawValue: 99)),
            .init(qualityOfService: .init(rawValue: 4)), .init(groupID: "b"), .init(groupName: "c"),
            .init(requestShape: [0]), .init(isLazy: true), .init(judgedOn: 0), .init(judgedOn: Version.maximumOffset),
            .init(actorKind: .user), .init(actorKind: .service), .init(actorKind: .signedOut), fullHeader,
        ])
    func headers(header: EnvelopeHeader) throws {
        let envelope = Envelope(header: header, events: [Event(.recordSaved, body: [1, 1, 0])])
        #expect(try Envelope(decoding: envelope.encoded()[...]) == envelope)
    }

    @Test("The bytes are those of the format, and defaults take none")
    func bytes() {
        let small = Envelope(events: [Event(.zoneSaved, body: [5]), Event(.requestRefused, body: [])])
        #expect(small.encoded() == [1, 0, 2, 24, 1, 5, 0x80, 1, 0])
        let event = Event(.init(rawValue: 300), body: [9, 9])
        let full = Envelope(header: Self.fullHeader, events: [event]).encoded()
        let header: [UInt8] =
            [2, 2, 0xAC, 2] + [4, 1, 7] + [7, 9] + Array("operation".utf8) + [9, 1, 1] + [11, 1, 2]
            + [13, 5] + Array("group".utf8) + [15, 12] + Array("Zoë's group".utf8) + [17, 3, 1, 2, 3] + [19, 1, 1]
            + [21, 2, 0xAC, 2] + [23, 1, 3]
        #expect(full == [1, UInt8(header.count)] + header + [1, 0xAC, 2, 2, 9, 9])
    }

    @Test("Decoding what was encoded and encoding it again gives the same bytes", arguments: seeds(20))
    func canonical(seed: UInt64) throws {
        var sample = SamplePayload(seed: seed, zones: [1, 2, 300])
        let payload = sample.next(events: 1 + Int(seed), bytesPerEvent: 90, header: Self.fullHeader)
        #expect(try Envelope(decoding: payload[...]).encoded() == payload)
    }

    @Test("A payload decodes the same from the middle of other bytes")
    func slices() throws {
        var sample = SamplePayload(seed: 1)
        let payload = sample.next(events: 3)
        let surrounded = [9, 9, 9] + payload + [9]
        let decoded = try Envelope(decoding: surrounded[3..<3 + payload.count])
        #expect(try decoded == Envelope(decoding: payload[...]))
        #expect(decoded.encoded() == payload)
    }

    @Test("An optional field that is not known is skipped")
    func unknownOptionalField() throws {
        let payload: [UInt8] = [1, 9, 2, 1, 5, 31, 1, 0xEE, 201, 1, 0, 1, 24, 1, 5]
        let envelope = try Envelope(decoding: payload[...])
        #expect(envelope.header == EnvelopeHeader(user: 5))
        #expect(envelope.events == [Event(.zoneSaved, body: [5])])
    }

    @Test("A state past the last offset is refused, and a kind of actor that is not known is none")
    func causes() throws {
        func header(_ field: [UInt8]) throws -> EnvelopeHeader {
            try Envelope(decoding: ([1, UInt8(field.count)] + field + [1, 24, 1, 5])[...]).header
        }
        #expect(try header([21, 1, 0]).judgedOn == 0)
        var writer = ByteWriter()
        writer.appendVarint(Version.maximumOffset + 1)
        let tooLate = [21, UInt8(writer.bytes.count)] + writer.bytes
        #expect(thrownError { _ = try header(tooLate) }?.code == .malformed)
        #expect(try header([23, 1, 4]).actorKind == nil && header([23, 2, 0x80, 2]).actorKind == nil)
        #expect(EnvelopeHeader.ActorKind(.service) == .service)
        #expect(EnvelopeHeader.ActorKind(Actor(user: "")) == .signedOut)
        #expect(EnvelopeHeader.ActorKind(Actor(user: "anna")) == .user)
    }

    @Test(
        "Another field that is not known, and another version, are of a newer format",
        arguments: [
            ([1, 3, 20, 1, 0, 1, 24, 1, 5], 2), ([1, 3, 6, 1, 0, 1, 24, 1, 5], 2),
            ([1, 6, 2, 1, 1, 20, 1, 0, 1, 24, 1, 5], 5),
            ([2, 0, 1, 24, 1, 5], 0), ([0, 0, 1, 24, 1, 5], 0), ([255], 0),
        ] as [([UInt8], UInt64)])
    func newerFormat(payload: [UInt8], position: UInt64) {
        let error = thrownError { _ = try Envelope(decoding: payload[...]) }
        #expect(error?.code == .newerFormat)
        #expect(error?.context.position == position)
    }

    @Test("The samples of other tests are as large as they say, in the zones they say")
    func samples() throws {
        var sample = SamplePayload(seed: 5, zones: [1, 2, 300], recordType: 4)
        let payload = sample.next(events: 100, bytesPerEvent: 250)
        let touches = try payload.withUnsafeBytes { try Envelope.touches(of: $0) }
        #expect(Set(touches.map(\.zone)) == [1, 2, 300])
        #expect(touches.count == 100)
        #expect(touches.allSatisfy { $0.type == 4 && $0.kind == .recordSaved })
        #expect(Set(touches.map { Array(payload[$0.key]) }).count == 100)
        #expect(try Envelope(decoding: payload[...]).events.allSatisfy { $0.body.count == 250 })
        var again = SamplePayload(seed: 5, zones: [1, 2, 300], recordType: 4)
        #expect(again.next(events: 100, bytesPerEvent: 250) == payload)
        #expect(again.next(events: 100, bytesPerEvent: 250) != payload)
    }
}
