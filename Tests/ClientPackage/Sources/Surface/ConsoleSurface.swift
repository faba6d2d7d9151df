import CloudKit

/// The surface of the console, and of the notifications that a device gets.
struct ConsoleSurface: Section {
    func check() async throws {
        let store = try CloudStore.inMemory()
        try await disturb(store)
        try await erase(store)
        try faultPlan(on: store.console)
        compaction(by: store.console)
        notifications(of: store.container(user: "anna"))
    }

    private func disturb(_ store: CloudStore) async throws {
        let console = store.console
        let _: [CloudStore.Network] = [.cellularOnly, .normal, .slow(.zero), .unavailable]
        try console.setNetwork(.normal, on: "phone", user: "anna")
        let _: [CloudStore.RequestKind] = [
            .fetchDatabaseChanges, .fetchRecordZoneChanges, .fetchRecordZones, .fetchRecords, .fetchSubscriptions,
            .modifyRecordZones, .modifyRecords, .modifySubscriptions, .query,
        ]
        try expect(CloudStore.RequestKind(rawValue: "none") == nil)
        let _: [CloudStore.FaultScope] = [.item, .request]
        try console.failNext(
            1, of: .fetchRecordZones, with: .zoneBusy, retryAfter: 1, scope: .request, on: "phone", user: "anna")
        try console.loseNextResponse(1, on: "phone", user: "anna")
        try console.clearFaults()
        try console.setAccountStatus(.available, of: "anna")
        try console.expireTokens(before: store.offset)
    }

    private func erase(_ store: CloudStore) async throws {
        let console = store.console
        let database = store.container(user: "anna").privateCloudDatabase
        let record = try await database.save(CKRecord(recordType: "Note"))
        let zone = try await database.save(CKRecordZone(zoneName: "Notes"))
        try console.setQuota(bytes: 1 << 20, of: "anna")
        try expect(try console.usedBytes(of: "anna") == 0)
        try console.erase([record.recordID], in: .private, of: "anna", reason: "asked for")
        try console.purgeZone(zone.zoneID, of: "anna")
        try console.resetEncryptedData(of: "anna")
    }

    private func faultPlan(on console: CloudStore.Console) throws {
        var plan = CloudStore.FaultPlan(seed: 1)
        plan.codes = [.zoneBusy]
        plan.delay = 0
        plan.expiredToken = 0
        plan.itemFailure = 0
        plan.longestDelay = .zero
        plan.lostResponse = 0
        plan.requestFailure = 0
        plan.retryAfter = 1
        try expect(plan.seed == 1 && !plan.description.isEmpty)
        try console.setFaultPlan(plan, on: "phone", user: "anna")
    }

    private func compaction(by console: CloudStore.Console) {
        typealias Plan = CloudStore.CompactionPlan
        let _: (UInt64) throws -> Plan = console.compactionPlan(before:)
        let _: (UInt64) throws -> CloudStore.Compaction = console.compact(before:)
        let _: KeyPath<Plan, Int> = \.freedBytes
        let _: KeyPath<Plan, UInt64> = \.horizon
        let _: KeyPath<Plan, Int> = \.segmentCount
        let _: KeyPath<Plan, [Plan.Zone]> = \.zones
        let _: [KeyPath<Plan.Zone, Int>] = [\.byteCount, \.changeCount, \.recordCount]
        let _: KeyPath<Plan.Zone, String?> = \.user
        let _: KeyPath<Plan.Zone, String> = \.zoneName
        let _: [KeyPath<CloudStore.Compaction, Int>] = [\.assetCount, \.baseBytes, \.freedBytes, \.segmentCount]
        let _: KeyPath<CloudStore.Compaction, UInt64> = \.horizon
    }

    private func notifications(of container: CKContainer) {
        gives(container, \.remoteNotifications, AsyncStream<RemoteNotification>.self)
        let _: KeyPath<RemoteNotification, String?> = \.collapseID
        let _: KeyPath<RemoteNotification, Bool> = \.isVisible
        let _: KeyPath<RemoteNotification, RemoteNotification.Priority> = \.priority
        let _: KeyPath<RemoteNotification, CKSubscription.ID> = \.subscriptionID
        let _: KeyPath<RemoteNotification, [AnyHashable: Any]> = \.userInfo
        let _: [RemoteNotification.Priority] = [.background, .immediate]
        _ = RemoteNotification.Priority(rawValue: 10)
    }
}
