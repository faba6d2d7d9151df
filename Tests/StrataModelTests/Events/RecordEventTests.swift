import StrataModel
import TestSupport
import Testing

@Suite("Events of records")
struct RecordEventTests {
    private static let key = RecordKey(zone: 2, name: "note-1")
    private static let version = Version(offset: 4, eventIndex: 1)

    static let golden: [(event: RecordSavedEvent, body: String)] = {
        let created = RecordSavedEvent(
            .create, key, type: 1, parent: .set(RecordKey(zone: 2, name: "list")),
            fields: [.init(1, .string("milk")), .init(2, .double(1.5))])
        let updated = RecordSavedEvent(
            .update, key, type: 1, policy: .changedKeys, previous: version, base: version, parent: .removed,
            fields: [.init(1, nil), .init(300, .list(.empty))])
        var full = RecordSavedEvent(
            .touch, key, type: 1, policy: .allKeys, previous: version, base: Version(offset: 3, eventIndex: 0))
        full.isFull = true
        full.original = Version(offset: 5, eventIndex: 0)
        full.modified = -1
        full.modifiedBy = 0
        full.modifiedWith = 3
        full.created = 2
        full.createdBy = 300
        full.share = .set(RecordKey(zone: 2, name: "s"))
        var stated = RecordSavedEvent(.update, key, type: 1)
        stated.isFull = true
        stated.original = version
        stated.eventsSinceFull = 15
        (stated.created, stated.createdBy) = (2, 3)
        return [
            (created, "02 01 06 6e6f74652d31 10 00 07 0e 05 026c697374 02 11 0102 0508 016d696c6b 033ff8"),
            (created.erased, "02 01 06 6e6f74652d31 90 00 00 00"),
            (updated, "02 01 06 6e6f74652d31 25 81808002 02 0e00 02 12 01002c01 0001 40"),
            (
                full,
                """
                02 01 06 6e6f74652d31 5a 81808002 8080c001 28 02 04 8080c002 04 08 ffffffffffffffff 06 01 00 08 01 03
                0a 08 0200000000000000 0c 02 ac02 10 02 0273 00
                """
            ),
            (stated, "02 01 06 6e6f74652d31 11 00 16 02 04 81808002 0a 08 0200000000000000 0c 01 03 12 01 0f 00"),
        ]
    }()

    @Test("Saves have the bytes of the format and come back", arguments: golden.indices)
    func goldenSaves(index: Int) throws {
        let (event, body) = Self.golden[index]
        #expect(hexText(try event.event().body) == body.filter { !$0.isWhitespace })
        #expect(try RecordSavedEvent(decoding: hex(body)[...]) == event)
    }

    @Test("A deletion has the bytes of the format and comes back")
    func deletion() throws {
        let deleted = RecordDeletedEvent(Self.key, type: 1, previous: Self.version, isCascade: true)
        #expect(hexText(try deleted.event().body) == "0201066e6f74652d3181808002" + "03050101")
        #expect(try RecordDeletedEvent(decoding: try deleted.event().body) == deleted)
        let asked = RecordDeletedEvent(Self.key, type: 1, previous: nil)
        #expect(try RecordDeletedEvent(decoding: try asked.event().body) == asked)
    }

    @Test("Saves of every shape come back, encode to the same bytes, and touch what they say")
    func roundTrip() throws {
        try withSeeds(500) { seed in
            var sample = SampleRecords(seed: seed)
            let change = RecordSavedEvent.Change.allCases[sample.generator.next(below: 3)]
            let event = try sample.nextEvent(change, isFull: seed % 3 == 0, previous: sample.nextVersion())
            let body = try event.event().body
            try #require(try RecordSavedEvent(decoding: body) == event)
            let payload = Envelope(events: [Event(.recordSaved, body: body)]).encoded()
            let touch = try payload.withUnsafeBytes { try Envelope.touches(of: $0) }[0]
            try #require(touch.zone == event.record.zone && touch.type == event.type)
            try #require(payload[touch.key].elementsEqual(event.record.name.utf8))
        }
    }

    @Test("What a save begins with is read though its fields are damaged")
    func laziness() throws {
        var body = hex(Self.golden[0].body)
        body[body.count - 3] = 0x3F
        try body.withUnsafeBytes { bytes in
            let view = try RecordSavedView(bytes, in: 0..<bytes.count)
            #expect(view.zone == 2 && view.type == 1 && view.change == .create && view.isFull)
            #expect(bytes[view.name].elementsEqual("note-1".utf8))
            try #expect(view.fields.value(of: 1) == .string("milk"))
            #expect(thrownError { _ = try view.fields.value(of: 2) }?.code == .newerFormat)
            #expect(thrownError { _ = try view.decoded() }?.code == .newerFormat)
        }
    }

    @Test(
        "What the format forbids is refused",
        arguments: [
            ("02 01 01 61", "the flags of a save to be 1 bytes"), ("02 01 01 61 00 00 00 00", "a creation to be full"),
            ("02 01 01 61 31 00 00 00", "the base version to be consistent with the flags"),
            ("02 01 01 61 51 05 05 00 00", "the base version to be consistent with the flags"),
            ("02 01 01 61 51 05 00 00 00", "the base version to be consistent with the flags"),
            ("02 01 01 61 11 05 00 00", "a full save to be complete"),
            ("02 01 01 61 10 00 02 0e 00 00", "a full save to be complete"),
            ("02 01 01 61 10 00 00 01 11 01 00", "a full save to be without removed keys"),
            ("02 01 01 61 10 80 00", "the previous version to be a varint in its shortest form"),
            ("02 01 01 61 10 ffffffffffffffffff01", "the previous version to be at most 9223372036854775807"),
            ("02 01 01 61 10 00 01", "the fields of a save to be 1 bytes"),
            ("02 01 01 61 10 00 03 02 01 00 00", "an original version to be left out when it is 0"),
            ("02 01 01 61 10 00 04 06 02 01 01 00", "the user who modified a record to be the end"),
            ("02 01 01 61 10 00 06 06 01 01 04 01 01 00", "field keys to be ascending"),
            ("02 01 01 61 10 00 04 04 02 01 01 00", "the time of modification to be 8 bytes"),
            ("02 01 01 61 10 00 06 02 01 05 12 01 10 00", "the events since the last full one to be at most 15"),
            ("02 01 01 61 10 00 06 02 01 05 12 01 00 00", "the events since the last full one to be left out"),
            ("02 01 01 61 10 00 03 12 01 01 00", "a save outside a base to be without the events"),
            ("02 01 01 61 90 00 00 01 11 01 02 01 78", "an erased save to be without fields"),
            ("02 01 01 61 90 00 04 0e 02 01 61 00", "an erased save to be without links"),
        ])
    func malformed(body: String, expected: String) {
        let error = thrownError { _ = try RecordSavedEvent(decoding: hex(body)[...]) }
        #expect(error?.code == .malformed)
        #expect(error?.context.expected?.hasPrefix(expected) == true, "\(String(describing: error))")
    }

    @Test("What only a later version can mean is an error of its own; its optional fields are skipped")
    func newer() throws {
        for flags in ["13", "1c", "70", "f0"] {
            #expect(
                thrownError { _ = try RecordSavedEvent(decoding: hex("02 01 01 61 \(flags) 00 00 00")[...]) }?.code
                    == .newerFormat)
        }
        let mandatory = hex("02 01 01 61 10 00 03 28 01 07 00")
        #expect(thrownError { _ = try RecordSavedEvent(decoding: mandatory[...]) }?.code == .newerFormat)
        let optional = hex("02 01 01 61 10 00 03 29 01 07 00")
        #expect(
            try RecordSavedEvent(decoding: optional[...])
                == RecordSavedEvent(.create, RecordKey(zone: 2, name: "a"), type: 1))
    }

    @Test("What cannot be written is refused")
    func unwritable() {
        let code = { (event: RecordSavedEvent) in thrownError { _ = try event.event() }?.code }
        var event = RecordSavedEvent(.create, Self.key, type: 1)
        event.isFull = false
        #expect(code(event) == .invalidArgument)
        event = RecordSavedEvent(.update, Self.key, type: 1)
        event.eventsSinceFull = 1
        #expect(code(event) == .tooLarge)
        event.original = Self.version
        #expect(code(event) == nil)
        event.eventsSinceFull = 16
        #expect(code(event) == .tooLarge)
        event = RecordSavedEvent(.update, Self.key, type: 1)
        event.isFull = true
        #expect(code(event) == .invalidArgument)
        #expect(code(RecordSavedEvent(.create, Self.key, type: 1, parent: .removed)) == .invalidArgument)
        #expect(code(RecordSavedEvent(.create, Self.key, type: 1, fields: [.init(1, nil)])) == .invalidArgument)
        #expect(code(RecordSavedEvent(.update, Self.key, type: 1, fields: [.init(0, nil)])) == .invalidArgument)
    }

    @Test("A record's name has 4,096 bytes at most, a parent's too")
    func nameLimits() {
        for (count, expected) in [(4_096, nil), (4_097, .tooLarge)] as [(Int, StrataError.Code?)] {
            let key = RecordKey(zone: 1, name: String(repeating: "n", count: count))
            let saved = thrownError { _ = try RecordSavedEvent(.create, key, type: 1).event() }
            let parent = thrownError {
                _ = try RecordSavedEvent(.create, Self.key, type: 1, parent: .set(key)).event()
            }
            let deleted = thrownError { _ = try RecordDeletedEvent(key, type: 1, previous: nil).event() }
            #expect(saved?.code == expected && parent?.code == expected && deleted?.code == expected)
        }
        let long = String(repeating: "6e", count: 4_097)
        for body in ["01 01 8120 \(long) 10 00 00 00", "01 01 01 61 10 00 8520 0e 8220 01 \(long) 00"] {
            #expect(thrownError { _ = try RecordSavedEvent(decoding: hex(body)[...]) }?.code == .malformed)
        }
    }

    @Test("Each event of a record begins alike, and other events are none of a record")
    func beginning() throws {
        let events: [(any EventBody, changes: Bool)] = [
            (RecordSavedEvent(.create, Self.key, type: 7), true),
            (RecordDeletedEvent(Self.key, type: 7, previous: Self.version), true),
            (RecordErasedEvent(Self.key, type: 7, previous: Self.version), true),
            (RecordErasedEvent(Self.key, type: 7, previous: nil), false),
        ]
        for (body, changes) in events {
            let event = try body.event()
            try event.body.withUnsafeBytes { bytes in
                let found = try #require(try RecordEvent(event.kind, 0..<bytes.count, of: bytes))
                #expect(found.zone == 2 && found.type == 7)
                #expect(try found.key == Self.key && found.name == "note-1")
                #expect(try found.changesRecord == changes)
                #expect(event.kind.isOfRecord && event.kind.isOfZone)
            }
        }
        let none = try ([2, 1, 1, 0x61] as [UInt8]).withUnsafeBytes { try RecordEvent(.clientTokenKept, 0..<4, of: $0) }
        #expect(none.map(\.zone) == nil)
        #expect(EventKind.zoneDeleted.isOfZone && !EventKind.zoneDeleted.isOfRecord)
        #expect(!EventKind.clientTokenKept.isOfZone)
    }

    @Test("A name that is not UTF-8 can be compared as bytes, and is an error as text")
    func badName() throws {
        try ([2, 1, 2, 0xC3, 0x28, 0] as [UInt8]).withUnsafeBytes { bytes in
            let event = try RecordEvent(.recordDeleted, bytes)
            #expect(Array(event.nameBytes) == [0xC3, 0x28])
            let error = #expect(throws: StrataError.self) { try event.requireText() }
            #expect(error?.code == .malformed && "\(error as Any)".contains("a record name"))
            #expect(throws: StrataError.self) { _ = try event.key }
        }
        let error = #expect(throws: StrataError.self) {
            try ([2, 1] as [UInt8]).withUnsafeBytes { _ = try RecordEvent(.recordSaved, $0) }
        }
        #expect("\(error as Any)".contains("a record name"))
    }
}
