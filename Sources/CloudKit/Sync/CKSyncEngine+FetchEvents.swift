extension CKSyncEngine.Event {
    /// Zones have changes, or were deleted.
    public struct FetchedDatabaseChanges: Sendable, CustomStringConvertible {
        /// The zones that are new or whose records have changes.
        public let modifications: [CKDatabase.DatabaseChange.Modification]
        /// The deleted zones, with the reasons.
        public let deletions: [CKDatabase.DatabaseChange.Deletion]

        public var description: String {
            "<FetchedDatabaseChanges: \(modifications.count) modifications, \(deletions.count) deletions>"
        }
    }

    /// Records of a zone were fetched.
    public struct FetchedRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The records that are new or were changed.
        public let modifications: [CKDatabase.RecordZoneChange.Modification]
        /// The deleted records.
        public let deletions: [CKDatabase.RecordZoneChange.Deletion]

        public var description: String {
            "<FetchedRecordZoneChanges: \(modifications.count) modifications, \(deletions.count) deletions>"
        }
    }

    /// A fetch begins.
    public struct WillFetchChanges: Sendable, CustomStringConvertible {
        /// The reason and the options of the fetch.
        public let context: CKSyncEngine.FetchChangesContext

        public var description: String {
            "<WillFetchChanges: \(context)>"
        }
    }

    /// The fetch of a zone's records begins.
    public struct WillFetchRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The ID of the zone.
        public let zoneID: CKRecordZone.ID

        public var description: String {
            "<WillFetchRecordZoneChanges: \(zoneID)>"
        }
    }

    /// The fetch of a zone's records ended.
    public struct DidFetchRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The ID of the zone.
        public let zoneID: CKRecordZone.ID
        /// The error for which it ended early; nil if all records were fetched.
        public let error: CKError?

        public var description: String {
            "<DidFetchRecordZoneChanges: \(zoneID)\(error.map { ", \($0)" } ?? "")>"
        }
    }

    /// A fetch ended.
    public struct DidFetchChanges: Sendable, CustomStringConvertible {
        /// The reason and the options of the fetch.
        public let context: CKSyncEngine.FetchChangesContext

        public var description: String {
            "<DidFetchChanges: \(context)>"
        }
    }
}
