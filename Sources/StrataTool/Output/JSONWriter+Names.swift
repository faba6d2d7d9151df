import StrataModel

/// Writes ordinals, each with its name if that is known.
extension JSONWriter {
    mutating func field(_ key: StaticString, _ ordinal: UInt64, nameKey: StaticString, name: String?) throws {
        try field(key, ordinal)
        if let name { try field(nameKey, name) }
    }
}

/// A zone by its ordinal, with the names that are known.
struct NamedZone: Shaped {
    private let ordinal: UInt64
    private let name: String?
    private let database: DatabaseID?

    init(_ ordinal: UInt64, _ names: KnownNames) {
        (self.ordinal, name, database) = (ordinal, names.zone(ordinal), names.databaseID(ofZone: ordinal))
    }

    static let shape = Shape<Self>("A named zone") {
        Key("zone", name: "zoneName", "ordinal") { ($0.ordinal, $0.name) }
        Key("scope", "of its database: `public` or `private`", if: "if known") { $0.database?.scope.name }
        Key("owner", "of that database, empty for the public one", if: "if known") { $0.database?.owner }
    }
}

extension DatabaseID {
    static let shape = Shape<Self>("A database") {
        Key("database", "`private`, `public` or `shared`") { $0.scope.name }
        Key("owner", "name of the database's user, empty for the public one") { $0.owner }
    }

    static let scopeShape = Shape<Self>("A database by scope") {
        Key("scope", "`public`, `private` or `shared`") { $0.scope.name }
        Key("ownerName", "name of the database's user, empty for the public one") { $0.owner }
    }
}
