import StrataModel

/// Writes ordinals, each with its name if that is known.
extension JSONWriter {
    mutating func zone(_ ordinal: UInt64, _ names: KnownNames) {
        field("zone", ordinal, "zoneName", names.zone(ordinal))
    }

    /// Writes a zone with its database, which tells zones of one name apart.
    mutating func zoneOfDatabase(_ ordinal: UInt64, _ names: KnownNames) {
        zone(ordinal, names)
        guard let database = names.databaseID(ofZone: ordinal) else { return }
        field("scope", database.scope.name)
        field("owner", database.owner)
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

    /// Writes the name that an event interns.
    mutating func interned(_ interned: InternedName, _ names: KnownNames) {
        field("namespace", interned.name.namespace.noun)
        field("ordinal", interned.ordinal)
        switch interned.name {
        case .user(let text), .recordType(let text), .field(let text): field("text", text)
        case .device(let user, let text):
            self.user(user, names)
            field("text", text)
        case .database(let scope, let owner):
            field("scope", scope.name)
            field("owner", owner)
        case .zone(let database, let owner, let text):
            field("database", database)
            field("owner", owner)
            field("text", text)
        }
    }
}
