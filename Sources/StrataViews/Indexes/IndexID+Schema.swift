import StrataModel

extension IndexID.Subject {
    /// As CloudKit's schema language spells what every record has, which is interned like the names of fields.
    private static let systemFields: [(name: String, subject: Self)] = [
        ("___recordID", .membership), ("___createTime", .created), ("___modTime", .modified),
        ("___createdBy", .createdBy), ("___modifiedBy", .modifiedBy), ("___parent", .parent),
    ]

    /// Nil if it is no field that every record has.
    public init?(systemFieldName name: String) {
        guard let known = Self.systemFields.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
        self = known.subject
    }

    /// Nil for a field of the record.
    public var systemFieldName: String? { Self.systemFields.first { $0.subject == self }?.name }
}

extension IndexID {
    /// The indexes that a declared field asks for.
    static func asked(by field: SchemaField, named name: String, of type: UInt64) -> [IndexID] {
        let kind = field.kind.element
        if field.isEncrypted || kind == .asset { return [] }
        let systemSubject = Subject(systemFieldName: name)
        // A change tag is found by the record that has it.
        if systemSubject == nil, SchemaName.systemKind(of: name) != nil { return [] }
        let subject = systemSubject ?? .field(field.field)
        var ids: [IndexID] = []
        if !field.indexes.isDisjoint(with: [.queryable, .sortable]) {
            ids.append(IndexID(type: type, subject, kind == .location ? .cells : .ordered))
        }
        if field.indexes.contains(.searchable), kind == .string, subject.field != nil {
            ids.append(IndexID(type: type, subject, .words))
        }
        return ids
    }
}
