import Foundation
import StrataModel

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
    /// The ID of the record, hashed and compared without the detours of an object.
    struct Key: Hashable, Sendable {
        fileprivate let id: CKRecord.ID

        static func == (left: Self, right: Self) -> Bool {
            left.id === right.id
                || isSameText(left.id.recordName, right.id.recordName)
                    && (left.id.zoneID === right.id.zoneID || left.id.zoneID.model == right.id.zoneID.model)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(id.recordName)
            hasher.combine(id.zoneID.model.name)
        }
    }

    var key: Key { Key(id: itemID) }

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
    var key: CKRecordZone.ID { itemID }

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
