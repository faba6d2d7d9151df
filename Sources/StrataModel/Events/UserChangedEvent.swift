/// The event that sets the account status and the quota of a user, and what is known of the person.
package struct UserChangedEvent: StatedEvent {
    package static let kind = EventKind.userChanged
    package static let shownFields = ShownFields<Self> {
        Shown(.user, after: "") { $0.user }
        Shown("status", "of the account, as in [a user](#a-user)", after: ": ") { $0.status.name }
        Shown("quota", "bytes, 0 for none", after: ", quota ") { $0.quota }
        Shown("person", "", after: "; ") { $0.person }
    }

    package var user: UInt64
    package var status: AccountStatus
    /// The quota in bytes; 0 for no limit.
    package var quota: UInt64
    package var person: Person
    package var original: Version?

    package init(
        user: UInt64, status: AccountStatus = .available, quota: UInt64 = 0, person: Person = Person(),
        original: Version? = nil
    ) {
        self.user = user
        self.status = status
        self.quota = quota
        self.person = person
        self.original = original
    }

    private static let status: UInt64 = 4
    private static let quota: UInt64 = 6
    private static let person: UInt64 = 8

    package func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(user)
        let person = try person.encoded()
        writer.appendMeasured { writer in
            writer.appendField(CommonField.original, original?.packed ?? 0)
            writer.appendField(Self.status, UInt64(status.rawValue))
            writer.appendField(Self.quota, quota)
            writer.appendField(Self.person, bytes: person.isEmpty ? nil : person)
        }
    }

    package init(from reader: inout ByteReader) throws {
        self.init(user: try reader.readVarint("a user"), status: .couldNotDetermine)
        var fields = try KeyedFields(from: &reader, "the fields of a user")
        while var field = try fields.next() {
            switch field.key {
            case CommonField.original: original = try field.version()
            case Self.status: status = try field.numbered("an account's status")
            case Self.quota: quota = try field.number("a quota")
            case Self.person:
                person = try Person(from: field.value)
                guard person != Person() else { throw field.value.malformed("a person", expected: "left out if empty") }
            default: try field.skip()
            }
        }
    }
}
