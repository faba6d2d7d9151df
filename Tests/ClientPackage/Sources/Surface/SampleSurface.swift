import CloudKit

/// The shape of Apple's sample of the sync engine: an actor that is the delegate, and makes its engine when needed.
struct SampleSurface: Section {
    func check() async throws {
        let store = try CloudStore.inMemory()
        let phone = SampleDatabase(store.container(user: "anna", device: "phone").privateCloudDatabase)
        let tablet = SampleDatabase(store.container(user: "anna", device: "tablet").privateCloudDatabase)
        try await phone.save("a", "first")
        try await phone.engine.sendChanges()
        try await tablet.engine.fetchChanges()
        try expect(await tablet.names == ["a": "first"])
        try await tablet.save("a", "second")
        try await tablet.engine.sendChanges()
        try await phone.save("a", "third")
        do {
            try await phone.engine.sendChanges()
            throw Unexpected("a conflict is not thrown")
        } catch let error as CKError {
            try expect(error.code == .partialFailure)
        }
        try expect(await phone.engine.state.pendingRecordZoneChanges.count == 1)
        try await phone.engine.sendChanges()
        try await tablet.engine.fetchChanges()
        try expect(await tablet.names == ["a": "third"])
        try await tablet.delete("a")
        try await tablet.engine.sendChanges()
        try await phone.engine.fetchChanges()
        try expect(await phone.names.isEmpty)
    }
}

/// What a sample keeps on its disk.
private struct SampleData: Codable, Sendable {
    struct Item: Codable, Sendable {
        var name: String
        var systemFields: Data?
    }

    var items: [String: Item] = [:]
    var stateSerialization: CKSyncEngine.State.Serialization?
}

private actor SampleDatabase: CKSyncEngineDelegate {
    private static let zoneName = "Items"

    private let database: CKDatabase
    private var data = SampleData()
    private var madeEngine: CKSyncEngine?
    /// The last known records, for a statically linked Foundation, which archives nothing.
    private var known: [String: CKRecord] = [:]

    init(_ database: CKDatabase) { self.database = database }

    var names: [String: String] { data.items.mapValues(\.name) }

    var engine: CKSyncEngine {
        if let madeEngine { return madeEngine }
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: data.stateSerialization, delegate: self)
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        madeEngine = engine
        return engine
    }

    private func recordID(_ id: String) -> CKRecord.ID {
        CKRecord.ID(recordName: id, zoneID: CKRecordZone.ID(zoneName: Self.zoneName))
    }

    func save(_ id: String, _ name: String) throws {
        data.items[id, default: SampleData.Item(name: name)].name = name
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(recordID(id))])
        try keep()
    }

    func delete(_ id: String) throws {
        data.items[id] = nil
        engine.state.add(pendingRecordZoneChanges: [.deleteRecord(recordID(id))])
        try keep()
    }

    /// Encodes everything, as a sample writes it to its file.
    private func keep() throws { data = try JSONDecoder().decode(SampleData.self, from: JSONEncoder().encode(data)) }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let event):
            data.stateSerialization = event.stateSerialization
            try? keep()
        case .accountChange(let event): handle(event)
        case .fetchedDatabaseChanges(let event):
            for deletion in event.deletions where deletion.zoneID.zoneName == Self.zoneName { data.items = [:] }
        case .fetchedRecordZoneChanges(let event):
            for modification in event.modifications { merge(modification.record) }
            for deletion in event.deletions { data.items[deletion.recordID.recordName] = nil }
        case .sentRecordZoneChanges(let event): handle(event)
        case .sentDatabaseChanges: break
        case .willFetchChanges, .willFetchRecordZoneChanges, .didFetchRecordZoneChanges, .didFetchChanges,
            .willSendChanges, .didSendChanges:
            break
        }
    }

    private func handle(_ event: CKSyncEngine.Event.AccountChange) {
        switch event.changeType {
        case .signIn:
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: Self.zoneName))])
            engine.state.add(pendingRecordZoneChanges: data.items.keys.map { .saveRecord(recordID($0)) })
        case .switchAccounts, .signOut:
            data = SampleData()
            madeEngine = nil
        }
    }

    private func handle(_ event: CKSyncEngine.Event.SentRecordZoneChanges) {
        var newChanges: [CKSyncEngine.PendingRecordZoneChange] = []
        var newZones: [CKSyncEngine.PendingDatabaseChange] = []
        for record in event.savedRecords { merge(record) }
        for failed in event.failedRecordSaves {
            let record = failed.record
            switch failed.error.code {
            case .serverRecordChanged:
                guard let serverRecord = failed.error.serverRecord else { continue }
                keepSystemFields(of: serverRecord)
                newChanges.append(.saveRecord(record.recordID))
            case .zoneNotFound:
                newZones.append(.saveZone(CKRecordZone(zoneID: record.recordID.zoneID)))
                newChanges.append(.saveRecord(record.recordID))
                forgetSystemFields(of: record)
            case .unknownItem:
                newChanges.append(.saveRecord(record.recordID))
                forgetSystemFields(of: record)
            case .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable, .notAuthenticated,
                .operationCancelled:
                break
            default: break
            }
        }
        engine.state.add(pendingDatabaseChanges: newZones)
        engine.state.add(pendingRecordZoneChanges: newChanges)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let scope = context.options.scope
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
        let (items, known) = (data.items, known)
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
            guard let item = items[recordID.recordName] else {
                syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
                return nil
            }
            let record =
                Self.unarchived(item) ?? known[recordID.recordName] ?? CKRecord(recordType: "Item", recordID: recordID)
            record.encryptedValues["name"] = item.name
            return record
        }
        return batch
    }

    // MARK: Records

    private static func unarchived(_ item: SampleData.Item) -> CKRecord? {
        guard let data = item.systemFields, let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else {
            return nil
        }
        unarchiver.requiresSecureCoding = true
        return CKRecord(coder: unarchiver)
    }

    private func merge(_ record: CKRecord) {
        let id = record.recordID.recordName
        data.items[id] = SampleData.Item(name: record.encryptedValues["name"] ?? "")
        keepSystemFields(of: record)
    }

    private func forgetSystemFields(of record: CKRecord) {
        data.items[record.recordID.recordName]?.systemFields = nil
        known[record.recordID.recordName] = nil
    }

    private func keepSystemFields(of record: CKRecord) {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        data.items[record.recordID.recordName]?.systemFields = archiver.encodedData
        known[record.recordID.recordName] = record
    }
}
