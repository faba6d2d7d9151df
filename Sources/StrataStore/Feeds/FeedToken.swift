import StrataModel
import StrataRules
import StrataSystem
import StrataTree
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
        /// The shares of a member have been seen up to their cursors, from a fetch that began at this offset.
        case shares(since: UInt64)
    }

    /// A member's position in a share of a zone.
    package struct ShareCursor: Sendable, Hashable {
        package var share: UInt64
        /// The version of the event by which the member joined. Once everything up to the end of the access has been
        /// seen, the event by which it ended: the records that stayed in the share are then reported as deletions.
        package var membership: Version
        /// The last change of the share that has been seen; 0 in a share of the whole zone, which has the position.
        package var through = Version(offset: 0, eventIndex: 0)
    }

    public var store: Identifier
    public var database: DatabaseID
    public var feed: Feed
    public var position: Position
    public var progress: Progress = .whole
    /// The positions in the shares that the reader of a shared zone knows, in the order of their numbers; else empty.
    package var cursors: [ShareCursor] = []
}

extension FeedToken: SealedValue {
    package static let purpose = StoreSecret.Purpose.changeToken
    package static let what: StaticString = "a change token"
    package static let version: UInt8 = 1
    package static let maximumBytes = 1 << 20

    package func append(to writer: inout ByteWriter) {
        writer.append(kind)
        writer.append(store)
        writer.append(database)
        writer.appendVarint(position.offset)
        writer.append(position.chain)
        if case .zone(let zone, let life) = feed {
            writer.appendVarint(zone)
            writer.appendVarint(life.packed)
            if kind == Self.memberKind { append(cursors, to: &writer) }
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
            writer.append(counted: name)
        case .shares(let since):
            writer.append(3 as UInt8)
            writer.appendVarint(since)
        }
    }

    private static let memberKind: UInt8 = 3

    private var kind: UInt8 { feed == .database ? 1 : database.scope == .shared ? Self.memberKind : 2 }

    private func append(_ cursors: [ShareCursor], to writer: inout ByteWriter) {
        writer.appendVarint(UInt64(cursors.count))
        for cursor in cursors {
            writer.appendVarint(cursor.share)
            writer.appendVarint(cursor.membership.packed)
            writer.appendVarint(cursor.through.packed)
        }
    }

    private static func readCursors(from reader: inout ByteReader) throws -> [ShareCursor] {
        let count = try reader.readVarint("the shares of a token", atMost: UInt64(maximumBytes))
        var cursors: [ShareCursor] = []
        for _ in 0..<count {
            let share = try reader.readVarint("a token's share")
            let membership = try reader.readPackedVarint("a token's membership")
            let through = try reader.readPackedVarint("a share's last change")
            cursors.append(ShareCursor(share: share, membership: membership, through: through))
        }
        return cursors
    }

    package init(from reader: inout ByteReader, _ payload: UnsafeRawBufferPointer) throws {
        let kind = try reader.read(UInt8.self, "a token's feed")
        store = try reader.readIdentifier("a token's store")
        database = try reader.readDatabaseID()
        let offset = try reader.readVarint("a token's offset", atMost: Version.maximumOffset)
        position = Position(offset: offset, chain: try reader.read(UInt32.self, "a token's chain value"))
        // The zone of a member had the kind 2 in an earlier form.
        switch (kind, database.scope == .shared) {
        case (1, _): feed = .database
        case (2, false), (Self.memberKind, true):
            let zone = try reader.readVarint("a token's zone")
            feed = .zone(zone, life: try reader.readPackedVarint("a zone's life"))
        default: throw reader.malformed("a token's feed", expected: "1 to 3", found: "\(kind)")
        }
        cursors = kind == Self.memberKind ? try Self.readCursors(from: &reader) : []
        progress = try Self.readProgress(from: &reader, kind, payload)
    }

    private static func readProgress(
        from reader: inout ByteReader, _ kind: UInt8, _ payload: UnsafeRawBufferPointer
    ) throws -> Progress {
        let number = try reader.read(UInt8.self, "a token's progress")
        switch (number, kind) {
        case (0, _): return .whole
        case (1, _): return .within(try reader.readVarint("a token's progress in a commit"))
        case (2, 1):
            let offset = try reader.readVarint("the row of a zone", atMost: Version.maximumOffset)
            return .scanningZones(offset: offset, zone: try reader.readVarint("the row of a zone"))
        case (2, _):
            let range = try reader.readStringRange("a record's key", atMost: Envelope.maximumNameBytes)
            return .scanningRecords(name: [UInt8](payload[range]))
        case (3, memberKind):
            return .shares(since: try reader.readVarint("the start of a fetch", atMost: Version.maximumOffset))
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

    /// Checks the cursors of a member's token.
    ///
    /// - Throws: ``Refusal`` if the access to a share, or to the zone, ended and began again, or if a share changed
    ///   after the access to it had ended (B363).
    func check(_ zone: SharedZone, in trees: Snapshot) throws {
        var reached = position.offset
        if case .shares(let since) = progress { reached = since }
        let members = Dictionary(zone.memberships.map { ($0.share, $0) }) { $1 }
        for cursor in cursors {
            guard let member = members[cursor.share], [member.joined, member.ended].contains(cursor.membership),
                // A share that ended before the fetch is never listed. No commit ends in a state of access that the
                // same commit took away, so no reader has a cursor by it.
                member.ended.map({ $0.offset > max(reached, member.joined.offset) }) ?? true
            else { throw Self.expired("your access to a share ended and began again") }
            guard let ended = member.ended, let last = try trees.lastChange(ofShare: cursor.share) else { continue }
            // Records may have come into the share since then, of which the member must not learn.
            if last.offset > ended.offset { throw Self.changedAfterAccess }
        }
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

    static let otherShares = expired("it belongs to other shares of the zone")

    static let changedAfterAccess = expired("a share changed after your access to it ended")

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
