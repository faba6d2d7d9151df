import StrataModel

extension IndexID.Subject {
    /// The names of system fields in CloudKit's schema language, which are interned like the names of other fields.
    private static let systemFields: [(name: String, subject: Self)] = [
        ("___recordID", .membership), ("___createTime", .created), ("___modTime", .modified),
        ("___createdBy", .createdBy), ("___modifiedBy", .modifiedBy), ("___parent", .parent),
    ]

    /// Returns nil if the name is not that of an indexed system field.
    package init?(systemFieldName name: String) {
        guard let known = Self.systemFields.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
        self = known.subject
    }

    /// The name of the system field; nil for a field of the record.
    package var systemFieldName: String? { Self.systemFields.first { $0.subject == self }?.name }
}

extension IndexID {
    /// Returns the indexes that a declared field requires.
    static func asked(by field: SchemaField, named name: String, of type: UInt64) -> [IndexID] {
        let kind = field.kind.element
        if field.isEncrypted || kind == .asset { return [] }
        let systemSubject = Subject(systemFieldName: name)
        // A change tag is found through the record that has it.
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
