import Foundation

extension CKDatabase {
    // MARK: One record

    /// A record by its id.
    ///
    /// ```swift
    /// do {
    ///     let note = try await database.record(for: id)
    /// } catch CKError.unknownItem {
    ///     print("no such note")
    /// }
    /// ```
    ///
    /// - Throws: The record's own error: `unknownItem`, `zoneNotFound` …
    @discardableResult
    public nonisolated(nonsending) func record(for recordID: CKRecord.ID) async throws -> CKRecord {
        try await call.record(recordID)
    }

    /// As ``record(for:)``.
    @preconcurrency
    public func fetch(
        withRecordID recordID: CKRecord.ID, completionHandler: @escaping @Sendable (CKRecord?, Error?) -> Void
    ) {
        let call = call
        client.answer({ try await call.record(recordID) }, with: completionHandler)
    }

    /// Saves a record if nobody has saved it since it was fetched.
    ///
    /// ```swift
    /// do {
    ///     note = try await database.save(note)
    /// } catch let error as CKError where error.code == .serverRecordChanged {
    ///     merge(note, into: error.serverRecord, from: error.ancestorRecord)
    /// }
    /// ```
    ///
    /// - Returns: The record as the store has it, with a new change tag.
    /// - Throws: The record's own error: `serverRecordChanged`, `zoneNotFound` …
    @discardableResult
    public func save(_ record: CKRecord) async throws -> CKRecord {
        try await call.modify(RecordsModification(saves: [record])).onlySave()
    }

    /// As the asynchronous form.
    @preconcurrency
    public func save(_ record: CKRecord, completionHandler: @escaping @Sendable (CKRecord?, Error?) -> Void) {
        let call = call
        let modification = RecordsModification(saves: [record])
        client.answer({ try await call.modify(modification).onlySave() }, with: completionHandler)
    }

    /// Deletes a record. Deleting one that is not there succeeds.
    @discardableResult
    public func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
        try await call.delete(recordID)
    }

    /// As ``deleteRecord(withID:)``.
    @preconcurrency
    public func delete(
        withRecordID recordID: CKRecord.ID, completionHandler: @escaping @Sendable (CKRecord.ID?, Error?) -> Void
    ) {
        let call = call
        client.answer({ try await call.delete(recordID) }, with: completionHandler)
    }

    // MARK: Many records

    /// Records by their ids, with a result for each.
    ///
    /// ```swift
    /// for (id, result) in try await database.records(for: ids, desiredKeys: ["title"]) {
    ///     print(id.recordName, (try? result.get())?["title"] as? String ?? "not there")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - ids: Records of any zones of the database.
    ///   - desiredKeys: The fields to fetch; nil for all, none for the record's metadata only.
    /// - Throws: What fails for all of them: `notAuthenticated`, `limitExceeded` …
    @discardableResult
    public func records(
        for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws -> [CKRecord.ID: Result<CKRecord, Error>] {
        try await call.recordsByID(ids, desiredKeys)
    }

    /// As ``records(for:desiredKeys:)``.
    @preconcurrency
    public func fetch(
        withRecordIDs recordIDs: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil,
        completionHandler: @escaping @Sendable (Result<[CKRecord.ID: Result<CKRecord, Error>], Error>) -> Void
    ) {
        let call = call
        client.answer({ try await call.recordsByID(recordIDs, desiredKeys) }, with: completionHandler)
    }

    /// Saves and deletes records, as one commit.
    ///
    /// ```swift
    /// let results = try await database.modifyRecords(saving: [note], deleting: [old], savePolicy: .changedKeys)
    /// let saved = try results.saveResults[note.recordID]?.get()
    /// ```
    ///
    /// - Parameters:
    ///   - recordsToSave: Records of any zones of the database.
    ///   - recordIDsToDelete: None of those that are saved.
    ///   - savePolicy: What becomes of what others have saved since the records were fetched.
    ///   - atomically: Whether all items of a zone fail with one of them, where the zone is able to.
    /// - Throws: What fails for all of them; and `partialFailure` with the error of each item if one fails in a zone
    ///   that is atomic, unless the store's options say otherwise (``CloudStore/AtomicFailures``).
    @discardableResult
    public func modifyRecords(
        saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged, atomically: Bool = true
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, Error>], deleteResults: [CKRecord.ID: Result<Void, Error>]
    ) {
        try await call.modify(
            RecordsModification(
                saves: recordsToSave, deletes: recordIDsToDelete, policy: savePolicy, isAtomic: atomically)
        ).byIDOrThrown()
    }

    /// As ``modifyRecords(saving:deleting:savePolicy:atomically:)``.
    @preconcurrency
    public func modifyRecords(
        saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged, atomically: Bool = true,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKRecord.ID: Result<CKRecord, Error>],
                        deleteResults: [CKRecord.ID: Result<Void, Error>]
                    ), Error
                >
            ) -> Void
    ) {
        let call = call
        let modification = RecordsModification(
            saves: recordsToSave, deletes: recordIDsToDelete, policy: savePolicy, isAtomic: atomically)
        client.answer({ try await call.modify(modification).byIDOrThrown() }, with: completionHandler)
    }
}
