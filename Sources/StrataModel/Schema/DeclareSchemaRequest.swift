/// What record types are declared to have, by the service: fields with their kinds and indexes, and grants.
///
/// What is not named stays. ``SchemaDefinition/request`` makes one of a schema by its names.
public struct DeclareSchemaRequest: Sendable, Hashable {
    public struct Declaration: Sendable, Hashable {
        /// An ordinal of the request's own names.
        public var type: UInt64
        /// With ordinals of the request's own names; their kinds are 0 where indexes are only added.
        public var fields: [SchemaField]
        /// Replace those of the type; empty: they stay.
        public var grants: [SchemaGrant]

        public init(_ type: UInt64, fields: [SchemaField] = [], grants: [SchemaGrant] = []) {
            self.type = type
            self.fields = fields
            self.grants = grants
        }
    }

    public var declarations: [Declaration]
    /// Whether the fields are there already and only get the indexes that they lack.
    public var onlyAddsIndexes: Bool

    public init(_ declarations: [Declaration], onlyAddsIndexes: Bool = false) {
        self.declarations = declarations
        self.onlyAddsIndexes = onlyAddsIndexes
    }

    func encode(into writer: inout ByteWriter) throws {
        writer.append(onlyAddsIndexes ? 1 : 0 as UInt8)
        try writer.appendList(declarations) { declaration, writer in
            writer.appendVarint(declaration.type)
            try writer.appendList(declaration.fields) { field, writer in
                writer.appendVarint(UInt64(field.field))
                writer.append(field.kind.rawValue | (field.isEncrypted ? 0x80 : 0))
                writer.append(field.indexes.rawValue)
            }
            try writer.append(grants: declaration.grants)
        }
        writer.appendVarint(0)
    }

    init(from reader: inout ByteReader) throws {
        let flags = try reader.read(UInt8.self, "what is to be declared")
        guard flags < 2 else { throw StrataError.newer("what is to be declared", flags, reader) }
        onlyAddsIndexes = flags == 1
        declarations = try reader.readList("the number of declarations") { reader in
            let type = try reader.readVarint("a record type")
            let fields = try reader.readList("the number of fields") { try SchemaField(from: &$0) }
            return Declaration(type, fields: fields, grants: try reader.readGrants())
        }
        var fields = try KeyedFields(from: &reader, "the fields of a request")
        try fields.skipAll()
    }
}

extension SchemaField {
    fileprivate init(from reader: inout ByteReader) throws {
        let field = try reader.readVarint("a field", atMost: FieldTable.maximumOrdinal)
        let kind = try reader.read(UInt8.self, "a field's kind")
        let indexes = Indexes(rawValue: try reader.read(UInt8.self, "a field's indexes"))
        self.init(
            UInt32(field), FieldKind(rawValue: kind & 0x7F), isEncrypted: kind & 0x80 != 0, indexes: indexes)
    }
}
