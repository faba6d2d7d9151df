import Foundation
import StrataModel
import StrataSystem

/// The archived form of an object: one run of bytes with a checksum.
///
/// Foundation returns bytes as they are stored, so that it cannot trap on damaged ones, under any policy. Apple's
/// platforms could not read archives from here anyway, since the class names have a module prefix.
enum ArchiveBlock {
    /// - Parameter key: The class, since an archive may contain several objects side by side.
    static func write(_ key: String, to coder: NSCoder, _ body: (inout ByteWriter) throws -> Void) rethrows {
        guard coder.allowsKeyedCoding else { return }
        var writer = ByteWriter(reserving: 256)
        try body(&writer)
        let checksum = writer.bytes.withUnsafeBytes { CRC32C.checksum($0) }
        writer.append(checksum)
        writer.bytes.withUnsafeBufferPointer { bytes in
            coder.encodeBytes(bytes.baseAddress, length: bytes.count, forKey: "Strata.\(key)")
        }
    }

    /// Reads a block; returns nil if it is missing or damaged.
    static func read<Value>(
        _ key: String, from coder: NSCoder, _ body: (inout ByteReader) throws -> Value
    ) -> Value? {
        guard coder.allowsKeyedCoding else { return nil }
        // Even the search for the block counts as decoding.
        ArchiveReader.forgive(coder)
        return coder.withDecodedUnsafeBytes(forKey: "Strata.\(key)") { bytes in
            guard let bytes, bytes.count >= 4 else { return nil }
            let content = UnsafeRawBufferPointer(rebasing: bytes.dropLast(4))
            let checksum = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: content.count, as: UInt32.self))
            guard checksum == CRC32C.checksum(content) else { return nil }
            var reader = ByteReader(content)
            guard let value = try? body(&reader), (try? reader.expectEnd("an archived object")) != nil else {
                return nil
            }
            return value
        }
    }
}

extension ByteWriter {
    mutating func append(_ id: CKRecordZoneID) {
        appendString(id.model.name)
        appendString(id.model.owner)
    }

    mutating func append(_ id: CKRecordID) {
        appendString(id.recordName)
        append(id.zoneID)
    }

    mutating func append(_ reference: CKReference) {
        append(reference.recordID)
        append(UInt8(reference.action.rawValue))
    }
}

extension ByteReader {
    private static let longest = 1 << 30

    mutating func readText(_ what: StaticString) throws -> String { try readString(what, atMost: Self.longest) }

    mutating func readZoneID() throws -> CKRecordZoneID {
        let name = try readText("a zone's name")
        return CKRecordZoneID(ZoneID(name, owner: try readText("a zone's owner")))
    }

    mutating func readRecordID() throws -> CKRecordID {
        let name = try readText("a record's name")
        return CKRecordID(recordName: name, zoneID: try readZoneID())
    }

    mutating func readReference() throws -> CKReference {
        let id = try readRecordID()
        let number = try read(UInt8.self, "a reference's action")
        guard let action = CKRecord.ReferenceAction(rawValue: UInt(number)) else {
            throw malformed("a reference's action", expected: "0 or 1", found: "\(number)")
        }
        return CKReference(recordID: id, action: action)
    }

    mutating func readDate() throws -> Date {
        Date(timeIntervalSinceReferenceDate: Double(bitPattern: try read(UInt64.self, "a date")))
    }
}
