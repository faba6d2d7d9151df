/// The name of an ordinal, as a *name interned* event defines it (docs/format.md §8).
public struct InternedName: Hashable, Sendable {
    public enum Scope: UInt8, Sendable, CaseIterable {
        case `public` = 1, `private`, shared

        package var name: String { words(of: self) }
    }

    public enum Name: Hashable, Sendable {
        case user(String)
        case device(user: UInt64, String)
        case database(Scope, owner: UInt64)
        case zone(database: UInt64, owner: UInt64, String)
        case recordType(String)
        case field(String)

        /// Names are equal only if their bytes are, regardless of Unicode equivalence.
        public static func == (left: Self, right: Self) -> Bool {
            switch (left, right) {
            case (.user(let left), .user(let right)), (.recordType(let left), .recordType(let right)),
                (.field(let left), .field(let right)):
                isSameText(left, right)
            case (.device(let leftUser, let left), .device(let rightUser, let right)):
                leftUser == rightUser && isSameText(left, right)
            case (.database(let leftScope, let leftOwner), .database(let rightScope, let rightOwner)):
                leftScope == rightScope && leftOwner == rightOwner
            case (.zone(let database, let owner, let left), .zone(let otherDatabase, let otherOwner, let right)):
                database == otherDatabase && owner == otherOwner && isSameText(left, right)
            default: false
            }
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(namespace)
            switch self {
            case .user(let text), .recordType(let text), .field(let text): hasher.combine(bytesOf: text)
            case .device(let user, let text):
                hasher.combine(user)
                hasher.combine(bytesOf: text)
            case .database(let scope, let owner):
                hasher.combine(scope)
                hasher.combine(owner)
            case .zone(let database, let owner, let text):
                hasher.combine(database)
                hasher.combine(owner)
                hasher.combine(bytesOf: text)
            }
        }

        package var namespace: Namespace {
            switch self {
            case .user: .user
            case .device: .device
            case .database: .database
            case .zone: .zone
            case .recordType: .recordType
            case .field: .field
            }
        }

        /// The text of the name; nil for a database, which has none.
        public var text: String? {
            switch self {
            case .user(let text), .recordType(let text), .field(let text), .device(_, let text),
                .zone(_, _, let text):
                text
            case .database: nil
            }
        }
    }

    public var ordinal: UInt64
    public var name: Name

    public init(ordinal: UInt64, name: Name) {
        self.ordinal = ordinal
        self.name = name
    }

    package var event: Event {
        var writer = ByteWriter(reserving: 32)
        writer.append(name.namespace.rawValue)
        writer.appendVarint(ordinal)
        switch name {
        case .user(let text), .recordType(let text), .field(let text): writer.appendString(text)
        case .device(let user, let text):
            writer.appendVarint(user)
            writer.appendString(text)
        case .database(let scope, let owner):
            writer.append(scope.rawValue)
            writer.appendVarint(owner)
        case .zone(let database, let owner, let text):
            writer.appendVarint(database)
            writer.appendVarint(owner)
            writer.appendString(text)
        }
        return Event(.nameInterned, body: writer.bytes[...])
    }

    /// - Throws: ``StrataError`` if the body does not encode a *name interned* event.
    public init(decoding body: ArraySlice<UInt8>) throws {
        self = try body.reading { reader in
            let number = try reader.read(UInt8.self, "the namespace")
            guard let namespace = Namespace(rawValue: number) else {
                throw reader.malformed("the namespace", expected: "1 to 6", found: "\(number)")
            }
            let ordinal = try reader.readVarint("the ordinal")
            guard ordinal > 0 else { throw reader.malformed("the ordinal", expected: "at least 1") }
            let name = try Self.readName(namespace, from: &reader)
            try reader.expectEnd("an interned name")
            return InternedName(ordinal: ordinal, name: name)
        }
    }

    private static func readName(_ namespace: Namespace, from reader: inout ByteReader) throws -> Name {
        let limit = Envelope.maximumNameBytes
        switch namespace {
        case .user: return .user(try reader.readString("a user", atMost: limit))
        case .device:
            return .device(
                user: try reader.readVarint("a device's user"), try reader.readString("a device", atMost: limit))
        case .database:
            let number = try reader.read(UInt8.self, "a database's scope")
            guard let scope = Scope(rawValue: number) else {
                throw reader.malformed("a database's scope", expected: "1, 2 or 3", found: "\(number)")
            }
            return .database(scope, owner: try reader.readVarint("a database's owner"))
        case .zone:
            return .zone(
                database: try reader.readVarint("a zone's database"), owner: try reader.readVarint("a zone's owner"),
                try reader.readString("a zone", atMost: limit))
        case .recordType: return .recordType(try reader.readString("a record type", atMost: limit))
        case .field: return .field(try reader.readString("a field", atMost: limit))
        }
    }
}

extension InternedName: Described {
    package static let title = "name interned"
    package static let shownFields = ShownFields<Self> {
        Shown("namespace", "`user`, `device`, `database`, `zone`, `record type` or `field`", after: "") {
            $0.name.namespace.noun
        }
        Shown("ordinal", "the number that represents the name", after: " ") { $0.ordinal }
        Shown(.user, "ordinal of the device's user", if: "device") {
            if case .device(let user, _) = $0.name { user } else { nil }
        }
        Shown("scope", "`public`, `private` or `shared`", if: "database", after: " = ") {
            if case .database(let scope, _) = $0.name { scope.name } else { nil }
        }
        Shown("database", "ordinal of the zone's database", if: "zone") {
            if case .zone(let database, _, _) = $0.name { database } else { nil }
        }
        Shown("owner", "ordinal of the owning user", if: "database, zone") {
            switch $0.name {
            case .database(_, let owner), .zone(_, let owner, _): owner
            default: nil
            }
        }
        Shown("text", "the name", if: "except for databases", after: " = ") { $0.name.text }
        Shown(after: "") {
            switch $0.name {
            case .device(let user, _): " of user \(user)"
            case .database(_, let owner): owner == 0 ? nil : " of user \(owner)"
            case .zone(let database, let owner, _): " in database \(database) of user \(owner)"
            case .user, .recordType, .field: nil
            }
        }
    }
}
