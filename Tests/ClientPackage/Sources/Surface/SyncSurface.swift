import CloudKit

/// The surface of the sync engine.
struct SyncSurface: Section {
    func check() async throws {
        let store = try CloudStore.inMemory()
        let database = store.container(user: "anna").privateCloudDatabase
        let delegate = SyncSurfaceDelegate()
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: nil, delegate: delegate)
        configuration.automaticallySync = false
        configuration.subscriptionID = "mine"
        configuration.database = database
        configuration.delegate = delegate
        configuration.stateSerialization = nil
        let engine = CKSyncEngine(configuration)
        let zone = CKRecordZone(zoneName: "Notes")
        let id = CKRecord.ID(recordName: "a", zoneID: zone.zoneID)
        state(engine.state, zone, id)
        try await engine.sendChanges()
        try await engine.sendChanges(.init(scope: .all, operationGroup: nil))
        try await engine.fetchChanges()
        try await engine.fetchChanges(.init(scope: .zoneIDs([zone.zoneID]), operationGroup: nil))
        await engine.cancelOperations()
        try expect(engine.database === database && !engine.description.isEmpty && !configuration.description.isEmpty)
        try await batches(id)
        try options(zone.zoneID, id)
        let kept = try JSONEncoder().encode(delegate.last)
        _ = try JSONDecoder().decode(CKSyncEngine.State.Serialization?.self, from: kept)
        try expect(engine.state.pendingDatabaseChanges.isEmpty)
        try names()
    }

    /// Types and members that a program seldom names.
    private func names() throws {
        typealias Event = CKSyncEngine.Event
        let events: [Any.Type] = [
            Event.StateUpdate.self, Event.AccountChange.self, Event.AccountChange.ChangeType.self,
            Event.WillFetchChanges.self, Event.FetchedDatabaseChanges.self, Event.WillFetchRecordZoneChanges.self,
            Event.FetchedRecordZoneChanges.self, Event.DidFetchRecordZoneChanges.self, Event.DidFetchChanges.self,
            Event.WillSendChanges.self, Event.SentDatabaseChanges.self, Event.SentDatabaseChanges.FailedZoneSave.self,
            Event.SentRecordZoneChanges.self, Event.SentRecordZoneChanges.FailedRecordSave.self,
            Event.DidSendChanges.self,
        ]
        let scopes: [Any.Type] = [
            CKSyncEngine.FetchChangesOptions.Scope.self, CKSyncEngine.SendChangesOptions.Scope.self,
        ]
        try expect(events.count == 15 && scopes.count == 2)
        let decode: (any Decoder) throws -> CKSyncEngine.State.Serialization = CKSyncEngine.State.Serialization.init(
            from:)
        let encode: (CKSyncEngine.State.Serialization) -> (any Encoder) throws -> Void = CKSyncEngine.State
            .Serialization.encode(to:)
        _ = (decode, encode)
    }

    private func state(_ state: CKSyncEngine.State, _ zone: CKRecordZone, _ id: CKRecord.ID) {
        state.add(pendingDatabaseChanges: [.saveZone(zone), .deleteZone(.init(zoneName: "None"))])
        state.remove(pendingDatabaseChanges: [.deleteZone(.init(zoneName: "None"))])
        state.add(pendingRecordZoneChanges: [.saveRecord(id), .deleteRecord(id)])
        state.remove(pendingRecordZoneChanges: [.deleteRecord(id)])
        state.hasPendingUntrackedChanges = false
        let _: Bool = state.hasPendingUntrackedChanges
        let _: [CKSyncEngine.PendingRecordZoneChange] = state.pendingRecordZoneChanges
        let _: [CKSyncEngine.PendingDatabaseChange] = state.pendingDatabaseChanges
        let _: [CKRecordZone.ID] = state.zoneIDsWithUnfetchedServerChanges
        _ = state.pendingDatabaseChanges.map(\.description) + state.pendingRecordZoneChanges.map(\.description)
    }

    private func batches(_ id: CKRecord.ID) async throws {
        let none = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: [.saveRecord(id)]) { _ in nil }
        try expect(none == nil)
        var batch = CKSyncEngine.RecordZoneChangeBatch(recordsToSave: [], recordIDsToDelete: [id], atomicByZone: true)
        batch.recordsToSave = [CKRecord(recordType: "Note", recordID: id)]
        batch.recordIDsToDelete = []
        batch.atomicByZone = false
        try expect(batch.recordsToSave.count == 1 && batch.recordIDsToDelete.isEmpty && !batch.atomicByZone)
        try expect(!batch.description.isEmpty)
    }

    private func options(_ zone: CKRecordZone.ID, _ id: CKRecord.ID) throws {
        var fetch = CKSyncEngine.FetchChangesOptions(scope: .allExcluding([zone]))
        fetch.prioritizedZoneIDs = [zone]
        fetch.operationGroup = CKOperationGroup()
        try expect(!fetch.scope.contains(zone) && fetch.prioritizedZoneIDs == [zone] && fetch.scope != .all)
        fetch.scope = .zoneIDs([zone])
        var send = CKSyncEngine.SendChangesOptions(scope: .recordIDs([id]))
        send.operationGroup = fetch.operationGroup
        try expect(send.scope.contains(id) && send.scope.contains(.saveRecord(id)) && send.scope != .all)
        let scopes: [CKSyncEngine.SendChangesOptions.Scope] = [.allExcluding([zone]), .zoneIDs([zone])]
        send.scope = scopes[0]
        try expect(!fetch.description.isEmpty && !send.description.isEmpty)
        let reasons: Set<CKSyncEngine.SyncReason> = [.scheduled, .manual]
        try expect(Set(reasons.map(\.description)).count == 2)
    }
}

/// A delegate that reads everything that events carry.
private final class SyncSurfaceDelegate: CKSyncEngineDelegate {
    private let kept = Kept()
    var last: CKSyncEngine.State.Serialization? { kept.last }

    // @unchecked: callbacks never overlap.
    private final class Kept: @unchecked Sendable {
        var last: CKSyncEngine.State.Serialization?
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        _ = event.description
        switch event {
        case .stateUpdate(let event):
            kept.last = event.stateSerialization
            _ = event.description
        case .accountChange(let event): account(event)
        case .fetchedDatabaseChanges(let event): _ = (event.modifications, event.deletions, event.description)
        case .fetchedRecordZoneChanges(let event): _ = (event.modifications, event.deletions, event.description)
        case .sentDatabaseChanges(let event): sent(event)
        case .sentRecordZoneChanges(let event): sent(event)
        case .willFetchChanges(let event): _ = (event.context, event.description)
        case .willFetchRecordZoneChanges(let event): _ = (event.zoneID, event.description)
        case .didFetchRecordZoneChanges(let event): _ = (event.zoneID, event.error, event.description)
        case .didFetchChanges(let event): _ = (event.context, event.description)
        case .willSendChanges(let event): _ = (event.context, event.description)
        case .didSendChanges(let event): _ = (event.context, event.description)
        }
    }

    private func account(_ event: CKSyncEngine.Event.AccountChange) {
        _ = event.description
        switch event.changeType {
        case .signIn(let current): _ = current
        case .signOut(let previous): _ = previous
        case .switchAccounts(let previous, let current): _ = (previous, current)
        }
    }

    private func sent(_ event: CKSyncEngine.Event.SentDatabaseChanges) {
        _ = (event.savedZones, event.deletedZoneIDs, event.failedZoneDeletes, event.description)
        for failed in event.failedZoneSaves { _ = (failed.zone, failed.error, failed.description) }
    }

    private func sent(_ event: CKSyncEngine.Event.SentRecordZoneChanges) {
        _ = (event.savedRecords, event.deletedRecordIDs, event.failedRecordDeletes, event.description)
        for failed in event.failedRecordSaves { _ = (failed.record, failed.error, failed.description) }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        _ = (context.reason, context.options, context.description)
        return nil
    }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        _ = (context.reason, context.description)
        return context.options
    }
}
