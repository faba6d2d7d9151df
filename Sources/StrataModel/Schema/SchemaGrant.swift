/// What the members of a role may do with records of a type in the public database.
public struct SchemaGrant: Sendable, Hashable {
    public struct Permissions: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let read = Self(rawValue: 1)
        public static let create = Self(rawValue: 2)
        public static let write = Self(rawValue: 4)
        public static let all: Self = [.read, .create, .write]
    }

    /// `_creator`, `_icloud` (who is signed in), `_world` (everybody), or a role of the container's own.
    public var role: String
    public var permissions: Permissions

    public init(_ role: String, _ permissions: Permissions) {
        self.role = role
        self.permissions = permissions
    }

    /// Those of a type for which nobody has said anything (B222).
    public static let standard = [
        SchemaGrant("_creator", .write), SchemaGrant("_icloud", .create), SchemaGrant("_world", .read),
    ]

    /// One grant for each role, in the order of their names; roles that may do nothing are left out.
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
    /// The number of grants, then each.
    mutating func append(grants: [SchemaGrant]) throws {
        guard grants.count <= FieldTable.maximumCount else {
            throw StrataError.tooLarge("the number of grants", limit: FieldTable.maximumCount, found: grants.count)
        }
        appendVarint(UInt64(grants.count))
        for grant in grants {
            append(grant.permissions.rawValue)
            try append(name: grant.role)
        }
    }
}

extension KeyedFields.Field {
    /// One at least: none are left out.
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
        // A grant takes two bytes at least, so that the bytes bound what is reserved.
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
