extension FieldValue {
    public func encoded() throws -> [UInt8] {
        var writer = ByteWriter(reserving: 16)
        try encode(into: &writer)
        return writer.bytes
    }

    /// Appends the value without its length, which its container stores.
    package func encode(into writer: inout ByteWriter) throws {
        let start = writer.bytes.count
        writer.append(byte: kind.rawValue)
        try encodeContent(into: &writer)
        guard writer.bytes.count - start <= Self.maximumBytes else {
            throw StrataError.tooLarge("a value's bytes", limit: Self.maximumBytes, found: writer.bytes.count - start)
        }
    }

    private func encodeContent(into writer: inout ByteWriter) throws {
        switch self {
        case .string(let text): writer.append(bytes: text.utf8)
        case .int64(let number): writer.appendVarint(zigzag(number))
        case .double(let number), .date(let number): writer.append(shortest: number)
        case .data(let bytes): writer.append(bytes: bytes)
        case .location(let location): location.encode(into: &writer)
        case .reference(let reference):
            writer.append(reference.code)
            try writer.append(reference.target)
        case .asset(let asset):
            writer.append(asset.hash.first)
            writer.append(asset.hash.second)
            writer.appendVarint(asset.size)
        case .list(let list):
            guard !list.elements.isEmpty else { return }
            writer.appendVarint(UInt64(list.elements.count))
            for element in list.elements { try writer.appendMeasured { try element.encodeContent(into: &$0) } }
        case .sealed(let sealed): try sealed.encode(into: &writer)
        }
    }

    /// - Throws: ``StrataError``, also for a kind of value that only a later version knows.
    public init(decoding bytes: ArraySlice<UInt8>) throws {
        self = try bytes.withUnsafeBytes { try FieldValue(decoding: $0, in: 0..<$0.count) }
    }

    /// Decodes the value in a range of the bytes, as a ``FieldTable`` finds it.
    public init(decoding bytes: UnsafeRawBufferPointer, in range: Range<Int>) throws {
        var reader = ByteReader(bytes, in: range)
        guard reader.remaining <= Self.maximumBytes else {
            throw reader.malformed("a value", expected: "at most \(Self.maximumBytes) bytes")
        }
        let kind = FieldKind(rawValue: try reader.read(UInt8.self, "the kind of a value"))
        if kind.isList {
            self = .list(try FieldList(kind.element, from: &reader))
        } else {
            try self.init(kind, contentOf: &reader)
        }
    }

    /// Decodes content that continues to the reader's end.
    fileprivate init(_ kind: FieldKind, contentOf reader: inout ByteReader) throws {
        switch kind {
        case .string: self = .string(try reader.readRemainingText("a string", atMost: .max))
        case .int64: self = .int64(unzigzag(try reader.readVarint("a number")))
        case .double: self = .double(try reader.readShortestDouble("a double"))
        case .date: self = .date(try reader.readShortestDouble("a date"))
        case .data: self = .data(Array(reader.readRemainingBytes()))
        case .location: self = .location(try Location(from: &reader))
        case .reference:
            let code = try reader.read(UInt8.self, "a reference's action")
            let isLoose = code == Reference.looseCode
            guard let action = isLoose ? .deleteSelf : Reference.Action(rawValue: code) else {
                throw StrataError.newer("a reference's action", code, reader)
            }
            var reference = Reference(try reader.readRecordKey(), action: action)
            reference.isLoose = isLoose
            self = .reference(reference)
        case .asset: self = .asset(try Asset(from: &reader))
        case .sealed: self = .sealed(try Sealed(from: &reader))
        default: throw StrataError.newer("the kind of a value", kind.rawValue, reader)
        }
        try reader.expectEnd("a value")
    }
}

extension FieldList {
    fileprivate init(_ kind: FieldKind, from reader: inout ByteReader) throws {
        guard kind.rawValue != 0 else {
            try reader.expectEnd("an empty list")
            self = .empty
            return
        }
        guard kind.isScalar else { throw StrataError.newer("the kind of a list's elements", kind.rawValue, reader) }
        let count = try reader.readVarint("the number of elements", atMost: UInt64(Self.maximumCount))
        guard count > 0 else { throw reader.malformed("the number of elements", expected: "at least 1") }
        var elements: [FieldValue] = []
        // An element takes at least one byte, so the bytes bound the reserved capacity.
        elements.reserveCapacity(min(Int(count), reader.remaining))
        for _ in 0..<count {
            let length = try reader.readVarint("the length of an element")
            var element = try reader.readReader(count: length, "an element")
            elements.append(try FieldValue(kind, contentOf: &element))
        }
        try reader.expectEnd("a list")
        self = try FieldList(elements)
    }
}

extension FieldValue.Location {
    private static let defaults: InlineArray<6, UInt64> = {
        let numbers: InlineArray<6, Double> = [0, 0, -1, -1, -1, 0]
        return InlineArray { numbers[$0].bitPattern }
    }()

    fileprivate func encode(into writer: inout ByteWriter) {
        writer.append(latitude.bitPattern)
        writer.append(longitude.bitPattern)
        let others: InlineArray<6, UInt64> = [
            altitude.bitPattern, horizontalAccuracy.bitPattern, verticalAccuracy.bitPattern, course.bitPattern,
            speed.bitPattern, timestamp.bitPattern,
        ]
        var presence: UInt8 = 0
        for index in others.indices where others[index] != Self.defaults[index] { presence |= 1 << UInt8(index) }
        writer.append(byte: presence)
        for index in others.indices where presence >> UInt8(index) & 1 == 1 { writer.append(others[index]) }
    }

    fileprivate init(from reader: inout ByteReader) throws {
        let latitude = try reader.read(UInt64.self, "a latitude")
        let longitude = try reader.read(UInt64.self, "a longitude")
        let presence = try reader.read(UInt8.self, "the parts of a location")
        guard presence < 1 << 6 else { throw StrataError.newer("the parts of a location", presence, reader) }
        var others = Self.defaults
        for index in others.indices where presence >> UInt8(index) & 1 == 1 {
            let number = try reader.read(UInt64.self, "a number of a location")
            guard number != others[index] else {
                throw reader.malformed("a number of a location", expected: "left out when it is the default")
            }
            others[index] = number
        }
        let numbers: InlineArray<6, Double> = InlineArray { Double(bitPattern: others[$0]) }
        self.init(
            latitude: Double(bitPattern: latitude), longitude: Double(bitPattern: longitude), altitude: numbers[0],
            horizontalAccuracy: numbers[1], verticalAccuracy: numbers[2], course: numbers[3], speed: numbers[4],
            timestamp: numbers[5])
    }
}

extension FieldValue.Reference {
    fileprivate static let looseCode: UInt8 = 2

    /// The stored action byte; a loose owning reference has its own code.
    fileprivate var code: UInt8 { isLoose && action == .deleteSelf ? Self.looseCode : action.rawValue }
}

extension FieldValue.Asset {
    fileprivate init(from reader: inout ByteReader) throws {
        let first = try reader.read(UInt128.self, "an asset's hash")
        let second = try reader.read(UInt128.self, "an asset's hash")
        self.init(hash: ContentHash(first: first, second: second), size: try reader.readVarint("an asset's size"))
        var fields = KeyedFields(restOf: &reader)
        try fields.skipAll()
    }
}

extension FieldValue.Sealed {
    fileprivate func encode(into writer: inout ByteWriter) throws {
        guard nonce.count == Self.nonceBytes else {
            throw StrataError(
                .invalidArgument, "A nonce must have 24 bytes.",
                .init(expected: "\(Self.nonceBytes)", found: "\(nonce.count)"))
        }
        writer.appendVarint(keyID)
        writer.append(bytes: nonce)
        writer.append(bytes: ciphertext)
    }

    fileprivate init(from reader: inout ByteReader) throws {
        keyID = try reader.readVarint("a key's id")
        let range = try reader.readRange(count: UInt64(Self.nonceBytes), "a nonce")
        nonce = Array(reader.bytes[range])
        ciphertext = Array(reader.readRemainingBytes())
    }
}

extension ByteWriter {
    /// Appends a double, most significant byte first, without trailing zeros: most doubles in practice are short.
    mutating func append(shortest number: Double) {
        var bits = number.bitPattern
        while bits != 0 {
            append(byte: UInt8(truncatingIfNeeded: bits >> 56))
            bits <<= 8
        }
    }

    /// Appends the zone, then the name, which continues to the end of its container.
    mutating func append(_ key: RecordKey) throws {
        try StrataError.checkName(key.name, "a record name's bytes")
        appendVarint(key.zone)
        append(bytes: key.name.utf8)
    }
}

extension ByteReader {
    mutating func readShortestDouble(_ what: StaticString) throws -> Double {
        guard remaining <= 8 else { throw malformed(what, expected: "at most 8 bytes", found: "\(remaining)") }
        let (count, end) = (remaining, bytes.count)
        guard count > 0 else { return 0 }
        guard bytes[end - 1] != 0 else { throw malformed(what, expected: "without zero bytes at the end") }
        var bits: UInt64 = 0
        if end >= 8 {
            // One load, whose bytes before the number the shift below drops.
            bits = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: end - 8, as: UInt64.self))
        } else {
            for byte in bytes[position...] { bits = bits << 8 | UInt64(byte) }
        }
        position = end
        return Double(bitPattern: bits << UInt64(64 - 8 * count))
    }

    mutating func readRecordKey() throws -> RecordKey {
        let zone = try readVarint("a reference's zone")
        return RecordKey(
            zone: zone, name: try readRemainingText("a reference's name", atMost: Envelope.maximumNameBytes))
    }
}

extension StrataError {
    /// Returns the error for a value that only a later version of the format defines.
    static func newer(_ what: StaticString, _ number: some BinaryInteger, _ reader: ByteReader) -> StrataError {
        StrataError(
            .newerFormat, "A value is unknown to this version.",
            .init(position: UInt64(reader.position), found: "\(what): \(number)"))
    }
}

/// Reads the numbers of encoded values without creating a value.
package enum EncodedNumber {
    /// - Parameter content: The bytes of the value after its kind.
    package static func int64(_ bytes: UnsafeRawBufferPointer, in content: Range<Int>) throws -> Int64 {
        var reader = ByteReader(bytes, in: content)
        return unzigzag(try reader.readVarint("a number"))
    }

    package static func double(_ bytes: UnsafeRawBufferPointer, in content: Range<Int>) throws -> Double {
        var reader = ByteReader(bytes, in: content)
        return try reader.readShortestDouble("a double")
    }
}
