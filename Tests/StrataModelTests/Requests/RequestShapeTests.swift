import TestSupport
import Testing

@testable import StrataModel

@Suite("Shapes of requests")
struct RequestShapeTests {
    private static func sample() throws -> RequestShape {
        var names = RequestNames()
        let zone = names.ordinal(of: ZoneID("Notes", owner: "anna"))
        let type = names.ordinal(ofType: "Note")
        let key = names.ordinal(ofKey: "title")
        var body = ModifyRecordsRequest(policy: .allKeys)
        body.saves = [
            .init(
                RecordKey(zone: zone, name: "a"), type: type, base: Version(offset: 3, eventIndex: 4),
                parent: .set(RecordKey(zone: zone, name: "p")), share: .removed,
                fields: [FieldChange(key, .string("text"))]),
            .init(RecordKey(zone: zone, name: "b"), type: type, fields: [FieldChange(key, nil)]),
        ]
        body.deletes = [RecordKey(zone: zone, name: "c"), RecordKey(zone: zone, name: "d")]
        var shape = RequestShape(
            .modifyRecords, policy: .allKeys, isAtomic: true, firstItemEvent: 7, saveCount: 300, deleteCount: 2)
        shape.leaveOut(
            [
                .init(
                    .saves, index: 0,
                    refusal: Refusal(
                        .serverRecordChanged, "client oplock error", serverVersion: Version(offset: 5, eventIndex: 6))),
                .init(.saves, index: 299, refusal: Refusal(.zoneNotFound, "gone", didResetEncryptedData: true)),
                .init(.deletes, index: 0, refusal: Refusal(.init(rawValue: 4_711), "")),
                .init(.deletes, index: 1),
            ], request: Request(database: DatabaseID(.private, owner: "anna"), names: names, .modifyRecords(body)))
        return shape
    }

    @Test("A shape comes back as it was")
    func roundTrip() throws {
        let full = try Self.sample()
        #expect(try RequestShape(decoding: try full.encoded()[...]) == full)
        for kind in RequestShape.Kind.allCases {
            for policy in SavePolicy.allCases {
                for isAtomic in [false, true] {
                    let shape = RequestShape(
                        kind, policy: policy, isAtomic: isAtomic, firstItemEvent: 1 << 20, saveCount: 1 << 20,
                        deleteCount: 0)
                    #expect(try RequestShape(decoding: try shape.encoded()[...]) == shape)
                }
            }
        }
    }

    @Test("A zone that needed no save keeps its version")
    func zones() throws {
        var names = RequestNames()
        let zone = names.ordinal(of: ZoneID("Notes"))
        var shape = RequestShape(.modifyZones, firstItemEvent: 0, saveCount: 1, deleteCount: 0)
        shape.leaveOut(
            [.init(.saves, index: 0, version: Version(offset: 2, eventIndex: 1))],
            request: Request(
                database: DatabaseID(.private), names: names,
                .modifyZones(ModifyZonesRequest(saves: [.init(zone, encryptionScope: .zone)]))))
        #expect(try RequestShape(decoding: try shape.encoded()[...]) == shape)
    }

    /// A request to join shares with a length.
    private static func joining(bytes: Int) throws -> Request {
        var tokens = Array(repeating: String(repeating: "t", count: 64), count: bytes / 65 - 1)
        func request() -> Request {
            Request(database: DatabaseID(.shared), .joinShares(.init(.accept, tokens: tokens)))
        }
        while true {
            let left = try bytes - request().encoded().count
            if left == 0 { return request() }
            tokens.append(String(repeating: "t", count: min(left, 65) - 1))
        }
    }

    @Test("A whole request is kept up to 256 KiB, and beyond that its length", arguments: [-1, 0, 1])
    func whole(more: Int) throws {
        let bytes = KeptRequest.maximumBytes + more
        let request = try Self.joining(bytes: bytes)
        var shape = RequestShape(.joinShares, firstItemEvent: 3, saveCount: 2, deleteCount: 0)
        try shape.keep(request, leavingOut: [.init(.saves, index: 1, version: Version(offset: 2, eventIndex: 1))])
        let encoded = try shape.encoded()
        let decoded = try RequestShape(decoding: encoded[...])
        #expect(decoded == shape && decoded.leftOut.count == 1)
        #expect(decoded.wholeRequest == (more > 0 ? nil : request))
        #expect(decoded.bytesNotKept == (more > 0 ? bytes : nil))
        #expect(more > 0 ? encoded.count < 40 : encoded.count > bytes)
        for length in stride(from: 0, to: min(encoded.count, 60), by: 1) {
            #expect(thrownError { _ = try RequestShape(decoding: encoded[..<length]) } != nil, "cut to \(length) bytes")
        }
    }

    @Test("Without that mark only a request to join shares is whole")
    func before() throws {
        let item = RequestShape.LeftOut(.saves, index: 0)
        let request = try Self.joining(bytes: 300)
        for kind in [RequestShape.Kind.joinShares, .modifyZones] {
            var shape = RequestShape(kind, firstItemEvent: 0, saveCount: 1, deleteCount: 0)
            shape.leaveOut([item], request: request)
            let decoded = try RequestShape(decoding: try shape.encoded()[...])
            #expect(decoded.request == request && decoded.bytesNotKept == nil)
            #expect(decoded.wholeRequest == (kind == .joinShares ? request : nil))
        }
    }

    @Test("Nothing that was left out is nothing")
    func nothingLeftOut() throws {
        var shape = RequestShape(.modifyRecords, firstItemEvent: 0, saveCount: 1, deleteCount: 0)
        let plain = try shape.encoded()
        shape.leaveOut([], request: Request(database: DatabaseID(.private), .modifyRecords(ModifyRecordsRequest())))
        #expect(try shape.request == nil && shape.encoded() == plain)
    }

    @Test("Every shape that ends too early is refused, and bytes behind its end")
    func truncations() throws {
        let bytes = try Self.sample().encoded()
        for length in 0..<bytes.count {
            let prefix = Array(bytes[..<length])
            #expect(thrownError { _ = try RequestShape(decoding: prefix[...]) } != nil, "cut to \(length) bytes")
        }
        let plain = try RequestShape(.modifyZones, firstItemEvent: 1, saveCount: 1, deleteCount: 0).encoded()
        #expect(thrownError { _ = try RequestShape(decoding: (plain + [0])[...]) } != nil)
    }

    @Test("Every changed byte is refused with an error of the engine, or gives a shape that can be written")
    func changedBytes() throws {
        let bytes = try Self.sample().encoded()
        var (refused, read) = (0, 0)
        for index in bytes.indices {
            for change in [1, 2, 4, 8, 16, 32, 64, 128, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[index] ^= change
                do {
                    let shape = try RequestShape(decoding: damaged[...])
                    #expect(try RequestShape(decoding: try shape.encoded()[...]) == shape, "byte \(index) ^ \(change)")
                    read += 1
                } catch is StrataError { refused += 1 }
            }
        }
        #expect(refused > 0 && read > 0)
    }

    @Test("A name that a table has twice is refused", arguments: 0..<3)
    func doubleNames(table: Int) throws {
        func encoded(_ second: String) throws -> [UInt8] {
            var names = RequestNames()
            for name in ["first", second] {
                switch table {
                case 0: _ = names.ordinal(of: ZoneID(name))
                case 1: _ = names.ordinal(ofType: name)
                default: _ = names.ordinal(ofKey: name)
                }
            }
            let body = ModifyZonesRequest()
            return try Request(database: DatabaseID(.private), names: names, .modifyZones(body)).encoded()
        }
        var bytes = try encoded("other")
        #expect(try Request(decoding: bytes[...]).names == Request(decoding: bytes[...]).names)
        let place = try #require((0..<bytes.count - 4).first { Array(bytes[$0..<$0 + 5]) == Array("other".utf8) })
        bytes.replaceSubrange(place..<place + 5, with: "first".utf8)
        #expect(thrownError { _ = try Request(decoding: bytes[...]) }?.code == .malformed)
    }

    @Test("Noise is refused with an error of the engine, or gives a shape")
    func noise() throws {
        let start = try Self.sample().encoded()
        try withSeeds(5_000) { seed in
            var generator = SeededGenerator(seed: seed)
            let kept = generator.next(below: start.count)
            let noise = start[..<kept] + generator.nextBytes(generator.next(below: 60))
            do { _ = try RequestShape(decoding: Array(noise)[...]) } catch is StrataError {}
        }
    }

    @Test(
        "What the format forbids is refused",
        arguments: [
            ([2, 1, 0, 0, 0, 0, 0], StrataError.Code.newerFormat), ([1, 8, 0, 0, 0, 0, 0], .newerFormat),
            ([1, 0, 0, 0, 0, 0, 0], .newerFormat), ([1, 1, 16, 0, 0, 0, 0], .newerFormat),
            ([1, 1, 32, 0, 0, 0, 0], .newerFormat), ([1, 2, 48, 0, 0, 0, 0], .newerFormat),
            ([1, 1, 3, 0, 0, 0, 0], .newerFormat), ([1, 1, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0], .malformed),
            ([1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0], .newerFormat),
        ] as [([UInt8], StrataError.Code)])
    func forbidden(bytes: [UInt8], code: StrataError.Code) {
        #expect(thrownError { _ = try RequestShape(decoding: bytes[...]) }?.code == code)
    }
}
