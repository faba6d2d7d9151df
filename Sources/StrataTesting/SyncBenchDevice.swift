import CloudKit
import StrataSystem

/// A device: the app's process, which can end, and its disk, which stays.
final class SyncBenchDevice<App: SyncBenchApp>: Sendable {
    private struct Process {
        let app: App
        let engine: CKSyncEngine
        let gate: SyncBenchGate<App>
    }

    private let database: CKDatabase
    private let process: Lock<Process>

    init(_ database: CKDatabase) {
        self.database = database
        process = Lock(Self.launch(nil, database))
    }

    private static func launch(_ disk: Data?, _ database: CKDatabase) -> Process {
        let app = App(disk: disk)
        let gate = SyncBenchGate(app)
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: app.engineState, delegate: gate)
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        app.use(engine)
        return Process(app: app, engine: engine, gate: gate)
    }

    func createZone(_ zoneID: CKRecordZone.ID) async throws { try await database.save(CKRecordZone(zoneID: zoneID)) }

    private var current: Process { process.withLock { $0 } }

    var contents: [String: String] { current.app.contents }

    /// True if there is nothing to send.
    var isIdle: Bool {
        let state = current.engine.state
        return state.pendingRecordZoneChanges.isEmpty && state.pendingDatabaseChanges.isEmpty
            && !state.hasPendingUntrackedChanges
    }

    func edit(_ number: UInt64) {
        var random = SyncBenchRandom(seed: number)
        current.app.edit(using: &random)
    }

    /// Errors are the app's: it was given them by events.
    func sync(sends: Bool = true, fetches: Bool = true) async {
        let process = current
        if sends { try? await process.engine.sendChanges() }
        if fetches { try? await process.engine.fetchChanges() }
    }

    /// Lets the process end after a number of callbacks.
    func end(afterCallbacks count: Int) { current.gate.close(after: count) }

    func relaunch() async {
        let ended = current
        ended.gate.close(after: 0)
        let next = Self.launch(ended.app.disk, database)
        process.withLock { $0 = next }
        await reportStart()
    }

    /// Returns once the engine has compared the account.
    func reportStart() async { await current.engine.reportState() }

    /// Returns once the engine has reported its state.
    func reportState() async { await current.engine.reportState() }
}

/// Passes callbacks on to an app until its process ends.
final class SyncBenchGate<App: SyncBenchApp>: CKSyncEngineDelegate {
    private let app: App
    /// The number of callbacks that are still passed on; nil for any number.
    private let remaining = Lock<Int?>(nil)

    init(_ app: App) { self.app = app }

    func close(after count: Int) { remaining.withLock { $0 = count } }

    private func pass() -> Bool {
        remaining.withLock { remaining in
            guard let count = remaining else { return true }
            remaining = max(count - 1, 0)
            return count > 0
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        if pass() { await app.handleEvent(event, syncEngine: syncEngine) }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        pass() ? await app.nextRecordZoneChangeBatch(context, syncEngine: syncEngine) : nil
    }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        pass() ? await app.nextFetchChangesOptions(context, syncEngine: syncEngine) : context.options
    }
}
