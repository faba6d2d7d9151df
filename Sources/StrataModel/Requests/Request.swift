/// A client's request, by names, since the names in a rejected request may never get an ordinal (docs/format.md §19).
///
/// ```swift
/// var request = Request(database: DatabaseID(.private), .modifyRecords(ModifyRecordsRequest()))
/// let zone = request.names.ordinal(of: ZoneID("Notes"))
/// ```
public struct Request: Sendable, Hashable {
    public static let version: UInt8 = 1
    public static let maximumCount: UInt64 = 1 << 20

    package enum Content: Sendable, Hashable {
        case modifyRecords(ModifyRecordsRequest)
        case modifyZones(ModifyZonesRequest)
        case modifySubscriptions(ModifySubscriptionsRequest)
        case administer(AdministerRequest)
        case declareSchema(DeclareSchemaRequest)
        case notify(NotifyRequest)
        case joinShares(JoinSharesRequest)

        package var kind: Kind {
            switch self {
            case .modifyRecords: .modifyRecords
            case .modifyZones: .modifyZones
            case .modifySubscriptions: .modifySubscriptions
            case .administer: .administer
            case .declareSchema: .declareSchema
            case .notify: .notify
            case .joinShares: .joinShares
            }
        }
    }

    /// The kind of a request. The numbers are on disk.
    package enum Kind: UInt8, Sendable, CaseIterable {
        case modifyRecords = 1, modifyZones, modifySubscriptions, administer, declareSchema, notify, joinShares
    }

    public var database: DatabaseID
    package var names: RequestNames
    package var content: Content

    package init(database: DatabaseID, names: RequestNames = RequestNames(), _ content: Content) {
        self.database = database
        self.names = names
        self.content = content
    }

    public func encoded() throws -> [UInt8] {
        var writer = ByteWriter(reserving: 256)
        try encode(into: &writer)
        return writer.bytes
    }

    package func encode(into writer: inout ByteWriter) throws {
        writer.append(Self.version)
        writer.append(content.kind.rawValue)
        try StrataError.checkName(database.owner, "a name's bytes")
        writer.append(database)
        try names.encode(into: &writer)
        switch content {
        case .modifyRecords(let request): try request.encode(into: &writer)
        case .modifyZones(let request): try request.encode(into: &writer)
        case .modifySubscriptions(let request): try request.encode(into: &writer)
        case .administer(let request): try request.encode(into: &writer)
        case .declareSchema(let request): try request.encode(into: &writer)
        case .notify(let request): try request.encode(into: &writer)
        case .joinShares(let request): try request.encode(into: &writer)
        }
    }

    public init(decoding bytes: ArraySlice<UInt8>) throws {
        self = try bytes.reading { reader in
            let request = try Request(from: &reader)
            try reader.expectEnd("a request")
            return request
        }
    }

    private init(from reader: inout ByteReader) throws {
        let version = try reader.read(UInt8.self, "a request's version")
        guard version == Self.version else { throw StrataError.newer("a request's version", version, reader) }
        let kind = try reader.read(UInt8.self, "a request's kind")
        database = try reader.readDatabaseID()
        names = try RequestNames(from: &reader)
        switch Kind(rawValue: kind) {
        case .modifyRecords: content = .modifyRecords(try ModifyRecordsRequest(from: &reader))
        case .modifyZones: content = .modifyZones(try ModifyZonesRequest(from: &reader))
        case .modifySubscriptions: content = .modifySubscriptions(try ModifySubscriptionsRequest(from: &reader))
        case .administer: content = .administer(try AdministerRequest(from: &reader))
        case .declareSchema: content = .declareSchema(try DeclareSchemaRequest(from: &reader))
        case .notify: content = .notify(try NotifyRequest(from: &reader))
        case .joinShares: content = .joinShares(try JoinSharesRequest(from: &reader))
        case nil: throw StrataError.newer("a request's kind", kind, reader)
        }
    }
}

/// The names of one request. Its ordinals count from 1 in each table.
package struct RequestNames: Sendable, Hashable {
    package private(set) var zones: [ZoneID] = []
    package private(set) var recordTypes: [String] = []
    package private(set) var keys: [String] = []

    package init() {}

    /// The number of names up to which comparing is faster than hashing.
    private static let comparedNames = 8

    // The ordinals of names in longer lists. After decoding, the first search builds them.
    private var zonePlaces: [ZoneID: Int] = [:]
    private var typePlaces: [ExactName: Int] = [:]
    private var keyPlaces: [ExactName: Int] = [:]

    package mutating func ordinal(of zone: ZoneID) -> UInt64 {
        UInt64(Self.place(of: zone, in: &zones, &zonePlaces) { $0 })
    }

    package mutating func ordinal(ofType name: String) -> UInt64 {
        UInt64(Self.place(of: name, in: &recordTypes, &typePlaces) { ExactName(text: $0) })
    }

    package mutating func ordinal(ofKey name: String) -> UInt32 {
        UInt32(Self.place(of: name, in: &keys, &keyPlaces) { ExactName(text: $0) })
    }

    private static func place<Item, Key: Hashable>(
        of item: Item, in items: inout [Item], _ places: inout [Key: Int], _ key: (Item) -> Key
    ) -> Int {
        guard items.count >= comparedNames else {
            let wanted = key(item)
            if let index = items.firstIndex(where: { key($0) == wanted }) { return index + 1 }
            if items.count == 1 { items.reserveCapacity(comparedNames) }
            items.append(item)
            return items.count
        }
        if places.isEmpty {
            for (index, item) in items.enumerated() where places[key(item)] == nil { places[key(item)] = index + 1 }
        }
        if let place = places[key(item)] { return place }
        items.append(item)
        places[key(item)] = items.count
        return items.count
    }

    package func zone(_ ordinal: UInt64) -> ZoneID? { Self.item(ordinal, of: zones) }
    package func recordType(_ ordinal: UInt64) -> String? { Self.item(ordinal, of: recordTypes) }
    package func key(_ ordinal: UInt32) -> String? { Self.item(UInt64(ordinal), of: keys) }

    private static func item<Item>(_ ordinal: UInt64, of items: [Item]) -> Item? {
        ordinal > 0 && ordinal <= UInt64(items.count) ? items[Int(ordinal) - 1] : nil
    }

    func encode(into writer: inout ByteWriter) throws {
        try writer.appendList(zones) { zone, writer in
            try writer.append(name: zone.owner)
            try writer.append(name: zone.name)
        }
        try writer.appendList(recordTypes) { try $1.append(name: $0) }
        try writer.appendList(keys) { try $1.append(name: $0) }
    }

    init(from reader: inout ByteReader) throws {
        zones = try reader.readList("the number of zones") { reader in
            let owner = try reader.readName("a zone's owner")
            return ZoneID(try reader.readName("a zone's name"), owner: owner)
        }
        recordTypes = try reader.readList("the number of types") { try $0.readName("a record type") }
        keys = try reader.readList("the number of keys") { try $0.readName("a key") }
        // Otherwise two ordinals could denote the same name, and encoding would not reproduce these bytes.
        let counts = (Set(zones).count, Set(recordTypes.map(ExactName.init)).count, Set(keys.map(ExactName.init)).count)
        guard counts == (zones.count, recordTypes.count, keys.count) else {
            throw reader.malformed("the names of a request", expected: "unique")
        }
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.zones == right.zones && left.recordTypes.elementsEqual(right.recordTypes, by: isSameText)
            && left.keys.elementsEqual(right.keys, by: isSameText)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(zones)
        for name in recordTypes + keys { hasher.combine(bytesOf: name) }
    }
}

extension ByteWriter {
    mutating func append(name: String) throws {
        try StrataError.checkName(name, "a name's bytes")
        appendString(name)
    }

    /// Appends the number of items, then each item.
    mutating func appendList<Item>(_ items: [Item], _ body: (Item, inout ByteWriter) throws -> Void) throws {
        try StrataError.check("the items of a list", count: items.count, atMost: Int(Request.maximumCount))
        appendVarint(UInt64(items.count))
        for item in items { try body(item, &self) }
    }
}

extension ByteReader {
    mutating func readName(_ what: StaticString) throws -> String {
        try readString(what, atMost: Envelope.maximumNameBytes)
    }

    mutating func readList<Item>(
        _ what: StaticString, _ body: (inout ByteReader) throws -> Item
    ) throws -> [Item] {
        let count = try readVarint(what, atMost: Request.maximumCount)
        var items: [Item] = []
        // An item takes at least one byte, so the bytes bound the reserved capacity.
        items.reserveCapacity(min(Int(count), remaining, 1_024))
        for _ in 0..<count { items.append(try body(&self)) }
        return items
    }
}
