import StrataModel
import TestSupport
import Testing

@Suite("Field values")
struct FieldValueTests {
    private static let nonce = [UInt8](1...24)
    private static let hash = ContentHash(
        first: 0x0F0E_0D0C_0B0A_0908_0706_0504_0302_0100, second: 0x1F1E_1D1C_1B1A_1918_1716_1514_1312_1110)

    /// The encodings that must never change.
    static let golden: [(value: FieldValue, bytes: String)] = [
        (.string(""), "01"), (.string("aë"), "01 61c3ab"), (.int64(0), "02 00"), (.int64(-1), "02 01"),
        (.int64(64), "02 8001"), (.int64(.max), "02 feffffffffffffffff01"), (.int64(.min), "02 ffffffffffffffffff01"),
        (.double(0), "03"), (.double(1), "03 3ff0"), (.double(-0.0), "03 80"), (.double(0.1), "03 3fb999999999999a"),
        (.double(.init(bitPattern: 0x7FF0_0000_0000_0001)), "03 7ff0000000000001"), (.date(-2), "04 c0"),
        (.data([]), "05"), (.data([0, 255]), "05 00ff"),
        (
            .location(.init(latitude: 1, longitude: -2)), "06 000000000000f03f 00000000000000c0 00"
        ),
        (
            .location(
                .init(
                    latitude: 0, longitude: 0, altitude: 1, horizontalAccuracy: 1, verticalAccuracy: 0, course: 0,
                    speed: 0, timestamp: 1)),
            """
            06 0000000000000000 0000000000000000 3f 000000000000f03f 000000000000f03f 0000000000000000
            0000000000000000 0000000000000000 000000000000f03f
            """
        ),
        (.reference(.init(RecordKey(zone: 300, name: "n"))), "07 00 ac02 6e"),
        (.reference(.init(RecordKey(zone: 1, name: ""), action: .deleteSelf)), "07 01 01"),
        (
            .asset(.init(hash: hash, size: 300)),
            "08 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f ac02"
        ),
        (.list(.empty), "40"),
        (
            .sealed(.init(keyID: 2, nonce: nonce, ciphertext: [9, 8])),
            "81 02 0102030405060708090a0b0c0d0e0f101112131415161718 0908"
        ),
    ]

    @Test("Values have the bytes of the format and come back", arguments: golden.indices)
    func goldenValues(index: Int) throws {
        let (value, bytes) = Self.golden[index]
        #expect(hexText(try value.encoded()) == bytes.filter { !$0.isWhitespace })
        #expect(try FieldValue(decoding: hex(bytes)[...]) == value)
        #expect(value.kind.rawValue == hex(bytes)[0])
    }

    @Test("Lists of every kind have the bytes of the format and come back")
    func lists() throws {
        let list = FieldValue.list(try FieldList([.int64(1), .int64(-70)]))
        #expect(hexText(try list.encoded()) == "42" + "02" + "0102" + "028b01")
        for value in Self.golden.map(\.value) where !value.kind.isList && !value.kind.isSealed {
            let list = FieldValue.list(try FieldList([value, value]))
            #expect(try FieldValue(decoding: try list.encoded()[...]) == list)
            #expect(list.kind == value.kind.list && list.kind.element == value.kind)
        }
    }

    @Test("A list has one kind of elements, none of them a list or encrypted")
    func mixedLists() throws {
        let sealed = FieldValue.sealed(.init(keyID: 1, nonce: Self.nonce, ciphertext: []))
        for elements in [[.int64(1), .double(1)], [.list(.empty)], [sealed], [.string(""), sealed]] as [[FieldValue]] {
            #expect(thrownError { _ = try FieldList(elements) }?.code == .invalidArgument)
        }
    }

    @Test("Same value, same bytes, and the other way round; NaN, −0 and look-alikes included")
    func equality() throws {
        #expect(FieldValue.double(.nan) == .double(.nan))
        #expect(FieldValue.double(.nan) != .double(.init(nan: 5, signaling: false)))
        #expect(FieldValue.double(0) != .double(-0.0))
        #expect(FieldValue.double(1) != .date(1))
        #expect(FieldValue.string("\u{EB}") != .string("e\u{308}"))
        #expect(RecordKey(zone: 1, name: "\u{EB}") != RecordKey(zone: 1, name: "e\u{308}"))
        #expect(ZoneID("\u{EB}") != ZoneID("e\u{308}") && DatabaseID(.public) != DatabaseID(.private))
        #expect(RecordID("\u{EB}", zone: ZoneID("z")) != RecordID("e\u{308}", zone: ZoneID("z")))
        try withSeeds(300) { seed in
            var sample = SampleRecords(seed: seed)
            let (left, right) = (try sample.nextValue(), try sample.nextValue())
            let bytes = try left.encoded()
            let again = try FieldValue(decoding: bytes[...])
            try #require(again == left && again.hashValue == left.hashValue)
            try #require(try again.encoded() == bytes)
            try #require((left == right) == (try right.encoded() == bytes))
            if left == right { try #require(Set([left, right]).count == 1) }
        }
    }

    @Test(
        "What the format forbids is refused",
        arguments: [
            ("", "the kind of a value to be 1 bytes"), ("01 ff", "a string to be valid UTF-8"),
            ("02", "a number to be 1 bytes"), ("02 0000", "a value to be the end"),
            ("02 8000", "a number to be a varint in its shortest form of at most 10 bytes"),
            ("03 3f00", "a double to be without zero bytes at the end"),
            ("03 010101010101010101", "a double to be at most 8 bytes"), ("04 00", "a date to be without zero bytes"),
            ("06 0000000000000000 0000000000000000", "the parts of a location to be 1 bytes"),
            ("06 0000000000000000 0000000000000000 01 0000000000000000", "a number of a location to be left out"),
            ("06 0000000000000000 0000000000000000 00 00", "a value to be the end"),
            ("07 00", "a reference's zone to be 1 bytes"), ("07 00 01 ff", "a reference's name to be valid UTF-8"),
            ("08 00", "an asset's hash to be 16 bytes"), ("40 00", "an empty list to be the end"),
            ("42 00", "the number of elements to be at least 1"), ("42 01 02 00", "an element to be 2 bytes"),
            ("42 01 01 00 00", "a list to be the end"), ("81 01 00", "a nonce to be 24 bytes"),
        ])
    func malformed(bytes: String, expected: String) {
        let error = thrownError { _ = try FieldValue(decoding: hex(bytes)[...]) }
        #expect(error?.code == .malformed)
        #expect(error?.context.expected?.hasPrefix(expected) == true, "\(String(describing: error))")
        #expect(error?.context.position != nil)
    }

    @Test(
        "What only a later version can mean is an error of its own",
        arguments: [
            "00", "09", "3f 01", "49 01 00", "7f", "80", "82", "c1", "07 03 01 61",
            "06 0000000000000000 0000000000000000 40",
            "08 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 01 02 00",
        ])
    func newer(bytes: String) {
        #expect(thrownError { _ = try FieldValue(decoding: hex(bytes)[...]) }?.code == .newerFormat)
    }

    @Test("A loose reference has an action of its own, and equals one that is not")
    func looseReference() throws {
        var reference = FieldValue.Reference(RecordKey(zone: 1, name: "a"), action: .deleteSelf)
        reference.isLoose = true
        #expect(try hexText(FieldValue.reference(reference).encoded()) == "07020161")
        guard case .reference(let decoded) = try FieldValue(decoding: hex("07 02 01 61")[...]) else {
            Issue.record("not a reference")
            return
        }
        #expect(decoded.isLoose && decoded == FieldValue.Reference(reference.target, action: .deleteSelf))
        // Only an owning reference can be loose.
        reference.action = .none
        #expect(try hexText(FieldValue.reference(reference).encoded()) == "07000161")
    }

    @Test("An asset's optional fields of later versions are skipped")
    func optionalAssetField() throws {
        let asset = "08 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f ac02"
        #expect(
            try FieldValue(decoding: hex(asset + "03 01 07")[...]) == .asset(.init(hash: Self.hash, size: 300)))
    }

    @Test("Limits, on both sides: a value's bytes, a list's count, a reference's name, a nonce")
    func limits() throws {
        let most = FieldValue.data([UInt8](repeating: 0, count: FieldValue.maximumBytes - 1))
        var bytes = try most.encoded()
        #expect(try FieldValue(decoding: bytes[...]) == most)
        bytes.append(0)
        #expect(thrownError { _ = try FieldValue(decoding: bytes[...]) }?.code == .malformed)
        let more = FieldValue.data([UInt8](repeating: 0, count: FieldValue.maximumBytes))
        #expect(thrownError { _ = try more.encoded() }?.code == .tooLarge)

        let elements = [FieldValue](repeating: .double(0), count: FieldList.maximumCount)
        var list = try FieldValue.list(try FieldList(elements)).encoded()
        #expect(try FieldValue(decoding: list[...]).kind == FieldKind.double.list)
        list[1] = 0x81
        #expect(thrownError { _ = try FieldValue(decoding: (list + [0])[...]) }?.code == .malformed)
        #expect(thrownError { _ = try FieldList(elements + [.double(0)]) }?.code == .tooLarge)

        for (count, isFine) in [(4_096, true), (4_097, false)] {
            let name = String(repeating: "n", count: count)
            let reference = FieldValue.reference(.init(RecordKey(zone: 1, name: name)))
            #expect((thrownError { _ = try reference.encoded() } == nil) == isFine)
            let bytes = [7, 0, 1] + Array(name.utf8)
            #expect((thrownError { _ = try FieldValue(decoding: bytes[...]) } == nil) == isFine)
        }
        for count in [23, 25] {
            let sealed = FieldValue.sealed(
                .init(keyID: 1, nonce: [UInt8](repeating: 0, count: count), ciphertext: []))
            #expect(thrownError { _ = try sealed.encoded() }?.code == .invalidArgument)
        }
    }

    @Test("Kinds have names")
    func names() {
        #expect(FieldKind.int64.list.description == "list of int64" && FieldKind.sealed.description == "encrypted")
        #expect(FieldKind.emptyList.description == "empty list" && FieldKind.asset.description == "asset")
        #expect(FieldKind(rawValue: 9).description == "unknown value 9")
        #expect(FieldKind(rawValue: 0x49).description == "unknown value 73")
    }
}
