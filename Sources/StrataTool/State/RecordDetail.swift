import StrataModel
import StrataStore

/// A record with all its details.
struct RecordDetail {
    private let record: Record
    private let fields: [(key: String, value: FieldValue)]
    private let values: ValueDetail
    /// True to begin the JSON object with the key `change`.
    var isChange = false

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
        try Columns.write("record", record.id.name, lines, to: output)
        let rows = try fields.map { [Printable.escaped($0.key), "\($0.value.kind)", try values.text(of: $0.value)] }
        try Columns.write(rows, indentation: 8, to: output)
    }

    private static func text(of time: Int64, by user: String, on device: String = "") -> String {
        var text = "\(Timestamp(microseconds: time)) by \(user.isEmpty ? "the service" : Printable.escaped(user))"
        if !device.isEmpty { text += " on \(Printable.escaped(device))" }
        return text
    }

    /// Returns the change tag and the values on one line.
    func tagAndValues() throws -> String {
        let values = try valuesText()
        return record.version.tag + (values.isEmpty ? "" : "  " + values)
    }

    /// Returns the values on one line.
    func valuesText() throws -> String {
        try fields.map { "\(Printable.escaped($0.key))=\(try values.text(of: $0.value))" }.joined(separator: "  ")
    }

    // MARK: For programs

    /// Writes the record as a JSON object or as a paragraph.
    func write(asJSON: Bool, to output: Output) throws {
        if asJSON { try output.writeJSON(self) } else { try write(to: output) }
    }
}

extension RecordDetail: Shaped {
    static let shape = Shape<Self>("A record in full") {
        Key("change", "`changed`", if: "`feed`, `play`") { $0.isChange ? "changed" : nil }
        Key("name", "of the record") { $0.record.id.name }
        Key("zone", "its zone's name") { $0.record.id.zone.name }
        Key(of: DatabaseID.shape) { $0.record.database }
        Key("type", "its record type") { try $0.record.type }
        Key("changeTag", "of this version") { $0.record.version }
        Key("offset", "of the commit that made this version") { $0.record.version.offset }
        Key("event", "its index in that commit") { $0.record.version.eventIndex }
        Key("created", "when") { $0.record.created }
        Key("createdBy", "name of the user") { try $0.record.createdBy }
        Key("modified", "when") { $0.record.modified }
        Key("modifiedBy", "name of the user") { try $0.record.modifiedBy }
        Key("modifiedWith", "name of the device, empty if that is not known") { try $0.record.modifiedWith }
        Key(of: links) { $0.record }
        Key("fields", "its values in full") { ValueMap(fields: $0.fields, detail: $0.values) }
    }

    static let links = Shape<Record>("Links of a record") {
        Key("parent", "name of the record", if: "if it has one") { try $0.parent }
        Key("looseParent", "true: the parent is loose", if: "if so") {
            try $0.parent != nil && $0.isParentLoose ? true : nil
        }
        Key("share", "name of the record", if: "if it has one") { try $0.share }
    }
}
