/// Keeps local data in sync with a private or shared database: sends what changed here, fetches what changed elsewhere.
///
/// ```swift
/// var configuration = CKSyncEngine.Configuration(
///     database: container.privateCloudDatabase, stateSerialization: lastState, delegate: self)
/// let engine = CKSyncEngine(configuration)
/// engine.state.add(pendingRecordZoneChanges: [.saveRecord(note.recordID)])
/// ```
///
/// The program's part is a ``CKSyncEngineDelegate``, which provides the records to send and handles all events. The
/// engine schedules syncs by itself unless its configuration says otherwise; it stops when it is released.
public final class CKSyncEngine: Sendable, CustomStringConvertible {
    let core: SyncCore

    /// Creates an engine and starts it. The delegate gets its first event 100 ms later on the store's clock, or in the
    /// first call of ``fetchChanges(_:)`` or ``sendChanges(_:)``, so that it can be assigned to a property before.
    public init(_ configuration: Configuration) {
        core = SyncCore(configuration)
        core.start(for: self)
    }

    deinit { core.stop() }

    /// The database that the engine syncs with.
    public var database: CKDatabase { core.database }

    /// The changes to send and to fetch.
    public var state: State { core.state }

    /// Fetches changes now, and returns once the delegate has handled them. During another fetch that covers the
    /// options' scope, it only waits for that one (B432).
    ///
    /// - Throws: The first error that the fetch did not handle itself; `invalidArguments` in a callback.
    public func fetchChanges(_ options: FetchChangesOptions = .init()) async throws {
        try await core.fetch(options)
    }

    /// Sends pending changes now, and returns once the delegate has handled the results.
    ///
    /// - Throws: `partialFailure` with the errors of the items that failed, or the error of a request that failed as a
    ///   whole (B413); `invalidArguments` in a callback of the delegate.
    public func sendChanges(_ options: SendChangesOptions = .init()) async throws {
        try await core.send(options)
    }

    /// Cancels running and waiting syncs, and returns once they have ended. In a callback of the delegate it returns
    /// immediately. Requests that are under way may still succeed (B240).
    public func cancelOperations() async { await core.cancelAll() }

    /// Compares the account with that of the state, and reports the state if it changed, without waiting for further
    /// changes.
    package func reportState() async { await core.reportState() }

    public var description: String {
        let note = core.droppedStateNote.map { ", \($0)" } ?? ""
        let automatic = core.automaticallySync ? "automatic" : "manual"
        return "<CKSyncEngine of \(database), \(automatic)\(note)>"
    }
}
