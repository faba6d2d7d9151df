/// The service's declaration of record types: fields with their kinds and indexes, and grants.
///
/// Anything that is not named stays unchanged. ``SchemaDefinition/request`` creates a request from a schema by names.
package struct DeclareSchemaRequest: Sendable, Hashable {
    package struct Declaration: Sendable, Hashable {
        /// The record type, an ordinal of the request's own names.
        package var type: UInt64
        /// The fields, with ordinals of the request's own names; their kinds are 0 if only indexes are added.
        package var fields: [SchemaField]
        /// The grants that replace those of the type; if empty, the existing ones stay.
        package var grants: [SchemaGrant]

        package init(_ type: UInt64, fields: [SchemaField] = [], grants: [SchemaGrant] = []) {
            self.type = type
            self.fields = fields
            self.grants = grants
        }
    }

    package var declarations: [Declaration]
    /// True if the fields exist already and only receive missing indexes.
    package var onlyAddsIndexes: Bool

    package init(_ declarations: [Declaration], onlyAddsIndexes: Bool = false) {
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
        let flags = try reader.read(UInt8.self, "the kind of a declaration")
        guard flags < 2 else { throw StrataError.newer("the kind of a declaration", flags, reader) }
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
