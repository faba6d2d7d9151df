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
        private let id: CKRecord.ID
        /// The ID's hash, so that a search reads the names of equal IDs only, and a growing table none.
        private let number: Int

        fileprivate init(_ id: CKRecord.ID) { (self.id, number) = (id, id.hash) }

        static func == (left: Self, right: Self) -> Bool {
            left.number == right.number && left.id.isSame(as: right.id)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    var key: Key { Key(itemID) }

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
