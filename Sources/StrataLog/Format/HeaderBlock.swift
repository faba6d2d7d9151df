import StrataModel
import StrataSystem

/// The self-describing block at the beginning of `STORE`, `FLOOR` and every segment (docs/format.md §2).
struct HeaderBlock: Sendable, Equatable {
    struct Field: Sendable, Equatable {
        static let optionalBit: UInt16 = 0x8000

        var tag: UInt16
        var value: [UInt8]
        var isOptional: Bool { tag & Self.optionalBit != 0 }
    }

    var magic: String
    var fields: [Field]
    /// As read from disk; 0 in a block that was not decoded.
    private(set) var checksum: UInt32 = 0

    /// - Parameter size: the size to pad to; nil for the smallest possible.
    func encoded(size: Int? = nil, version: UInt16 = LogFormat.version) -> [UInt8] {
        var writer = ByteWriter(reserving: size ?? 256)
        writer.append(bytes: magic.utf8)
        writer.append(version)
        writer.append(UInt16(0))
        writer.append(UInt32(0))
        for field in fields {
            writer.append(field.tag)
            writer.append(UInt16(field.value.count))
            writer.append(bytes: field.value)
            writer.pad(to: 4)
        }
        writer.pad(to: size ?? 8)
        precondition(
            writer.bytes.count <= size ?? LogFormat.headerBlockMaximumBytes, "a header block has room for its fields")
        writer.overwrite(UInt16(writer.bytes.count), at: 10)
        let checksum = writer.bytes.withUnsafeBytes { CRC32C.checksum($0) }
        writer.overwrite(checksum, at: 12)
        return writer.bytes
    }

    private static func checkedSize(_ bytes: UnsafeRawBufferPointer, path: String) throws -> Int {
        let size = Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self)))
        let limit = min(LogFormat.headerBlockMaximumBytes, bytes.count)
        guard size % 8 == 0, (LogFormat.headerBlockPreludeBytes...limit).contains(size) else {
            throw StrataError(
                .impossibleLength, "The header's size is invalid.",
                .init(position: 10, path: path, expected: "a multiple of 8 from 16 to \(limit)", found: "\(size)"))
        }
        return size
    }

    /// The place of the checksum.
    static let checksumRange = 12..<16

    /// Returns the checksums that a damaged block may have had: the stored one, and that of its content.
    static func possibleChecksums(of head: [UInt8]) -> [UInt32] {
        guard head.count > LogFormat.headerBlockPreludeBytes else { return [] }
        return head.withUnsafeBytes { head in
            [UInt32(littleEndian: head.loadUnaligned(fromByteOffset: 12, as: UInt32.self)), checksum(of: head)]
        }
    }

    /// Returns a block that differs from `block` in one byte of `places` and matches the checksum stored in `head`; nil
    /// unless exactly one exists.
    static func changingOneByte(of block: [UInt8], in places: [Range<Int>], toFit head: [UInt8]) -> [UInt8]? {
        var changed = block
        changed.replaceSubrange(checksumRange, with: head[checksumRange])
        var found: [[UInt8]] = []
        for place in places.joined() {
            let original = changed[place]
            for value in UInt8.min...UInt8.max where value != original {
                changed[place] = value
                let actual = changed.withUnsafeBytes { Self.checksum(of: $0) }
                let isFit = withUnsafeBytes(of: actual.littleEndian) { head[checksumRange].elementsEqual($0) }
                if isFit { found.append(changed) }
            }
            changed[place] = original
        }
        return found.count == 1 ? found[0] : nil
    }

    private static func checksum(of block: UnsafeRawBufferPointer) -> UInt32 {
        var checksum = CRC32C()
        checksum.update(UnsafeRawBufferPointer(rebasing: block[..<12]))
        checksum.update(UInt32(0))
        checksum.update(UnsafeRawBufferPointer(rebasing: block[16...]))
        return checksum.value
    }

    private static func verifyChecksum(_ bytes: UnsafeRawBufferPointer, size: Int, path: String) throws -> UInt32 {
        let stored = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
        let checksum = checksum(of: UnsafeRawBufferPointer(rebasing: bytes[..<size]))
        guard stored == checksum else {
            throw StrataError(
                .badChecksum, "The header's checksum does not match its content.",
                .init(position: 12, path: path, expected: hexadecimal(checksum), found: hexadecimal(stored)))
        }
        return stored
    }

    private static func decodeFields(_ bytes: UnsafeRawBufferPointer, size: Int) throws -> [Field] {
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<size]), at: LogFormat.headerBlockPreludeBytes)
        var fields: [Field] = []
        var lastNumber: UInt16 = 0
        while reader.remaining >= 4 {
            let tag = try reader.read(UInt16.self, "a header tag")
            let length = try reader.read(UInt16.self, "the length of a header field")
            if tag == 0 { break }
            guard tag & ~Field.optionalBit > lastNumber else {
                throw reader.malformed("header tags", expected: "ascending", found: "\(tag)")
            }
            lastNumber = tag & ~Field.optionalBit
            let value = try reader.readRange(count: UInt64(length), "a header field")
            fields.append(Field(tag: tag, value: [UInt8](bytes[value])))
            _ = try reader.readRange(count: UInt64((4 - Int(length) % 4) % 4), "the padding of a header field")
        }
        return fields
    }

    private static func printable(_ bytes: ArraySlice<UInt8>, fileBytes: Int) -> String {
        if bytes.isEmpty { return "an empty file" }
        let digits = bytes.map { hexadecimal($0) }.joined(separator: " ")
        return "\(digits) in a file of \(fileBytes) bytes"
    }
}

extension HeaderBlock {
    /// - Parameter bytes: the beginning of the file, with as much of the block as the file has.
    init(decoding bytes: [UInt8], magic: String, path: String) throws {
        self.magic = magic
        fields = []
        guard bytes.count >= LogFormat.headerBlockPreludeBytes, bytes.starts(with: magic.utf8) else {
            throw StrataError(
                .wrongMagic, "The file's content does not match its name.",
                .init(
                    position: 0, path: path, expected: "\"\(magic)\"",
                    found: Self.printable(bytes.prefix(8), fileBytes: bytes.count)))
        }
        let size = try bytes.withUnsafeBytes { try Self.checkedSize($0, path: path) }
        checksum = try bytes.withUnsafeBytes { try Self.verifyChecksum($0, size: size, path: path) }
        let version = UInt16(bytes[8]) | UInt16(bytes[9]) << 8
        guard version == LogFormat.version else {
            throw StrataError(
                .newerFormat, "The file has another version of the format; use a release of Strata that supports it.",
                .init(position: 8, path: path, expected: "version \(LogFormat.version)", found: "version \(version)"))
        }
        do { fields = try bytes.withUnsafeBytes { try Self.decodeFields($0, size: size) } } catch let error
            as StrataError
        {
            throw error.located(path: path)
        }
    }
}

extension HeaderBlock {
    /// Rejects mandatory fields that this version does not know.
    func requireKnown(_ tags: Set<UInt16>, path: String) throws {
        for field in fields where !field.isOptional && !tags.contains(field.tag) {
            throw StrataError(
                .newerFormat, "The header has a mandatory field unknown to this version.",
                .init(path: path, found: "field \(field.tag)"))
        }
    }

    /// Returns the value of a required field, whose size must be one of `sizes`.
    func value(_ tag: UInt16, bytes sizes: ClosedRange<Int>, path: String) throws -> [UInt8] {
        let value = fields.first { $0.tag == tag }?.value
        guard let value, sizes.contains(value.count) else {
            throw StrataError(
                .malformed, "A field of the header is missing or has the wrong size.",
                .init(
                    path: path, expected: "field \(tag) of \(sizes.lowerBound) to \(sizes.upperBound) bytes",
                    found: value.map { "\($0.count) bytes" } ?? "none"))
        }
        return value
    }

    func number<Number: FixedWidthInteger>(_ tag: UInt16, as _: Number.Type, path: String) throws -> Number {
        let size = MemoryLayout<Number>.size
        let bytes = try value(tag, bytes: size...size, path: path)
        return try bytes[...].reading { try $0.read(Number.self, "a header field") }
    }

    func identifier(_ tag: UInt16, path: String) throws -> Identifier {
        try value(tag, bytes: 16...16, path: path)[...].reading { try $0.readIdentifier("a header field") }
    }
}

extension HeaderBlock.Field {
    init<Number: FixedWidthInteger>(_ tag: UInt16, _ number: Number) {
        var writer = ByteWriter()
        writer.append(number)
        self.init(tag: tag, value: writer.bytes)
    }

    init(_ tag: UInt16, _ identifier: Identifier) {
        var writer = ByteWriter()
        writer.append(identifier)
        self.init(tag: tag, value: writer.bytes)
    }
}
