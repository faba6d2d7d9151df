import StrataModel

/// What a key of a record type takes.
struct Binding: Hashable {
    var kind: FieldKind
    var isEncrypted: Bool

    init(_ field: SchemaField) {
        kind = field.kind
        isEncrypted = field.isEncrypted
    }

    /// What a value binds its key to; nil for an empty list, which says nothing.
    init?(_ value: FieldValue) {
        if case .sealed = value {
            // What it is of is inside the seal.
            (kind, isEncrypted) = (.data, true)
        } else {
            if value.kind == .emptyList { return nil }
            (kind, isEncrypted) = (value.kind, false)
        }
    }

    /// As the schema language says it.
    var description: String {
        (isEncrypted ? "ENCRYPTED " : "") + kind.schemaName
    }

    /// Whether the key takes the value as it is.
    func takes(_ value: FieldValue) -> Bool { !isEncrypted && value.kind == kind }

    /// The value as the key takes it; nil if it does not (B23).
    func fitted(_ value: FieldValue) -> FieldValue? {
        if case .sealed = value { return isEncrypted ? value : nil }
        if isEncrypted { return nil }
        if value.kind == kind { return value }
        if value.kind == .emptyList { return kind.isList ? value : nil }
        guard value.kind.isList == kind.isList else { return nil }
        guard case .list(let list) = value else { return Self.number(value, as: kind) }
        let elements = list.elements.compactMap { Self.number($0, as: kind.element) }
        guard elements.count == list.elements.count, let fitted = try? FieldList(elements) else { return nil }
        return .list(fitted)
    }

    private static func number(_ value: FieldValue, as kind: FieldKind) -> FieldValue? {
        switch (value, kind) {
        case (.int64(let number), .double): .double(Double(number))
        case (.double(let number), .int64): Int64(exactly: number).map { .int64($0) }
        default: nil
        }
    }
}

extension FieldValue {
    /// The references in it, one or several.
    var references: [Reference] {
        switch self {
        case .reference(let reference): [reference]
        case .list(let list) where list.kind.element == .reference: list.elements.flatMap(\.references)
        default: []
        }
    }
}
