/// A container's schema by names: roles, and record types with their fields and grants.
///
/// ```swift
/// let schema = try SchemaDefinition(reading: "DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE);")
/// try store.declareSchema(schema)
/// print(try store.schema().text)
/// ```
public struct SchemaDefinition: Sendable, Hashable {
    public struct Field: Sendable, Hashable {
        public var name: String
        /// A scalar kind or a list of one.
        public var kind: FieldKind
        public var isEncrypted: Bool
        public var indexes: SchemaField.Indexes

        public init(
            _ name: String, _ kind: FieldKind, isEncrypted: Bool = false, indexes: SchemaField.Indexes = []
        ) {
            self.name = name
            self.kind = kind
            self.isEncrypted = isEncrypted
            self.indexes = indexes
        }
    }

    public struct RecordType: Sendable, Hashable {
        public var name: String
        public var fields: [Field]
        /// The grants of the type; if empty, the existing ones apply.
        public var grants: [SchemaGrant]

        public init(_ name: String, fields: [Field] = [], grants: [SchemaGrant] = []) {
            self.name = name
            self.fields = fields
            self.grants = grants
        }
    }

    /// The roles that the container defines.
    public var roles: [String]
    public var recordTypes: [RecordType]

    public init(roles: [String] = [], recordTypes: [RecordType] = []) {
        self.roles = roles
        self.recordTypes = recordTypes
    }

    /// The same schema in a fixed order: roles and types by name, including all roles with grants; system fields first,
    /// and one grant per role.
    public var sorted: SchemaDefinition {
        func isBefore(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
        var sorted = self
        let granted = recordTypes.flatMap(\.grants).map(\.role).filter { !SchemaName.systemRoles.contains($0) }
        sorted.roles = Set(roles + granted).sorted(by: isBefore)
        sorted.recordTypes.sort { isBefore($0.name, $1.name) }
        for index in sorted.recordTypes.indices {
            sorted.recordTypes[index].grants = SchemaGrant.merged(sorted.recordTypes[index].grants)
            sorted.recordTypes[index].fields.sort { left, right in
                let isSystem = left.name.utf8.first == UInt8(ascii: "_")
                guard isSystem == (right.name.utf8.first == UInt8(ascii: "_")) else { return isSystem }
                return isBefore(left.name, right.name)
            }
        }
        return sorted
    }

    /// The request that declares the schema.
    public var request: Request {
        var names = RequestNames()
        let declarations = recordTypes.map { type in
            DeclareSchemaRequest.Declaration(
                names.ordinal(ofType: type.name),
                fields: type.fields.map { field in
                    SchemaField(
                        names.ordinal(ofKey: field.name), field.kind, isEncrypted: field.isEncrypted,
                        indexes: field.indexes)
                }, grants: type.grants)
        }
        return Request(database: DatabaseID(.public), names: names, .declareSchema(DeclareSchemaRequest(declarations)))
    }
}
