import CloudKit
import StrataSystem

/// What a client sends at once, by one of the two ways that there are.
struct SyncRequest {
    struct Answer: Sendable {
        var saves: [CKRecord.ID: Result<CKRecord, Error>] = [:]
        var deletes: [CKRecord.ID: Result<Void, Error>] = [:]
    }

    let saves: [CKRecord]
    let deletes: [CKRecord.ID]
    let isAtomic: Bool

    func call(_ database: CKDatabase) async throws -> Answer {
        do {
            let results = try await database.modifyRecords(saving: saves, deleting: deletes, atomically: isAtomic)
            return Answer(saves: results.saveResults, deletes: results.deleteResults)
        } catch let error as CKError where error.code == .partialFailure {
            var answer = Answer()
            let errors = error.partialErrorsByItemID ?? [:]
            for record in saves { answer.saves[record.recordID] = errors[record.recordID].map { .failure($0) } }
            for id in deletes { answer.deletes[id] = errors[id].map { .failure($0) } }
            return answer
        }
    }

    func run(in database: CKDatabase) async throws -> Answer {
        let operation = CKModifyRecordsOperation(recordsToSave: saves, recordIDsToDelete: deletes)
        operation.isAtomic = isAtomic
        let answer = Lock(Answer())
        let failure = Lock<(any Error)?>(nil)
        operation.perRecordSaveBlock = { id, result in answer.withLock { $0.saves[id] = result } }
        operation.perRecordDeleteBlock = { id, result in answer.withLock { $0.deletes[id] = result } }
        operation.modifyRecordsResultBlock = { result in
            if case .failure(let error) = result { failure.withLock { $0 = error } }
        }
        await operation.finish { database.add($0) }
        if let error = failure.withLock({ $0 }) { throw error }
        return answer.withLock { $0 }
    }
}
