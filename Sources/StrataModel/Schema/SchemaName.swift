/// What record types, keys and roles may be called (docs/rules.md §5).
public enum SchemaName {
    public static let maximumCharacters = 255

    /// Fields that every record has, as the schema language calls them. No record can be saved with such a key.
    public static let systemFields: [(name: String, kind: FieldKind)] = [
        ("___createTime", .date), ("___createdBy", .reference), ("___etag", .string), ("___modTime", .date),
        ("___modifiedBy", .reference), ("___recordID", .reference), ("___parent", .reference),
    ]
    /// Those that the service writes of every record type, indexed or not.
    public static let exportedSystemFields = systemFields.filter { $0.name != "___parent" }

    public static let systemRoles = ["_creator", "_icloud", "_world"]

    /// Whether a name is a letter, then letters, digits and `_`, all ASCII and 255 at most.
    public static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first), name.utf8.count <= maximumCharacters else { return false }
        return name.utf8.allSatisfy { isPart($0) }
    }

    public static func isRole(_ name: String) -> Bool {
        isIdentifier(name) || systemRoles.contains { isSameText($0, name) }
    }

    /// The kind of a system field; nil for any other name.
    public static func systemKind(of field: String) -> FieldKind? {
        // Nearly all fields begin otherwise.
        guard field.utf8.first == UInt8(ascii: "_") else { return nil }
        return systemFields.first { isSameText($0.name, field) }?.kind
    }

    /// Words that are names only between quotes.
    static func isReserved(_ name: String) -> Bool {
        ["grant", "preferred", "queryable", "searchable", "sortable"].contains(name.lowercased())
    }

    /// A name as the schema language writes it.
    static func quoted(_ name: String) -> String {
        name.utf8.first == UInt8(ascii: "_") || isReserved(name) ? "\"\(name)\"" : name
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        let lower = byte | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
    }

    /// Whether a byte may stand in an identifier.
    static func isPart(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
    }
}

extension FieldKind {
    /// Whether a field can be declared to be of this kind.
    public var isDeclarable: Bool { element.isScalar }

    static let scalars: [FieldKind] = [.string, .int64, .double, .date, .data, .location, .reference, .asset]

    /// As the schema language says it.
    public var schemaName: String {
        let scalar =
            switch element {
            case .string: "STRING"
            case .int64: "INT64"
            case .double: "DOUBLE"
            case .date: "TIMESTAMP"
            case .data: "BYTES"
            case .location: "LOCATION"
            case .reference: "REFERENCE"
            case .asset: "ASSET"
            default: "\(self)"
            }
        return isList && element.isScalar ? "LIST<\(scalar)>" : scalar
    }

    /// The indexes that a field of this kind can have. A reference and a list have no order, only words of text are
    /// searched, and what is encrypted or an asset has no index at all.
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
    /// As the schema language says them, separated by spaces.
    public var schemaNames: String {
        let names = [(Self.queryable, "QUERYABLE"), (.searchable, "SEARCHABLE"), (.sortable, "SORTABLE")]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: " ")
    }
}
