import Foundation

extension CKDatabase {
    // MARK: One zone

    /// A zone by its id.
    ///
    /// - Throws: `zoneNotFound`, or `userDeletedZone` if its user deleted it.
    @discardableResult
    public func recordZone(for zoneID: CKRecordZone.ID) async throws -> CKRecordZone {
        try await call.zone(zoneID)
    }

    /// As ``recordZone(for:)``.
    @preconcurrency
    public func fetch(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone?, Error?) -> Void
    ) {
        let call = call
        client.answer({ try await call.zone(zoneID) }, with: completionHandler)
    }

    /// Makes a zone; one that is there already stays as it is.
    ///
    /// ```swift
    /// let notes = try await container.privateCloudDatabase.save(CKRecordZone(zoneName: "Notes"))
    /// ```
    ///
    /// - Throws: `badDatabase` anywhere but in the private database.
    @discardableResult
    public func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
        try await call.modify(ZonesModification(saves: [zone])).onlySave()
    }

    /// As the asynchronous form.
    @preconcurrency
    public func save(_ zone: CKRecordZone, completionHandler: @escaping @Sendable (CKRecordZone?, Error?) -> Void) {
        let call = call
        client.answer({ try await call.modify(ZonesModification(saves: [zone])).onlySave() }, with: completionHandler)
    }

    /// Deletes a zone with all its records.
    ///
    /// - Throws: `zoneNotFound` if there is none.
    @discardableResult
    public func deleteRecordZone(withID zoneID: CKRecordZone.ID) async throws -> CKRecordZone.ID {
        try await call.delete(zoneID)
    }

    /// As ``deleteRecordZone(withID:)``.
    @preconcurrency
    public func delete(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone.ID?, Error?) -> Void
    ) {
        let call = call
        client.answer({ try await call.delete(zoneID) }, with: completionHandler)
    }

    // MARK: Many zones

    /// All zones of the database; the public and the private one always have their default zone.
    @discardableResult
    public func allRecordZones() async throws -> [CKRecordZone] { try await call.allZones() }

    /// As ``allRecordZones()``.
    @preconcurrency
    public func fetchAllRecordZones(completionHandler: @escaping @Sendable ([CKRecordZone]?, Error?) -> Void) {
        let call = call
        client.answer({ try await call.allZones() }, with: completionHandler)
    }

    /// Zones by their ids, with a result for each.
    @discardableResult
    public func recordZones(
        for ids: [CKRecordZone.ID]
    ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, Error>] {
        try await call.zonesByID(ids)
    }

    /// As ``recordZones(for:)``.
    @preconcurrency
    public func fetch(
        withRecordZoneIDs zoneIDs: [CKRecordZone.ID],
        completionHandler: @escaping @Sendable (Result<[CKRecordZone.ID: Result<CKRecordZone, Error>], Error>) -> Void
    ) {
        let call = call
        client.answer({ try await call.zonesByID(zoneIDs) }, with: completionHandler)
    }

    /// Makes and deletes zones, each for itself: one that fails leaves the others alone.
    @discardableResult
    public func modifyRecordZones(
        saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID]
    ) async throws -> (
        saveResults: [CKRecordZone.ID: Result<CKRecordZone, Error>],
        deleteResults: [CKRecordZone.ID: Result<Void, Error>]
    ) {
        try await call.modify(ZonesModification(saves: recordZonesToSave, deletes: recordZoneIDsToDelete)).byID()
    }

    /// As ``modifyRecordZones(saving:deleting:)``.
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
        let call = call
        let modification = ZonesModification(saves: recordZonesToSave, deletes: recordZoneIDsToDelete)
        client.answer({ try await call.modify(modification).byID() }, with: completionHandler)
    }
}
