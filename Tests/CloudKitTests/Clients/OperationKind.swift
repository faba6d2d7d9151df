import CloudKit
import Testing

/// Every kind of operation, made so that all of its blocks report to a journal.
///
/// What runs with an item has one, so that it can be told of it; the result always ends with `result …`.
enum OperationKind: String, CaseIterable, CustomTestStringConvertible {
    case modifyRecords, fetchRecords, fetchCurrentUser, modifyZones, fetchZones, fetchAllZones, query
    case databaseChanges, zoneChanges, modifySubscriptions, fetchSubscriptions

    var testDescription: String { rawValue }

    /// What it reports if it is cancelled before it asks the store.
    var cancelled: [String] {
        let items: [String] =
            switch self {
            case .modifyRecords: ["progress a 0.0", "save a operationCancelled", "delete c operationCancelled"]
            case .fetchRecords: ["fetch a operationCancelled", "fetch c operationCancelled"]
            case .modifyZones: ["save New operationCancelled", "delete Old operationCancelled"]
            case .fetchZones: ["fetch Notes operationCancelled"]
            case .modifySubscriptions: ["save all operationCancelled", "delete x operationCancelled"]
            case .fetchSubscriptions: ["fetch x operationCancelled"]
            default: []
            }
        return items + ["result operationCancelled"]
    }

    func make(_ notes: NotesStore, _ journal: Journal) -> CKDatabaseOperation {
        switch self {
        case .modifyRecords:
            let operation = CKModifyRecordsOperation(
                recordsToSave: [notes.note("a")], recordIDsToDelete: [notes.id("c")])
            operation.perRecordProgressBlock = { journal.add("progress \($0.recordID.recordName) \($1)") }
            operation.perRecordSaveBlock = { journal.add("save \($0.recordName)", $1) }
            operation.perRecordDeleteBlock = { journal.add("delete \($0.recordName)", $1) }
            operation.modifyRecordsResultBlock = { journal.add("result", $0) }
            return operation
        case .fetchRecords: return fetch(CKFetchRecordsOperation(recordIDs: [notes.id("a"), notes.id("c")]), journal)
        case .fetchCurrentUser: return fetch(.fetchCurrentUserRecordOperation(), journal)
        case .modifyZones:
            let operation = CKModifyRecordZonesOperation(
                recordZonesToSave: [CKRecordZone(zoneName: "New")], recordZoneIDsToDelete: [.init(zoneName: "Old")])
            operation.perRecordZoneSaveBlock = { journal.add("save \($0.zoneName)", $1) }
            operation.perRecordZoneDeleteBlock = { journal.add("delete \($0.zoneName)", $1) }
            operation.modifyRecordZonesResultBlock = { journal.add("result", $0) }
            return operation
        case .fetchZones: return fetch(CKFetchRecordZonesOperation(recordZoneIDs: [notes.zone]), journal)
        case .fetchAllZones: return fetch(.fetchAllRecordZonesOperation(), journal)
        case .query:
            let operation = CKQueryOperation(query: CKQuery(recordType: "Note", predicate: NSPredicate(value: true)))
            operation.recordMatchedBlock = { journal.add("match \($0.recordName)", $1) }
            operation.queryResultBlock = { journal.add("result", $0) }
            return operation
        default: return feedOrSubscription(notes, journal)
        }
    }

    private func fetch(_ operation: CKFetchRecordsOperation, _ journal: Journal) -> CKDatabaseOperation {
        operation.perRecordResultBlock = { journal.add("fetch \($0.recordName)", $1) }
        operation.fetchRecordsResultBlock = { journal.add("result", $0) }
        return operation
    }

    private func fetch(_ operation: CKFetchRecordZonesOperation, _ journal: Journal) -> CKDatabaseOperation {
        operation.perRecordZoneResultBlock = { journal.add("fetch \($0.zoneName)", $1) }
        operation.fetchRecordZonesResultBlock = { journal.add("result", $0) }
        return operation
    }

    private func feedOrSubscription(_ notes: NotesStore, _ journal: Journal) -> CKDatabaseOperation {
        switch self {
        case .databaseChanges:
            let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
            operation.fetchDatabaseChangesResultBlock = { journal.add("result", $0) }
            return operation
        case .zoneChanges:
            let operation = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: [notes.zone], configurationsByRecordZoneID: nil)
            operation.fetchRecordZoneChangesResultBlock = { journal.add("result", $0) }
            return operation
        case .modifySubscriptions:
            let operation = CKModifySubscriptionsOperation(
                subscriptionsToSave: [CKDatabaseSubscription(subscriptionID: "all")], subscriptionIDsToDelete: ["x"])
            operation.perSubscriptionSaveBlock = { journal.add("save \($0)", $1) }
            operation.perSubscriptionDeleteBlock = { journal.add("delete \($0)", $1) }
            operation.modifySubscriptionsResultBlock = { journal.add("result", $0) }
            return operation
        default:
            let operation = CKFetchSubscriptionsOperation(subscriptionIDs: ["x"])
            operation.perSubscriptionResultBlock = { journal.add("fetch \($0)", $1) }
            operation.fetchSubscriptionsResultBlock = { journal.add("result", $0) }
            return operation
        }
    }
}
