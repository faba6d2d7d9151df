import StrataLog
import StrataModel
import StrataSystem

/// The place up to which a copy of a log has read the entries of its sequencer: the content of `REPLICA`
/// (docs/replication-internals.md §5).
///
/// It is written once the copy has synced what it names. Without it, all entries are read again and compared with the
/// copy.
struct CopyMark: Equatable {
    private static let magic: UInt32 = 0x7052_7453  // "StRp" in the order of the bytes
    private static let version: UInt16 = 2
    private static let byteCount = 80

    /// Distinguishes the copies of a store.
    let copy: Identifier
    /// The last valid entry that was read, and the end of the log after it.
    var number: UInt64
    var entry: Identifier
    var position: Position
    /// True while the log is open, or if it ended with an append without an outcome: an entry may be on its way.
    var isOpen: Bool

    /// The mark of a directory that becomes a copy, and has read no entry.
    static func start(_ random: any RandomSource) -> CopyMark {
        CopyMark(copy: random.nextIdentifier(), number: 0, entry: .zero, position: .start, isOpen: true)
    }

    /// Reads the mark; returns nil unless it is intact and fits the copy.
    static func read(_ paths: StorePaths, _ files: any FileSystem, of copy: SegmentedLog) throws -> CopyMark? {
        guard try files.exists(paths.replica) else { return nil }
        let bytes = try files.readAll(paths.replica, atMost: byteCount + 1)
        guard let mark = try? CopyMark(decoding: bytes, store: copy.identity.storeID),
            mark.position.offset >= copy.floor.offset, try copy.has(mark.position)
        else { return nil }
        return mark
    }

    /// Returns true if the sequencer still has the entries that were read up to the mark. Others take their numbers if
    /// it lost them and was repaired.
    func isKnown(to sequencer: any Sequencer) throws -> Bool {
        guard number > 0 else { return try Self.canRead(after: 0, from: sequencer) }
        do {
            let bytes = try sequencer.entries(after: number - 1, waitingMilliseconds: 0).first
            // An entry may be readable only some time after its number is known.
            guard let bytes else { return try sequencer.last() >= number }
            return (try? SequencedEntry(decoding: bytes))?.id == entry
        } catch let error as StrataError where error.code == .outOfRange {
            // If the next entry was trimmed, too, comparing begins at the base.
            return try Self.canRead(after: number, from: sequencer)
        }
    }

    /// Returns false if the entry after a number was trimmed.
    private static func canRead(after number: UInt64, from sequencer: any Sequencer) throws -> Bool {
        do { _ = try sequencer.entries(after: number, waitingMilliseconds: 0) } catch let error as StrataError
            where error.code == .outOfRange
        { return false }
        return true
    }

    func write(_ paths: StorePaths, _ files: any FileSystem, store: Identifier) throws {
        try files.replace(paths.replica, in: paths.store, with: encoded(store: store))
    }

    func encoded(store: Identifier) -> [UInt8] {
        var writer = ByteWriter(reserving: Self.byteCount)
        writer.append(Self.magic)
        writer.append(Self.version)
        writer.append(UInt16(isOpen ? 1 : 0))
        writer.append(store)
        writer.append(copy)
        writer.append(number)
        writer.append(entry)
        writer.append(position.offset)
        writer.append(position.chain)
        writer.append(writer.bytes.withUnsafeBytes { CRC32C.checksum($0) })
        return writer.bytes
    }
}

extension CopyMark {
    /// - Throws: ``StrataError`` if a byte was changed, or the mark belongs to another store.
    init(decoding bytes: [UInt8], store: Identifier) throws {
        self = try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            let head = try (
                reader.read(UInt32.self, "magic"), reader.read(UInt16.self, "version"),
                reader.read(UInt16.self, "flags")
            )
            let storeID = try reader.readIdentifier("store")
            let mark = CopyMark(
                copy: try reader.readIdentifier("copy"), number: try reader.read(UInt64.self, "number"),
                entry: try reader.readIdentifier("entry"),
                position: Position(
                    offset: try reader.read(UInt64.self, "offset"), chain: try reader.read(UInt32.self, "chain value")),
                isOpen: head.2 == 1)
            let checksum = CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[..<reader.position]))
            guard head == (Self.magic, Self.version, mark.isOpen ? 1 : 0), storeID == store,
                try reader.read(UInt32.self, "checksum") == checksum
            else { throw reader.malformed("the mark of a copy", expected: "intact") }
            try reader.expectEnd("the mark of a copy")
            return mark
        }
    }
}
