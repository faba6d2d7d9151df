import Foundation
import StrataStore

extension SyncCore {
    private static var pageSize: Int { 200 }

    /// Fetches changes in turn (B427).
    func fetchChanges(
        _ run: SyncRun, _ options: CKSyncEngine.FetchChangesOptions, _ reason: CKSyncEngine.SyncReason
    ) async throws(CKError) {
        let asked = CKSyncEngine.FetchChangesContext(reason: reason, options: options)
        let options = try await calling { await $0.nextFetchChangesOptions(asked, syncEngine: $1) }
        run.setScope(options.scope)
        let context = CKSyncEngine.FetchChangesContext(reason: reason, options: options)
        let call = call(in: options.operationGroup)
        let subscribing = await subscribe(call)
        try await post(.willFetchChanges(.init(context: context)))
        var failure: CKError?
        do throws(CKError) {
            try await fetchDatabaseChanges(run, call)
            try await fetchZones(run, options, call)
        } catch {
            failure = error
        }
        let now = try? client.opened().options.clock.now
        state.change { content in
            defer { content.lastFetch = now }
            return content.lastFetch != now
        }
        try await post(.didFetchChanges(.init(context: context)))
        if let failure { throw failure }
        // Without a subscription an automatic engine would never hear of changes.
        if automaticallySync, reason == .scheduled, let subscribing { throw subscribing }
    }

    func call(in group: CKOperationGroup) -> DatabaseCall {
        let id = SyncState.operationID(of: database.databaseScope.engine)
        let settings = CallSettings(.init(), group: group, id: id, quality: .utility)
        return DatabaseCall(client: client, scope: database.databaseScope, settings: settings)
    }

    /// Finds or saves the subscription whose pushes are causes of fetches (B403). Returns the error if that fails.
    private func subscribe(_ call: DatabaseCall) async -> CKError? {
        guard state.content.withLock({ $0.subscriptionID }) == nil else { return nil }
        do {
            let known = try await call.allSubscriptions()
            // The store refuses a second subscription to all of a database (B185), so one with another ID is used.
            let found =
                known.first { $0.subscriptionID == chosenSubscription }
                ?? known.first { ($0 as? CKDatabaseSubscription).map { $0.recordType == nil } ?? false }
            let ownID = SyncState.operationID(of: database.databaseScope == .shared ? .shared : .private)
            let subscription =
                found ?? CKDatabaseSubscription(subscriptionID: chosenSubscription ?? ownID)
            if found == nil {
                _ = try await call.modify(SubscriptionsModification(saves: [subscription])).onlySave()
            }
            state.change { content in
                content.subscriptionID = subscription.subscriptionID
                return true
            }
            return nil
        } catch {
            return CKError(engine: error)
        }
    }

    // MARK: The database

    private func fetchDatabaseChanges(_ run: SyncRun, _ call: DatabaseCall) async throws(CKError) {
        var page: DatabaseChangesPage
        repeat {
            try run.requireNotCancelled()
            page = try await databasePage(call)
            if !page.modifications.isEmpty || !page.deletions.isEmpty {
                try await post(
                    .fetchedDatabaseChanges(.init(modifications: page.modifications, deletions: page.deletions)))
            }
            let fetched = page
            state.change { content in
                for deletion in fetched.deletions { content.forget(deletion.zoneID) }
                for modification in fetched.modifications { content.auditFeedRead(of: modification.zoneID) }
                defer { content.databaseToken = fetched.token }
                return content.databaseToken != fetched.token
            }
            try await postState()
        } while page.moreComing
    }

    /// Fetches a page; from the beginning if the token has expired.
    private func databasePage(_ call: DatabaseCall) async throws(CKError) -> DatabaseChangesPage {
        func page(since token: CKServerChangeToken?) async throws(CKError) -> DatabaseChangesPage {
            do { return try await call.databaseChanges(since: token, limit: 0) } catch { throw CKError(engine: error) }
        }
        let token = state.content.withLock { $0.databaseToken }
        do throws(CKError) { return try await page(since: token) } catch {
            guard error.code == .changeTokenExpired, token != nil else { throw error }
            return try await page(since: nil)
        }
    }

    // MARK: Zones

    private func fetchZones(
        _ run: SyncRun, _ options: CKSyncEngine.FetchChangesOptions, _ call: DatabaseCall
    ) async throws(CKError) {
        var errors: [AnyHashable: any Error] = [:]
        for zone in zonesToFetch(options) {
            try run.requireNotCancelled()
            try await post(.willFetchRecordZoneChanges(.init(zoneID: zone)))
            var failure: CKError?
            var endsAll = false
            do throws(CKError) { failure = try await fetch(zone, run, call) } catch {
                failure = error
                endsAll = true
            }
            if let failure { errors[zone] = failure }
            // A zone that is gone is none to fetch; after any other error its records are still to come.
            let isDone = failure.map { [.zoneNotFound, .userDeletedZone].contains($0.code) } ?? true
            try await post(.didFetchRecordZoneChanges(.init(zoneID: zone, error: failure)))
            state.change { content in
                let count = content.unfetchedZones.count
                if isDone { content.unfetchedZones.removeAll { $0 == zone } } else { content.auditFeedRead(of: zone) }
                return content.unfetchedZones.count != count
            }
            try await postState()
            if endsAll, let failure { throw failure }
        }
        if errors.count == 1, let error = errors.values.first as? CKError { throw error }
        if !errors.isEmpty { throw CKError(partialErrors: errors, message: "Failed to fetch some zones") }
    }

    /// Returns the zones in the order in which they are fetched (B429, B430).
    private func zonesToFetch(_ options: CKSyncEngine.FetchChangesOptions) -> [CKRecordZone.ID] {
        var zones = state.content.withLock { $0.unfetchedZones }.filter { options.scope.contains($0) }
        if case .zoneIDs(let asked) = options.scope { zones += asked }
        zones = DatabaseCall.unique(zones)
        let first = DatabaseCall.unique(options.prioritizedZoneIDs).filter { zones.contains($0) }
        return first + zones.filter { !first.contains($0) }
    }

    /// Fetches the records of a zone. Returns an error that affects this zone alone.
    ///
    /// - Throws: An error that would affect any zone.
    private func fetch(_ zone: CKRecordZone.ID, _ run: SyncRun, _ call: DatabaseCall) async throws(CKError) -> CKError?
    {
        var page: ZoneChangesPage
        repeat {
            try run.requireNotCancelled()
            let token = state.content.withLock { $0.zoneTokens[zone] }
            switch try await self.page(of: zone, since: token, call) {
            case .success(let fetched): page = fetched
            case .failure(let error): return error
            }
            let modifications = page.changed.compactMap { try? $0.result.get() }
            if !modifications.isEmpty || !page.deletions.isEmpty {
                try await post(
                    .fetchedRecordZoneChanges(
                        .init(modifications: modifications.map { .init(record: $0) }, deletions: page.deletions)))
            }
            let fetched = page.token
            state.change { content in
                defer { content.zoneTokens[zone] = fetched }
                return content.zoneTokens[zone] != fetched
            }
            if page.moreComing { try await postState() }
        } while page.moreComing
        return nil
    }

    /// Fetches a page; from the beginning if the token has expired.
    private func page(
        of zone: CKRecordZone.ID, since token: CKServerChangeToken?, _ call: DatabaseCall
    ) async throws(CKError) -> Result<ZoneChangesPage, CKError> {
        func page(since token: CKServerChangeToken?) async throws(CKError) -> Result<ZoneChangesPage, CKError> {
            try await call.zoneChanges(of: zone, since: token, nil, limit: Self.pageSize)
        }
        let result: Result<ZoneChangesPage, CKError>
        do throws(CKError) { result = try await page(since: token) } catch {
            guard error.code == .changeTokenExpired, token != nil else { throw error }
            return try await page(since: nil)
        }
        guard case .failure(let error) = result, error.code == .changeTokenExpired, token != nil else { return result }
        return try await page(since: nil)
    }
}
