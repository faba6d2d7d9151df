import StrataModel
import StrataQuery
import StrataStore

extension CloudStore {
    /// The way a store answers a query; see ``CKDatabase/queryPlan(for:inZoneWith:resultsLimit:carryingOut:)``.
    public struct QueryPlan: Sendable, Hashable, CustomStringConvertible {
        /// The steps as text, one per line. The text is for people, and changes from release to release.
        public let text: String
        /// The estimated number of index rows or records to examine.
        public let estimatedRows: Int
        /// The missing indexes that would have helped. A store with an open schema declares them itself for queries
        /// that are worth it.
        public let missingIndexes: [MissingIndex]
        /// Remarks for the caller, such as a predicate that the service would reject.
        public let notes: [String]
        /// The cost of the first page; nil if the plan was not carried out.
        public let actual: Actual?

        public var description: String { text }

        /// An index that a query could have used.
        public struct MissingIndex: Sendable, Hashable {
            public let key: CKRecord.FieldKey
            /// The indexes in the schema language: `QUERYABLE SORTABLE`.
            public let indexes: String
        }

        /// The cost of carrying out a plan.
        public struct Actual: Sendable, Hashable {
            /// The number of index rows.
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
        /// A field, or a system field as the schema language spells it: `___modTime`.
        public let key: CKRecord.FieldKey
        /// `ordered`, `words` or `cells`.
        public let form: String
        public let isReady: Bool
        /// The reason that it cannot be built; usually nil. Queries do without it, and reopening the store tries again.
        public let failure: String?
    }

    /// The declared indexes, built or not.
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
