/// The program's part of syncing: it provides the records to send and handles all events.
///
/// Its methods are called one after another, on no particular thread. They must not await `fetchChanges`,
/// `sendChanges` or `cancelOperations` of the engine that calls them (B458).
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
    /// Handles an event. The engine continues once it returns.
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

    /// Returns the next changes to send; nil if there are none.
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch?

    /// Returns the options of the fetch that is about to begin; by default those of the context.
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
    /// Returns the options of the context.
    public func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        context.options
    }
}
