import StrataModel
import StrataSystem

/// The state of a sync engine as an app keeps it (docs/sync-engine.md §4).
package struct SyncState: Sendable {
    package enum ZoneChange: UInt8, Sendable {
        case delete = 0, save, saveWithOwnKey
    }

    private static let version: UInt8 = 1

    /// The store; nil if it could not be opened.
    package var store: Identifier?
    package var scope: InternedName.Scope
    /// The record name of the last known user; nil if no one was signed in.
    package var user: String?
    /// The subscription in use; nil before the first sync.
    package var subscriptionID: String?
    package var hasUntrackedChanges = false
    /// The time of the last fetch, in seconds since 2001.
    package var lastFetch: Double?
    /// The time of the last push, in seconds since 2001.
    package var lastPush: Double?
    package var databaseToken: [UInt8]?
    package var zoneTokens: [(zone: ZoneID, token: [UInt8])] = []
    /// The zones that the feed of the database named, and whose records were not all fetched.
    package var unfetchedZones: [ZoneID] = []
    package var zoneChanges: [(zone: ZoneID, change: ZoneChange)] = []
    package var recordChanges: [(record: RecordID, isSave: Bool)] = []

    package init(store: Identifier?, scope: InternedName.Scope) {
        self.store = store
        self.scope = scope
    }

    /// The operation ID of an engine's requests; those of one send share an operation group.
    package static func operationID(of scope: InternedName.Scope) -> String { "cksyncengine.\(scope)" }

    // MARK: Encoding

    /// Version, count of the content's bytes, content, checksum of all before it.
    package func encoded() -> [UInt8] {
        let content = encodedContent()
        var framed = ByteWriter(reserving: content.count + 9)
        framed.append(Self.version)
        framed.append(UInt32(truncatingIfNeeded: content.count))
        framed.append(bytes: content)
        return ChecksummedBytes.seal(framed)
    }

    private func encodedContent() -> [UInt8] {
        var writer = ByteWriter(reserving: 128 + recordChanges.count * 40)
        writer.append(optional: store) { $1.append($0) }
        writer.append(scope.rawValue)
        writer.append(optional: user) { $1.appendString($0) }
        writer.append(optional: subscriptionID) { $1.appendString($0) }
        writer.append(hasUntrackedChanges ? 1 as UInt8 : 0)
        for date in [lastFetch, lastPush] { writer.append(optional: date) { $1.append($0.bitPattern) } }
        writer.append(optional: databaseToken) { $1.append(counted: $0) }
        let zones = Zones(of: self)
        writer.appendVarint(UInt64(zones.all.count))
        for zone in zones.all {
            writer.appendString(zone.name)
            writer.appendString(zone.owner)
        }
        writer.appendVarint(UInt64(zoneTokens.count))
        for (zone, token) in zoneTokens {
            writer.appendVarint(zones.place(of: zone))
            writer.append(counted: token)
        }
        writer.appendVarint(UInt64(unfetchedZones.count))
        for zone in unfetchedZones { writer.appendVarint(zones.place(of: zone)) }
        writer.appendVarint(UInt64(zoneChanges.count))
        for (zone, change) in zoneChanges {
            writer.appendVarint(zones.place(of: zone))
            writer.append(change.rawValue)
        }
        writer.appendVarint(UInt64(recordChanges.count))
        for (record, isSave) in recordChanges {
            writer.appendVarint(zones.place(of: record.zone) << 1 | (isSave ? 1 : 0))
            writer.appendString(record.name)
        }
        return writer.bytes
    }

    /// The zones of a state, each once.
    private struct Zones {
        private(set) var all: [ZoneID] = []
        private var places: [ZoneID: UInt64] = [:]

        init(of state: SyncState) {
            for (zone, _) in state.zoneTokens { add(zone) }
            for zone in state.unfetchedZones { add(zone) }
            for (zone, _) in state.zoneChanges { add(zone) }
            for (record, _) in state.recordChanges { add(record.zone) }
        }

        private mutating func add(_ zone: ZoneID) {
            if all.last == zone || places[zone] != nil { return }
            places[zone] = UInt64(all.count)
            all.append(zone)
        }

        func place(of zone: ZoneID) -> UInt64 { places[zone] ?? 0 }
    }

    // MARK: Decoding

    /// - Throws: ``StrataError``: `newerFormat` for the bytes of a later release, otherwise `malformed`.
    package init(decoding bytes: [UInt8]) throws {
        self = try ChecksummedBytes.open(bytes, "a state", atMost: .max) { reader, _ in
            let version = try reader.read(UInt8.self, "a state's version")
            if version > Self.version {
                throw StrataError(
                    .newerFormat, "The state of the sync engine was made by another release.",
                    .init(expected: "\(Self.version)", found: "\(version)"))
            }
            guard version == Self.version else {
                throw reader.malformed("a state's version", expected: "\(Self.version)", found: "\(version)")
            }
            let count = try reader.read(UInt32.self, "a state's length")
            guard UInt64(count) == UInt64(reader.remaining) else {
                throw reader.malformed("a state's length", expected: "\(reader.remaining)", found: "\(count)")
            }
            return try SyncState(from: &reader)
        }
    }

    private init(from reader: inout ByteReader) throws {
        store = try reader.readOptional { try $0.readIdentifier("a state's store") }
        let number = try reader.read(UInt8.self, "a state's scope")
        guard let scope = InternedName.Scope(rawValue: number) else {
            throw reader.malformed("a state's scope", expected: "1 to 3", found: "\(number)")
        }
        self.scope = scope
        user = try reader.readOptional { try $0.readText("a state's user") }
        subscriptionID = try reader.readOptional { try $0.readText("a state's subscription") }
        hasUntrackedChanges = try reader.read(UInt8.self, "a state's flag") != 0
        lastFetch = try reader.readOptional { Double(bitPattern: try $0.read(UInt64.self, "a date")) }
        lastPush = try reader.readOptional { Double(bitPattern: try $0.read(UInt64.self, "a date")) }
        databaseToken = try reader.readOptional { try $0.readToken() }
        let zones = try reader.readItems("a state's zones") { reader in
            ZoneID(try reader.readText("a zone's name"), owner: try reader.readText("a zone's owner"))
        }
        func zone(_ place: UInt64, _ reader: ByteReader) throws -> ZoneID {
            guard place < zones.count else {
                throw reader.malformed("a state's zone", expected: "a place below \(zones.count)", found: "\(place)")
            }
            return zones[Int(place)]
        }
        zoneTokens = try reader.readItems("a state's tokens") { reader in
            (try zone(try reader.readVarint("a state's zone"), reader), try reader.readToken())
        }
        unfetchedZones = try reader.readItems("a state's unfetched zones") { reader in
            try zone(try reader.readVarint("a state's zone"), reader)
        }
        zoneChanges = try reader.readItems("a state's changes of zones") { reader in
            let id = try zone(try reader.readVarint("a state's zone"), reader)
            let kind = try reader.read(UInt8.self, "a change of a zone")
            guard let change = ZoneChange(rawValue: kind) else {
                throw reader.malformed("a change of a zone", expected: "0 to 2", found: "\(kind)")
            }
            return (id, change)
        }
        recordChanges = try reader.readItems("a state's changes of records") { reader in
            let number = try reader.readVarint("a change of a record")
            let zone = try zone(number >> 1, reader)
            return (RecordID(try reader.readText("a record's name"), zone: zone), number & 1 == 1)
        }
    }
}

extension Refusal.Code {
    /// True if a sync engine keeps the change pending and tries again by itself (docs/sync-engine.md §5).
    package var isRetriedBySyncEngine: Bool {
        [.serviceUnavailable, .notAuthenticated, .serverResponseLost, .accountTemporarilyUnavailable].contains(self)
    }
}

extension ByteReader {
    fileprivate mutating func readText(_ what: StaticString) throws -> String {
        try readString(what, atMost: 1 << 16)
    }

    fileprivate mutating func readToken() throws -> [UInt8] {
        let count = try readVarint("a token's length", atMost: UInt64(remaining))
        return try (0..<count).map { _ in try read(UInt8.self, "a token") }
    }

    fileprivate mutating func readItems<Item>(
        _ what: StaticString, _ body: (inout ByteReader) throws -> Item
    ) throws -> [Item] {
        let count = try readVarint(what)
        var items: [Item] = []
        // Not reserved: the count may be wrong.
        for _ in 0..<count { items.append(try body(&self)) }
        return items
    }
}
