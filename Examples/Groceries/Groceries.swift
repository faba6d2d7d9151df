import CloudKit
import Foundation

/// One item of the list: what the user sees, and what the next save needs.
struct Item: Codable {
    var count = 1
    var isBought = false
    /// True if the cloud does not have the item as it is.
    var isUnsent = true
    /// The record's system fields as the cloud last had them; nil if the record is not there.
    var systemFields: Data?
}

/// Everything that the app has to remember, in one file.
struct Saved: Codable {
    var items: [String: Item] = [:]
    /// The names of removed items that the cloud may still have.
    var removed: Set<String> = []
    /// True if the zone is in the cloud.
    var hasZone = false
    var engineState: CKSyncEngine.State.Serialization?
}

/// A shopping list that is the same on all devices of its user.
actor Groceries: CKSyncEngineDelegate {
    private static let zoneID = CKRecordZone.ID(zoneName: "Groceries")

    /// The list after each change.
    nonisolated let updates: AsyncStream<[String]>
    private let changed: AsyncStream<[String]>.Continuation
    private let file: URL
    private var saved = Saved()
    private var engine: CKSyncEngine?

    init(file: URL) throws {
        (updates, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.file = file
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        saved = try JSONDecoder().decode(Saved.self, from: Data(contentsOf: file))
    }

    func start(in database: CKDatabase, automatically: Bool = true) {
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: saved.engineState, delegate: self)
        configuration.automaticallySync = automatically
        let engine = CKSyncEngine(configuration)
        self.engine = engine
        addUnsent(to: engine)
    }

    func stop() async {
        await engine?.cancelOperations()
        engine = nil
    }

    var lines: [String] {
        saved.items.sorted { $0.key < $1.key }.map { name, item in "\(item.count) \(name)\(item.isBought ? " ✓" : "")" }
    }

    func set(_ name: String, count: Int = 1, isBought: Bool = false) {
        saved.removed.remove(name)
        let systemFields = saved.items[name]?.systemFields
        saved.items[name] = Item(count: count, isBought: isBought, systemFields: systemFields)
        write()
        if let engine { addUnsent(to: engine) }
    }

    func remove(_ name: String) {
        guard saved.items.removeValue(forKey: name) != nil else { return }
        saved.removed.insert(name)
        write()
        if let engine { addUnsent(to: engine) }
    }

    func send() async throws { try await engine?.sendChanges() }

    func fetch() async throws { try await engine?.fetchChanges() }

    // MARK: Sending

    private func addUnsent(to engine: CKSyncEngine) {
        let unsent = saved.items.filter { $0.value.isUnsent }.keys.sorted().map { name in
            CKSyncEngine.PendingRecordZoneChange.saveRecord(id(of: name))
        }
        let removed = saved.removed.sorted().map { CKSyncEngine.PendingRecordZoneChange.deleteRecord(id(of: $0)) }
        if !unsent.isEmpty, !saved.hasZone {
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zoneID))])
        }
        engine.state.add(pendingRecordZoneChanges: unsent + removed)
    }

    private func id(of name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: Self.zoneID) }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            let record = await self.record(id)
            if record == nil { syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)]) }
            return record
        }
    }

    private func record(_ id: CKRecord.ID) -> CKRecord? {
        guard let item = saved.items[id.recordName] else { return nil }
        var record = CKRecord(recordType: "Item", recordID: id)
        if let data = item.systemFields, let coder = try? NSKeyedUnarchiver(forReadingFrom: data) {
            coder.requiresSecureCoding = true
            record = CKRecord(coder: coder) ?? record
        }
        record["count"] = item.count
        record["isBought"] = item.isBought
        return record
    }

    private func systemFields(of record: CKRecord) -> Data {
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: coder)
        return coder.encodedData
    }

    // MARK: Events

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update): saved.engineState = update.stateSerialization
        case .accountChange(let change): accountChanged(change.changeType, syncEngine)
        case .fetchedDatabaseChanges(let changes): fetched(changes)
        case .fetchedRecordZoneChanges(let changes): fetched(changes)
        case .sentDatabaseChanges(let sent): saved.hasZone = saved.hasZone || !sent.savedZones.isEmpty
        case .sentRecordZoneChanges(let sent): recordsSent(sent, syncEngine)
        default: return
        }
        write()
    }

    private func write() {
        do {
            try JSONEncoder().encode(saved).write(to: file, options: .atomic)
        } catch {
            print("The list cannot be kept: \(error)")
        }
        changed.yield(lines)
    }

    private func fetched(_ changes: CKSyncEngine.Event.FetchedDatabaseChanges) {
        if changes.modifications.contains(where: { $0.zoneID == Self.zoneID }) { saved.hasZone = true }
        // Another device, or the user in the settings, deleted the whole list.
        if changes.deletions.contains(where: { $0.zoneID == Self.zoneID }) { forgetAll() }
    }

    private func fetched(_ changes: CKSyncEngine.Event.FetchedRecordZoneChanges) {
        for change in changes.modifications { merge(change.record) }
        for deletion in changes.deletions {
            let name = deletion.recordID.recordName
            saved.removed.remove(name)
            // An edit that is not sent survives the deletion, as a new record.
            if saved.items[name]?.isUnsent == true {
                saved.items[name]?.systemFields = nil
            } else {
                saved.items[name] = nil
            }
        }
    }

    private func merge(_ record: CKRecord) {
        let name = record.recordID.recordName
        guard !saved.removed.contains(name) else { return }
        var item = saved.items[name] ?? Item(isUnsent: false)
        let count: Int = record["count"] ?? 1
        let isBought: Bool = record["isBought"] ?? false
        item.count = item.isUnsent ? max(item.count, count) : count
        item.isBought = item.isUnsent && item.isBought || isBought
        item.systemFields = systemFields(of: record)
        saved.items[name] = item
    }

    private func recordsSent(_ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ engine: CKSyncEngine) {
        for record in sent.savedRecords {
            guard var item = saved.items[record.recordID.recordName] else { continue }
            item.systemFields = systemFields(of: record)
            // The user may have changed it while it was sent.
            item.isUnsent = record["count"] != item.count || record["isBought"] != item.isBought
            saved.items[record.recordID.recordName] = item
        }
        for id in sent.deletedRecordIDs { saved.removed.remove(id.recordName) }
        for failure in sent.failedRecordSaves { notSaved(failure, engine) }
        let isGone: [CKError.Code] = [.unknownItem, .zoneNotFound, .userDeletedZone]
        for (id, error) in sent.failedRecordDeletes where isGone.contains(error.code) {
            saved.removed.remove(id.recordName)
        }
    }

    private func notSaved(
        _ failure: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave, _ engine: CKSyncEngine
    ) {
        let name = failure.record.recordID.recordName
        switch failure.error.code {
        case .serverRecordChanged:
            guard let server = failure.error.serverRecord else { return }
            merge(server)
        case .unknownItem:
            saved.items[name]?.systemFields = nil
        case .zoneNotFound:
            saved.items[name]?.systemFields = nil
            saved.hasZone = false
        case .userDeletedZone:
            return forgetAll()
        default:
            // The engine sends it again by itself, or it waits for a change by the user.
            return
        }
        addUnsent(to: engine)
    }

    private func forgetAll() {
        saved.items = [:]
        saved.removed = []
        saved.hasZone = false
    }

    private func accountChanged(
        _ change: CKSyncEngine.Event.AccountChange.ChangeType, _ engine: CKSyncEngine
    ) {
        switch change {
        // A list that was made before is sent to the first account.
        case .signIn: addUnsent(to: engine)
        case .signOut, .switchAccounts: forgetAll()
        }
    }
}
