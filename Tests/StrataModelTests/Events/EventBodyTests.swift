import StrataModel
import TestSupport
import Testing

@Suite("Bodies of events, and requests")
struct EventBodyTests {
    private static func isSame<Body: EventBody>(_ body: Body, _ other: any EventBody) -> Bool {
        other as? Body == body
    }

    private static func decode(_ kind: EventKind, _ bytes: [UInt8]) throws -> (any EventBody)? {
        try kind.body?.init(decoding: bytes[...])
    }

    @Test("Bodies have the bytes of the format and come back", arguments: EventSamples.all.indices)
    func goldenBodies(index: Int) throws {
        let (body, bytes) = EventSamples.all[index]
        let kind = type(of: body).kind
        #expect(hexText(try body.event().body) == bytes.filter { !$0.isWhitespace }, "\(kind)")
        let decoded = try #require(try Self.decode(kind, hex(bytes)))
        let isSame = Self.isSame(body, decoded)
        #expect(isSame, "\(kind)")
    }

    @Test("Requests have the bytes of the format and come back", arguments: EventSamples.requests.indices)
    func goldenRequests(index: Int) throws {
        let (request, bytes) = EventSamples.requests[index]
        #expect(hexText(try request.encoded()) == bytes.filter { !$0.isWhitespace })
        #expect(try Request(decoding: hex(bytes)[...]) == request)
    }

    @Test("Every kind that the format describes has a body, and reserved ones have none")
    func kinds() throws {
        let sampled = Set(EventSamples.all.map { type(of: $0.body).kind.rawValue })
        let described = try FormatPage().table(0, ofSection: 7).filter { $0[2].contains("§18") }
        #expect(Set(described.compactMap { UInt64($0[0]) }) == sampled)
        for (kind, _) in EventKind.known { #expect((kind.body != nil) == sampled.contains(kind.rawValue), "\(kind)") }
    }

    @Test("Every prefix, every byte more and every changed byte gives a body or an error")
    func damage() throws {
        var refused = 0
        for (body, bytes) in EventSamples.all {
            let (kind, bytes) = (type(of: body).kind, hex(bytes))
            // A subscription goes on to the end, so that a shorter one may be whole.
            let mayBeCut = kind == .subscriptionSaved
            for count in 0..<bytes.count {
                let error = thrownError { _ = try Self.decode(kind, Array(bytes[..<count])) }
                #expect(error != nil || mayBeCut, "\(kind) cut to \(count)")
            }
            #expect(thrownError { _ = try Self.decode(kind, bytes + [0]) } != nil, "\(kind)")
            for damaged in Self.changed(bytes) {
                do { try Self.checkAgain(kind, damaged) } catch is StrataError { refused += 1 }
            }
        }
        for (_, bytes) in EventSamples.requests {
            let bytes = hex(bytes)
            for count in 0..<bytes.count - 3 {
                #expect(thrownError { _ = try Request(decoding: bytes[..<count]) } != nil, "cut to \(count)")
            }
            for damaged in Self.changed(bytes) {
                do {
                    let again = try Request(decoding: damaged[...]).encoded()
                    #expect(again == damaged || again.count < damaged.count)
                } catch is StrataError { refused += 1 }
            }
        }
        #expect(refused > 1_000)
    }

    private static func changed(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.indices.flatMap { index in
            ([1, 2, 4, 8, 16, 32, 64, 128, 255] as [UInt8]).map { change in
                var damaged = bytes
                damaged[index] ^= change
                return damaged
            }
        }
    }

    /// What decodes encodes to the same bytes, but for optional fields of later versions, which are left out.
    private static func checkAgain(_ kind: EventKind, _ bytes: [UInt8]) throws {
        guard let body = try decode(kind, bytes) else { return }
        let again = Array(try body.event().body)
        #expect(again == bytes || again.count < bytes.count, "\(kind): \(hexText(bytes))")
    }

    @Test("Noise gives a body or an error")
    func noise() throws {
        let kinds = EventSamples.all.map { type(of: $0.body).kind }
        try withSeeds(3_000) { seed in
            var generator = SeededGenerator(seed: seed)
            let noise = generator.nextBytes(generator.next(below: 60)).map { $0 & (seed % 2 == 0 ? 0x0F : 0xFF) }
            for kind in kinds { do { try Self.checkAgain(kind, noise) } catch is StrataError {} }
            do { _ = try Request(decoding: noise[...]) } catch is StrataError {}
        }
    }

    @Test("Optional fields of later versions are skipped, mandatory ones an error")
    func laterFields() throws {
        for (body, bytes) in EventSamples.all where bytes.hasSuffix(" 00") && !(body is RecordSavedEvent) {
            let (kind, start) = (type(of: body).kind, hex(bytes).dropLast())
            let decoded = try #require(try Self.decode(kind, start + [4, 0xC9, 1, 1, 7]))
            let isSame = Self.isSame(body, decoded)
            #expect(isSame, "\(kind)")
            let error = thrownError { _ = try Self.decode(kind, start + [4, 0xC8, 1, 1, 7]) }
            #expect(error?.code == .newerFormat, "\(kind)")
        }
    }

    @Test(
        "What the format forbids, and what only a later version can mean, is refused",
        arguments: [
            (.zoneDeleted, "05 03 00 00 00", .newerFormat), (.zoneDeleted, "05 03 00 04 00", .newerFormat),
            (.zoneSaved, "05 03 00 00 03 040102", .malformed), (.zoneSaved, "05 03 00 00 03 040100", .malformed),
            (.userChanged, "01 03 040105", .newerFormat), (.userChanged, "01 03 060100", .malformed),
            (.recordDeleted, "02 01 01 6e 00 03 050100", .malformed), (.schemaChanged, "02 01 00 01 00 00", .malformed),
            (.schemaChanged, "02 01 01 09 00 00", .newerFormat), (.schemaChanged, "02 01 01 40 00 00", .newerFormat),
            (.schemaChanged, "02 808004", .malformed), (.subscriptionSaved, "03 01 01 73 04", .newerFormat),
            (.subscriptionSaved, "03 01 01 73 01 0800", .malformed), (.requestRefused, "02 02 0b00", .malformed),
            (.requestRefused, "02 06 0b04 02000000", .malformed), (.baseMarker, "8080808080808002", .malformed),
        ] as [(EventKind, String, StrataError.Code)])
    func refusals(kind: EventKind, bytes: String, code: StrataError.Code) {
        #expect(thrownError { _ = try Self.decode(kind, hex(bytes)) }?.code == code)
    }

    @Test("A refusal keeps a request of 256 KiB, and of a larger one the length")
    func keptRequest() throws {
        let most = [UInt8](repeating: 1, count: 256 << 10)
        let kept = RequestRefusedEvent(code: 27, request: most)
        #expect(kept.request == most && kept.kept.byteCount == 0)
        #expect(try RequestRefusedEvent(decoding: try kept.event().body) == kept)
        let dropped = RequestRefusedEvent(code: 27, request: most + [1])
        #expect(dropped.request == nil && dropped.kept.byteCount == 262_145)
        #expect(try RequestRefusedEvent(decoding: try dropped.event().body) == dropped)
        let body = [2, 0x84, 0x80, 0x10, 7] + [0x81, 0x80, 0x10] + most + [1]
        #expect(thrownError { _ = try RequestRefusedEvent(decoding: body[...]) }?.code == .malformed)
    }

    @Test("Limits, on both sides: tokens, texts, names, declared fields")
    func limits() throws {
        func isRefused(_ body: some EventBody) -> Bool {
            thrownError { _ = try Self.decode(type(of: body).kind, Array(try body.event().body)) }?.code
                == .tooLarge
        }
        for (extra, refused) in [(0, false), (1, true)] {
            let text = String(repeating: "t", count: 65_536 + extra)
            let name = String(repeating: "n", count: 4_096 + extra)
            var info = NotificationInfo()
            info.title = text
            let fields = (0..<65_535 + extra).map { SchemaField(UInt32($0) + 1, .string) }
            #expect(isRefused(ClientTokenEvent(zone: 1, device: 1, token: Array(text.utf8))) == refused)
            #expect(isRefused(RequestRefusedEvent(code: 1, message: text)) == refused)
            let predicate = Subscription("s", .query, predicate: text)
            #expect(isRefused(SubscriptionSavedEvent(database: 1, user: 1, predicate)) == refused)
            let notification = Subscription("s", .query, notification: info)
            #expect(isRefused(SubscriptionSavedEvent(database: 1, user: 1, notification)) == refused)
            #expect(isRefused(SubscriptionDeletedEvent(database: 1, user: 1, id: name)) == refused)
            #expect(isRefused(SchemaChangedEvent(type: 1, fields: fields)) == refused)
            var names = RequestNames()
            _ = names.ordinal(ofKey: name)
            let request = Request(database: .init(.private), names: names, .modifyRecords(.init(clientToken: nil)))
            #expect((thrownError { _ = try Request(decoding: try request.encoded()[...]) } != nil) == refused)
        }
        let many = Request(
            database: .init(.private),
            .modifyZones(.init(deletes: [UInt64](repeating: 1, count: Int(Request.maximumCount)))))
        #expect(try Request(decoding: try many.encoded()[...]) == many)
        guard case .modifyZones(var zones) = many.content else { return }
        zones.deletes.append(1)
        let more = Request(database: .init(.private), .modifyZones(zones))
        #expect(thrownError { _ = try more.encoded() }?.code == .tooLarge)
    }

    @Test("Offsets, on both sides of their limit")
    func offsets() throws {
        for (offset, isFine) in [(Version.maximumOffset, true), (Version.maximumOffset + 1, false)] {
            let horizon = Position(offset: offset, chain: 0)
            let base = BaseMarkerEvent(horizon: horizon, stateDigest: 0, contentDigest: 0)
            let expiry = TokensExpiredEvent(offset: offset)
            let expected: StrataError.Code? = isFine ? nil : .outOfRange
            #expect(thrownError { _ = try BaseMarkerEvent(decoding: try base.event().body) }?.code == expected)
            #expect(thrownError { _ = try TokensExpiredEvent(decoding: try expiry.event().body) }?.code == expected)
        }
    }

    @Test("Names of a decoded request are found again")
    func decodedNames() throws {
        let request = EventSamples.requests[0].request
        var decoded = try Request(decoding: try request.encoded()[...])
        #expect(decoded.names.ordinal(ofKey: "title") == 1 && decoded.names.ordinal(ofKey: "done") == 2)
        #expect(decoded.names.ordinal(ofType: "Note") == 1)
        #expect(decoded.names.ordinal(of: ZoneID("Notes", owner: "anna")) == 1)
    }

    @Test("Names of a request have ordinals from 1, the same for the same bytes")
    func requestNames() {
        var names = RequestNames()
        #expect(names.ordinal(of: ZoneID("a")) == 1 && names.ordinal(of: ZoneID("b")) == 2)
        #expect(names.ordinal(of: ZoneID("a")) == 1 && names.zone(2) == ZoneID("b") && names.zone(3) == nil)
        #expect(names.ordinal(ofType: "\u{EB}") == 1 && names.ordinal(ofType: "e\u{308}") == 2)
        #expect(names.recordType(1) == "\u{EB}" && names.recordType(0) == nil)
        #expect(names.ordinal(ofKey: "k") == 1 && names.key(1) == "k" && names.key(2) == nil)
    }
}
