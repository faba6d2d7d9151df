import Foundation

extension CKSyncEngine {
    /// A change of a record that has not been sent.
    public enum PendingRecordZoneChange: Sendable, Hashable, CustomStringConvertible {
        case saveRecord(CKRecord.ID)
        case deleteRecord(CKRecord.ID)

        public var description: String {
            switch self {
            case .saveRecord(let id): "save \(id)"
            case .deleteRecord(let id): "delete \(id)"
            }
        }
    }

    /// A change of a zone that has not been sent.
    public enum PendingDatabaseChange: Sendable, Hashable, CustomStringConvertible {
        case saveZone(CKRecordZone)
        case deleteZone(CKRecordZone.ID)

        public var description: String {
            switch self {
            case .saveZone(let zone): "save \(zone.zoneID)"
            case .deleteZone(let id): "delete \(id)"
            }
        }
    }
}

extension CKSyncEngine.PendingRecordZoneChange: PendingChange {
    var itemID: CKRecord.ID {
        switch self {
        case .saveRecord(let id), .deleteRecord(let id): id
        }
    }

    var isSave: Bool {
        if case .saveRecord = self { return true }
        return false
    }
}

extension CKSyncEngine.PendingDatabaseChange: PendingChange {
    var itemID: CKRecordZone.ID {
        switch self {
        case .saveZone(let zone): zone.zoneID
        case .deleteZone(let id): id
        }
    }

    var isSave: Bool {
        if case .saveZone = self { return true }
        return false
    }
}
