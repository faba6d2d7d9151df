import CloudKit

/// One thing to do; unsent if the cloud does not have it as it is.
struct Item: Codable {
    let text: String
    var isDone = false
    var isRemoved = false
    var isUnsent = true
    /// The record's system fields as the cloud last had them; nil if the record is not there.
    var systemFields: Data?
    var line: String { "[\(isDone ? "x" : " ")] \(text)" }
}

/// The file of a list: its items by the names of their records, and the state of the engine that belongs to them.
private struct Saved: Codable {
    var items: [String: Item] = [:]
    var state: CKSyncEngine.State.Serialization?
}

/// The list of one device, and the delegate of the engine that syncs it.
actor TodoList: CKSyncEngineDelegate {
    private let zone = CKRecordZone(zoneName: "Todo")
    private var saved = Saved()

    init(file: URL) throws {
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        saved = try JSONDecoder().decode(Saved.self, from: Data(contentsOf: file))
    }

    func write(to file: URL) throws { try JSONEncoder().encode(saved).write(to: file, options: .atomic) }

    var lines: [String] { saved.items.values.filter { !$0.isRemoved }.map(\.line).sorted() }

    func add(_ text: String) { saved.items[UUID().uuidString] = Item(text: text) }

    /// Marks the items with a text as done or removed. Returns false if there are none.
    func mark(_ text: String, _ mark: WritableKeyPath<Item, Bool> & Sendable) -> Bool {
        let found = saved.items.filter { $0.value.text == text && !$0.value.isRemoved }
        for (name, var item) in found {
            (item[keyPath: mark], item.isUnsent) = (true, true)
            saved.items[name] = item
        }
        return !found.isEmpty
    }

    func sync(with database: CKDatabase) async throws {
        var options = CKSyncEngine.Configuration(database: database, stateSerialization: saved.state, delegate: self)
        options.automaticallySync = false
        let engine = CKSyncEngine(options)
        try await engine.fetchChanges()
        for attempt in 1... {
            let changes = saved.items.filter(\.value.isUnsent).map { name, item in
                let id = CKRecord.ID(recordName: name, zoneID: zone.zoneID)
                return item.isRemoved ? CKSyncEngine.PendingRecordZoneChange.deleteRecord(id) : .saveRecord(id)
            }
            if !changes.isEmpty { engine.state.add(pendingDatabaseChanges: [.saveZone(zone)]) }  // It may exist.
            engine.state.remove(pendingRecordZoneChanges: engine.state.pendingRecordZoneChanges)
            engine.state.add(pendingRecordZoneChanges: changes)
            // A conflict fails the send, but the delegate has merged the records: the next send saves the result.
            do { return try await engine.sendChanges() } catch CKError.partialFailure where attempt < 5 {}
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { await self.record($0) }
    }

    private func record(_ id: CKRecord.ID) -> CKRecord? {
        guard let item = saved.items[id.recordName] else { return nil }
        let coder = item.systemFields.flatMap { try? NSKeyedUnarchiver(forReadingFrom: $0) }
        let record = coder.flatMap { CKRecord(coder: $0) } ?? CKRecord(recordType: "Item", recordID: id)
        (record["text"], record["isDone"]) = (item.text, item.isDone)
        return record
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update): saved.state = update.stateSerialization
        case .accountChange(let change):
            // The first account gets a list that was made before; no other account does.
            if case .signIn = change.changeType {} else { saved.items = [:] }
        case .fetchedDatabaseChanges(let changes):
            // The user deleted the list in Settings, and does not want it back.
            if changes.deletions.contains(where: { $0.zoneID == zone.zoneID }) { saved.items = [:] }
        case .fetchedRecordZoneChanges(let changes):
            for change in changes.modifications { merge(change.record) }
            for deletion in changes.deletions { forget(deletion.recordID) }
        case .sentRecordZoneChanges(let sent):
            let conflicts = sent.failedRecordSaves.compactMap(\.error.serverRecord)
            let missing = sent.failedRecordSaves.filter { $0.error.code == .unknownItem }.map(\.record.recordID)
            for record in sent.savedRecords + conflicts { merge(record) }
            for id in sent.deletedRecordIDs + missing { forget(id) }
        default: break
        }
    }

    /// Takes over a record of the cloud. Done anywhere is done.
    private func merge(_ record: CKRecord) {
        var item = saved.items[record.recordID.recordName] ?? Item(text: record["text"] ?? "")
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: coder)
        item.systemFields = coder.encodedData
        item.isUnsent = item.isRemoved || item.isDone && record["isDone"] != true
        item.isDone = item.isDone || record["isDone"] == true
        saved.items[record.recordID.recordName] = item
    }

    /// Forgets an item whose record is gone, unless an edit is not sent: then it will be a new record.
    private func forget(_ id: CKRecord.ID) {
        guard let item = saved.items.removeValue(forKey: id.recordName), item.isUnsent, !item.isRemoved else { return }
        saved.items[id.recordName] = Item(text: item.text, isDone: item.isDone)
    }
}
