import Foundation

extension CKDatabase {
    // MARK: One record

    /// Fetches a record by its ID.
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

    /// Saves a record unless someone else has saved it since you fetched it. Returns the stored record, with a new
    /// change tag. The record you pass is updated with the new tag, dates and users; its fields do not change (B319).
    ///
    /// ```swift
    /// do {
    ///     note = try await database.save(note)
    /// } catch let error as CKError where error.code == .serverRecordChanged {
    ///     merge(note, into: error.serverRecord, from: error.ancestorRecord)
    /// }
    /// ```
    ///
    /// - Throws: The record's own error: `serverRecordChanged`, `zoneNotFound` …
    @discardableResult
    public func save(_ record: CKRecord) async throws -> CKRecord {
        try await call.modifyAndUpdateCaller(RecordsModification(saves: [record])).onlySave()
    }

    /// Deletes a record. Deleting a record that does not exist succeeds.
    @discardableResult
    public func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
        try await call.modify(RecordsModification(deletes: [recordID])).onlyDelete()
    }

    // MARK: Many records

    /// Fetches records by their IDs, with a result for each.
    ///
    /// ```swift
    /// for (id, result) in try await database.records(for: ids, desiredKeys: ["title"]) {
    ///     print(id.recordName, (try? result.get())?["title"] as? String ?? "not there")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - ids: Records of any zones of the database.
    ///   - desiredKeys: The fields to fetch; nil for all, an empty array for the record's metadata only.
    /// - Throws: An error that affects all records: `notAuthenticated`, `limitExceeded` …
    @discardableResult
    public func records(
        for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws -> [CKRecord.ID: Result<CKRecord, Error>] {
        try await call.recordsByID(ids, desiredKeys)
    }

    /// Saves and deletes records in one commit.
    ///
    /// ```swift
    /// let results = try await database.modifyRecords(saving: [note], deleting: [old], savePolicy: .changedKeys)
    /// let saved = try results.saveResults[note.recordID]?.get()
    /// ```
    ///
    /// - Parameters:
    ///   - recordsToSave: Records of any zones of the database.
    ///   - recordIDsToDelete: Records to delete, none of them among those to save.
    ///   - savePolicy: The handling of records that others have saved since they were fetched.
    ///   - atomically: True if one failed item makes all items of its zone fail, in zones that support this.
    /// - Throws: An error that affects all items; or `partialFailure` with the error of each item if `atomically` is
    ///   true and an item of an existing zone with ``CKRecordZone/Capabilities/atomic`` fails, unless the store's
    ///   options differ (``CloudStore/AtomicFailures``). In a zone that does not exist, each item has its own result.
    @discardableResult
    public func modifyRecords(
        saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged, atomically: Bool = true
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, Error>], deleteResults: [CKRecord.ID: Result<Void, Error>]
    ) {
        try await call.modifyAndUpdateCaller(
            RecordsModification(
                saves: recordsToSave, deletes: recordIDsToDelete, policy: savePolicy, isAtomic: atomically)
        ).byIDOrThrown()
    }
}

extension SendableHandlers where Self: CKDatabase {
    /// The same as ``CKDatabase/record(for:)``, with a completion handler.
    @preconcurrency
    public func fetch(
        withRecordID recordID: CKRecord.ID, completionHandler: @escaping @Sendable (CKRecord?, Error?) -> Void
    ) {
        call.answer(completionHandler) { try await $0.record(recordID) }
    }

    /// The same as the asynchronous form, with a completion handler.
    @preconcurrency
    public func save(_ record: CKRecord, completionHandler: @escaping @Sendable (CKRecord?, Error?) -> Void) {
        let modification = RecordsModification(saves: [record])
        call.answer(completionHandler) { try await $0.modifyAndUpdateCaller(modification).onlySave() }
    }

    /// The same as ``CKDatabase/deleteRecord(withID:)``, with a completion handler.
    @preconcurrency
    public func delete(
        withRecordID recordID: CKRecord.ID, completionHandler: @escaping @Sendable (CKRecord.ID?, Error?) -> Void
    ) {
        call.answer(completionHandler) { try await $0.modify(RecordsModification(deletes: [recordID])).onlyDelete() }
    }

    /// The same as ``CKDatabase/records(for:desiredKeys:)``, with a completion handler.
    @preconcurrency
    public func fetch(
        withRecordIDs recordIDs: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil,
        completionHandler: @escaping @Sendable (Result<[CKRecord.ID: Result<CKRecord, Error>], Error>) -> Void
    ) {
        call.answer(completionHandler) { try await $0.recordsByID(recordIDs, desiredKeys) }
    }

    /// The same as ``CKDatabase/modifyRecords(saving:deleting:savePolicy:atomically:)``, with a completion handler.
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
        let modification = RecordsModification(
            saves: recordsToSave, deletes: recordIDsToDelete, policy: savePolicy, isAtomic: atomically)
        call.answer(completionHandler) { try await $0.modifyAndUpdateCaller(modification).byIDOrThrown() }
    }
}
