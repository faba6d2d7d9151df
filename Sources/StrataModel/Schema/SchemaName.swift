/// The permitted names of record types, keys and roles (docs/rules.md §5).
package enum SchemaName {
    package static let maximumCharacters = 255

    /// The fields that every record has, by their names in the schema language. No record can be saved with such a key.
    package static let systemFields: [(name: String, kind: FieldKind)] = [
        ("___createTime", .date), ("___createdBy", .reference), ("___etag", .string), ("___modTime", .date),
        ("___modifiedBy", .reference), ("___recordID", .reference), ("___parent", .reference),
    ]
    /// The system fields that the service exports for every record type, indexed or not.
    package static let exportedSystemFields = systemFields.filter { $0.name != "___parent" }

    package static let systemRoles = ["_creator", "_icloud", "_world"]

    /// Returns true if a name is a letter, then letters, digits and `_`, all ASCII, 255 characters at most.
    package static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first), name.utf8.count <= maximumCharacters else { return false }
        return name.utf8.allSatisfy { isPart($0) }
    }

    package static func isRole(_ name: String) -> Bool {
        isIdentifier(name) || systemRoles.contains { isSameText($0, name) }
    }

    /// Returns the kind of a system field; nil for any other name.
    package static func systemKind(of field: String) -> FieldKind? {
        // Nearly all fields begin with another character.
        guard field.utf8.first == UInt8(ascii: "_") else { return nil }
        return systemFields.first { isSameText($0.name, field) }?.kind
    }

    /// Returns true for words that are names only in quotes.
    static func isReserved(_ name: String) -> Bool {
        ["grant", "preferred", "queryable", "searchable", "sortable"].contains(name.lowercased())
    }

    /// Returns a name as the schema language writes it.
    static func quoted(_ name: String) -> String {
        name.utf8.first == UInt8(ascii: "_") || isReserved(name) ? "\"\(name)\"" : name
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        let lower = byte | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
    }

    /// Returns true if a byte may occur in an identifier.
    static func isPart(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
    }
}

extension FieldKind {
    /// True if a field can be declared with this kind.
    public var isDeclarable: Bool { element.isScalar }

    private static let schemaNames = [
        "", "STRING", "INT64", "DOUBLE", "TIMESTAMP", "BYTES", "LOCATION", "REFERENCE", "ASSET",
    ]
    static let scalars: [FieldKind] = [.string, .int64, .double, .date, .data, .location, .reference, .asset]

    /// The name of the kind in the schema language.
    public var schemaName: String {
        guard element.isScalar else { return "\(self)" }
        let scalar = Self.schemaNames[Int(element.rawValue)]
        return isList ? "LIST<\(scalar)>" : scalar
    }

    /// Returns the indexes that a field of this kind can have. References, bytes and lists have no order, only text can
    /// be searched by words, and encrypted fields and assets have no indexes.
    public func possibleIndexes(isEncrypted: Bool) -> SchemaField.Indexes {
        if isEncrypted || element == .asset { return [] }
        if isList { return element == .string ? [.queryable, .searchable] : .queryable }
        switch element {
        case .string: return [.queryable, .sortable, .searchable]
        case .reference, .data: return .queryable
        default: return [.queryable, .sortable]
        }
    }
}

extension SchemaField.Indexes {
    /// The indexes in the schema language, separated by spaces.
    public var schemaNames: String {
        let names = [(Self.queryable, "QUERYABLE"), (.searchable, "SEARCHABLE"), (.sortable, "SORTABLE")]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: " ")
    }
}
