import StrataModel
import StrataTree
import StrataViews

/// The scope of a query: one state of one database, as seen by one actor.
package final class QueryContext: Sendable {
    package let trees: Snapshot
    package let names: any QueryNames
    package let database: UInt64
    package let type: UInt64
    /// The only zone to search; nil for all.
    package let zone: UInt64?
    /// The declarations of the record type's fields.
    let fields: [UInt32: SchemaField]
    package let rules: QueryRules
    /// The value of `now()`, in seconds since 2001.
    package let now: Double
    /// The only creator whose records the actor may read; nil if the actor may read all records of the type.
    package let onlyCreator: UInt64?
    /// Returns true if the actor may read a record that others refer to; nil if the actor may read everything.
    package let mayRead: (@Sendable (RecordHeader) throws -> Bool)?
    /// The records that the actor sees in another user's zone; nil in all databases but the shared one.
    package let visible: VisibleRecords?

    package init(
        _ trees: Snapshot, _ names: any QueryNames, database: UInt64, type: UInt64, zone: UInt64?, rules: QueryRules,
        now: Double, onlyCreator: UInt64? = nil, mayRead: (@Sendable (RecordHeader) throws -> Bool)? = nil,
        visible: VisibleRecords? = nil
    ) throws {
        self.trees = trees
        self.names = names
        self.database = database
        self.type = type
        self.zone = zone
        self.rules = rules
        self.now = now
        self.onlyCreator = onlyCreator
        self.mayRead = mayRead
        self.visible = visible
        fields = Dictionary(try trees.schema(of: type).map { ($0.field, $0) }) { $1 }
    }

    /// True if estimates count records that the actor may not read: those of other users, or, in the shared database,
    /// those that no share shows.
    package var countsHiddenRecords: Bool { onlyCreator != nil || visible != nil }

    /// The subject of a key in a predicate or an order; nil if no record of the type ever had the key.
    func subject(of key: String) throws -> QuerySubject? {
        if let field = SystemField(key) { return .system(field) }
        guard let ordinal = try names.fieldOrdinal(key), let field = fields[ordinal] else { return nil }
        return .field(field)
    }

    /// The name in the schema language of an index's subject.
    func keyName(of id: IndexID) throws -> String? {
        switch id.subject {
        case .membership: SystemField.recordID.storedName
        case .created: SystemField.creationDate.storedName
        case .modified: SystemField.modificationDate.storedName
        case .createdBy: SystemField.creatorUserRecordID.storedName
        case .modifiedBy: SystemField.lastModifiedUserRecordID.storedName
        case .parent: SystemField.parent.storedName
        default: try id.subject.field.map { try names.fieldName($0) }
        }
    }

    /// The fields that `self CONTAINS 'words'` searches.
    var searchedFields: [UInt32] {
        fields.values.filter { field in
            field.kind == .string && !field.isEncrypted
                && (!rules.asksDeclaredFieldsOnly || field.indexes.contains(.searchable))
        }.map(\.field).sorted()
    }

    /// Looks up the zones to search. A context that only evaluates predicates does without them.
    func searchedZones() throws -> SearchedZones {
        if let zone { return SearchedZones(try trees.zoneRow(database, zone).map { [(zone, $0.recordCount)] } ?? []) }
        return SearchedZones(
            try trees.zoneRows(of: database).compactMap { $1.status == .alive ? ($0, $1.recordCount) : nil })
    }

    /// Returns true if a record with this zone in its key is in the scope of the query.
    package func covers(zone other: UInt64) throws -> Bool {
        try zone.map { $0 == other } ?? (names.database(ofZone: other) == database)
    }
}

/// The rules of a store for its queries.
package struct QueryRules: Sendable, Hashable {
    package var dialect: PredicateDialect
    /// True if a query may use only fields that the schema declares queryable, sortable or searchable.
    package var asksDeclaredFieldsOnly: Bool
    /// True if a record type that was never saved or declared is an error (B142).
    package var unknownTypesAreErrors: Bool

    package init(
        dialect: PredicateDialect, asksDeclaredFieldsOnly: Bool = false, unknownTypesAreErrors: Bool = false
    ) {
        self.dialect = dialect
        self.asksDeclaredFieldsOnly = asksDeclaredFieldsOnly
        self.unknownTypesAreErrors = unknownTypesAreErrors
    }
}

/// Resolves the names in a query. Names never change, so any later state gives the same results.
package protocol QueryNames: Sendable {
    func fieldOrdinal(_ name: String) throws -> UInt32?
    func fieldName(_ ordinal: UInt32) throws -> String
    /// The zone with that name in the database, if `owner` denotes the owner of the database in any form.
    func zoneOrdinal(_ name: String, owner: String) throws -> UInt64?
    func zoneName(_ ordinal: UInt64) throws -> String
    func database(ofZone ordinal: UInt64) throws -> UInt64
    func userRecordName(_ ordinal: UInt64) throws -> String
    /// The user record's name; resolves the placeholder for the current user.
    func userRecordName(named name: String) throws -> String
    func userOrdinal(ofRecordName name: String) throws -> UInt64?
}

/// The subject of a key.
enum QuerySubject: Hashable {
    case system(SystemField)
    case field(SchemaField)

    /// The index whose rows are ordered by the subject.
    var index: IndexID.Subject? {
        switch self {
        case .system(.creationDate): .created
        case .system(.modificationDate): .modified
        case .system(.creatorUserRecordID): .createdBy
        case .system(.lastModifiedUserRecordID): .modifiedBy
        case .system(.parent): .parent
        case .system(.recordID): .membership
        case .system(.share): nil
        case .field(let field): field.isEncrypted ? nil : .field(field.field)
        }
    }

    var kind: FieldKind {
        switch self {
        case .system(.creationDate), .system(.modificationDate): .date
        case .system: .reference
        case .field(let field): field.kind
        }
    }
}
