import StrataModel

/// Writes ordinals, each with its name if that is known.
extension JSONWriter {
    mutating func zone(_ ordinal: UInt64, _ names: KnownNames) {
        field("zone", ordinal, "zoneName", names.zone(ordinal))
    }

    mutating func type(_ ordinal: UInt64, _ names: KnownNames) {
        field("type", ordinal, "typeName", names.recordType(ordinal))
    }

    mutating func recordField(_ ordinal: UInt64, _ names: KnownNames) {
        field("field", ordinal, "fieldName", names.field(ordinal))
    }

    mutating func user(_ ordinal: UInt64, _ names: KnownNames) {
        field("user", ordinal, "userName", names.user(ordinal))
    }

    mutating func device(_ ordinal: UInt64, _ names: KnownNames) {
        field("device", ordinal, "deviceName", names.device(ordinal))
    }


    private mutating func field(_ key: StaticString, _ ordinal: UInt64, _ nameKey: StaticString, _ name: String?) {
        field(key, ordinal)
        if let name { field(nameKey, name) }
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
        Key("owner", "of that database; empty for the public one", if: "if known") { $0.database?.owner }
    }
}
