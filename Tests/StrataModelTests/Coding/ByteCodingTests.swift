import StrataModel
import Testing

@Suite("Bytes: numbers, varints, strings")
struct ByteCodingTests {
    /// Around every power of 128, where a varint gets a byte longer, and of 256.
    private static let numbers: [UInt64] = {
        let powers = (0..<64).map { UInt64(1) << UInt64($0) }
        return Array(Set(powers.flatMap { [$0 - 1, $0, $0 + 1] } + [.max, .max - 1])).sorted()
    }()

    private func varint(_ number: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.appendVarint(number)
        return writer.bytes
    }

    private func reading<Result>(_ bytes: [UInt8], _ body: (inout ByteReader) throws -> Result) throws -> Result {
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try body(&reader)
        }
    }

    @Test(
        "Varints are what LEB128 says",
        arguments: [
            (0, [0]), (1, [1]), (127, [0x7F]), (128, [0x80, 1]), (300, [0xAC, 2]), (624_485, [0xE5, 0x8E, 0x26]),
            (UInt64.max, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
        ] as [(UInt64, [UInt8])])
    func knownVarints(number: UInt64, bytes: [UInt8]) {
        #expect(varint(number) == bytes)
    }

    @Test("Varints of all lengths come back, in as few bytes as seven bits each allow")
    func varintRoundTrip() throws {
        for number in Self.numbers {
            let bytes = varint(number)
            #expect(bytes.count == max(1, (64 - number.leadingZeroBitCount + 6) / 7), "\(number)")
            #expect((1...10).contains(bytes.count))
            try reading(bytes + [0xFF]) { reader in
                try #expect(reader.readVarint("it") == number)
                #expect(reader.position == bytes.count)
                #expect(reader.remaining == 1)
            }
        }
    }

    @Test("A varint that ends too early is refused, at every length, and nothing is skipped")
    func truncatedVarints() throws {
        for number in Self.numbers {
            let bytes = varint(number)
            for length in 0..<bytes.count {
                try reading(Array(bytes[..<length])) { reader in
                    #expect(
                        thrownError { _ = try reader.readVarint("it") }?.code == .malformed,
                        "\(number) cut to \(length)")
                    #expect(reader.position == 0)
                }
            }
        }
    }

    @Test(
        "A varint longer than need be, or of more than 64 bits, is refused",
        arguments: [
            [0x80, 0x00], [0xFF, 0x00], [0x81, 0x80, 0x00],
            [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0x00],
            [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
        ] as [[UInt8]])
    func badVarints(bytes: [UInt8]) throws {
        try reading(bytes) { reader in
            let error = thrownError { _ = try reader.readVarint("it") }
            #expect(error?.code == .malformed)
            #expect(error?.context.expected == "it to be a varint in its shortest form of at most 10 bytes")
            #expect(reader.position == 0)
        }
    }

    @Test("A bounded varint is refused from one above its bound on, and names its place")
    func boundedVarints() throws {
        let bytes = [7] + varint(300)
        try reading(bytes) { reader in
            _ = try reader.readVarint("the first")
            let error = thrownError { _ = try reader.readVarint("the count", atMost: 299) }
            #expect(error?.code == .malformed)
            #expect(error?.context.position == 1)
            #expect(error?.context.expected == "the count to be at most 299")
            #expect(error?.context.found == "300")
            try #expect(reader.readVarint("the count", atMost: 300) == 300)
        }
    }

    @Test("Numbers are little-endian, at any alignment, and come back")
    func fixedNumbers() throws {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(UInt16(0x0203))
        writer.append(UInt32(0x0405_0607))
        writer.append(Int64(-2))
        #expect(writer.bytes == [1, 3, 2, 7, 6, 5, 4, 0xFE] + [UInt8](repeating: 0xFF, count: 7))
        try reading(writer.bytes) { reader in
            try #expect(reader.read(UInt8.self, "a") == 1)
            try #expect(reader.read(UInt16.self, "b") == 0x0203)
            try #expect(reader.read(UInt32.self, "c") == 0x0405_0607)
            try #expect(reader.read(Int64.self, "d") == -2)
            try reader.expectEnd("numbers")
        }
        for length in 0..<8 {
            try reading([UInt8](repeating: 0, count: length)) { reader in
                let error = thrownError { _ = try reader.read(UInt64.self, "a time") }
                #expect(error?.context.expected == "a time to be 8 bytes")
                #expect(error?.context.found == "\(length) bytes")
            }
        }
    }

    @Test("An identifier's bytes are in the order of its digits")
    func identifiers() throws {
        let identifier = Identifier(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F)
        var writer = ByteWriter()
        writer.append(identifier)
        #expect(writer.bytes == Array(0..<16))
        try reading(writer.bytes) { try #expect($0.readIdentifier("it") == identifier) }
        try reading(Array(writer.bytes.dropLast())) { reader in
            #expect(thrownError { _ = try reader.readIdentifier("it") }?.code == .malformed)
        }
    }

    @Test(
        "Strings come back; too long or cut off they are refused",
        arguments: ["", "a", "Zoë", "e\u{301} \u{1F469}\u{200D}\u{1F467}"])
    func strings(text: String) throws {
        var writer = ByteWriter()
        writer.appendString(text)
        let count = text.utf8.count
        try reading(writer.bytes) { try #expect($0.readString("it", atMost: count) == text) }
        for length in 0..<writer.bytes.count {
            try reading(Array(writer.bytes[..<length])) { reader in
                #expect(thrownError { _ = try reader.readString("it", atMost: count) }?.code == .malformed)
            }
        }
        if count > 0 {
            try reading(writer.bytes) { reader in
                #expect(thrownError { _ = try reader.readString("it", atMost: count - 1) }?.code == .malformed)
            }
        }
    }

    @Test(
        "Bytes that are not UTF-8 are refused where they begin",
        arguments: [
            [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82], [0x61, 0x80],
        ] as [[UInt8]])
    func badText(bytes: [UInt8]) throws {
        let string: [UInt8] = [9, UInt8(bytes.count)] + bytes
        try reading(string) { reader in
            _ = try reader.read(UInt8.self, "what is before")
            let error = thrownError { _ = try reader.readString("the name", atMost: 100) }
            #expect(error?.code == .malformed)
            #expect(error?.context.expected == "the name to be valid UTF-8")
            #expect(error?.context.position == 1)
        }
        try reading(bytes) { reader in
            let error = thrownError { _ = try reader.readRemainingText("the rest", atMost: 100) }
            #expect(error?.context.position == 0)
        }
    }

    @Test("A length larger than any memory is refused before anything is taken")
    func hugeLengths() throws {
        for length in [UInt64.max, UInt64(Int.max), UInt64(Int.max) + 1, 5] {
            try reading(varint(length) + [1, 2]) { reader in
                #expect(
                    thrownError { _ = try reader.readStringRange("it", atMost: .max) }?.code == .malformed, "\(length)")
            }
        }
    }

    @Test("The rest as text has a limit, on both sides of it")
    func remainingText() throws {
        try reading(Array("abcd".utf8)) { reader in
            let error = thrownError { _ = try reader.readRemainingText("it", atMost: 3) }
            #expect(error?.context.expected == "it to be at most 3 bytes")
            try #expect(reader.readRemainingText("it", atMost: 4) == "abcd")
            #expect(reader.remaining == 0)
        }
    }

    @Test("Padding fills up to a multiple, and a number can be put in later")
    func paddingAndOverwriting() {
        var writer = ByteWriter()
        writer.pad(to: 8)
        #expect(writer.bytes.isEmpty)
        writer.append(bytes: [1, 2, 3])
        writer.pad(to: 8)
        #expect(writer.bytes == [1, 2, 3, 0, 0, 0, 0, 0])
        writer.pad(to: 8)
        #expect(writer.bytes.count == 8)
        writer.overwrite(UInt16(0x0908), at: 2)
        #expect(writer.bytes == [1, 2, 8, 9, 0, 0, 0, 0])
    }
}
