extension CKSyncEngine.Event {
    /// Changes of zones were sent.
    public struct SentDatabaseChanges: Sendable, CustomStringConvertible {
        /// A zone that could not be saved.
        public struct FailedZoneSave: Sendable, CustomStringConvertible {
            /// The zone.
            public let zone: CKRecordZone
            /// The reason.
            public let error: CKError

            public var description: String { "<FailedZoneSave: \(zone.zoneID), \(error)>" }
        }

        /// The saved zones.
        public let savedZones: [CKRecordZone]
        /// The zones that could not be saved.
        public let failedZoneSaves: [FailedZoneSave]
        /// The IDs of the deleted zones.
        public let deletedZoneIDs: [CKRecordZone.ID]
        /// The errors of the zones that could not be deleted.
        public let failedZoneDeletes: [CKRecordZone.ID: CKError]

        public var description: String {
            """
            <SentDatabaseChanges: \(savedZones.count) saved, \(failedZoneSaves.count) not saved, \
            \(deletedZoneIDs.count) deleted, \(failedZoneDeletes.count) not deleted>
            """
        }
    }

    /// Changes of records were sent: each is in one of the four collections (B411).
    public struct SentRecordZoneChanges: Sendable, CustomStringConvertible {
        /// A record that could not be saved.
        public struct FailedRecordSave: Sendable, CustomStringConvertible {
            /// The record.
            public let record: CKRecord
            /// The reason.
            public let error: CKError

            public var description: String { "<FailedRecordSave: \(record.recordID), \(error)>" }
        }

        /// The saved records, with new change tags.
        public let savedRecords: [CKRecord]
        /// The records that could not be saved.
        public let failedRecordSaves: [FailedRecordSave]
        /// The IDs of the deleted records.
        public let deletedRecordIDs: [CKRecord.ID]
        /// The errors of the records that could not be deleted.
        public let failedRecordDeletes: [CKRecord.ID: CKError]

        public var description: String {
            """
            <SentRecordZoneChanges: \(savedRecords.count) saved, \(failedRecordSaves.count) not saved, \
            \(deletedRecordIDs.count) deleted, \(failedRecordDeletes.count) not deleted>
            """
        }
    }

    /// A send begins.
    public struct WillSendChanges: Sendable, CustomStringConvertible {
        /// The reason and the options of the send.
        public let context: CKSyncEngine.SendChangesContext

        public var description: String {
            "<WillSendChanges: \(context)>"
        }
    }

    /// A send ended.
    public struct DidSendChanges: Sendable, CustomStringConvertible {
        /// The reason and the options of the send.
        public let context: CKSyncEngine.SendChangesContext

        public var description: String {
            "<DidSendChanges: \(context)>"
        }
    }
}
