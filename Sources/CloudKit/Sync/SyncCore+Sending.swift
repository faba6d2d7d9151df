import Foundation

extension SyncCore {
    /// The errors of a send.
    private struct Failures {
        var items: [AnyHashable: any Error] = [:]
        /// The error of a request that failed as a whole.
        var request: CKError?

        /// The error that the call throws (B413).
        var error: CKError? {
            if let request { return request }
            return items.isEmpty ? nil : CKError(partialErrors: items, message: "Failed to send some changes")
        }
    }

    /// Sends changes in turn (B231).
    func sendChanges(
        _ run: SyncRun, _ options: CKSyncEngine.SendChangesOptions, _ reason: CKSyncEngine.SyncReason
    ) async throws(CKError) {
        let context = CKSyncEngine.SendChangesContext(reason: reason, options: options)
        let call = call(in: options.operationGroup)
        try await post(.willSendChanges(.init(context: context)))
        var failures = Failures()
        var failure: CKError?
        do throws(CKError) {
            try await sendAll(run, context, through: call, failures: &failures)
        } catch {
            failure = error
        }
        if failures.error == nil, failure == nil {
            state.change { content in
                defer { content.hasUntrackedChanges = false }
                return content.hasUntrackedChanges
            }
        }
        try await post(.didSendChanges(.init(context: context)))
        if let error = failures.error ?? failure {
            scheduler.sendFailed()
            throw error
        }
    }

    private func sendAll(
        _ run: SyncRun, _ context: CKSyncEngine.SendChangesContext, through call: DatabaseCall,
        failures: inout Failures
    ) async throws(CKError) {
        while true {
            try run.requireNotCancelled()
            try await sendZones(run, context.options, through: call, failures: &failures)
            if failures.request != nil { return }
            let batch = try await calling { await $0.nextRecordZoneChangeBatch(context, syncEngine: $1) }
            guard let batch, !batch.isEmpty else { return }
            try await send(batch, run, through: call, failures: &failures)
            if failures.request != nil || failures.items.keys.contains(where: { $0.base is CKRecord.ID }) { return }
        }
    }

    // MARK: Zones

    /// Sends the pending changes of zones, but those of zones that failed in this send (B410, B415).
    private func sendZones(
        _ run: SyncRun, _ options: CKSyncEngine.SendChangesOptions, through call: DatabaseCall,
        failures: inout Failures
    ) async throws(CKError) {
        while failures.request == nil {
            let all = state.pendingDatabaseChanges
            let failed = failures.items
            let changes = all.filter { options.scope.contains($0.itemID) && failed[$0.itemID] == nil }
                .prefix(CKSyncEngine.RecordZoneChangeBatch.maximumCount)
            guard !changes.isEmpty else { return }
            try run.requireNotCancelled()
            var modification = ZonesModification()
            for change in changes {
                switch change {
                case .saveZone(let zone): modification.saves.append(zone)
                case .deleteZone(let id): modification.deletes.append(id)
                }
            }
            state.change { content in
                for change in changes { content.databaseChanges.begin(change) }
                return true
            }
            let outcome: ZonesOutcome
            do { outcome = try await call.modify(modification) } catch {
                let error = CKError(engine: error)
                failures.request = error
                outcome = ZonesOutcome(
                    saves: modification.saves.map { ($0.zoneID, .failure(error)) },
                    deletes: modification.deletes.map { ($0, error) })
            }
            try await report(modification, outcome, &failures)
            for case (let zone, .success) in outcome.saves { try await rememberStart(of: zone, through: call) }
        }
    }

    /// Remembers the token of a zone that is still empty, and reports the state at once: the first fetch would begin
    /// without a token, and hide deletions of what is sent until then (B434).
    private func rememberStart(of zone: CKRecordZone.ID, through call: DatabaseCall) async throws(CKError) {
        guard state.content.withLock({ $0.zoneTokens[zone] == nil }),
            case .success(let page)? = try? await call.zoneChanges(of: zone, since: nil, nil, limit: 1),
            page.changed.isEmpty, !page.moreComing
        else { return }
        state.change { content in
            content.zoneTokens[zone] = page.token
            return true
        }
        try await postState(isLast: true)
    }

    private func report(
        _ modification: ZonesModification, _ outcome: ZonesOutcome, _ failures: inout Failures
    ) async throws(CKError) {
        var saved: [CKRecordZone] = []
        var failedSaves: [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave] = []
        var deleted: [CKRecordZone.ID] = []
        var failedDeletes: [CKRecordZone.ID: CKError] = [:]
        var ended: [(change: CKSyncEngine.PendingDatabaseChange, isKept: Bool)] = []
        for (zone, save) in zip(modification.saves, outcome.saves) {
            switch save.result {
            case .success(let zone): saved.append(zone)
            case .failure(let error): failedSaves.append(.init(zone: zone, error: error))
            }
            ended.append((.saveZone(zone), save.result.isKept))
        }
        for (id, delete) in zip(modification.deletes, outcome.deletes) {
            if let error = delete.error { failedDeletes[id] = error } else { deleted.append(id) }
            ended.append((.deleteZone(id), delete.error?.isRetriedBySyncEngine ?? false))
        }
        for failed in failedSaves { failures.items[failed.zone.zoneID] = failed.error }
        for (id, error) in failedDeletes { failures.items[id] = error }
        let isNews = !saved.isEmpty || !deleted.isEmpty
        state.change { content in
            for (change, isKept) in ended { content.databaseChanges.end(change, isKept: isKept) }
            for id in deleted { content.forget(id) }
            return true
        }
        if isNews { client.wakeOthers(than: self) }
        try await post(
            .sentDatabaseChanges(
                .init(
                    savedZones: saved, failedZoneSaves: failedSaves, deletedZoneIDs: deleted,
                    failedZoneDeletes: failedDeletes)))
        try await postState()
    }

    // MARK: Records

    private func send(
        _ batch: CKSyncEngine.RecordZoneChangeBatch, _ run: SyncRun, through call: DatabaseCall,
        failures: inout Failures
    ) async throws(CKError) {
        let changes = batch.changes
        state.change { content in
            for change in changes { content.recordChanges.begin(change) }
            return !changes.isEmpty
        }
        let outcome: RecordsOutcome
        do {
            try run.requireNotCancelled()
            outcome = try await call.modifyAndUpdateCaller(
                RecordsModification(
                    saves: batch.recordsToSave, deletes: batch.recordIDsToDelete, isAtomic: batch.atomicByZone))
        } catch {
            let error = CKError(engine: error)
            failures.request = error
            outcome = RecordsOutcome(
                saves: batch.recordsToSave.map { ($0.recordID, .failure(error)) },
                deletes: batch.recordIDsToDelete.map { ($0, error) })
        }
        try await report(batch, outcome, &failures)
    }

    private func report(
        _ batch: CKSyncEngine.RecordZoneChangeBatch, _ outcome: RecordsOutcome, _ failures: inout Failures
    ) async throws(CKError) {
        var saved: [CKRecord] = []
        var failedSaves: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave] = []
        var deleted: [CKRecord.ID] = []
        var failedDeletes: [CKRecord.ID: CKError] = [:]
        var ended: [(change: CKSyncEngine.PendingRecordZoneChange, isKept: Bool)] = []
        for (record, save) in zip(batch.recordsToSave, outcome.saves) {
            switch save.result {
            case .success(let record): saved.append(record)
            case .failure(let error): failedSaves.append(.init(record: record, error: error))
            }
            ended.append((.saveRecord(record.recordID), save.result.isKept))
        }
        for (id, delete) in zip(batch.recordIDsToDelete, outcome.deletes) {
            if let error = delete.error { failedDeletes[id] = error } else { deleted.append(id) }
            ended.append((.deleteRecord(id), delete.error?.isRetriedBySyncEngine ?? false))
        }
        for failed in failedSaves { failures.items[failed.record.recordID] = failed.error }
        for (id, error) in failedDeletes { failures.items[id] = error }
        let isNews = !saved.isEmpty || !deleted.isEmpty
        state.change { content in
            for (change, isKept) in ended { content.recordChanges.end(change, isKept: isKept) }
            return true
        }
        if isNews { client.wakeOthers(than: self) }
        try await post(
            .sentRecordZoneChanges(
                .init(
                    savedRecords: saved, failedRecordSaves: failedSaves, deletedRecordIDs: deleted,
                    failedRecordDeletes: failedDeletes)))
        try await postState()
    }
}

extension Result where Failure == CKError {
    /// True if the change stays pending.
    fileprivate var isKept: Bool {
        guard case .failure(let error) = self else { return false }
        return error.isRetriedBySyncEngine
    }
}
