extension CKSyncEngine {
    /// The changes of records that are sent in one request.
    public struct RecordZoneChangeBatch: Sendable, CustomStringConvertible {
        /// The maximum number of changes that a batch takes from a list (B409).
        static let maximumCount = 250

        /// The records to save.
        public var recordsToSave: [CKRecord]
        /// The IDs of the records to delete.
        public var recordIDsToDelete: [CKRecord.ID]
        /// True if one failed record makes all records of its zone fail.
        public var atomicByZone: Bool

        /// Creates a batch from the first pending changes: at most 250, and no more than a request may have bytes.
        ///
        /// - Parameters:
        ///   - pendingChanges: The changes to send.
        ///   - recordProvider: Returns a record to save; nil leaves the record out.
        /// - Returns: Nil if no change is left.
        public init?(
            pendingChanges: [PendingRecordZoneChange], recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
        ) async {
            self.init()
            var byteCount = 0
            for change in pendingChanges {
                guard recordsToSave.count + recordIDsToDelete.count < Self.maximumCount else { break }
                switch change {
                case .deleteRecord(let id):
                    recordIDsToDelete.append(id)
                    byteCount += CKRecord.estimatedOverhead
                case .saveRecord(let id):
                    guard let record = await recordProvider(id) else { continue }
                    byteCount += record.estimatedRequestBytes
                    let isFirst = recordsToSave.isEmpty && recordIDsToDelete.isEmpty
                    guard isFirst || byteCount <= CloudStore.Limits.service.requestBytes else { return }
                    recordsToSave.append(record)
                }
            }
            if recordsToSave.isEmpty && recordIDsToDelete.isEmpty { return nil }
        }

        /// Creates a batch of any changes.
        public init(
            recordsToSave: [CKRecord] = [], recordIDsToDelete: [CKRecord.ID] = [], atomicByZone: Bool = false
        ) {
            self.recordsToSave = recordsToSave
            self.recordIDsToDelete = recordIDsToDelete
            self.atomicByZone = atomicByZone
        }

        var isEmpty: Bool { recordsToSave.isEmpty && recordIDsToDelete.isEmpty }

        var changes: [PendingRecordZoneChange] {
            recordsToSave.map { .saveRecord($0.recordID) } + recordIDsToDelete.map { .deleteRecord($0) }
        }

        public var description: String {
            let atomic = atomicByZone ? ", atomic by zone" : ""
            return "<RecordZoneChangeBatch: \(recordsToSave.count) saves, \(recordIDsToDelete.count) deletes\(atomic)>"
        }
    }
}

extension CKRecord {
    /// The bytes of a record in a request besides its fields, or a little more.
    fileprivate static let estimatedOverhead = 600

    /// The bytes of the record in a request, or a little more.
    fileprivate var estimatedRequestBytes: Int {
        let fields = withFields { $0.sent(.ifServerRecordUnchanged) }
        return fields.edits.reduce(Self.estimatedOverhead) { count, field in
            count + field.key.utf8.count + (field.edit.content?.estimatedBytes ?? 0)
        }
    }
}

extension FieldContent {
    private static let valueOverhead = 64

    fileprivate var estimatedBytes: Int {
        switch self {
        case .plain(let value): value.chargedBytes + Self.valueOverhead
        case .reference, .asset, .mistake: CKRecord.estimatedOverhead
        case .references(let references): references.count * CKRecord.estimatedOverhead
        case .assets(let assets): assets.count * CKRecord.estimatedOverhead
        }
    }
}
