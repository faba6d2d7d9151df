import StrataModel
import StrataSystem

/// A reader's position in a feed, which the reader keeps between pages (docs/feeds.md §3).
///
/// ```swift
/// let token = try FeedToken(decoding: bytes)
/// print(token.position.offset)
/// ```
public struct FeedToken: Sendable, Hashable {
    public enum Feed: Sendable, Hashable {
        case database
        /// The zone's ordinal, and the version of the event that began the zone's life.
        case zone(UInt64, life: Version)
    }

    public enum Progress: Sendable, Hashable {
        /// Everything up to the offset has been seen.
        case whole
        /// The commit at the offset has been seen up to this zone's ordinal or this event's index.
        case within(UInt64)
        /// The existing zones have been seen up to this row.
        case scanningZones(offset: UInt64, zone: UInt64)
        /// The existing records have been seen up to this name, as spelled in their keys.
        case scanningRecords(name: [UInt8])
    }

    private static let version: UInt8 = 1
    private static let maximumBytes = 16 << 10

    public var store: Identifier
    public var database: DatabaseID
    public var feed: Feed
    public var position: Position
    public var progress: Progress

    init(
        store: Identifier, database: DatabaseID, feed: Feed, position: Position, progress: Progress = .whole
    ) {
        self.store = store
        self.database = database
        self.feed = feed
        self.position = position
        self.progress = progress
    }

    public func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: 96)
        writer.append(Self.version)
        writer.append(feed == .database ? 1 : 2 as UInt8)
        writer.append(store)
        writer.append(database)
        writer.appendVarint(position.offset)
        writer.append(position.chain)
        if case .zone(let zone, let life) = feed {
            writer.appendVarint(zone)
            writer.appendVarint(life.packed)
        }
        switch progress {
        case .whole: writer.append(0 as UInt8)
        case .within(let seen):
            writer.append(1 as UInt8)
            writer.appendVarint(seen)
        case .scanningZones(let offset, let zone):
            writer.append(2 as UInt8)
            writer.appendVarint(offset)
            writer.appendVarint(zone)
        case .scanningRecords(let name):
            writer.append(2 as UInt8)
            writer.appendVarint(UInt64(name.count))
            writer.append(bytes: name)
        }
        return ChecksummedBytes.seal(writer)
    }

    /// - Throws: ``StrataError`` for bytes that are not a token.
    public init(decoding bytes: [UInt8]) throws {
        self = try ChecksummedBytes.open(bytes, "a change token", atMost: Self.maximumBytes) {
            try FeedToken(from: &$0, $1)
        }
    }

    private init(from reader: inout ByteReader, _ bytes: UnsafeRawBufferPointer) throws {
        let version = try reader.read(UInt8.self, "a token's version")
        guard version == Self.version else {
            throw StrataError(
                .newerFormat, "The change token was made by another release.",
                .init(expected: "\(Self.version)", found: "\(version)"))
        }
        let kind = try reader.read(UInt8.self, "a token's feed")
        store = try reader.readIdentifier("a token's store")
        database = try reader.readDatabaseID()
        let offset = try reader.readVarint("a token's offset", atMost: Version.maximumOffset)
        position = Position(offset: offset, chain: try reader.read(UInt32.self, "a token's chain value"))
        switch kind {
        case 1: feed = .database
        case 2:
            let zone = try reader.readVarint("a token's zone")
            let life = try reader.readVarint("a zone's life", atMost: .max >> 1)
            feed = .zone(zone, life: Version(packed: life))
        default: throw reader.malformed("a token's feed", expected: "1 or 2", found: "\(kind)")
        }
        progress = try Self.readProgress(from: &reader, of: feed, bytes)
    }

    private static func readProgress(
        from reader: inout ByteReader, of feed: Feed, _ bytes: UnsafeRawBufferPointer
    ) throws -> Progress {
        let number = try reader.read(UInt8.self, "a token's progress")
        switch (number, feed) {
        case (0, _): return .whole
        case (1, _): return .within(try reader.readVarint("a token's progress in a commit"))
        case (2, .database):
            let offset = try reader.readVarint("the row of a zone", atMost: Version.maximumOffset)
            return .scanningZones(offset: offset, zone: try reader.readVarint("the row of a zone"))
        case (2, .zone):
            let range = try reader.readStringRange("a record's key", atMost: Envelope.maximumNameBytes)
            return .scanningRecords(name: [UInt8](bytes[range]))
        default: throw reader.malformed("a token's progress", expected: "0 to 2", found: "\(number)")
        }
    }
}

extension FeedToken {
    /// - Throws: ``Refusal`` for a token that does not fit the request (B151, B161).
    func check(_ place: Place, _ feed: Feed, _ engine: StoreEngine, expiredBefore: UInt64, end: UInt64) throws {
        switch (self.feed, feed) {
        case (.database, .database), (.zone, .zone): break
        case (.database, .zone):
            throw Refusal(
                .invalidArguments, "The token is for the changes of a database, not of a zone.", rule: .tokenScope)
        case (.zone, .database):
            throw Refusal(
                .invalidArguments, "The token is for the changes of a zone, not of a database.", rule: .tokenScope)
        }
        guard store == engine.storeID else { throw Self.expired("it belongs to another store") }
        guard database == place.database else { throw Self.expired("it belongs to another database") }
        guard self.feed == feed else {
            throw Self.expired("it belongs to another zone or to an earlier life of this one")
        }
        guard position.offset <= end else { throw Self.expired("it is ahead of the store's history") }
        guard position.offset >= max(expiredBefore, engine.log.floor.offset) else {
            throw Self.expired("the history since then has been compacted")
        }
        do {
            guard try engine.log.chain(at: position.offset) == position.chain else {
                throw Self.expired("it belongs to another history of this store")
            }
        } catch let error as StrataError where error.code == .outOfRange {
            // No commit has that offset, or the history was compacted after the floor was read.
            throw Self.expired("its history differs from that of the store")
        }
    }

    static func expired(_ why: String) -> Refusal {
        Refusal(
            .changeTokenExpired,
            "client knowledge differs from server knowledge: the token cannot be used because \(why). Fetch from nil.",
            rule: .expiredToken)
    }
}
