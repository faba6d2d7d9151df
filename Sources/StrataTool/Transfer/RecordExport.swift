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
    private var texts: [NameKey: String] = [:]
    private var count: UInt64 = 0

    private struct NameKey: Hashable {
        let namespace: Namespace
        let ordinal: UInt64
    }

    init(_ access: StateAccess, path: String, zone: String?) throws {
        state = ContainerState(access.store)
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
        try header.write(to: output)
        var zoneCount = 0
        var databases: [ContainerState.Database] = []
        try state.forEachDatabase { databases.append($0) }
        for database in databases {
            for entry in try state.zones(of: database) where entry.row.status == .alive {
                guard zone.map({ isSameText(entry.name, $0) }) ?? true else { continue }
                zoneCount += 1
                try write(entry, of: database.id, to: output)
            }
        }
        try ExportEnd(count: count, last: Position(offset: header.last, chain: chain)).write(to: output)
        if let zone, zoneCount == 0 { throw Refusal(.zoneNotFound, "there is no zone '\(zone)'") }
    }

    private mutating func write(
        _ zone: ContainerState.ZoneEntry, of database: DatabaseID, to output: Output
    ) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("zone", zone.name)
        json.field("database", database.scope.name)
        json.field("owner", database.owner)
        json.field("encryptionScope", zone.row.encryptionScope == .zone ? "zone" : "record")
        json.endObject()
        try output.endLine()
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
        var json = JSONWriter(output)
        json.beginObject()
        json.field("record", name)
        json.field("type", try text(header.type, of: .recordType) { try $0.recordType(header.type) })
        json.field("changeTag", header.version.tag)
        json.field("created", header.created)
        json.field("createdBy", try user(header.createdBy))
        json.field("modified", header.modified)
        json.field("modifiedBy", try user(header.modifiedBy))
        if header.modifiedWith != 0 {
            json.field(
                "modifiedWith", try text(header.modifiedWith, of: .device) { try $0.device(header.modifiedWith) })
        }
        if let parent = record.parent { json.field("parent", parent.name) }
        if record.isParentLoose { json.field("looseParent", true) }
        if let share = record.share { json.field("share", share.name) }
        // A reference to another zone, which no request can create, is marked by its ordinal.
        let values = ExportedValue { $0 == zone.ordinal ? nil : "\($0)" }
        json.beginObject("fields")
        for field in record.fields {
            json.key(try text(UInt64(field.field), of: .field) { try $0.field(UInt64(field.field)) })
            values.write(field.value, to: &json)
        }
        json.endObject()
        json.endObject()
        try output.endLine()
    }

    private mutating func user(_ ordinal: UInt64) throws -> String {
        try text(ordinal, of: .user) { try $0.user(ordinal) }
    }

    /// Looks up each name once: most records share a few names.
    private mutating func text(
        _ ordinal: UInt64, of namespace: Namespace, _ lookUp: (ContainerState) throws -> String
    ) throws -> String {
        let key = NameKey(namespace: namespace, ordinal: ordinal)
        if let known = texts[key] { return known }
        let text = try lookUp(state)
        if texts.count < 1 << 16 { texts[key] = text }
        return text
    }
}

extension ContainerState {
    fileprivate func field(_ ordinal: UInt64) throws -> String { try trees.text(.field, ordinal) }
}
