import CloudKit
import StrataSystem

/// An app on one device: it keeps texts by record, and has an engine that syncs them.
final class SyncDevice: CKSyncEngineDelegate {
    struct Content {
        var texts: [CKRecord.ID: String] = [:]
        /// The records as the store is known to have them.
        var known: [CKRecord.ID: CKRecord] = [:]
        var events: [CKSyncEngine.Event] = []
        var batches: [CKSyncEngine.SendChangesContext] = []
    }

    typealias Hook = @Sendable (CKSyncEngine.Event, CKSyncEngine) async -> Void

    let content = Lock(Content())
    private let hook = Lock<Hook?>(nil)
    private let fetchOptions = Lock<CKSyncEngine.FetchChangesOptions?>(nil)
    private let batch =
        Lock<(@Sendable (CKSyncEngine.SendChangesContext, CKSyncEngine) async -> CKSyncEngine.RecordZoneChangeBatch?)?>(
            nil)

    func onEvent(_ hook: @escaping Hook) { self.hook.withLock { $0 = hook } }

    func onBatch(
        _ hook:
            @escaping @Sendable (CKSyncEngine.SendChangesContext, CKSyncEngine) async -> CKSyncEngine
            .RecordZoneChangeBatch?
    ) { batch.withLock { $0 = hook } }

    func chooseOptions(_ options: CKSyncEngine.FetchChangesOptions?) { fetchOptions.withLock { $0 = options } }

    var events: [CKSyncEngine.Event] { content.withLock { $0.events } }
    var texts: [CKRecord.ID: String] { content.withLock { $0.texts } }

    /// The names of the events but those about the state.
    var journal: [String] { events.compactMap { $0.shortName } }

    var states: [CKSyncEngine.State.Serialization] {
        events.compactMap { if case .stateUpdate(let update) = $0 { update.stateSerialization } else { nil } }
    }

    func forgetEvents() { content.withLock { $0.events = [] } }

    func set(_ text: String, _ id: CKRecord.ID) { content.withLock { $0.texts[id] = text } }

    func record(_ id: CKRecord.ID) -> CKRecord? {
        content.withLock { content in
            guard let text = content.texts[id] else { return nil }
            let record = content.known[id] ?? CKRecord(recordType: "Note", recordID: id)
            record["text"] = text
            return record
        }
    }

    // MARK: CKSyncEngineDelegate

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        content.withLock { content in
            content.events.append(event)
            switch event {
            case .fetchedRecordZoneChanges(let changes):
                for change in changes.modifications {
                    content.known[change.record.recordID] = change.record
                    content.texts[change.record.recordID] = change.record["text"]
                }
                for deletion in changes.deletions {
                    content.known[deletion.recordID] = nil
                    content.texts[deletion.recordID] = nil
                }
            case .sentRecordZoneChanges(let sent):
                for record in sent.savedRecords { content.known[record.recordID] = record }
            default: break
            }
        }
        if let hook = hook.withLock({ $0 }) { await hook(event, syncEngine) }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        content.withLock { $0.batches.append(context) }
        if let batch = batch.withLock({ $0 }) { return await batch(context, syncEngine) }
        let scope = context.options.scope
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { self.record($0) }
    }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        fetchOptions.withLock { $0 } ?? context.options
    }
}

extension CKSyncEngine.Event {
    /// The kind of event with the counts of its items; nil for a state.
    var shortName: String? {
        switch self {
        case .stateUpdate: nil
        case .accountChange(let change):
            switch change.changeType {
            case .signIn: "sign in"
            case .signOut: "sign out"
            case .switchAccounts: "switch"
            }
        case .fetchedDatabaseChanges(let changes):
            "database \(changes.modifications.count)-\(changes.deletions.count)"
        case .fetchedRecordZoneChanges(let changes):
            "records \(changes.modifications.count)-\(changes.deletions.count)"
        case .sentDatabaseChanges(let sent):
            "zones \(sent.savedZones.count)/\(sent.failedZoneSaves.count)"
                + "-\(sent.deletedZoneIDs.count)/\(sent.failedZoneDeletes.count)"
        case .sentRecordZoneChanges(let sent):
            "sent \(sent.savedRecords.count)/\(sent.failedRecordSaves.count)"
                + "-\(sent.deletedRecordIDs.count)/\(sent.failedRecordDeletes.count)"
        case .willFetchChanges: "will fetch"
        case .willFetchRecordZoneChanges(let event): "will fetch \(event.zoneID.zoneName)"
        case .didFetchRecordZoneChanges(let event):
            "did fetch \(event.zoneID.zoneName)\(event.error.map { " \($0.code)" } ?? "")"
        case .didFetchChanges: "did fetch"
        case .willSendChanges: "will send"
        case .didSendChanges: "did send"
        }
    }
}
