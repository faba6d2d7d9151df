import StrataModel

/// What the body of an event says, as far as format 1 fixes it.
enum EventDetail {
    case interned(InternedName)
    case record(zone: UInt64, type: UInt64, name: String)
    case zone(UInt64)
    /// A kind whose body this version does not know.
    case opaque
    case malformed(StrataError)

    init(_ event: Event) {
        do { self = try Self.decode(event) } catch {
            self = .malformed(
                error as? StrataError ?? StrataError(.malformed, "An event cannot be decoded.", cause: error))
        }
    }

    private static func decode(_ event: Event) throws -> EventDetail {
        switch event.kind {
        case .nameInterned: return .interned(try InternedName(decoding: event.body))
        case .recordSaved, .recordDeleted, .recordErased:
            return try event.body.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                return .record(
                    zone: try reader.readVarint("the zone of an event"),
                    type: try reader.readVarint("the type of a record event"),
                    name: try reader.readString("a record name", atMost: Envelope.maximumNameBytes))
            }
        case .zoneSaved, .zoneDeleted:
            return try event.body.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                return .zone(try reader.readVarint("the zone of an event"))
            }
        default: return .opaque
        }
    }
}

extension InternedName.Name {
    var namespaceName: String {
        switch self {
        case .user: "user"
        case .device: "device"
        case .database: "database"
        case .zone: "zone"
        case .recordType: "record type"
        case .field: "field"
        }
    }
}

extension InternedName.Scope {
    var name: String {
        switch self {
        case .public: "public"
        case .private: "private"
        case .shared: "shared"
        }
    }
}
