import StrataModel
import StrataStore
import StrataSystem

/// An operation in the form that outlives the process.
struct LongLivedOperation: Sendable {
    /// The kinds of operations. The numbers are on disk.
    enum Kind: UInt8, Sendable {
        case modifyRecords = 1
        case modifyZones = 2
        case fetchRecords = 3
        case fetchZones = 4
        case query = 5
        case fetchDatabaseChanges = 6
        case fetchZoneChanges = 7
        case modifySubscriptions = 8
        case fetchSubscriptions = 9
    }

    let id: CKOperation.ID
    let user: String
    let device: String
    /// The end of the log when the operation was kept; its commits come after it.
    let offset: UInt64
    let kind: Kind
    let properties: Properties

    var actor: Actor { Actor(user: user, device: device) }

    /// An archive, sealed with the user's key if one of its records has encrypted values.
    enum Properties: Sendable {
        case plain([UInt8])
        case sealed(FieldValue.Sealed)
    }
}

/// The unfinished long-lived operations of a store: a file for each, in a directory of the store (docs/format.md §22).
final class LongLivedOperations: Sendable {
    /// The directory; nil for a store in memory, whose operations end with it.
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
        guard KeptOperation.isID(id), try files.exists(path) else { return }
        try files.remove(path)
    }

    /// Removes the operations that would save a record that was erased after they were kept.
    ///
    /// - Parameter endsUnreadable: True to remove also operations that cannot be read, since they might save one.
    func removeErased(in store: Store, endsUnreadable: Bool) throws {
        for operation in try all() where operation.kind == .modifyRecords {
            let holdsErased: Bool
            if let archive = try? operation.archive(in: store) {
                let database =
                    archive.scope == .public ? DatabaseID(.public) : DatabaseID(.private, owner: operation.user)
                let me = try store.newest.recordName(of: operation.user)
                holdsErased = try (archive.records ?? []).contains {
                    try store.isErased($0.recordID.model(for: me), in: database, after: operation.offset)
                }
            } else {
                holdsErased = endsUnreadable
            }
            if holdsErased { try remove(operation.id) }
        }
        guard endsUnreadable, let directory, try files.exists(directory) else { return }
        // A file that cannot be decoded may belong to any user.
        for id in try files.list(directory) where try KeptOperation.isID(id) && read(id) == nil { try remove(id) }
        try files.syncDirectory(directory)
    }

    /// Removes drafts that a crash left behind. Called before the first operation is kept.
    func removeDrafts() {
        guard let directory else { return }
        for name in (try? files.list(directory)) ?? [] where name.hasSuffix(".new") {
            try? files.remove("\(directory)/\(name)")
        }
    }

    private func all() throws -> [LongLivedOperation] {
        guard let directory else { return memory.withLock { Array($0.values) } }
        guard try files.exists(directory) else { return [] }
        return try files.list(directory).filter { KeptOperation.isID($0) }.compactMap { try read($0) }
    }

    /// Returns the operations of a device, by the end of the log when they were kept, then by ID.
    func ids(of actor: Actor) throws -> [CKOperation.ID] {
        let own = try all().filter { $0.actor == actor }
        return own.sorted { ($0.offset, $0.id) < ($1.offset, $1.id) }.map(\.id)
    }

    /// Returns an operation of the device; nil if it has none with the ID.
    func operation(_ id: CKOperation.ID, of actor: Actor) throws -> LongLivedOperation? {
        let found = directory == nil ? memory.withLock { $0[id] } : try read(id)
        return found.flatMap { $0.actor == actor ? $0 : nil }
    }

    /// Returns nil for a missing or damaged file: an unreadable operation will not run.
    private func read(_ id: CKOperation.ID) throws -> LongLivedOperation? {
        guard let directory, KeptOperation.isID(id) else { return nil }
        let path = "\(directory)/\(id)"
        guard try files.exists(path) else { return nil }
        return try? Self.decoded(try files.readAll(path, atMost: KeptOperation.maximumBytes), id)
    }

    // MARK: The file

    private static func encoded(_ operation: LongLivedOperation) -> [UInt8] {
        var content = ByteWriter(reserving: 4_096)
        content.append(operation.kind.rawValue)
        switch operation.properties {
        case .plain(let archive):
            content.append(0 as UInt8)
            content.append(bytes: archive)
        case .sealed(let sealed):
            content.append(1 as UInt8)
            content.appendVarint(sealed.keyID)
            content.append(bytes: sealed.nonce)
            content.append(bytes: sealed.ciphertext)
        }
        return KeptOperation(
            user: operation.user, device: operation.device, offset: operation.offset, content: content.bytes
        ).encoded()
    }

    private static func decoded(_ bytes: [UInt8], _ id: CKOperation.ID) throws -> LongLivedOperation? {
        guard let kept = KeptOperation(decoding: bytes) else { return nil }
        return try kept.content.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            let kind = LongLivedOperation.Kind(rawValue: try reader.read(UInt8.self, "an operation's kind"))
            guard let kind else { return nil }
            return LongLivedOperation(
                id: id, user: kept.user, device: kept.device, offset: kept.offset, kind: kind,
                properties: try properties(from: &reader, bytes))
        }
    }

    private static func properties(
        from reader: inout ByteReader, _ bytes: UnsafeRawBufferPointer
    ) throws -> LongLivedOperation.Properties {
        guard try reader.read(UInt8.self, "the encryption mark of properties") != 0 else {
            return .plain([UInt8](bytes[reader.position...]))
        }
        let keyID = try reader.readVarint("a key's id")
        let nonce = try reader.readRange(count: UInt64(FieldValue.Sealed.nonceBytes), "a nonce")
        return .sealed(
            FieldValue.Sealed(
                keyID: keyID, nonce: [UInt8](bytes[nonce]), ciphertext: [UInt8](bytes[reader.position...])))
    }
}
