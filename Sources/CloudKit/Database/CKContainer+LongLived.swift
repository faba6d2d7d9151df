import Foundation
import StrataModel

extension CKContainer {
    /// Returns the IDs of this device's unfinished long-lived operations, including those of earlier processes.
    ///
    /// ```swift
    /// for id in try await container.allLongLivedOperationIDs() {
    ///     guard let operation = try await container.longLivedOperation(for: id) as? CKModifyRecordsOperation
    ///     else { continue }
    ///     operation.modifyRecordsResultBlock = { result in print("done at last", result) }
    ///     container.add(operation)
    /// }
    /// ```
    @discardableResult
    public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] {
        do {
            return try client.opened().longLived.ids(of: client.actor)
        } catch {
            throw CKError(engine: error)
        }
    }

    /// Returns an unfinished long-lived operation, to be given blocks and added again; nil if there is none with the
    /// ID.
    ///
    /// Work that the operation did before its process ended is not repeated: its blocks receive the earlier results.
    @discardableResult
    public func longLivedOperation(for operationID: CKOperation.ID) async throws -> CKOperation? {
        do {
            let opened = try client.opened()
            let place = opened.longLived
            guard let kept = try place.operation(operationID, of: client.actor) else { return nil }
            let archive: OperationArchive
            do { archive = try kept.archive(in: opened.store) } catch let error as StrataError
                where error.code == .keyDestroyed
            {
                // The values to save were destroyed with the user's encrypted data.
                try place.remove(operationID)
                return nil
            }
            let operation = CKDatabaseOperation.make(kept.kind, operationID, archive)
            operation.configuration.qualityOfService = archive.quality
            operation.configuration.isLongLived = true
            operation.configuration.container = self
            operation.group = archive.group
            operation.database = database(with: archive.scope)
            operation.markReplay(since: kept.offset, from: place)
            return operation
        } catch {
            throw CKError(engine: error)
        }
    }
}

extension CKDatabaseOperation {
    /// Recreates an operation from its archived properties, without blocks.
    fileprivate static func make(
        _ kind: LongLivedOperation.Kind, _ id: CKOperation.ID, _ archive: OperationArchive
    ) -> CKDatabaseOperation {
        switch kind {
        case .modifyRecords: CKModifyRecordsOperation(id, archive)
        case .modifyZones: CKModifyRecordZonesOperation(id, archive)
        case .fetchRecords: CKFetchRecordsOperation(id, archive)
        case .fetchZones: CKFetchRecordZonesOperation(id, archive)
        case .query: CKQueryOperation(id, archive)
        case .fetchDatabaseChanges: CKFetchDatabaseChangesOperation(id, archive)
        case .fetchZoneChanges: CKFetchRecordZoneChangesOperation(id, archive)
        case .modifySubscriptions: CKModifySubscriptionsOperation(id, archive)
        case .fetchSubscriptions: CKFetchSubscriptionsOperation(id, archive)
        }
    }
}

extension SendableHandlers where Self: CKContainer {
    /// The same as ``CKContainer/allLongLivedOperationIDs()``, with a completion handler.
    @preconcurrency
    public func fetchAllLongLivedOperationIDs(
        completionHandler: @escaping @Sendable ([CKOperation.ID]?, Error?) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) { _ in try await self.allLongLivedOperationIDs() }
    }

    /// The same as ``CKContainer/longLivedOperation(for:)``, with a completion handler.
    @preconcurrency
    public func fetchLongLivedOperation(
        withID operationID: CKOperation.ID, completionHandler: @escaping @Sendable (CKOperation?, Error?) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) { _ in try await self.longLivedOperation(for: operationID) }
    }
}
