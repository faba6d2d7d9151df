import StrataModel
import StrataStore

/// A record with all its details.
struct RecordDetail {
    private let record: Record
    private let fields: [(key: String, value: FieldValue)]
    private let values: ValueDetail

    /// - Parameter secrets: decrypts values; nil to leave them encrypted.
    init(_ record: Record, in state: ContainerState, _ secrets: Secrets? = nil) throws {
        var fields = try record.fields
        try secrets?.reveal(&fields, of: record)
        self.record = record
        self.fields = fields.map { (key: $0.key, value: $0.value) }
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        values = ValueDetail(state: state, zone: record.id.zone.name)
    }

    // MARK: For people

    /// Writes a paragraph with a line for each field.
    func write(to output: Output) throws {
        output.write("record ")
        output.write(Printable.escaped(record.id.name), .heading)
        try output.endLine()
        let zone = "\(Printable.escaped(record.id.zone.name)), \(record.database.shownText)"
        var lines = [("zone", zone), ("type", Printable.escaped(try record.type))]
        let version = record.version
        lines.append(("tag", "\(version.tag): commit \(version.offset), event \(version.eventIndex)"))
        lines.append(("created", Self.text(of: record.created, by: try record.createdBy)))
        let (user, device) = (try record.modifiedBy, try record.modifiedWith)
        lines.append(("modified", Self.text(of: record.modified, by: user, on: device)))
        if let parent = try record.parent {
            lines.append(("parent", Printable.escaped(parent) + ValueText.mark(isLoose: try record.isParentLoose)))
        }
        if let share = try record.share { lines.append(("share", Printable.escaped(share))) }
        if fields.isEmpty { lines.append(("fields", "none")) }
        try Columns.write(lines.map { [$0.0, $0.1] }, indentation: 4, to: output)
        let rows = try fields.map { [Printable.escaped($0.key), "\($0.value.kind)", try values.text(of: $0.value)] }
        try Columns.write(rows, indentation: 8, to: output)
    }

    private static func text(of time: Int64, by user: String, on device: String = "") -> String {
        var text = "\(Timestamp(microseconds: time)) by \(user.isEmpty ? "the service" : Printable.escaped(user))"
        if !device.isEmpty { text += " on \(Printable.escaped(device))" }
        return text
    }

    /// Returns the values on one line.
    func valuesText() throws -> String {
        try fields.map { "\(Printable.escaped($0.key))=\(try values.text(of: $0.value))" }.joined(separator: "  ")
    }

    // MARK: For programs

    /// Writes the record as a JSON object or as a paragraph.
    func write(asJSON: Bool, to output: Output) throws {
        guard asJSON else { return try write(to: output) }
        var json = JSONWriter(output)
        json.beginObject()
        try writeFields(to: &json)
        json.endObject()
        try output.endLine()
    }

    /// Writes the keys of docs/guide/tool.md, "A record in full", into an open object.
    func writeFields(to json: inout JSONWriter) throws {
        json.field("name", record.id.name)
        json.field("zone", record.id.zone.name)
        json.field("database", record.database.scope.name)
        json.field("owner", record.database.owner)
        json.field("type", try record.type)
        json.field("changeTag", record.version.tag)
        json.field("offset", record.version.offset)
        json.field("event", UInt64(record.version.eventIndex))
        json.field("created", record.created)
        json.field("createdBy", try record.createdBy)
        json.field("modified", record.modified)
        json.field("modifiedBy", try record.modifiedBy)
        json.field("modifiedWith", try record.modifiedWith)
        try json.field(parentOf: record)
        if let share = try record.share { json.field("share", share) }
        json.beginObject("fields")
        for (key, value) in fields {
            json.key(key)
            try values.write(value, to: &json)
        }
        json.endObject()
    }
}

extension JSONWriter {
    /// Writes the parent of a record, if it has one.
    mutating func field(parentOf record: Record) throws {
        guard let parent = try record.parent else { return }
        field("parent", parent)
        if try record.isParentLoose { field("looseParent", true) }
    }
}
