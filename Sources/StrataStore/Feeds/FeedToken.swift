import StrataModel
import StrataRules
import StrataSystem
import StrataViews

/// A reader's position in a feed, which the reader keeps between pages (docs/feeds.md §3). A client gets it as bytes
/// that the store has sealed.
///
/// ```swift
/// let page = try store.zoneChanges(of: notes, in: DatabaseID(.private), as: anna)
/// let bytes = try store.bytes(of: page.token)
/// let token = try store.token(from: bytes)
/// ```
public struct FeedToken: Sendable, Hashable {
    public enum Feed: Sendable, Hashable {
        case database
        /// The zone's ordinal, and the version of the event that created this incarnation of the zone.
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
        /// The hierarchical shares of a member have been seen up to the position, but only those before one share.
        case sharesBefore(ShareProgress)
    }

    /// The progress of a member in the hierarchical shares of a zone, which are read one after another.
    public struct ShareProgress: Sendable, Hashable {
        public enum Phase: UInt8, Sendable {
            /// Nothing of the share was read yet.
            case begins
            /// Reading what changed since the base.
            case changes
            /// Reading every record, because the share is new to the member.
            case content
            /// Reporting every record as deleted, because the member's access ended.
            case end
        }

        /// The offset up to which the remaining shares have been seen; 0 if the member has seen nothing of them.
        public var base: UInt64
        public var share: UInt64
        public var phase: Phase
        /// The last change of the share that was read.
        public var through: Version
    }

    /// A share that a member knows by the feed, with the version of the event by which the member joined it.
    package struct KnownShare: Sendable, Hashable {
        package var share: UInt64
        package var joined: Version
    }

    public var store: Identifier
    public var database: DatabaseID
    public var feed: Feed
    public var position: Position
    public var progress: Progress
    /// The shares that the reader of a shared zone knows, in the order of their numbers; else empty.
    package var knownShares: [KnownShare]

    init(
        store: Identifier, database: DatabaseID, feed: Feed, position: Position, progress: Progress = .whole,
        knownShares: [KnownShare] = []
    ) {
        self.knownShares = knownShares
        self.store = store
        self.database = database
        self.feed = feed
        self.position = position
        self.progress = progress
    }
}

extension FeedToken: SealedValue {
    package static let purpose = StoreSecret.Purpose.changeToken
    package static let what: StaticString = "a change token"
    package static let version: UInt8 = 1
    package static let maximumBytes = 1 << 20

    package func append(to writer: inout ByteWriter) {
        writer.append(feed == .database ? 1 : 2 as UInt8)
        writer.append(store)
        writer.append(database)
        writer.appendVarint(position.offset)
        writer.append(position.chain)
        if case .zone(let zone, let life) = feed {
            writer.appendVarint(zone)
            writer.appendVarint(life.packed)
            if database.scope == .shared { Self.append(knownShares, to: &writer) }
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
        case .sharesBefore(let progress):
            writer.append(3 as UInt8)
            writer.appendVarint(progress.base)
            writer.appendVarint(progress.share)
            writer.append(progress.phase.rawValue)
            writer.appendVarint(progress.through.packed)
        }
    }

    private static func append(_ shares: [KnownShare], to writer: inout ByteWriter) {
        writer.appendVarint(UInt64(shares.count))
        for known in shares {
            writer.appendVarint(known.share)
            writer.appendVarint(known.joined.packed)
        }
    }

    private static func readShares(from reader: inout ByteReader) throws -> [KnownShare] {
        let count = try reader.readVarint("the shares of a token", atMost: UInt64(maximumBytes))
        var shares: [KnownShare] = []
        for _ in 0..<count {
            let share = try reader.readVarint("a token's share")
            shares.append(KnownShare(share: share, joined: try reader.readPackedVarint("a token's membership")))
        }
        return shares
    }

    package init(from reader: inout ByteReader, _ payload: UnsafeRawBufferPointer) throws {
        let kind = try reader.read(UInt8.self, "a token's feed")
        store = try reader.readIdentifier("a token's store")
        database = try reader.readDatabaseID()
        let offset = try reader.readVarint("a token's offset", atMost: Version.maximumOffset)
        position = Position(offset: offset, chain: try reader.read(UInt32.self, "a token's chain value"))
        switch kind {
        case 1: feed = .database
        case 2:
            let zone = try reader.readVarint("a token's zone")
            feed = .zone(zone, life: try reader.readPackedVarint("a zone's life"))
        default: throw reader.malformed("a token's feed", expected: "1 or 2", found: "\(kind)")
        }
        knownShares = kind == 2 && database.scope == .shared ? try Self.readShares(from: &reader) : []
        progress = try Self.readProgress(from: &reader, of: feed, payload)
    }

    private static func readProgress(
        from reader: inout ByteReader, of feed: Feed, _ payload: UnsafeRawBufferPointer
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
            return .scanningRecords(name: [UInt8](payload[range]))
        case (3, .zone):
            let base = try reader.readVarint("a token's base", atMost: Version.maximumOffset)
            let share = try reader.readVarint("a token's share")
            let phase = try reader.read(UInt8.self, "the phase of a share")
            guard let phase = ShareProgress.Phase(rawValue: phase) else {
                throw reader.malformed("the phase of a share", expected: "0 to 3", found: "\(phase)")
            }
            let through = try reader.readPackedVarint("a share's last change")
            return .sharesBefore(ShareProgress(base: base, share: share, phase: phase, through: through))
        default: throw reader.malformed("a token's progress", expected: "0 to 3", found: "\(number)")
        }
    }
}

extension ByteReader {
    fileprivate mutating func readPackedVarint(_ what: StaticString) throws -> Version {
        Version(packed: try readVarint(what, atMost: .max >> 1))
    }
}

extension FeedToken {
    /// - Throws: ``Refusal`` for a token that does not fit the request (B151, B161).
    func check(
        _ place: ResolvedDatabase, _ feed: Feed, _ engine: StoreEngine, expiredBefore: UInt64, end: UInt64
    ) throws {
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
        guard position.offset >= engine.log.floor.offset else { throw Self.compacted }
        guard position.offset >= expiredBefore else { throw Self.expired(before: expiredBefore) }
        do {
            guard try engine.log.chain(at: position.offset) == position.chain else {
                throw Self.expired("it belongs to another history of this store")
            }
        } catch let error as StrataError where error.code == .outOfRange {
            // No commit has that offset, or the history was compacted after the floor was read.
            throw Self.expired("its history differs from that of the store")
        }
    }

    /// Checks what the token knows of a member's shares in the zone.
    ///
    /// - Throws: ``Refusal`` if the access to one of them, or to the zone, ended and began again (B363).
    func check(_ zone: SharedZone, floor: UInt64, expiredBefore: UInt64) throws {
        var reached = position.offset
        if case .sharesBefore(let progress) = progress {
            guard progress.base <= position.offset, progress.base == 0 || progress.base >= floor else {
                throw Self.compacted
            }
            guard progress.base == 0 || progress.base >= expiredBefore else {
                throw Self.expired(before: expiredBefore)
            }
            if progress.base > 0 { reached = progress.base }
        }
        let members = Dictionary(zone.memberships.map { ($0.share, $0) }) { $1 }
        // A share that ended before the token's offset is never listed; otherwise the member would receive records
        // added since.
        let areCurrent = knownShares.allSatisfy { known in
            guard let member = members[known.share], member.joined == known.joined else { return false }
            // No commit ends in a state of access that the same commit took away, so no reader knows the share by it.
            return member.ended.map { $0.offset > max(reached, member.joined.offset) } ?? true
        }
        guard areCurrent else { throw Self.expired("your access to a share ended and began again") }
        // Follows accesses that overlap, from that time to now.
        while true {
            let next = zone.memberships.filter { member in
                member.joined.offset <= reached && (member.ended.map { $0.offset > reached } ?? true)
            }
            if next.contains(where: { $0.ended == nil }) { return }
            guard let end = next.compactMap(\.ended?.offset).max() else {
                throw Self.expired("your access to the zone ended and began again")
            }
            reached = end
        }
    }

    static let compacted = expired("the history since then has been compacted")

    private static func expired(before offset: UInt64) -> Refusal {
        expired("the console expired all tokens from before commit \(offset)")
    }

    static func expired(_ why: String) -> Refusal {
        Refusal(
            .changeTokenExpired,
            "client knowledge differs from server knowledge: the token cannot be used because \(why). Fetch from nil.",
            rule: .expiredToken)
    }
}
