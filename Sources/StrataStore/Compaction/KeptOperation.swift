import StrataModel
import StrataSystem

/// The file of a long-lived operation that has not ended (docs/format.md §22), as far as the store is concerned: the
/// horizon of a compaction is never past the end that the file notes.
///
/// ```swift
/// let file = KeptOperation(user: "anna", device: "phone", offset: store.offset, content: archive)
/// try files.replace(path, in: directory, with: file.encoded())
/// ```
package struct KeptOperation: Sendable, Hashable {
    private static let magic = [UInt8]("STRATAOP".utf8)
    package static let maximumBytes = 64 << 20

    package var user: String
    package var device: String
    /// The end of the log when the operation was kept; the operation's commits come after it.
    package var offset: UInt64
    /// The kind of the operation and its properties.
    package var content: [UInt8]

    package init(user: String, device: String, offset: UInt64, content: [UInt8]) {
        self.user = user
        self.device = device
        self.offset = offset
        self.content = content
    }

    /// Returns the path of the directory that contains the files.
    package static func directory(inStore path: String) -> String { path + "/operations" }

    package func encoded() -> [UInt8] {
        var body = ByteWriter(reserving: content.count + 64)
        body.appendString(user)
        body.appendString(device)
        body.appendVarint(offset)
        body.append(bytes: content)
        var writer = ByteWriter(reserving: body.bytes.count + 12)
        writer.append(bytes: Self.magic)
        writer.append(body.bytes.withUnsafeBytes { CRC32C.checksum($0) })
        writer.append(bytes: body.bytes)
        return writer.bytes
    }

    /// Returns nil for a file that is damaged or of another kind: an unreadable operation will not be carried out.
    package init?(decoding bytes: [UInt8]) {
        guard bytes.starts(with: Self.magic) else { return nil }
        let read = try? bytes.withUnsafeBytes { bytes -> KeptOperation? in
            var reader = ByteReader(bytes)
            _ = try reader.readRange(count: UInt64(Self.magic.count), "an operation's magic")
            let checksum = try reader.read(UInt32.self, "an operation's checksum")
            let body = UnsafeRawBufferPointer(rebasing: bytes[reader.position...])
            guard CRC32C.checksum(body) == checksum else { return nil }
            let user = try reader.readString("a user's name", atMost: body.count)
            let device = try reader.readString("a device's name", atMost: body.count)
            let offset = try reader.readVarint("an offset")
            return KeptOperation(
                user: user, device: device, offset: offset, content: [UInt8](bytes[reader.position...]))
        }
        guard let read else { return nil }
        self = read
    }

    /// Returns true if a string can be the ID of an operation. Callers may pass anything, but only an ID names a file.
    package static func isID(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.count <= 64
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Returns the earliest end that an operation of a store has noted; nil if there is none.
    static func firstOffset(inStore path: String, _ files: any FileSystem) throws -> UInt64? {
        let directory = directory(inStore: path)
        guard try files.exists(directory) else { return nil }
        return try files.list(directory).filter(isID).compactMap { id -> UInt64? in
            do {
                return KeptOperation(decoding: try files.readAll("\(directory)/\(id)", atMost: maximumBytes))?.offset
            } catch let error as StrataError where error.code == .notFound {
                // The operation has ended since.
                return nil
            }
        }.min()
    }
}
