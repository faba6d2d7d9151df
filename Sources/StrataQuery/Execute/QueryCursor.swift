import StrataModel
import StrataSystem

/// The point at which a query continues: the query, the order of its first page, and the place of the last match
/// (docs/queries.md §5).
///
/// It contains neither a plan nor a state of the store, so it remains valid after a restart, and when records are saved
/// or indexes are added.
public struct QueryCursor: Sendable, Hashable {
    public var store: Identifier
    public var database: DatabaseID
    public var query: Query
    var order: QueryOrder
    var place: SortPlace
    /// The value of `now()`, which stays the same on all pages.
    public var now: Double
}

extension QueryCursor: SealedValue {
    package static let purpose = StoreSecret.Purpose.queryCursor
    package static let what: StaticString = "a query's cursor"
    package static let version: UInt8 = 1
    /// Not reached by valid cursors, because the largest records, which may be sorted by text, are smaller.
    package static let maximumBytes = 1 << 26

    package func append(to writer: inout ByteWriter) {
        writer.append(store)
        writer.append(database)
        Self.append(query, to: &writer)
        Self.append(order.keys, to: &writer)
        writer.append(order.ties.rawValue)
        for value in place.values + [place.tie] {
            writer.appendVarint(UInt64(value.count))
            writer.append(bytes: value)
        }
        writer.append(now.bitPattern)
    }

    fileprivate static func append(_ query: Query, to writer: inout ByteWriter) {
        writer.appendString(query.recordType)
        writer.append(query.zone == nil ? 0 : 1 as UInt8)
        if let zone = query.zone {
            writer.appendString(zone.name)
            writer.appendString(zone.owner)
        }
        writer.appendString(PredicateWriter.text(of: query.predicate))
        append(query.order, to: &writer)
    }

    private static func append(_ keys: [SortKey], to writer: inout ByteWriter) {
        writer.appendVarint(UInt64(keys.count))
        for key in keys {
            writer.appendString(key.name)
            switch key {
            case .key(_, let isAscending): writer.append(isAscending ? 1 : 2 as UInt8)
            case .distance(_, let latitude, let longitude):
                writer.append(3 as UInt8)
                writer.append(latitude.bitPattern)
                writer.append(longitude.bitPattern)
            }
        }
    }

    package init(from reader: inout ByteReader, _ payload: UnsafeRawBufferPointer) throws {
        store = try reader.readIdentifier("a cursor's store")
        database = try reader.readDatabaseID()
        let type = try reader.readText("a cursor's record type")
        var zone: ZoneID?
        if try reader.read(UInt8.self, "whether a cursor has a zone") == 1 {
            let name = try reader.readText("a cursor's zone")
            zone = ZoneID(name, owner: try reader.readText("a zone's owner"))
        }
        let text = try reader.readString("a cursor's predicate", atMost: Self.maximumBytes)
        let predicate = try PredicateParser.parse(text, maximumBytes: Self.maximumBytes)
        query = Query(type, where: predicate, order: try Self.readKeys(from: &reader), zone: zone)
        let keys = try Self.readKeys(from: &reader)
        let ties = try reader.read(UInt8.self, "the tie-breaking of a cursor")
        guard let ties = QueryOrder.Ties(rawValue: ties) else {
            throw reader.malformed("the tie-breaking of a cursor", expected: "1 or 2", found: "\(ties)")
        }
        order = QueryOrder(keys: keys, ties: ties)
        var values: [[UInt8]] = []
        for _ in 0...keys.count {
            let range = try reader.readRange(count: try reader.readVarint("a place's bytes"), "a place")
            values.append([UInt8](payload[range]))
        }
        place = SortPlace(values: Array(values.dropLast()), tie: values[keys.count])
        try place.check(order)
        now = Double(bitPattern: try reader.read(UInt64.self, "a cursor's time"))
    }

    private static func readKeys(from reader: inout ByteReader) throws -> [SortKey] {
        let count = try reader.readVarint("the number of sort keys", atMost: 1 << 10)
        var keys: [SortKey] = []
        for _ in 0..<count {
            let name = try reader.readText("a sort key")
            switch try reader.read(UInt8.self, "a sort key's direction") {
            case 1: keys.append(.key(name, isAscending: true))
            case 2: keys.append(.key(name, isAscending: false))
            default:
                let latitude = Double(bitPattern: try reader.read(UInt64.self, "a latitude"))
                let longitude = Double(bitPattern: try reader.read(UInt64.self, "a longitude"))
                keys.append(.distance(key: name, latitude: latitude, longitude: longitude))
            }
        }
        return keys
    }
}

extension ByteReader {
    fileprivate mutating func readText(_ what: StaticString) throws -> String {
        try readString(what, atMost: QueryCursor.maximumBytes)
    }
}

extension Query {
    /// The encoding of a query in a cursor (docs/queries.md §5).
    public func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: 128)
        QueryCursor.append(self, to: &writer)
        return writer.bytes
    }
}
