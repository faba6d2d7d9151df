import CloudKit
import Foundation
import StrataSystem
import StrataTesting

/// A small synced app: numbers by name. In a conflict the larger number wins.
// @unchecked: locks protect all mutable state; it is not final for its canaries.
class BenchNotes: SyncBenchApp, @unchecked Sendable {
    static let zone = CKRecordZone.ID(zoneName: "Notes")
    private static let type = "Number"

    struct Note: Codable {
        var number: Int?
        var system: Data?
        /// True if it must be sent; a note without a number is deleted.
        var isDirty = true
    }

    struct Disk: Codable {
        var notes: [String: Note] = [:]
        var state: CKSyncEngine.State.Serialization?
    }

    let content: Lock<Disk>
    private let engine = Lock<CKSyncEngine?>(nil)

    required init(disk: Data?) {
        let kept = disk.flatMap { try? JSONDecoder().decode(Disk.self, from: $0) }
        content = Lock(kept ?? Disk())
    }

    var disk: Data { (try? JSONEncoder().encode(content.withLock { $0 })) ?? Data() }
    var engineState: CKSyncEngine.State.Serialization? { content.withLock { $0.state } }
    var contents: [String: String] { content.withLock { $0.notes.compactMapValues { $0.number.map { "\($0)" } } } }

    func use(_ engine: CKSyncEngine) {
        self.engine.withLock { $0 = engine }
        resend(to: engine)
    }

    /// Adds everything that is not sent, which the engine's state may lack.
    func resend(to engine: CKSyncEngine) {
        let dirty = content.withLock { $0.notes.filter { $0.value.isDirty } }
        if !dirty.isEmpty { engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zone))]) }
        engine.state.add(
            pendingRecordZoneChanges: dirty.sorted { $0.key < $1.key }.map { name, note in
                note.number == nil ? .deleteRecord(id(name)) : .saveRecord(id(name))
            })
    }

    func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: Self.zone) }

    func edit(using random: inout SyncBenchRandom) {
        let name = "n\(Int.random(in: 0..<8, using: &random))"
        let number: Int? = Int.random(in: 0..<5, using: &random) == 0 ? nil : Int.random(in: 0..<1_000, using: &random)
        content.withLock { content in
            guard number != nil || content.notes[name] != nil else { return }
            content.notes[name, default: Note()].number = number
            content.notes[name]?.isDirty = true
        }
        if let engine = engine.withLock({ $0 }) { resend(to: engine) }
    }

    func record(_ id: CKRecord.ID) -> CKRecord? {
        guard let note = content.withLock({ $0.notes[id.recordName] }), let number = note.number else { return nil }
        var record = CKRecord(recordType: Self.type, recordID: id)
        if let system = note.system, let archive = try? NSKeyedUnarchiver(forReadingFrom: system) {
            archive.requiresSecureCoding = true
            record = CKRecord(coder: archive) ?? record
        }
        record["number"] = number
        return record
    }

    func system(of record: CKRecord) -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        return archiver.encodedData
    }

    // MARK: CKSyncEngineDelegate

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let scope = context.options.scope
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            let record = self.record(id)
            if record == nil { syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)]) }
            return record
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update): keep(update.stateSerialization)
        case .accountChange: resend(to: syncEngine)
        case .fetchedDatabaseChanges(let changes):
            // The user deleted the zone: what was in it is gone, also what was not sent.
            if changes.deletions.contains(where: { $0.zoneID == Self.zone }) { forgetAll(syncEngine) }
        case .fetchedRecordZoneChanges(let changes):
            for change in changes.modifications { merge(change.record) }
            for deletion in changes.deletions { delete(deletion.recordID) }
        case .sentRecordZoneChanges(let sent): handle(sent, syncEngine)
        default: break
        }
    }

    func keep(_ state: CKSyncEngine.State.Serialization) { content.withLock { $0.state = state } }

    func forgetAll(_ engine: CKSyncEngine) {
        content.withLock { $0.notes = [:] }
        engine.state.remove(pendingRecordZoneChanges: engine.state.pendingRecordZoneChanges)
        engine.state.remove(pendingDatabaseChanges: engine.state.pendingDatabaseChanges)
    }

    func merge(_ record: CKRecord) {
        let number = record["number"] as Int?
        content.withLock { content in
            var note = content.notes[record.recordID.recordName] ?? Note(isDirty: false)
            note.system = system(of: record)
            if !note.isDirty { note.number = number }
            content.notes[record.recordID.recordName] = note
        }
    }

    private func delete(_ id: CKRecord.ID) {
        content.withLock { content in
            guard let note = content.notes[id.recordName] else { return }
            // An edit survives the deletion, as a new record.
            content.notes[id.recordName] = note.isDirty && note.number != nil ? Note(number: note.number) : nil
        }
    }

    private func handle(_ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ engine: CKSyncEngine) {
        for record in sent.savedRecords {
            content.withLock { content in
                guard var note = content.notes[record.recordID.recordName] else { return }
                note.system = system(of: record)
                if note.number == record["number"] as Int? { note.isDirty = false }
                content.notes[record.recordID.recordName] = note
            }
        }
        for id in sent.deletedRecordIDs {
            content.withLock { content in
                if content.notes[id.recordName]?.number == nil { content.notes[id.recordName] = nil }
            }
        }
        for failed in sent.failedRecordSaves { handle(failed, engine) }
        for (id, error) in sent.failedRecordDeletes.sorted(by: { $0.key.recordName < $1.key.recordName }) {
            switch error.code {
            case .unknownItem, .zoneNotFound, .userDeletedZone:
                content.withLock { content in
                    if content.notes[id.recordName]?.number == nil { content.notes[id.recordName] = nil }
                }
            case .limitExceeded: engine.state.add(pendingRecordZoneChanges: [.deleteRecord(id)])
            default: break
            }
        }
    }

    func handle(
        _ failed: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave, _ engine: CKSyncEngine
    ) {
        let id = failed.record.recordID
        switch failed.error.code {
        case .serverRecordChanged:
            guard let server = failed.error.serverRecord else { return }
            let number = server["number"] as Int? ?? 0
            content.withLock { content in
                content.notes[id.recordName]?.system = system(of: server)
                let known = content.notes[id.recordName]?.number ?? 0
                content.notes[id.recordName]?.number = max(number, known)
            }
        case .zoneNotFound:
            content.withLock { $0.notes[id.recordName]?.system = nil }
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zone))])
        case .unknownItem: content.withLock { $0.notes[id.recordName]?.system = nil }
        case .userDeletedZone: return forgetAll(engine)
        case .limitExceeded: break
        default: return
        }
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }
}

/// Compares its notes with the store's after each fetch, since no engine reports what an expired token hid (B434).
// @unchecked: like its superclass; it adds nothing.
final class ComparingNotes: BenchNotes, @unchecked Sendable {
    override func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        await super.handleEvent(event, syncEngine: syncEngine)
        guard case .didFetchChanges = event else { return }
        do {
            let changes = try await syncEngine.database.recordZoneChanges(inZoneWith: Self.zone, since: nil)
            guard !changes.moreComing else { return }
            dropOthers(than: Set(changes.modificationResultsByID.keys.map(\.recordName)))
        } catch let error as CKError where error.code == .zoneNotFound || error.code == .userDeletedZone {
            dropOthers(than: [])
        } catch {
            // The next fetch compares again.
        }
    }

    /// Drops the notes that the store does not have; an edit survives, as a new record.
    private func dropOthers(than names: Set<String>) {
        content.withLock { content in
            content.notes = content.notes.filter { names.contains($0.key) || $0.value.isDirty }
        }
    }
}

/// Keeps each state before the data that it belongs to: a canary.
// @unchecked: like its superclass; a lock protects what it adds.
final class AheadNotes: BenchNotes, @unchecked Sendable {
    /// The notes of the last state, and of the one before.
    private let written = Lock<(last: [String: Note], before: [String: Note])>(([:], [:]))

    override var disk: Data {
        var disk = content.withLock { $0 }
        disk.notes = written.withLock { $0.before }
        return (try? JSONEncoder().encode(disk)) ?? Data()
    }

    override func keep(_ state: CKSyncEngine.State.Serialization) {
        super.keep(state)
        let notes = content.withLock { $0.notes }
        written.withLock { $0 = (notes, $0.last) }
    }
}

/// Forgets a failed item instead of sending it again: a canary.
// @unchecked: like its superclass; it adds nothing.
final class ForgetfulNotes: BenchNotes, @unchecked Sendable {
    override func handle(
        _ failed: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave, _ engine: CKSyncEngine
    ) {
        content.withLock { $0.notes[failed.record.recordID.recordName]?.isDirty = false }
    }
}
