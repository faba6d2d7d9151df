/// The permissions of a role for the records of a type in the public database.
public struct SchemaGrant: Sendable, Hashable {
    public struct Permissions: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let read = Self(rawValue: 1)
        public static let create = Self(rawValue: 2)
        public static let write = Self(rawValue: 4)
        public static let all: Self = [.read, .create, .write]
    }

    /// `_creator`, `_icloud` (signed-in users), `_world` (all users), or a role that the container defines.
    public var role: String
    public var permissions: Permissions

    public init(_ role: String, _ permissions: Permissions) {
        self.role = role
        self.permissions = permissions
    }

    /// The grants of a type for which none are declared (B222).
    public static let standard = [
        SchemaGrant("_creator", .write), SchemaGrant("_icloud", .create), SchemaGrant("_world", .read),
    ]

    /// Returns one grant for each role, sorted by role; roles without permissions are left out.
    public static func merged(_ grants: [SchemaGrant]) -> [SchemaGrant] {
        var merged: [ExactName: SchemaGrant] = [:]
        for grant in grants where !grant.permissions.isEmpty {
            merged[ExactName(text: grant.role), default: SchemaGrant(grant.role, [])].permissions
                .formUnion(grant.permissions)
        }
        return merged.values.sorted { $0.role.utf8.lexicographicallyPrecedes($1.role.utf8) }
    }

    public static func == (left: Self, right: Self) -> Bool {
        isSameText(left.role, right.role) && left.permissions == right.permissions
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: role)
        hasher.combine(permissions)
    }
}

extension ByteWriter {
    /// Appends the number of grants, then each grant.
    mutating func append(grants: [SchemaGrant]) throws {
        try StrataError.check("the number of grants", count: grants.count, atMost: FieldTable.maximumCount)
        appendVarint(UInt64(grants.count))
        for grant in grants {
            append(grant.permissions.rawValue)
            try append(name: grant.role)
        }
    }
}

extension KeyedFields.Field {
    /// Reads at least one grant: an empty list is never encoded.
    mutating func grants() throws -> [SchemaGrant] {
        let grants = try value.readGrants()
        guard !grants.isEmpty else { throw value.malformed("grants", expected: "left out when there are none") }
        try value.expectEnd("grants")
        return grants
    }
}

extension ByteReader {
    mutating func readGrants() throws -> [SchemaGrant] {
        let count = try readVarint("the number of grants", atMost: UInt64(FieldTable.maximumCount))
        var grants: [SchemaGrant] = []
        // A grant takes at least two bytes, so the bytes bound the reserved capacity.
        grants.reserveCapacity(min(Int(count), remaining / 2))
        for _ in 0..<count {
            let number = try read(UInt8.self, "a grant's permissions")
            guard number <= SchemaGrant.Permissions.all.rawValue else {
                throw StrataError.newer("a grant's permissions", number, self)
            }
            grants.append(SchemaGrant(try readName("a role"), .init(rawValue: number)))
        }
        return grants
    }
}
