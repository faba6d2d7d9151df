import Foundation
import StrataModel
import StrataStore
import StrataSystem

/// An operation as it outlives the process.
struct LongLivedOperation: Sendable {
    /// The numbers are on disk.
    enum Kind: UInt8, Sendable {
        case modifyRecords = 1
        case modifyZones = 2
        case fetchRecords = 3
        case fetchZones = 4
    }

    let id: CKOperation.ID
    let user: String
    let device: String
    /// The end of the log when the operation was kept: what it did is behind.
    let offset: UInt64
    let kind: Kind
    let properties: Properties

    /// An archive, which only the user's key opens if one of its records has encrypted values.
    enum Properties: Sendable {
        case plain([UInt8])
        case sealed(FieldValue.Sealed)
    }
}

/// Long-lived operations of a store that have not ended: a file for each, in a directory beside the log
/// (docs/format.md §22).
final class LongLivedOperations: Sendable {
    private static let magic = [UInt8]("STRATAOP".utf8)
    private static let maximumBytes = 64 << 20

    /// Nil for a store in memory, which has nothing that it could outlive.
    private let directory: String?
    private let files: any FileSystem
    private let memory = Lock<[CKOperation.ID: LongLivedOperation]>([:])

    init(in directory: String?, _ files: any FileSystem) {
        self.directory = directory
        self.files = files
    }

    /// Returns once the operation is durable.
    func keep(_ operation: LongLivedOperation) throws {
        guard let directory else { return memory.withLock { $0[operation.id] = operation } }
        try files.makeDirectory(directory)
        try files.replace("\(directory)/\(operation.id)", in: directory, with: Self.encoded(operation))
    }

    func remove(_ id: CKOperation.ID) throws {
        guard let directory else { return memory.withLock { $0[id] = nil } }
        let path = "\(directory)/\(id)"
        guard Self.isID(id), try files.exists(path) else { return }
        try files.remove(path)
    }

    /// Those of a device, by the end of the log when they were kept; those of one end in no particular order.
    func ids(of actor: Actor) throws -> [CKOperation.ID] {
        var found: [LongLivedOperation] = []
        if let directory {
            guard try files.exists(directory) else { return [] }
            found = try files.list(directory).filter { Self.isID($0) }.compactMap { try read($0) }
        } else {
            found = memory.withLock { Array($0.values) }
        }
        let own = found.filter { $0.user == actor.user && $0.device == actor.device }
        return own.sorted { ($0.offset, $0.id) < ($1.offset, $1.id) }.map(\.id)
    }

    /// The operation of a device; nil if it has none of that id.
    func operation(_ id: CKOperation.ID, of actor: Actor) throws -> LongLivedOperation? {
        let found = directory == nil ? memory.withLock { $0[id] } : try read(id)
        return found.flatMap { $0.user == actor.user && $0.device == actor.device ? $0 : nil }
    }

    /// What a caller names may be anything; only what can be one of our names leads to a file.
    private static func isID(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.count <= 64
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Nil for a file that is not there or damaged: an operation that nobody can read will not be done.
    private func read(_ id: CKOperation.ID) throws -> LongLivedOperation? {
        guard let directory, Self.isID(id) else { return nil }
        let path = "\(directory)/\(id)"
        guard try files.exists(path) else { return nil }
        return try? Self.decoded(try files.readAll(path, atMost: Self.maximumBytes), id)
    }

    // MARK: The file

    private static func encoded(_ operation: LongLivedOperation) -> [UInt8] {
        var body = ByteWriter(reserving: 4_096)
        body.appendString(operation.user)
        body.appendString(operation.device)
        body.appendVarint(operation.offset)
        body.append(operation.kind.rawValue)
        switch operation.properties {
        case .plain(let archive):
            body.append(0 as UInt8)
            body.append(bytes: archive)
        case .sealed(let sealed):
            body.append(1 as UInt8)
            body.appendVarint(sealed.keyID)
            body.append(bytes: sealed.nonce)
            body.append(bytes: sealed.ciphertext)
        }
        var writer = ByteWriter(reserving: body.bytes.count + 12)
        writer.append(bytes: magic)
        writer.append(body.bytes.withUnsafeBytes { CRC32C.checksum($0) })
        writer.append(bytes: body.bytes)
        return writer.bytes
    }

    private static func decoded(_ bytes: [UInt8], _ id: CKOperation.ID) throws -> LongLivedOperation? {
        guard bytes.starts(with: magic) else { return nil }
        return try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            _ = try reader.readRange(count: UInt64(magic.count), "an operation's magic")
            let checksum = try reader.read(UInt32.self, "an operation's checksum")
            let body = UnsafeRawBufferPointer(rebasing: bytes[reader.position...])
            guard CRC32C.checksum(body) == checksum else { return nil }
            let user = try reader.readString("a user's name", atMost: body.count)
            let device = try reader.readString("a device's name", atMost: body.count)
            let offset = try reader.readVarint("an offset")
            let kind = LongLivedOperation.Kind(rawValue: try reader.read(UInt8.self, "an operation's kind"))
            guard let kind else { return nil }
            return LongLivedOperation(
                id: id, user: user, device: device, offset: offset, kind: kind,
                properties: try properties(from: &reader, bytes))
        }
    }

    private static func properties(
        from reader: inout ByteReader, _ bytes: UnsafeRawBufferPointer
    ) throws -> LongLivedOperation.Properties {
        guard try reader.read(UInt8.self, "whether properties are sealed") != 0 else {
            return .plain([UInt8](bytes[reader.position...]))
        }
        let keyID = try reader.readVarint("a key's id")
        let nonce = try reader.readRange(count: UInt64(FieldValue.Sealed.nonceBytes), "a nonce")
        return .sealed(
            FieldValue.Sealed(
                keyID: keyID, nonce: [UInt8](bytes[nonce]), ciphertext: [UInt8](bytes[reader.position...])))
    }
}
