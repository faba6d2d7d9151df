/// A field of a record type, which exists since its first save or its declaration.
public struct SchemaField: Sendable, Hashable {
    public struct Indexes: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let queryable = Self(rawValue: 1)
        public static let sortable = Self(rawValue: 2)
        public static let searchable = Self(rawValue: 4)
    }

    public var field: UInt32
    /// A scalar kind or a list of one.
    public var kind: FieldKind
    public var isEncrypted: Bool
    public var indexes: Indexes

    public init(_ field: UInt32, _ kind: FieldKind, isEncrypted: Bool = false, indexes: Indexes = []) {
        self.field = field
        self.kind = kind
        self.isEncrypted = isEncrypted
        self.indexes = indexes
    }
}

/// The event that declares the fields of a record type. Fields that are not named stay, and so do grants if none are
/// named.
package struct SchemaChangedEvent: StatedEvent {
    package static let kind = EventKind.schemaChanged
    package static let shownFields = ShownFields<Self> {
        Shown(.recordType, after: "") { $0.type }
        Shown("fields", "the fields that were declared, in the order of their ordinals", after: ": ") { $0.fields }
        Shown("grants", "empty if the event says nothing about them", after: "; ") { $0.grants }
    }

    package var type: UInt64
    package var fields: [SchemaField]
    /// The permissions of roles in the public database; empty to leave them unchanged.
    package var grants: [SchemaGrant]
    package var original: Version?

    /// An optional key: a reader that does not know it can still read the fields.
    private static let grantsKey: UInt64 = 5

    package init(type: UInt64, fields: [SchemaField], grants: [SchemaGrant] = [], original: Version? = nil) {
        self.type = type
        self.fields = fields
        self.grants = grants
        self.original = original
    }

    package func encode(into writer: inout ByteWriter) throws {
        try StrataError.check("the number of fields", count: fields.count, atMost: FieldTable.maximumCount)
        writer.appendVarint(type)
        writer.appendVarint(UInt64(fields.count))
        for field in fields {
            guard field.kind.isDeclarable, field.field > 0 else {
                throw StrataError(
                    .invalidArgument, "A declared field must have an ordinal and a kind of value.",
                    .init(found: "\(field.field), \(field.kind)"))
            }
            writer.appendVarint(UInt64(field.field))
            writer.append(field.kind.rawValue | (field.isEncrypted ? 0x80 : 0))
            writer.append(field.indexes.rawValue)
        }
        try writer.appendMeasured { writer in
            writer.appendField(CommonField.original, original?.packed ?? 0)
            if !grants.isEmpty { try writer.appendField(Self.grantsKey) { try $0.append(grants: grants) } }
        }
    }

    package init(from reader: inout ByteReader) throws {
        type = try reader.readVarint("a record type")
        let count = try reader.readVarint("the number of fields", atMost: UInt64(FieldTable.maximumCount))
        fields = []
        // A field takes three bytes, so the bytes bound the reserved capacity.
        fields.reserveCapacity(min(Int(count), reader.remaining / 3))
        for _ in 0..<count {
            let field = try reader.readVarint("a field", atMost: FieldTable.maximumOrdinal)
            guard field > 0 else { throw reader.malformed("a field", expected: "at least 1") }
            let byte = try reader.read(UInt8.self, "a field's kind")
            let kind = FieldKind(rawValue: byte & 0x7F)
            guard kind.element.isScalar else { throw StrataError.newer("a field's kind", byte, reader) }
            let indexes = try reader.read(UInt8.self, "a field's indexes")
            fields.append(
                SchemaField(
                    UInt32(field), kind, isEncrypted: byte & 0x80 != 0, indexes: .init(rawValue: indexes)))
        }
        grants = []
        var keyed = try KeyedFields(from: &reader, "the fields of an event")
        while var field = try keyed.next() {
            switch field.key {
            case CommonField.original: original = try field.version()
            case Self.grantsKey: grants = try field.grants()
            default: try field.skip()
            }
        }
    }
}

extension SchemaField: Described {
    package static let title = "A declared field"
    package static let shownFields = ShownFields<Self> {
        Shown(.field, after: "") { UInt64($0.field) }
        Shown("value", "its kind, as in [a field](#a-field)") { $0.kind.description }
        Shown("encrypted", "true if it is") { $0.isEncrypted }
        Shown("indexes", "`QUERYABLE`, `SEARCHABLE` and `SORTABLE`, separated by spaces, may be empty") {
            $0.indexes.schemaNames
        }
        Shown(after: " ") { $0.kind.schemaDeclaration(isEncrypted: $0.isEncrypted, indexes: $0.indexes) }
    }
}

extension SchemaGrant: Described {
    package static let title = "A grant"
    package static let shownFields = ShownFields<Self> {
        Shown("role", "its name") { $0.role }
        Shown("permissions", "such as `READ, WRITE`", after: "") { $0.permissions.schemaNames }
        Shown(after: " TO ") { $0.role }
    }
}
