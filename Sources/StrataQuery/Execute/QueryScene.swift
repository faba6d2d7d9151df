import StrataModel
import StrataTree
import StrataViews

/// What a query looks at: one state of one database, as one actor sees it.
public final class QueryScene: Sendable {
    public let trees: Snapshot
    /// Keys of the records that rows of indexes may not show as they are.
    public let touched: Set<[UInt8]>
    public let names: any QueryNames
    public let database: UInt64
    public let type: UInt64
    /// The only zone to look at; nil for all.
    public let zone: UInt64?
    /// What the record type's fields are declared as.
    let fields: [UInt32: SchemaField]
    public let rules: QueryRules
    /// Seconds since 2001, for `now()`.
    public let now: Double

    public init(
        _ trees: Snapshot, touched: Set<[UInt8]>, _ names: any QueryNames, database: UInt64, type: UInt64,
        zone: UInt64?, rules: QueryRules, now: Double
    ) throws {
        self.trees = trees
        self.touched = touched
        self.names = names
        self.database = database
        self.type = type
        self.zone = zone
        self.rules = rules
        self.now = now
        fields = Dictionary(try trees.schema(of: type).map { ($0.field, $0) }) { $1 }
    }

    /// What a key of a predicate or an order names; nil for one that no record of the type ever had.
    func subject(of key: String) throws -> QuerySubject? {
        if let field = SystemField(key) { return .system(field) }
        guard let ordinal = try names.fieldOrdinal(key), let field = fields[ordinal] else { return nil }
        return .field(field)
    }

    /// As the schema language names what an index is of.
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

    /// The fields that `self CONTAINS 'words'` looks at.
    var searchedFields: [UInt32] {
        fields.values.filter { field in
            field.kind == .string && !field.isEncrypted
                && (!rules.asksDeclaredFieldsOnly || field.indexes.contains(.searchable))
        }.map(\.field).sorted()
    }

    /// The zones to look at, with the number of their records.
    func zones() throws -> [(zone: UInt64, recordCount: UInt64)] {
        if let zone { return try trees.zoneRow(database, zone).map { [(zone, $0.recordCount)] } ?? [] }
        return try trees.zoneRows(of: database).filter { $0.row.status == .alive }.map { ($0.zone, $0.row.recordCount) }
    }

    /// Whether a record, by the zone of its key, is one to look at.
    public func covers(zone other: UInt64) throws -> Bool {
        try zone.map { $0 == other } ?? (names.database(ofZone: other) == database)
    }
}

/// What a store allows its queries.
public struct QueryRules: Sendable, Hashable {
    public var dialect: PredicateDialect
    /// Whether only fields can be asked for that the schema says are queryable, sortable or searchable.
    public var asksDeclaredFieldsOnly: Bool
    /// Whether a record type that was never saved nor declared is an error (B142).
    public var unknownTypesAreErrors: Bool

    public init(
        dialect: PredicateDialect, asksDeclaredFieldsOnly: Bool = false, unknownTypesAreErrors: Bool = false
    ) {
        self.dialect = dialect
        self.asksDeclaredFieldsOnly = asksDeclaredFieldsOnly
        self.unknownTypesAreErrors = unknownTypesAreErrors
    }
}

/// What a query asks about names. Names never change, so that any later state will do.
public protocol QueryNames: Sendable {
    func fieldOrdinal(_ name: String) throws -> UInt32?
    func fieldName(_ ordinal: UInt32) throws -> String
    /// The zone of the database with that name, whose owner is the one who asks however he is named.
    func zoneOrdinal(_ name: String, owner: String) throws -> UInt64?
    func zoneName(_ ordinal: UInt64) throws -> String
    func database(ofZone ordinal: UInt64) throws -> UInt64
    func userRecordName(_ ordinal: UInt64) throws -> String
    /// The name itself, but for the one that stands for the user who asks.
    func userRecordName(named name: String) throws -> String
    func userOrdinal(ofRecordName name: String) throws -> UInt64?
}

/// What a key names.
enum QuerySubject: Hashable {
    case system(SystemField)
    case field(SchemaField)

    /// Where rows are that are ordered by it.
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
