extension SchemaDefinition {
    /// The ``sorted`` schema in CloudKit's schema language; parsing the text returns the sorted schema.
    public var text: String {
        let sorted = sorted
        var text = "DEFINE SCHEMA\n"
        for role in sorted.roles { text += "\n    CREATE ROLE \(SchemaName.quoted(role));\n" }
        for type in sorted.recordTypes { text += "\n    RECORD TYPE \(SchemaName.quoted(type.name)) \(type.body);\n" }
        return text
    }
}

extension SchemaDefinition.RecordType {
    /// The maximum length of a name whose type is aligned in the common column.
    private static let maximumIndentation = 40

    fileprivate var body: String {
        let names = fields.map { SchemaName.quoted($0.name) }
        let width = names.map(\.utf8.count).filter { $0 <= Self.maximumIndentation }.max() ?? 0
        var lines = zip(names, fields).map { name, field in
            name + String(repeating: " ", count: max(0, width - name.utf8.count)) + " " + field.declaration
        }
        lines += grants.map { grant in
            "GRANT \(grant.permissions.schemaNames) TO \(SchemaName.quoted(grant.role))"
        }
        return lines.isEmpty ? "(\n    )" : "(\n        " + lines.joined(separator: ",\n        ") + "\n    )"
    }
}

extension SchemaDefinition.Field {
    fileprivate var declaration: String { kind.schemaDeclaration(isEncrypted: isEncrypted, indexes: indexes) }
}

extension FieldKind {
    /// Returns the declaration of a field of this kind after its name: `LIST<STRING> QUERYABLE`.
    public func schemaDeclaration(isEncrypted: Bool, indexes: SchemaField.Indexes) -> String {
        var text = schemaName
        if isEncrypted { text = isList ? "LIST<ENCRYPTED \(element.schemaName)>" : "ENCRYPTED \(text)" }
        return indexes.isEmpty ? text : text + " " + indexes.schemaNames
    }
}

extension SchemaGrant.Permissions {
    /// The permissions in the schema language, separated by commas.
    public var schemaNames: String {
        let names = [(Self.read, "READ"), (.create, "CREATE"), (.write, "WRITE")]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
