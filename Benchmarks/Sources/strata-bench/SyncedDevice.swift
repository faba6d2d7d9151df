import CloudKit
import StrataSystem

/// Makes small records of one zone, each under a new name.
final class SyncedRecords: Sendable {
    static let zone = CKRecordZone.ID(zoneName: "Tasks")
    private let next = Lock(0)

    func take(_ count: Int) -> [CKRecord] {
        let first = next.withLock { next in
            defer { next += count }
            return next
        }
        return (first..<first + count).map { number in
            let record = CKRecord(
                recordType: "Task", recordID: CKRecord.ID(recordName: "task-\(number)", zoneID: Self.zone))
            record["title"] = "The quick brown fox jumps over dog \(number)"
            record["priority"] = number % 100
            return record
        }
    }
}

/// The delegate of an engine: it has the records to send at hand, and only counts what comes.
final class SyncedApp: CKSyncEngineDelegate {
    private struct Content {
        var records: [CKRecord.ID: CKRecord] = [:]
        var receivedCount = 0
        var fetchCount = 0
        var lastState: CKSyncEngine.State.Serialization?
        var fetchWaiter: CheckedContinuation<Void, Never>?
    }

    private let content = Lock(Content())
    /// The times at which records came.
    let arrivals: AsyncStream<Double>
    private let arrival: AsyncStream<Double>.Continuation

    init() { (arrivals, arrival) = AsyncStream.makeStream(of: Double.self) }

    var receivedCount: Int { content.withLock { $0.receivedCount } }
    var fetchCount: Int { content.withLock { $0.fetchCount } }
    var lastState: CKSyncEngine.State.Serialization? { content.withLock { $0.lastState } }

    func keep(_ records: [CKRecord]) {
        content.withLock { content in for record in records { content.records[record.recordID] = record } }
    }

    /// Returns once the engine has fetched for the first time.
    func waitForFetch() async {
        await withCheckedContinuation { continuation in
            let hasFetched = content.withLock { content in
                if content.fetchCount == 0 { content.fetchWaiter = continuation }
                return content.fetchCount > 0
            }
            if hasFetched { continuation.resume() }
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .fetchedRecordZoneChanges(let changes):
            let now = secondsNow()
            content.withLock { $0.receivedCount += changes.modifications.count }
            arrival.yield(now)
        case .stateUpdate(let update): content.withLock { $0.lastState = update.stateSerialization }
        case .sentRecordZoneChanges(let sent):
            content.withLock { content in for record in sent.savedRecords { content.records[record.recordID] = nil } }
        case .didFetchChanges:
            let waiter = content.withLock { content in
                content.fetchCount += 1
                defer { content.fetchWaiter = nil }
                return content.fetchWaiter
            }
            waiter?.resume()
        default: break
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let scope = context.options.scope
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            self.content.withLock { $0.records[id] }
        }
    }
}

/// A device with an app and its engine.
final class SyncedDevice: Sendable {
    let app = SyncedApp()
    let engine: CKSyncEngine

    init(_ store: CloudStore, user: String, device: String, automatically: Bool) {
        var configuration = CKSyncEngine.Configuration(
            database: store.container(user: user, device: device).privateCloudDatabase, stateSerialization: nil,
            delegate: app)
        configuration.automaticallySync = automatically
        engine = CKSyncEngine(configuration)
    }
}

/// Two devices of a user with engines; the first one sends.
struct SyncedPair: Sendable {
    let source = SyncedRecords()
    let sender: SyncedDevice
    private let other: SyncedDevice
    var receiver: SyncedApp { other.app }

    init(_ store: CloudStore, user: String, automatically: Bool) {
        sender = SyncedDevice(store, user: user, device: "phone", automatically: automatically)
        other = SyncedDevice(store, user: user, device: "tablet", automatically: automatically)
    }

    /// Makes the zone, and lets both devices know it.
    func begin() async throws {
        sender.engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: SyncedRecords.zone))])
        try await sender.engine.sendChanges()
        try await sender.engine.fetchChanges()
        try await other.engine.fetchChanges()
    }

    func add(_ records: [CKRecord]) {
        sender.app.keep(records)
        sender.engine.state.add(pendingRecordZoneChanges: records.map { .saveRecord($0.recordID) })
    }

    func exchange(_ records: [CKRecord]) async throws {
        let before = receiver.receivedCount
        add(records)
        try await sender.engine.sendChanges()
        try await other.engine.fetchChanges()
        let count = receiver.receivedCount - before
        guard count == records.count else { throw BenchError(message: "\(count) of \(records.count) changes came") }
    }
}

/// Two devices of a user that make the engines' requests themselves.
final class CalledPair: Sendable {
    private static let batchSize = 250
    private static let pageSize = 200

    let source = SyncedRecords()
    private let sender: CKDatabase
    private let receiver: CKDatabase
    private let tokens = Lock<(database: CKServerChangeToken?, zone: CKServerChangeToken?)>((nil, nil))

    init(_ store: CloudStore, user: String) {
        sender = store.container(user: user, device: "phone").privateCloudDatabase
        receiver = store.container(user: user, device: "tablet").privateCloudDatabase
    }

    func begin() async throws {
        // The engines have one too, so that the store does the same work for both users.
        _ = try await receiver.save(CKDatabaseSubscription(subscriptionID: "changes"))
        _ = try await sender.modifyRecordZones(saving: [CKRecordZone(zoneID: SyncedRecords.zone)], deleting: [])
        _ = try await fetch()
    }

    func exchange(_ records: [CKRecord]) async throws {
        for start in stride(from: 0, to: records.count, by: Self.batchSize) {
            let batch = Array(records[start..<min(records.count, start + Self.batchSize)])
            let results = try await sender.modifyRecords(saving: batch, deleting: [], atomically: false)
            for result in results.saveResults.values { _ = try result.get() }
        }
        let count = try await fetch()
        guard count == records.count else { throw BenchError(message: "\(count) of \(records.count) changes came") }
    }

    /// Returns the number of records that came.
    private func fetch() async throws -> Int {
        var (database, zone) = tokens.withLock { $0 }
        let changes = try await receiver.databaseChanges(since: database)
        database = changes.changeToken
        var count = 0
        var isMoreComing = !changes.modifications.isEmpty
        while isMoreComing {
            let page = try await receiver.recordZoneChanges(
                inZoneWith: SyncedRecords.zone, since: zone, resultsLimit: Self.pageSize)
            for result in page.modificationResultsByID.values { if case .success = result { count += 1 } }
            zone = page.changeToken
            isMoreComing = page.moreComing
        }
        tokens.withLock { $0 = (database, zone) }
        return count
    }
}
