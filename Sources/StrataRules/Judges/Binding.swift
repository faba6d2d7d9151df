import StrataModel

/// The kind of values that a key of a record type accepts.
struct Binding: Hashable {
    var kind: FieldKind
    var isEncrypted: Bool

    init(_ field: SchemaField) {
        kind = field.kind
        isEncrypted = field.isEncrypted
    }

    /// The binding that a value implies; nil for an empty list, which implies none.
    init?(_ value: FieldValue) {
        if case .sealed = value {
            // The kind of the value is inside the seal.
            (kind, isEncrypted) = (.data, true)
        } else {
            if value.kind == .emptyList { return nil }
            (kind, isEncrypted) = (value.kind, false)
        }
    }

    /// The binding in the schema language.
    var description: String {
        (isEncrypted ? "ENCRYPTED " : "") + kind.schemaName
    }

    /// Returns true if the key accepts values of a kind unchanged.
    func takes(_ valueKind: FieldKind) -> Bool { !isEncrypted && valueKind == kind }

    /// The value converted for the key; nil if the key does not accept it (B23).
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
