/// A request by the service, on behalf of operators or of a user in Settings. Most kinds apply to the database that the
/// request names (docs/rules.md §3 and §13).
package enum AdministerRequest: Sendable, Hashable {
    /// Deletes a zone, an ordinal of the request's own names.
    case purgeZone(UInt64)
    /// Deletes every custom zone that contains encrypted values.
    case resetEncryptedData
    case setAccountStatus(AccountStatus, user: String)
    /// - Parameter bytes: The quota; 0 for no limit.
    case setQuota(bytes: UInt64, user: String)
    /// Expires the change tokens from before an offset, not those at it, of the request's database or of all databases.
    case expireTokens(before: UInt64, inAll: Bool)
    case note(ConsoleNote)
    /// Erases the values of records from the entire history.
    case eraseRecords([RecordToErase], reason: String)
    /// Sets the names and the addresses of a user, who need not have written anything; other parts of the person stay.
    /// A user whom no commit has named gets the record name, if there is one.
    case setPerson(Person, user: String, recordName: String? = nil)
    /// Adds an e-mail address, or, without `@`, a phone number.
    case addAddress(String, user: String)
    /// Gives a role of the public database to these users alone.
    case setRole(String, users: [String])
    case setDiscoverability(Person.Discoverability, user: String)
    /// Gives new URLs to the shares of a store that was made before secrets, in the order of their numbers, and draws
    /// the secret if `before` is 0: then all shares from `from` on get new URLs.
    case drawSecret(from: UInt64, before: UInt64)

    private enum Number: UInt8 {
        case purgeZone = 1, resetEncryptedData, setAccountStatus, setQuota, expireTokens, note, eraseRecords
        case setPerson, addAddress, setRole, setDiscoverability, drawSecret
    }

    private static let recordName: UInt64 = 2

    func encode(into writer: inout ByteWriter) throws {
        func begin(_ number: Number) { writer.append(number.rawValue) }
        switch self {
        case .purgeZone(let zone):
            begin(.purgeZone)
            writer.appendVarint(zone)
        case .resetEncryptedData: begin(.resetEncryptedData)
        case .setAccountStatus(let status, let user):
            begin(.setAccountStatus)
            try writer.append(name: user)
            writer.append(status.rawValue)
        case .setQuota(let bytes, let user):
            begin(.setQuota)
            try writer.append(name: user)
            writer.appendVarint(bytes)
        case .expireTokens(let offset, let isInAll):
            begin(.expireTokens)
            writer.appendVarint(offset)
            writer.append(isInAll ? 1 : 0 as UInt8)
        case .note(let note):
            begin(.note)
            try note.encode(into: &writer)
        case .eraseRecords(let records, let reason):
            begin(.eraseRecords)
            try writer.appendList(records) { try $0.encode(into: &$1) }
            let limit = RecordErasedEvent.maximumReasonBytes
            try StrataError.check("a reason's bytes", count: reason.utf8.count, atMost: limit)
            writer.appendString(reason)
        case .setPerson(let person, let user, let recordName):
            begin(.setPerson)
            try writer.append(name: user)
            try writer.appendMeasured { try person.encode(into: &$0) }
            writer.appendMeasured { $0.appendField(Self.recordName, text: recordName) }
            return
        case .addAddress(let address, let user):
            begin(.addAddress)
            try writer.append(name: user)
            try writer.append(name: address)
        case .setRole(let role, let users):
            begin(.setRole)
            try writer.append(name: role)
            try writer.appendList(users) { try $1.append(name: $0) }
        case .setDiscoverability(let discoverability, let user):
            begin(.setDiscoverability)
            try writer.append(name: user)
            writer.append(discoverability.rawValue)
        case .drawSecret(let from, let before):
            begin(.drawSecret)
            writer.appendVarint(from)
            writer.appendVarint(before)
        }
        writer.appendVarint(0)
    }

    init(from reader: inout ByteReader) throws {
        let number = try reader.read(UInt8.self, "the kind of an action")
        switch Number(rawValue: number) {
        case .purgeZone: self = .purgeZone(try reader.readVarint("a zone"))
        case .resetEncryptedData: self = .resetEncryptedData
        case .setAccountStatus:
            let user = try reader.readName("a user")
            self = .setAccountStatus(try reader.readNumbered("an account's status"), user: user)
        case .setQuota:
            let user = try reader.readName("a user")
            self = .setQuota(bytes: try reader.readVarint("a quota"), user: user)
        case .expireTokens:
            let offset = try reader.readVarint("an offset", atMost: Version.maximumOffset)
            let isInAll = try reader.read(UInt8.self, "the scope of expiring tokens")
            guard isInAll < 2 else { throw reader.malformed("the scope of expiring tokens", expected: "0 or 1") }
            self = .expireTokens(before: offset, inAll: isInAll == 1)
        case .note: self = .note(try ConsoleNote(from: &reader))
        case .eraseRecords:
            let records = try reader.readList("the number of records") { try RecordToErase(from: &$0) }
            let limit = RecordErasedEvent.maximumReasonBytes
            self = .eraseRecords(records, reason: try reader.readString("a reason", atMost: limit))
        case .setPerson:
            let user = try reader.readName("a user")
            let length = try reader.readVarint("the length of a person")
            let person = try Person(from: try reader.readReader(count: length, "a person"))
            var fields = try KeyedFields(from: &reader, "the fields of a request")
            var recordName: String?
            try fields.read(only: Self.recordName) {
                recordName = try $0.text("the name of a user's record", atMost: Envelope.maximumNameBytes)
            }
            self = .setPerson(person, user: user, recordName: recordName)
            return
        case .addAddress:
            let user = try reader.readName("a user")
            self = .addAddress(try reader.readName("an address"), user: user)
        case .setRole:
            let role = try reader.readName("a role")
            self = .setRole(role, users: try reader.readList("the number of users") { try $0.readName("a user") })
        case .setDiscoverability:
            let user = try reader.readName("a user")
            self = .setDiscoverability(try reader.readNumbered("a person's discoverability"), user: user)
        case .drawSecret:
            let from = try reader.readVarint("a share")
            self = .drawSecret(from: from, before: try reader.readVarint("a share"))
        case nil: throw StrataError.newer("the kind of an action", number, reader)
        }
        var fields = try KeyedFields(from: &reader, "the fields of a request")
        try fields.skipAll()
    }
}

extension AdministerRequest {
    /// Returns the words for the act, after "asked to".
    ///
    /// - Parameters:
    ///   - reveals: true for words with addresses.
    ///   - zoneName: returns the name of a zone that the request names.
    package func sentence(reveals: Bool, _ zoneName: (UInt64) -> String) -> String {
        func list(_ names: [String]) -> String { names.joined(separator: ", ") }
        return switch self {
        case .purgeZone(let zone): "purge the zone \(zoneName(zone))"
        case .resetEncryptedData: "reset the encrypted data"
        case .setAccountStatus(let status, let user): "set the account of \(user) to \(status)"
        case .setQuota(let bytes, let user): bytes == 0 ? "end the quota of \(user)" : "give \(user) \(bytes) bytes"
        case .expireTokens(let before, let inAll):
            "expire the tokens before commit \(before)" + (inAll ? " in all databases" : "")
        case .note(let note): "note: \(note.text)"
        case .eraseRecords(let records, let reason):
            "erase \(records.count) \(records.count == 1 ? "record" : "records"): \(reason)"
        case .setPerson(let person, let user, _):
            "set the names and addresses of \(user)" + (reveals ? ": " + list(person.emails + person.phones) : "")
        case .addAddress(let address, let user): "add an address of \(user)" + (reveals ? ": \(address)" : "")
        case .setRole(let role, let users): "give the role \(role) to \(users.isEmpty ? "no one" : list(users))"
        case .setDiscoverability(let answer, let user): "set the discoverability of \(user) to \(answer)"
        case .drawSecret: "draw the secret"
        }
    }
}

/// A record and its type, which only the log knows if the record was deleted.
package struct RecordToErase: Sendable, Hashable {
    /// The record. Its zone, and the type, are ordinals of the request's own names.
    package var record: RecordKey
    package var type: UInt64

    package init(_ record: RecordKey, type: UInt64) {
        self.record = record
        self.type = type
    }

    func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(record.zone)
        writer.appendVarint(type)
        try writer.append(name: record.name)
    }

    init(from reader: inout ByteReader) throws {
        let zone = try reader.readVarint("a record's zone")
        type = try reader.readVarint("a record's type")
        record = RecordKey(zone: zone, name: try reader.readName("a record name"))
    }
}

/// A note about a console action that changes no state, such as losing a response.
package struct ConsoleNote: Sendable, Hashable {
    package static let maximumTextBytes = 4_096

    /// The name of the affected user; empty for none. The user and the device need not be known.
    package var user: String
    package var device: String
    package var text: String

    package init(_ text: String, user: String = "", device: String = "") {
        self.text = text
        self.user = user
        self.device = device
    }

    func encode(into writer: inout ByteWriter) throws {
        try writer.append(name: user)
        try writer.append(name: device)
        try StrataError.check("a note's bytes", count: text.utf8.count, atMost: Self.maximumTextBytes)
        writer.appendString(text)
    }

    init(from reader: inout ByteReader) throws {
        user = try reader.readName("a user")
        device = try reader.readName("a device")
        text = try reader.readString("a note", atMost: Self.maximumTextBytes)
    }
}

/// An audit event of a console action that changes no state.
package struct ConsoleActedEvent: EventBody {
    package static let kind = EventKind.consoleActed
    package static let shownFields = ShownFields<Self> {
        Shown("text", "the action of the console", after: "") { $0.note.text }
        Shown("userName", "the user that it concerns, empty for none", after: ", user ") { $0.note.user }
        Shown("deviceName", "the device that it concerns, empty for none", after: ", device ") { $0.note.device }
    }

    package var note: ConsoleNote

    package init(_ note: ConsoleNote) { self.note = note }

    package func encode(into writer: inout ByteWriter) throws {
        try note.encode(into: &writer)
        writer.appendVarint(0)
    }

    package init(from reader: inout ByteReader) throws {
        note = try ConsoleNote(from: &reader)
        var fields = try KeyedFields(from: &reader, "the fields of a note")
        try fields.skipAll()
    }
}
