import StrataModel
import StrataRules
import StrataStore
import StrataSystem
import StrataViews

/// Exports the records of a state as lines of JSON, by database and zone.
struct RecordExport {
    private let state: ContainerState
    private let chain: UInt32
    /// The name of the zones whose records are exported; nil for all.
    private let zone: String?
    private let header: ExportHeader
    private var names: NameCache
    private var count: UInt64 = 0
    /// The names of the users whom exported shares name.
    private var people: Set<ExactName> = []

    init(_ access: StateAccess, path: String, zone: String?) throws {
        state = ContainerState(access.store)
        names = NameCache(state)
        self.zone = zone
        let log = try access.log()
        chain = try log.chain(at: state.snapshot.offset)
        var header = ExportHeader(
            .records, storeID: log.identity.storeID, container: log.identity.containerIdentifier)
        header.last = state.snapshot.offset
        header.zone = zone
        if let zone { header.missing.append("records of other zones than '\(zone)'") }
        let files = ReadOnlyFiles()
        header.hasAssets = try files.exists(path + "/assets")
        header.hasKeys = try files.exists(path + "/keys")
        self.header = header
    }

    /// - Throws: ``Refusal`` for a zone that does not exist.
    mutating func write(to output: Output) throws {
        try output.writeJSON(header)
        var zoneCount = 0
        var databases: [ContainerState.Database] = []
        try state.forEachDatabase { databases.append($0) }
        // Private databases name the records of their owners, which an import has to know first.
        databases = databases.filter { $0.id.scope != .public } + databases.filter { $0.id.scope == .public }
        for database in databases {
            for entry in try state.zones(of: database) where entry.row.status == .alive {
                guard zone.map({ isSameText(entry.name, $0) }) ?? true else { continue }
                zoneCount += 1
                try write(entry, of: database.id, to: output)
            }
        }
        for user in people.map(\.text).sorted() {
            try output.writeJSON(
                (user, try state.person(user), try state.snapshot.recordName(of: user)), as: Self.person)
        }
        try output.writeJSON(ExportEnd(count: count, last: Position(offset: header.last, chain: chain)))
        if let zone, zoneCount == 0 { throw Refusal(.zoneNotFound, "there is no zone '\(zone)'") }
    }

    private mutating func write(
        _ zone: ContainerState.ZoneEntry, of database: DatabaseID, to output: Output
    ) throws {
        let ownerRecord = database.owner.isEmpty ? nil : try state.snapshot.recordName(of: database.owner)
        try output.writeJSON((zone, database, ownerRecord), as: Self.zone)
        try state.trees.forEachRecord(of: zone.ordinal) { name, bytes in
            let record = try RecordState(decoding: ArraySlice(bytes))
            try write(String(decoding: name, as: UTF8.self), record, zone, to: output)
            count += 1
            return true
        }
    }

    private mutating func write(
        _ name: String, _ record: RecordState, _ zone: ContainerState.ZoneEntry, to output: Output
    ) throws {
        let header = record.header
        let device = header.modifiedWith == 0 ? nil : try names.text(header.modifiedWith, of: .device)
        var fields = try record.fields.map { field in
            (key: try names.text(UInt64(field.field), of: .field), value: field.value)
        }
        var share: ShareState?
        if let index = fields.firstIndex(where: { $0.key == ShareState.key }),
            let state = ShareState(fields[index].value)
        {
            share = state
            fields.remove(at: index)
            people.formUnion(state.users.map { ExactName(text: $0) })
        }
        let line = Line(
            name: name, type: try names.text(header.type, of: .recordType),
            createdBy: try names.text(header.createdBy, of: .user),
            modifiedBy: try names.text(header.modifiedBy, of: .user), modifiedWith: device, record: record,
            sharing: share, fields: ExportedFields(fields: fields, zone: zone.ordinal))
        try output.writeJSON(line, as: Self.record)
    }

    static let zone = Shape<(zone: ContainerState.ZoneEntry, database: DatabaseID, ownerRecord: String?)>(
        "A zone of an export", "The records that follow are in it."
    ) {
        Key("zone", "its name") { $0.zone.name }
        Key(of: DatabaseID.shape) { $0.database }
        Key("ownerRecord", "the name of the owner's record", if: "in a private database") { $0.ownerRecord }
        Key("encryptionScope", "`record` or `zone`") { $0.zone.row.encryptionScope.name }
    }

    struct Line {
        let name: String
        let type: String
        let createdBy: String
        let modifiedBy: String
        let modifiedWith: String?
        let record: RecordState
        let sharing: ShareState?
        let fields: ExportedFields
    }

    static let record = Shape<Line>("A record of an export") {
        Key("record", "its name") { $0.name }
        Key("type", "its record type") { $0.type }
        Key("changeTag", "of its newest version") { $0.record.header.version }
        Key("created", "when") { $0.record.header.created }
        Key("createdBy", "name of the user") { $0.createdBy }
        Key("modified", "when") { $0.record.header.modified }
        Key("modifiedBy", "name of the user") { $0.modifiedBy }
        Key("modifiedWith", "name of the device", if: "if known") { $0.modifiedWith }
        Key("parent", "name of the record, in the same zone", if: "if it has one") { $0.record.parent?.name }
        Key("looseParent", "true: the parent is loose", if: "if so") { $0.record.isParentLoose ? true : nil }
        Key("share", "name of the record", if: "if it has one") { $0.record.share?.name }
        Key("sharing", "its participants and permissions", if: "the record of a share") { $0.sharing }
        Key("fields", "its values") { $0.fields }
    }

    static let person = Shape<(name: String, person: Person, recordName: String)>(
        "A user of an export", "Present if a share names the user."
    ) {
        Key("user", "the name of the user") { $0.name }
        Key("recordName", "the name of the user's record") { $0.recordName }
        Key("nameParts", "the parts of the person's name", as: Person.nameParts) { $0.person }
        Key("emails", "the e-mail addresses") { $0.person.emails }
        Key("phones", "the phone numbers") { $0.person.phones }
    }
}

extension ContainerState {
    /// Returns what is known of the person behind a user; nothing for a user who does not exist.
    fileprivate func person(_ user: String) throws -> Person {
        try trees.ordinal(of: .user(user)).map { try trees.account(of: $0).person } ?? Person()
    }
}

/// The values of a record by key.
struct ExportedFields: JSONValue {
    let fields: [(key: String, value: FieldValue)]
    let zone: UInt64

    static var jsonKind: JSONKind { .map(of: .object(ExportedValue.shape.description)) }

    func write(to json: inout JSONWriter) throws {
        // A reference to another zone, which no request can create, is marked by its ordinal.
        let values = ExportedValue { [zone] in $0 == zone ? nil : "\($0)" }
        json.beginObject()
        for (key, value) in fields {
            json.key(key)
            try values.write(value, to: &json)
        }
        json.endObject()
    }
}
