import StrataModel
import StrataRules
import StrataTree
import StrataViews

extension Store {
    /// Declares record types: their fields with kinds and indexes, and their grants. Everything else stays, and a
    /// schema that changes nothing makes no commit (docs/rules.md §10).
    ///
    /// - Throws: ``Refusal`` if the schema contradicts the existing one or itself.
    public func declareSchema(_ schema: SchemaDefinition) throws {
        try modify(schema.request, as: .service)
    }

    /// Like the other `declareSchema`, suspending instead of blocking.
    public func declareSchema(_ schema: SchemaDefinition) async throws {
        try await modify(schema.request, as: .service)
    }

    /// Throws what ``declareSchema(_:)-(SchemaDefinition)`` would throw, and writes nothing.
    public func validateSchema(_ schema: SchemaDefinition) throws {
        let snapshot = snapshot()
        let context = RequestContext(actor: .service, time: 0, commitID: Identifier(high: 0, low: 0))
        try snapshot.reading { trees in
            _ = try options.rules.decide(schema.request, RulesView(Fold(Fork(on: trees))), context)
        }
    }

    /// Returns the schema of the newest state.
    public func schema() throws -> SchemaDefinition { try newest.schema() }

    /// Adds indexes to those that fields have, for any caller; writes nothing if all of them exist. System fields are
    /// named as in the schema language (`___createTime`).
    ///
    /// - Throws: ``Refusal`` for types and fields that were never saved or declared, for indexes that a field cannot
    ///   have, and if the schema is enforced.
    public func declareIndexes(type: String, fields: [(name: String, indexes: SchemaField.Indexes)]) throws {
        try modify(try indexRequest(type, fields), as: .service)
    }

    /// Like the other `declareIndexes`, suspending instead of blocking.
    public func declareIndexes(type: String, fields: [(name: String, indexes: SchemaField.Indexes)]) async throws {
        try await modify(try indexRequest(type, fields), as: .service)
    }

    private func indexRequest(
        _ type: String, _ fields: [(name: String, indexes: SchemaField.Indexes)]
    ) throws -> Request {
        guard options.schema == .open else {
            throw Refusal(
                .invalidArguments, "The schema is enforced: the indexes of type \(type) must be declared in it.",
                rule: .enforcedSchema)
        }
        var names = RequestNames()
        let declaration = DeclareSchemaRequest.Declaration(
            names.ordinal(ofType: type),
            fields: fields.map { field in
                SchemaField(names.ordinal(ofKey: field.name), FieldKind(rawValue: 0), indexes: field.indexes)
            })
        return Request(
            database: DatabaseID(.public), names: names,
            .declareSchema(DeclareSchemaRequest([declaration], onlyAddsIndexes: true)))
    }
}

extension StoreSnapshot {
    /// Returns all record types that were ever saved or declared, with their fields, including system fields, and
    /// grants.
    public func schema() throws -> SchemaDefinition {
        try reading { trees in
            var schema = SchemaDefinition()
            let count = try trees.nameCount(.recordType)
            for ordinal in 0..<count { schema.recordTypes.append(try recordType(ordinal + 1, trees)) }
            // The schema language has no word for it, and no declaration applies to it.
            schema.recordTypes.removeAll { $0.name == ShareState.recordType }
            return schema.sorted
        }
    }

    private func recordType(_ ordinal: UInt64, _ trees: Snapshot) throws -> SchemaDefinition.RecordType {
        let declared = try trees.declaration(of: ordinal)
        var type = SchemaDefinition.RecordType(
            try names.text(.recordType, ordinal, in: trees), grants: declared?.grants ?? [])
        if type.grants.isEmpty { type.grants = SchemaGrant.standard }
        for field in declared?.fields ?? [] {
            type.fields.append(
                SchemaDefinition.Field(
                    try names.text(.field, UInt64(field.field), in: trees), field.kind, isEncrypted: field.isEncrypted,
                    indexes: field.indexes))
        }
        let known = Set(type.fields.map(\.name))
        for field in SchemaName.exportedSystemFields where !known.contains(field.name) {
            type.fields.append(SchemaDefinition.Field(field.name, field.kind))
        }
        return type
    }
}
