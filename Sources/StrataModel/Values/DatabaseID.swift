/// A database by name: the public one, or one of a user.
public struct DatabaseID: Sendable, Hashable {
    public var scope: InternedName.Scope
    /// The name of the user; empty for the public database and, in a request, for the user who makes it.
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
    package mutating func append(_ database: DatabaseID) {
        append(database.scope.rawValue)
        appendString(database.owner)
    }
}

extension ByteReader {
    package mutating func readDatabaseID() throws -> DatabaseID {
        let number = try read(UInt8.self, "a database's scope")
        guard let scope = InternedName.Scope(rawValue: number) else {
            throw malformed("a database's scope", expected: "1, 2 or 3", found: "\(number)")
        }
        return DatabaseID(scope, owner: try readName("a database's owner"))
    }
}
