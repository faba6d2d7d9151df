import StrataModel

/// Ordinals, each with the name that it stands for where that is known.
extension JSONWriter {
    mutating func zone(_ ordinal: UInt64, _ names: KnownNames) {
        field("zone", ordinal)
        if let name = names.zone(ordinal) { field("zoneName", name) }
    }

    mutating func type(_ ordinal: UInt64, _ names: KnownNames) {
        field("type", ordinal)
        if let name = names.recordType(ordinal) { field("typeName", name) }
    }

    mutating func recordField(_ ordinal: UInt64, _ names: KnownNames) {
        field("field", ordinal)
        if let name = names.field(ordinal) { field("fieldName", name) }
    }

    mutating func user(_ ordinal: UInt64, _ names: KnownNames) {
        field("user", ordinal)
        if let name = names.user(ordinal) { field("userName", name) }
    }

    mutating func device(_ ordinal: UInt64, _ names: KnownNames) {
        field("device", ordinal)
        if let name = names.device(ordinal) { field("deviceName", name) }
    }

    /// What an event interns.
    mutating func interned(_ interned: InternedName, _ names: KnownNames) {
        field("namespace", interned.name.namespaceName)
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
