import Foundation
import StrataModel
import StrataSystem

// Version, count of the content's bytes, content, checksum of all before it (docs/sync-engine.md).
extension SyncContent {
    private static let version: UInt8 = 1
    private static let longestText = 1 << 16
    private static let mostItems: UInt64 = 1 << 32

    func encoded() -> Data {
        var writer = ByteWriter(reserving: 64 + recordChanges.count * 24)
        encodeContent(&writer)
        var framed = ByteWriter(reserving: writer.bytes.count + 9)
        framed.append(Self.version)
        framed.append(UInt32(truncatingIfNeeded: writer.bytes.count))
        framed.append(bytes: writer.bytes)
        let checksum = framed.bytes.withUnsafeBytes { CRC32C.checksum($0) }
        framed.append(checksum)
        return Data(framed.bytes)
    }

    private func encodeContent(_ writer: inout ByteWriter) {
        writer.append(optional: store) { $1.append($0) }
        writer.append(UInt8(scope.rawValue))
        writer.append(optional: user) { $1.appendString($0) }
        writer.append(optional: subscriptionID) { $1.appendString($0) }
        writer.append(hasUntrackedChanges ? 1 as UInt8 : 0)
        for date in [lastFetch, lastPush] {
            writer.append(optional: date) { $1.append($0.timeIntervalSinceReferenceDate.bitPattern) }
        }
        writer.append(optional: databaseToken) { $1.append(counted: $0.bytes) }
        var zones = ZoneTable()
        var rest = ByteWriter(reserving: 64 + recordChanges.count * 24)
        rest.appendVarint(UInt64(zoneTokens.count))
        for (zone, token) in zoneTokens {
            rest.appendVarint(zones.place(of: zone))
            rest.append(counted: token.bytes)
        }
        rest.appendVarint(UInt64(unfetchedZones.count))
        for zone in unfetchedZones { rest.appendVarint(zones.place(of: zone)) }
        rest.appendVarint(UInt64(databaseChanges.count))
        for change in databaseChanges.changes {
            rest.appendVarint(zones.place(of: change.itemID))
            switch change {
            case .deleteZone: rest.append(0 as UInt8)
            case .saveZone(let zone): rest.append(zone.encryptionScope == .perZone ? 2 as UInt8 : 1)
            }
        }
        rest.appendVarint(UInt64(recordChanges.count))
        for change in recordChanges.changes {
            rest.appendVarint(zones.place(of: change.itemID.zoneID) << 1 | (change.isSave ? 1 : 0))
            rest.appendString(change.itemID.recordName)
        }
        writer.appendVarint(UInt64(zones.zones.count))
        for zone in zones.zones { writer.append(zone) }
        writer.append(bytes: rest.bytes)
    }

    /// - Throws: `StrataError` if the bytes are damaged or of another version.
    init(decoding data: Data) throws {
        let bytes = [UInt8](data)
        self = try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            let version = try reader.read(UInt8.self, "a state's version")
            guard version == Self.version else {
                throw reader.malformed("a state's version", expected: "\(Self.version)", found: "\(version)")
            }
            let count = try reader.read(UInt32.self, "a state's length")
            let range = try reader.readRange(count: UInt64(count), "a state's content")
            let checksum = try reader.read(UInt32.self, "a state's checksum")
            try reader.expectEnd("a state")
            guard checksum == CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[..<range.upperBound])) else {
                throw reader.malformed("a state's checksum", expected: "that of its content")
            }
            var content = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[range]))
            let decoded = try Self(decodingContent: &content)
            try content.expectEnd("a state's content")
            return decoded
        }
    }

    private init(decodingContent reader: inout ByteReader) throws {
        let store = try reader.readOptional { try $0.readIdentifier("a state's store") }
        let number = try reader.read(UInt8.self, "a state's scope")
        guard let scope = CKDatabase.Scope(rawValue: Int(number)) else {
            throw reader.malformed("a state's scope", expected: "1 to 3", found: "\(number)")
        }
        self.init(store: store, scope: scope)
        user = try reader.readOptional { try $0.readString("a state's user", atMost: Self.longestText) }
        subscriptionID = try reader.readOptional {
            try $0.readString("a state's subscription", atMost: Self.longestText)
        }
        hasUntrackedChanges = try reader.read(UInt8.self, "a state's flag") != 0
        lastFetch = try reader.readOptional { try $0.readDate() }
        lastPush = try reader.readOptional { try $0.readDate() }
        databaseToken = try reader.readOptional { try $0.readToken() }
        let zones = try reader.readItems("a state's zones") { try $0.readZoneID() }
        func zone(_ place: UInt64, _ reader: ByteReader) throws -> CKRecordZone.ID {
            guard place < zones.count else {
                throw reader.malformed("a state's zone", expected: "a place below \(zones.count)", found: "\(place)")
            }
            return zones[Int(place)]
        }
        for (id, token) in try reader.readItems(
            "a state's tokens",
            { reader in
                (try zone(try reader.readVarint("a state's zone"), reader), try reader.readToken())
            })
        { zoneTokens[id] = token }
        unfetchedZones = try reader.readItems("a state's unfetched zones") { reader in
            try zone(try reader.readVarint("a state's zone"), reader)
        }
        let changedZones = try reader.readItems("a state's changes of zones") { reader in
            let id = try zone(try reader.readVarint("a state's zone"), reader)
            let kind = try reader.read(UInt8.self, "a change of a zone")
            if kind == 0 { return CKSyncEngine.PendingDatabaseChange.deleteZone(id) }
            let zone = CKRecordZone(zoneID: id)
            if kind == 2 { zone.encryptionScope = .perZone }
            return .saveZone(zone)
        }
        for change in changedZones { _ = databaseChanges.add(change) }
        let changedRecords = try reader.readItems("a state's changes of records") { reader in
            let number = try reader.readVarint("a change of a record")
            let zoneID = try zone(number >> 1, reader)
            let name = try reader.readString("a record's name", atMost: Self.longestText)
            let id = CKRecord.ID(recordName: name, zoneID: zoneID)
            return number & 1 == 1 ? CKSyncEngine.PendingRecordZoneChange.saveRecord(id) : .deleteRecord(id)
        }
        for change in changedRecords { _ = recordChanges.add(change) }
    }
}

/// The zones of a state, each once.
private struct ZoneTable {
    private(set) var zones: [CKRecordZone.ID] = []
    private var places: [CKRecordZone.ID: UInt64] = [:]

    mutating func place(of zone: CKRecordZone.ID) -> UInt64 {
        if let place = places[zone] { return place }
        let place = UInt64(zones.count)
        zones.append(zone)
        places[zone] = place
        return place
    }
}

extension ByteWriter {
    fileprivate mutating func append(counted bytes: [UInt8]) {
        appendVarint(UInt64(bytes.count))
        append(bytes: bytes)
    }
}

extension ByteReader {
    fileprivate mutating func readToken() throws -> CKServerChangeToken {
        let count = try readVarint("a token's length", atMost: UInt64(remaining))
        return CKServerChangeToken(bytes: try (0..<count).map { _ in try read(UInt8.self, "a token") })
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
