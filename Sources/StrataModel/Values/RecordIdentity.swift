/// Where a record is, as the store knows it: the ordinal of its zone, and its name.
///
/// ```swift
/// RecordKey(zone: 3, name: "note-1")
/// ```
public struct RecordKey: Sendable, Hashable {
    public var zone: UInt64
    public var name: String

    public init(zone: UInt64, name: String) {
        self.zone = zone
        self.name = name
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.zone == right.zone && isSameText(left.name, right.name)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(zone)
        hasher.combine(bytesOf: name)
    }
}

/// A database by name: that of everybody, or one of a user.
public struct DatabaseID: Sendable, Hashable {
    public var scope: InternedName.Scope
    /// Name of the user; empty in the public database, and in a request for whoever asks.
    public var owner: String

    public init(_ scope: InternedName.Scope, owner: String = "") {
        self.scope = scope
        self.owner = owner
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.scope == right.scope && isSameText(left.owner, right.owner)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(scope)
        hasher.combine(bytesOf: owner)
    }
}

extension ByteWriter {
    public mutating func append(_ database: DatabaseID) {
        append(database.scope.rawValue)
        appendString(database.owner)
    }
}

extension ByteReader {
    public mutating func readDatabaseID() throws -> DatabaseID {
        let number = try read(UInt8.self, "a database's scope")
        guard let scope = InternedName.Scope(rawValue: number) else {
            throw malformed("a database's scope", expected: "1, 2 or 3", found: "\(number)")
        }
        return DatabaseID(scope, owner: try readName("a database's owner"))
    }
}

/// A zone by name, within a database. Names are the same only if their bytes are.
public struct ZoneID: Sendable, Hashable {
    public var name: String
    /// Name of the user; empty for whoever asks.
    public var owner: String

    public init(_ name: String, owner: String = "") {
        self.name = name
        self.owner = owner
    }

    public static func == (left: Self, right: Self) -> Bool {
        isSameText(left.name, right.name) && isSameText(left.owner, right.owner)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: name)
        hasher.combine(bytesOf: owner)
    }
}

/// A record by name, within a database.
public struct RecordID: Sendable, Hashable {
    public var name: String
    public var zone: ZoneID

    public init(_ name: String, zone: ZoneID) {
        self.name = name
        self.zone = zone
    }

    public static func == (left: Self, right: Self) -> Bool {
        isSameText(left.name, right.name) && left.zone == right.zone
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: name)
        hasher.combine(zone)
    }
}

/// A name that is the same as another only if their bytes are, as a key of dictionaries.
public struct ExactName: Sendable, Hashable {
    public let text: String

    public init(text: String) { self.text = text }

    public static func == (left: Self, right: Self) -> Bool { isSameText(left.text, right.text) }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }
}
