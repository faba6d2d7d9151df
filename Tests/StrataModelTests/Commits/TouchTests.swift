import StrataModel
import Testing

@Suite("Touches")
struct TouchTests {
    private func touches(_ events: [Event]) throws -> (touches: [Touch], payload: [UInt8]) {
        let payload = Envelope(header: .init(user: 9), events: events).encoded()
        return (try payload.withUnsafeBytes { try Envelope.touches(of: $0) }, payload)
    }

    private func recordBody(zone: UInt64, type: UInt64, _ name: String, rest: [UInt8] = []) -> ArraySlice<UInt8> {
        var writer = ByteWriter()
        writer.appendVarint(zone)
        writer.appendVarint(type)
        writer.appendString(name)
        writer.append(bytes: rest)
        return writer.bytes[...]
    }

    @Test("Events of records and zones touch; others do not, but count")
    func kinds() throws {
        let (touches, payload) = try touches([
            Event(.recordSaved, body: recordBody(zone: 1, type: 2, "first", rest: [1, 2, 3])),
            Event(.nameInterned, body: [1, 1, 0]),
            Event(.recordDeleted, body: recordBody(zone: 300, type: 4, "second")),
            Event(.init(rawValue: 500), body: []),
            Event(.recordErased, body: recordBody(zone: 1, type: 0, "")),
            Event(.zoneSaved, body: [7, 0xFF]),
            Event(.requestRefused, body: [1]),
            Event(.zoneDeleted, body: [8]),
        ])
        #expect(touches.map(\.zone) == [1, 300, 1, 7, 8])
        #expect(touches.map(\.eventIndex) == [0, 2, 4, 5, 7])
        #expect(touches.map(\.kind) == [.recordSaved, .recordDeleted, .recordDeleted, .zoneSaved, .zoneDeleted])
        #expect(touches.map(\.type) == [2, 4, 0, 0, 0])
        let names = touches.map { String(decoding: payload[$0.key], as: UTF8.self) }
        #expect(names == ["first", "second", "", "", ""])
    }

    @Test(
        "A record event that does not begin as it must is refused, at its place in the payload",
        arguments: [
            ([], 0), ([1], 1), ([1, 2], 2), ([1, 2, 3, 0x61], 3), ([1, 0x80, 0x00, 0], 1),
            ([1, 2, 0x81, 0x20, 0x61], 2),
        ] as [(ArraySlice<UInt8>, UInt64)])
    func malformed(body: ArraySlice<UInt8>, place: UInt64) {
        for kind in [EventKind.recordSaved, .recordDeleted, .recordErased] {
            // Before the body: version, length of the header, a field of three, the count, the event's kind and length.
            let error = thrownError { _ = try touches([Event(kind, body: body)]) }
            #expect(error?.code == .malformed)
            #expect(error?.context.position == 8 + place)
        }
    }

    @Test("A zone event without its zone is refused")
    func zoneWithoutOrdinal() {
        for kind in [EventKind.zoneSaved, .zoneDeleted] {
            #expect(thrownError { _ = try touches([Event(kind, body: [])]) }?.code == .malformed)
        }
    }

    @Test("A record name has 4,096 bytes at most")
    func nameLimit() throws {
        let longest = String(repeating: "n", count: 4_096)
        #expect(
            try touches([Event(.recordSaved, body: recordBody(zone: 1, type: 1, longest))]).touches[0].key.count
                == 4_096)
        let tooLong = Event(.recordSaved, body: recordBody(zone: 1, type: 1, longest + "n"))
        #expect(thrownError { _ = try touches([tooLong]) }?.code == .malformed)
    }
}
