import StrataLog
import StrataModel
import StrataSystem

/// An entry of a sequencer: a batch of commits, or a statement to all copies of the log
/// (docs/replication-internals.md §2).
package struct SequencedEntry: Sendable {
    package enum Content: Sendable {
        /// The identity of the store, and the options on which all processes agree: the first entry.
        case identity(StoreIdentity, terms: String)
        case commits([NewCommit])
        /// Nothing; makes every entry void that was decided before it.
        case fence
        /// A piece of the commits of another entry, for which it is too small.
        case part(EntryPart)
        /// Commits whose bytes came in parts; with all of them, this becomes `commits`.
        case whole(WholeEntry)
        /// The base that replaces the first entries for new copies.
        case base(BaseMark)

        /// False for an entry that is void whatever it was decided on: a part, or one of which parts are missing.
        var canBeValid: Bool {
            switch self {
            case .identity, .commits, .fence, .base: true
            case .part, .whole: false
            }
        }
    }

    /// The store that the entry belongs to.
    package var store: Identifier
    /// Chosen at random for each batch; the same when the entry is sent again.
    package var id: Identifier
    /// The opening of a log that wrote the entry.
    package var writer: Identifier
    /// The id of the valid entry that this one was decided on; zero for the first.
    package var previous: Identifier
    /// The end of the log that this entry was decided on.
    package var position: Position
    package var content: Content

    package init(
        store: Identifier, id: Identifier, writer: Identifier, previous: Identifier, position: Position,
        content: Content
    ) {
        self.store = store
        self.id = id
        self.writer = writer
        self.previous = previous
        self.position = position
        self.content = content
    }
}

// MARK: Encoding

extension SequencedEntry {
    private enum Kind: UInt8 {
        case identity = 0
        case commits = 1
        case part = 2
        case fence = 3
        case base = 4
        case whole = 5
    }

    /// The writer of an entry with commits that a log had before the sequencer got them.
    static let publisher = Identifier.zero
    static let magic: UInt32 = 0x6E45_7453  // "StEn" in the order of the bytes
    static let version: UInt16 = 1
    static let headerBytes = 92
    static let checksumBytes = 4
    static let commitHeaderBytes = 32
    private static let maximumTermsBytes = 4_096
    /// LZ4 stores at most this many bytes in one.
    private static let maximumRatio = 255
    /// Shorter payloads are not worth an attempt to compress them.
    private static let minimumCompressedBytes = 96

    /// Returns the maximum length of the commits in an entry of `bytes`.
    static func maximumContentBytes(in bytes: Int) -> Int { max(0, bytes - headerBytes - checksumBytes) }

    /// Returns the number of commits, from the first, that fit into an entry of `bytes` whatever their compression.
    static func count(of commits: [NewCommit], fittingIn bytes: Int) -> Int {
        var room = bytes - headerBytes - checksumBytes
        return commits.prefix { commit in
            room -= commitHeaderBytes + commit.payload.count
            return room >= 0
        }.count
    }

    package func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: 256)
        writer.append(Self.magic)
        writer.append(Self.version)
        writer.append(kind.rawValue)
        writer.append(UInt8(0))
        writer.append(UInt32(commitCount))
        for identifier in [store, id, self.writer, previous] { writer.append(identifier) }
        writer.append(position.offset)
        writer.append(position.chain)
        writer.append(UInt32(0))
        switch content {
        case .identity(let identity, let terms): Self.append(identity, terms: terms, to: &writer)
        case .commits(let commits):
            for commit in commits { Self.append(commit, to: &writer) }
        case .fence: break
        case .part(let part): part.append(to: &writer)
        case .whole(let whole): whole.append(to: &writer)
        case .base(let mark): BaseMark.append(mark, to: &writer)
        }
        writer.append(writer.bytes.withUnsafeBytes { CRC32C.checksum($0) })
        return writer.bytes
    }

    private var kind: Kind {
        switch content {
        case .identity: .identity
        case .commits: .commits
        case .fence: .fence
        case .part: .part
        case .whole: .whole
        case .base: .base
        }
    }

    private var commitCount: Int {
        switch content {
        case .commits(let commits): commits.count
        case .whole(let whole): Int(whole.commitCount)
        case .identity, .fence, .part, .base: 0
        }
    }

    static func append(_ identity: StoreIdentity, terms: String, to writer: inout ByteWriter) {
        writer.append(identity.created)
        writer.appendString(terms)
        writer.append(bytes: identity.containerIdentifier.utf8)
    }

    static func append(_ commit: NewCommit, to writer: inout ByteWriter) {
        writer.append(commit.id)
        writer.append(commit.time)
        writer.append(UInt32(commit.payload.count))
        commit.payload.withUnsafeBytes { payload in
            let compressed = payload.count < minimumCompressedBytes ? nil : Self.compressed(payload)
            writer.append(UInt32(compressed?.count ?? payload.count))
            if let compressed { writer.append(bytes: compressed) } else { writer.append(raw: payload) }
        }
    }

    /// Returns nil if compressing saves less than a sixteenth.
    private static func compressed(_ payload: UnsafeRawBufferPointer) -> [UInt8]? {
        let limit = payload.count - payload.count / 16
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = LZ4.compress(payload, into: UnsafeMutableRawBufferPointer(buffer)) ?? 0
        }
        return bytes.isEmpty ? nil : bytes
    }
}

// MARK: Decoding

extension SequencedEntry {
    /// Decodes an entry from outside.
    ///
    /// - Throws: ``StrataError`` if any byte was changed, or a later version wrote the entry.
    package init(decoding bytes: [UInt8]) throws {
        self = try bytes.withUnsafeBytes { bytes in
            guard bytes.count >= Self.headerBytes + Self.checksumBytes else {
                throw StrataError(
                    .impossibleLength, "An entry is too short.",
                    .init(expected: "\(Self.headerBytes + Self.checksumBytes) bytes or more", found: "\(bytes.count)"))
            }
            try Self.checkEnds(bytes)
            return try SequencedEntry(reading: UnsafeRawBufferPointer(rebasing: bytes.dropLast(Self.checksumBytes)))
        }
    }

    /// Returns false if the bytes are not those of a base's mark.
    static func mayMarkBase(_ bytes: [UInt8]) -> Bool { bytes.count > 6 && bytes[6] == Kind.base.rawValue }

    /// Checks the magic number and the checksum.
    private static func checkEnds(_ bytes: UnsafeRawBufferPointer) throws {
        guard UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == magic else {
            throw StrataError(.wrongMagic, "The bytes are not an entry of a log.", .init(position: 0))
        }
        let end = bytes.count - checksumBytes
        let checksum = CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        let stored = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self))
        guard checksum == stored else {
            throw StrataError(
                .badChecksum, "The checksum of an entry does not match its content.",
                .init(position: UInt64(end), expected: hexadecimal(checksum), found: hexadecimal(stored)))
        }
    }

    private init(reading bytes: UnsafeRawBufferPointer) throws {
        var reader = ByteReader(bytes, at: 4)
        let version = try reader.read(UInt16.self, "the version")
        let number = try reader.read(UInt8.self, "the kind")
        let flags = try reader.read(UInt8.self, "the flags")
        guard version == Self.version, flags == 0, let kind = Kind(rawValue: number) else {
            throw StrataError(
                .newerFormat,
                "A later release wrote an entry of the log; update this program to continue following the log.",
                .init(
                    expected: "version \(Self.version) and a known kind",
                    found: "version \(version), kind \(number), flags \(flags)"))
        }
        let count = try reader.read(UInt32.self, "the number of commits")
        store = try reader.readIdentifier("the store")
        id = try reader.readIdentifier("the entry's id")
        writer = try reader.readIdentifier("the writer")
        previous = try reader.readIdentifier("the previous entry's id")
        position = Position(
            offset: try reader.read(UInt64.self, "the offset"), chain: try reader.read(UInt32.self, "the chain value"))
        guard try reader.read(UInt32.self, "the reserved bytes") == 0, position.offset <= Version.maximumOffset else {
            throw reader.malformed("the position of an entry", expected: "a valid offset, then zeros")
        }
        switch kind {
        case .identity:
            let (identity, terms) = try Self.identity(store, &reader)
            content = .identity(identity, terms: terms)
        case .commits: content = .commits(try Self.commits(count, &reader, of: bytes))
        case .fence: content = .fence
        case .part: content = .part(try EntryPart(&reader, of: bytes))
        case .whole: content = .whole(try WholeEntry(&reader, commitCount: count))
        case .base: content = .base(try BaseMark.read(store, &reader))
        }
        guard kind == .commits || kind == .whole || count == 0 else {
            throw reader.malformed("the number of commits", expected: "0", found: "\(count)")
        }
        try reader.expectEnd("an entry")
    }

    static func identity(
        _ store: Identifier, _ reader: inout ByteReader
    ) throws -> (identity: StoreIdentity, terms: String) {
        let created = try reader.read(Int64.self, "the time of creation")
        let terms = try reader.readString("the options", atMost: maximumTermsBytes)
        let name = try reader.readRemainingText(
            "the container identifier", atMost: LogFormat.containerIdentifierMaximumBytes)
        return (try StoreIdentity(storeID: store, containerIdentifier: name, created: created), terms)
    }

    static func commits(
        _ count: UInt32, _ reader: inout ByteReader, of bytes: UnsafeRawBufferPointer
    ) throws -> [NewCommit] {
        guard count > 0, Int(count) <= reader.remaining / commitHeaderBytes else {
            throw reader.malformed("the number of commits", expected: "what the entry has room for", found: "\(count)")
        }
        return try (0..<count).map { _ in try commit(&reader, of: bytes) }
    }

    private static func commit(_ reader: inout ByteReader, of bytes: UnsafeRawBufferPointer) throws -> NewCommit {
        let id = try reader.readIdentifier("a commit's id")
        let time = try reader.read(Int64.self, "a commit's time")
        let rawBytes = Int(try reader.read(UInt32.self, "a payload's length"))
        let storedBytes = Int(try reader.read(UInt32.self, "a payload's stored length"))
        // Bounded before anything is allocated.
        guard rawBytes <= LogFormat.maximumCommitBytes, storedBytes <= rawBytes,
            rawBytes <= storedBytes * maximumRatio
        else {
            throw reader.malformed(
                "a payload's length", expected: "possible", found: "\(rawBytes) bytes in \(storedBytes)")
        }
        let range = try reader.readRange(count: UInt64(storedBytes), "a payload")
        let stored = UnsafeRawBufferPointer(rebasing: bytes[range])
        if storedBytes == rawBytes { return NewCommit(id: id, time: time, payload: ArraySlice(stored)) }
        var isWhole = false
        let payload = [UInt8](unsafeUninitializedCapacity: rawBytes) { buffer, count in
            isWhole = LZ4.decompress(
                stored,
                into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<rawBytes]))
            count = isWhole ? rawBytes : 0
        }
        guard isWhole else {
            throw reader.malformed("a payload", expected: "\(rawBytes) bytes when decompressed")
        }
        return NewCommit(id: id, time: time, payload: payload[...])
    }
}
