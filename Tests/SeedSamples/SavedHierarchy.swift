import CloudKit

/// Saves two records that refer to each other, deletes others, and tells of each and of the whole.
public func saveHierarchy(
    _ invoice: CKRecord, _ line: CKRecord, deleting old: [CKRecord.ID], in database: CKDatabase,
    each: @escaping (CKRecord.ID, Error?) -> Void, finished: @escaping (Error?) -> Void
) {
    line["invoice"] = CKRecord.Reference(record: invoice, action: .deleteSelf)

    let operation = CKModifyRecordsOperation(recordsToSave: [invoice, line], recordIDsToDelete: old)
    operation.savePolicy = .changedKeys
    operation.isAtomic = true
    operation.perRecordSaveBlock = { id, result in
        if case .failure(let error) = result { each(id, error) } else { each(id, nil) }
    }
    operation.perRecordDeleteBlock = { id, result in
        if case .failure(let error) = result { each(id, error) } else { each(id, nil) }
    }
    operation.modifyRecordsResultBlock = { result in
        if case .failure(let error) = result { finished(error) } else { finished(nil) }
    }
    database.add(operation)
}
