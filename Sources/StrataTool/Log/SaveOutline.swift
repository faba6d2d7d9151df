import StrataModel

/// A save as tools show it: with the kinds and sizes of its values, but not the values.
struct SaveOutline {
    struct Field {
        let ordinal: UInt64
        /// Nil for a key that was removed.
        let kind: FieldKind?
        let bytes: Int
        /// The value, if it is the state of a share.
        let share: ShareState?
    }

    let record: RecordKey
    let type: UInt64
    let change: RecordSavedEvent.Change
    let policy: SavePolicy
    let isFull: Bool
    let isErased: Bool
    let previous: Version?
    let base: Version?
    let fields: [Field]

    init(_ body: ArraySlice<UInt8>, _ names: KnownNames) throws {
        self = try body.withUnsafeBytes { bytes in
            try Self(RecordSavedView(bytes, in: 0..<bytes.count), RecordEvent(.recordSaved, bytes).key, bytes, names)
        }
    }

    private init(
        _ view: RecordSavedView, _ record: RecordKey, _ bytes: UnsafeRawBufferPointer, _ names: KnownNames
    ) throws {
        (self.record, type, change, policy) = (record, view.type, view.change, view.policy)
        (isFull, isErased, previous, base) = (view.isFull, view.isErased, view.previous, view.base)
        let table = try view.fields
        fields = try (0..<table.count).map { index in
            let ordinal = UInt64(table.ordinal(at: index))
            let (kind, range) = (try table.kind(at: index), try table.range(at: index))
            let isShare = kind == .data && names.field(ordinal) == ShareState.key
            return Field(
                ordinal: ordinal, kind: kind, bytes: range.count,
                share: isShare ? ShareState(try? FieldValue(decoding: bytes, in: range)) : nil)
        }
    }

    /// Returns the save in text for people, such as `Notes / Note / milk  update of mh35, 2 fields, 1 removed`.
    func summary(_ names: KnownNames) -> String {
        let removed = fields.count { $0.kind == nil }
        let sent = fields.count - removed
        let place = "\(names.shownZone(record.zone)) / \(names.shownType(type)) / \(Printable.escaped(record.name))"
        var text = "\(place)  \(change.name)"
        if let previous { text += " of \(previous.tag)" }
        if isFull, change != .create { text += ", full" }
        if sent > 0 { text += sent == 1 ? ", 1 field" : ", \(sent) fields" }
        if removed > 0 { text += ", \(removed) removed" }
        if isErased { text += ", erased later" }
        return text
    }

    static let shape = Shape<(save: SaveOutline, names: KnownNames)>("record saved") {
        Key("zone", name: "zoneName", "ordinal") { ($0.save.record.zone, $0.names.zone($0.save.record.zone)) }
        Key("type", name: "typeName", "ordinal") { ($0.save.type, $0.names.recordType($0.save.type)) }
        Key("record", "name of the record") { $0.save.record.name }
        Key("change", "`create`, `update` or `touch`") { $0.save.change.name }
        Key("policy", "`if server record unchanged`, `changed keys` or `all keys`") { $0.save.policy.name }
        Key("full", "true if the event holds the record's full state") { $0.save.isFull }
        Key("previous", "of the previous version", if: "if there is one") { $0.save.previous }
        Key("base", "that the client named", if: "if it did") { $0.save.base }
        Key("fields", "the fields that were sent, in the order of their ordinals", each: field) { event in
            event.save.fields.map { ($0, event.names) }
        }
        Key("erased", "true: its fields were erased later", if: "if so") { $0.save.isErased ? true : nil }
    }

    private static let field = Shape<(field: Field, names: KnownNames)>(
        "A field", "A field of a save. Of values, only the state of a share is printed."
    ) {
        Key("field", name: "fieldName", "ordinal") { ($0.field.ordinal, $0.names.field($0.field.ordinal)) }
        Key(
            "value",
            "`string`, `int64`, `double`, `date`, `data`, `location`, `reference`, `asset`, `list of …`, `empty list`, "
                + "`encrypted`, `removed` or `unknown value N`"
        ) { $0.field.kind?.description ?? "removed" }
        Key("valueBytes", "length of the encoded value, 0 if it is removed") { $0.field.bytes }
        Key("share", "the participants and permissions", if: "the state of a share") { $0.field.share }
    }

    /// Writes the keys of ``shape``. Nearly all events of a log are saves, and a closure for each key would double the
    /// time of `log --json`.
    func write(_ names: KnownNames, to json: inout JSONWriter) throws {
        try json.field("zone", record.zone, nameKey: "zoneName", name: names.zone(record.zone))
        try json.field("type", type, nameKey: "typeName", name: names.recordType(type))
        try json.field("record", record.name)
        try json.field("change", change.name)
        try json.field("policy", policy.name)
        try json.field("full", isFull)
        if let previous { try json.field("previous", previous) }
        if let base { try json.field("base", base) }
        json.beginArray("fields")
        for field in fields {
            json.beginObject()
            try json.field("field", field.ordinal, nameKey: "fieldName", name: names.field(field.ordinal))
            try json.field("value", field.kind?.description ?? "removed")
            try json.field("valueBytes", field.bytes)
            if let share = field.share { try json.field("share", share) }
            json.endObject()
        }
        json.endArray()
        if isErased { try json.field("erased", true) }
    }
}

extension RecordSavedEvent.Change {
    var name: String {
        switch self {
        case .create: "create"
        case .update: "update"
        case .touch: "touch"
        }
    }
}

extension SavePolicy {
    var name: String {
        switch self {
        case .ifServerRecordUnchanged: "if server record unchanged"
        case .changedKeys: "changed keys"
        case .allKeys: "all keys"
        }
    }
}
