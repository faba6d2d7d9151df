import StrataModel
import StrataQuery
import StrataStore

extension CloudStore {
    /// How a store answers a query; see ``CKDatabase/queryPlan(for:inZoneWith:resultsLimit:carryingOut:)``.
    public struct QueryPlan: Sendable, Hashable, CustomStringConvertible {
        /// The steps in words, one in a line. The words are for people, and change from release to release.
        public let text: String
        /// About how many rows of an index, or records, are looked at.
        public let estimatedRows: Int
        /// Indexes that would have helped, and are not there yet. A store whose schema is open declares them itself for
        /// queries that are worth it.
        public let missingIndexes: [MissingIndex]
        /// What whoever asks should know, such as what the service would refuse.
        public let notes: [String]
        /// What the first page took; nil if it was not asked for.
        public let actual: Actual?

        public var description: String { text }

        /// An index that a query could have used.
        public struct MissingIndex: Sendable, Hashable {
            public let key: CKRecord.FieldKey
            /// As the schema language says them: `QUERYABLE SORTABLE`.
            public let indexes: String
        }

        /// What carrying out a plan took.
        public struct Actual: Sendable, Hashable {
            /// Rows of indexes.
            public let rowsRead: Int
            public let recordsRead: Int
            public let matches: Int
        }

        init(_ plan: StrataQuery.QueryPlan) {
            text = plan.text
            estimatedRows = Int(exactly: plan.estimatedRows.rounded()) ?? .max
            missingIndexes = plan.missingIndexes.map { MissingIndex(key: $0.key, indexes: $0.indexes.schemaNames) }
            notes = plan.notes
            actual = plan.actual.map {
                Actual(rowsRead: $0.rowsRead, recordsRead: $0.recordsRead, matches: $0.matches)
            }
        }
    }

    /// An index that queries use once it is built.
    public struct Index: Sendable, Hashable {
        public let recordType: CKRecord.RecordType
        /// A field, or what every record has, as the schema language spells it: `___modTime`.
        public let key: CKRecord.FieldKey
        /// `ordered`, `words` or `cells`.
        public let form: String
        public let isReady: Bool
        /// Why it cannot be built; nil for most. Queries do without it, and opening the store again is another try.
        public let failure: String?
    }

    /// The indexes that are declared, built or not.
    ///
    /// ```swift
    /// for index in try store.indexes where !index.isReady { print("\(index.recordType).\(index.key) is being built") }
    /// ```
    ///
    /// - Throws: `CKError` if the store is closed or cannot be read.
    public var indexes: [Index] {
        get throws {
            do {
                return try store.indexes.map {
                    Index(
                        recordType: $0.type, key: $0.field, form: "\($0.form)", isReady: $0.isReady,
                        failure: $0.failure)
                }
            } catch { throw CKError(engine: error) }
        }
    }
}
