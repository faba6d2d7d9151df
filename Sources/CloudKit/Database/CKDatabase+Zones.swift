extension CKDatabase {
    // MARK: One zone

    /// Fetches a zone by its ID.
    ///
    /// - Throws: `zoneNotFound`, or `userDeletedZone` if the user deleted it.
    @discardableResult
    public func recordZone(for zoneID: CKRecordZone.ID) async throws -> CKRecordZone {
        try await call.zones([zoneID]).only()
    }

    /// Creates a zone. An existing zone stays unchanged.
    ///
    /// ```swift
    /// let notes = try await container.privateCloudDatabase.save(CKRecordZone(zoneName: "Notes"))
    /// ```
    ///
    /// - Throws: `badDatabase` in any database but the private one.
    @discardableResult
    public func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
        try await call.modify(ZonesModification(saves: [zone])).onlySave()
    }

    /// Deletes a zone and all its records.
    ///
    /// - Throws: `zoneNotFound` if the zone does not exist.
    @discardableResult
    public func deleteRecordZone(withID zoneID: CKRecordZone.ID) async throws -> CKRecordZone.ID {
        try await call.modify(ZonesModification(deletes: [zoneID])).onlyDelete()
    }

    // MARK: Many zones

    /// Returns all zones of the database. The public and private databases always have their default zone.
    @discardableResult
    public func allRecordZones() async throws -> [CKRecordZone] { try await call.allZones() }

    /// Fetches zones by their IDs, with a result for each.
    @discardableResult
    public func recordZones(
        for ids: [CKRecordZone.ID]
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, Error>] {
        try await call.zones(ids).byItem()
    }

    /// Creates and deletes zones independently: the failure of one does not affect the others.
    @discardableResult
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID]
    ) async throws -> (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, Error>]
    ) {
        try await call.modify(ZonesModification(saves: recordZonesToSave, deletes: recordZoneIDsToDelete)).byID()
    }
}

extension SendableHandlers where Self: CKDatabase {
    /// The same as ``CKDatabase/recordZone(for:)``, with a completion handler.
    @preconcurrency
    public func fetch(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone?, Error?) -> Void
    ) {
        call.answer(completionHandler) { try await $0.zones([zoneID]).only() }
    }

    /// The same as the asynchronous form, with a completion handler.
    @preconcurrency
    public func save(_ zone: CKRecordZone, completionHandler: @escaping @Sendable (CKRecordZone?, Error?) -> Void) {
        call.answer(completionHandler) { try await $0.modify(ZonesModification(saves: [zone])).onlySave() }
    }

    /// The same as ``CKDatabase/deleteRecordZone(withID:)``, with a completion handler.
    @preconcurrency
    public func delete(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone.ID?, Error?) -> Void
    ) {
        call.answer(completionHandler) { try await $0.modify(ZonesModification(deletes: [zoneID])).onlyDelete() }
    }

    /// The same as ``CKDatabase/allRecordZones()``, with a completion handler.
    @preconcurrency
    public func fetchAllRecordZones(completionHandler: @escaping @Sendable ([CKRecordZone]?, Error?) -> Void) {
        call.answer(completionHandler) { try await $0.allZones() }
    }

    /// The same as ``CKDatabase/recordZones(for:)``, with a completion handler.
    @preconcurrency
    public func fetch(
        withRecordZoneIDs zoneIDs: [CKRecordZone.ID],
        completionHandler: @escaping @Sendable (Result<[CKRecordZone.ID: Result<CKRecordZone, Error>], Error>) -> Void
    ) {
        call.answer(completionHandler) { try await $0.zones(zoneIDs).byItem() }
    }

    /// The same as ``CKDatabase/modifyRecordZones(saving:deleting:)``, with a completion handler.
    @preconcurrency
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID],
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKRecordZone.ID: Result<CKRecordZone, Error>],
                        deleteResults: [CKRecordZone.ID: Result<Void, Error>]
                    ), Error
                >
            ) -> Void
    ) {
        let modification = ZonesModification(saves: recordZonesToSave, deletes: recordZoneIDsToDelete)
        call.answer(completionHandler) { try await $0.modify(modification).byID() }
    }
}
