import CloudKit
import StrataSystem
import Testing

@testable import CloudKit

/// What an engine sends and reports: B231, B401 to B423.
@Suite("Sync: sending", .timeLimit(.minutes(10)))
struct SyncSendingTests {
    private let world: SyncStore
    private let phone = SyncDevice()
    private let engine: CKSyncEngine

    init() throws {
        world = try SyncStore()
        engine = world.engine(phone)
    }

    private func addZone() { engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: world.zone))]) }

    private func sendZone() async throws {
        addZone()
        try await engine.sendChanges()
        phone.forgetEvents()
    }

    @Test("B231 B409 a round trip: zones first, batches of 250, and the other device fetches all in pages")
    func roundTrip() async throws {
        addZone()
        for number in 0..<444 { world.add("n\(number)", to: phone, engine) }
        try await engine.sendChanges()
        #expect(
            phone.journal == [
                "sign in", "will send", "zones 1/0-0/0", "sent 250/0-0/0", "sent 194/0-0/0", "did send",
            ])
        #expect(engine.state.pendingRecordZoneChanges.isEmpty && engine.state.pendingDatabaseChanges.isEmpty)
        let tablet = SyncDevice()
        let other = world.engine(tablet, "tablet")
        try await other.fetchChanges()
        #expect(tablet.texts.count == 444)
        #expect(
            tablet.journal == [
                "sign in", "will fetch", "database 1-0", "will fetch Notes", "records 200-0", "records 200-0",
                "records 44-0", "did fetch Notes", "did fetch",
            ])
    }

    @Test("B401 B412 B413 B417 a conflict is reported and dropped, ends the cycle and is thrown")
    func conflict() async throws {
        try await sendZone()
        try await world.database("tablet").save(world.note("a", "theirs"))
        world.add("a", "mine", to: phone, engine)
        let (id, phone) = (world.id("a"), phone)
        phone.onEvent { event, engine in
            guard case .sentRecordZoneChanges(let sent) = event, let failed = sent.failedRecordSaves.first,
                let server = failed.error.serverRecord
            else { return }
            #expect(failed.error.code == .serverRecordChanged && engine.state.pendingRecordZoneChanges.isEmpty)
            phone.content.withLock { $0.known[id] = server }
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        }
        let error = await failure { try await engine.sendChanges() }
        #expect(error?.code == .partialFailure)
        #expect((error?.partialErrorsByItemID?[id] as? CKError)?.code == .serverRecordChanged)
        #expect(phone.journal == ["will send", "sent 0/1-0/0", "did send"])
        #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(id)])
        try await engine.sendChanges()
        #expect(try await world.database("tablet").record(for: id)["text"] == "mine")
    }

    @Test("B412 B415 a missing zone: what the handler adds goes out with the next call, zone first")
    func missingZone() async throws {
        world.add("a", to: phone, engine)
        let world = world
        phone.onEvent { event, engine in
            guard case .sentRecordZoneChanges(let sent) = event, let failed = sent.failedRecordSaves.first else {
                return
            }
            #expect(failed.error.code == .zoneNotFound)
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: world.zone))])
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(failed.record.recordID)])
        }
        #expect(await failure { try await engine.sendChanges() }?.code == .partialFailure)
        #expect(engine.state.pendingDatabaseChanges.count == 1 && engine.state.pendingRecordZoneChanges.count == 1)
        phone.forgetEvents()
        try await engine.sendChanges()
        #expect(phone.journal == ["will send", "zones 1/0-0/0", "sent 1/0-0/0", "did send"])
    }

    @Test("B406 B407 nothing pending: the batch is asked for once, and an empty one counts as nil")
    func nothing() async throws {
        try await sendZone()
        phone.content.withLock { $0.batches = [] }
        try await engine.sendChanges()
        #expect(phone.journal == ["will send", "did send"] && phone.content.withLock { $0.batches.count } == 1)
        phone.onBatch { _, _ in CKSyncEngine.RecordZoneChangeBatch() }
        try await engine.sendChanges()
        #expect(phone.journal.filter { $0.hasPrefix("sent") }.isEmpty)
    }

    @Test("B407 B411 B425 untracked records are sent and reported, and the flag is reset")
    func untracked() async throws {
        try await sendZone()
        engine.state.hasPendingUntrackedChanges = true
        let rest = Lock([world.note("a"), world.note("b")])
        phone.onBatch { _, _ in
            let record = rest.withLock { $0.popLast() }
            return record.map { CKSyncEngine.RecordZoneChangeBatch(recordsToSave: [$0]) }
        }
        try await engine.sendChanges()
        #expect(phone.journal == ["will send", "sent 1/0-0/0", "sent 1/0-0/0", "did send"])
        #expect(!engine.state.hasPendingUntrackedChanges)
    }

    @Test("B408 the scope is the delegate's for records, and the engine's for zones")
    func scope() async throws {
        try await sendZone()
        world.add("a", to: phone, engine)
        world.add("b", to: phone, engine)
        let other = CKRecordZone(zoneName: "Other")
        engine.state.add(pendingDatabaseChanges: [.saveZone(other)])
        try await engine.sendChanges(.init(scope: .recordIDs([world.id("b")])))
        #expect(phone.journal == ["will send", "sent 1/0-0/0", "did send"])
        #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(world.id("a"))])
        try await engine.sendChanges(.init(scope: .allExcluding([world.zone])))
        #expect(engine.state.pendingRecordZoneChanges.count == 1 && engine.state.pendingDatabaseChanges.isEmpty)
        try await engine.sendChanges(.init(scope: .zoneIDs([world.zone])))
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
    }

    @Test("B236 B409 a provider's nil leaves a change pending; nothing left is nil; bytes end a batch")
    func provider() async throws {
        let world = self.world
        let changes = ["a", "b", "c"].map { CKSyncEngine.PendingRecordZoneChange.saveRecord(world.id($0)) }
        let asked = Lock<[String]>([])
        let one = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes + [.deleteRecord(world.id("d"))]) {
            id in
            asked.withLock { $0.append(id.recordName) }
            return id.recordName == "b" ? world.note("b") : nil
        }
        #expect(one?.recordsToSave.map(\.recordID.recordName) == ["b"] && one?.recordIDsToDelete.count == 1)
        #expect(asked.withLock { $0 } == ["a", "b", "c"])
        #expect(await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { _ in nil } == nil)
        #expect(await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: []) { _ in nil } == nil)
        let large = (0..<10).map { CKSyncEngine.PendingRecordZoneChange.saveRecord(world.id("\($0)")) }
        let full = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: large) { id in
            world.note(id.recordName, String(repeating: "x", count: 400_000))
        }
        #expect(full?.recordsToSave.count == 4)
        try await sendZone()
        _ = try await world.database().modifyRecords(saving: try #require(full).recordsToSave, deleting: [])
    }

    @Test("B409 limit: 250 of 251 changes, and a delete counts")
    func batchLimit() async throws {
        let changes = (0..<251).map { CKSyncEngine.PendingRecordZoneChange.deleteRecord(world.id("\($0)")) }
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { _ in nil }
        #expect(batch?.recordIDsToDelete.count == 250)
        let all = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: Array(changes.prefix(250))) { _ in nil }
        #expect(all?.recordIDsToDelete.count == 250)
    }

    @Test("B410 B414 zones fail one by one, and do not stop records; the call throws at the end")
    func zones() async throws {
        try await sendZone()
        try world.store.console.failNext(of: .modifyRecordZones, with: .quotaExceeded, scope: .item)
        let zones = ["One", "Two"].map { CKRecordZone(zoneName: $0) }
        engine.state.add(pendingDatabaseChanges: zones.map { .saveZone($0) } + [.deleteZone(.init(zoneName: "None"))])
        world.add("a", to: phone, engine)
        let error = await failure { try await engine.sendChanges() }
        #expect(phone.journal == ["will send", "zones 1/1-0/1", "sent 1/0-0/0", "did send"])
        #expect(error?.partialErrorsByItemID?.count == 2)
        #expect(engine.state.pendingDatabaseChanges.isEmpty && engine.state.pendingRecordZoneChanges.isEmpty)
    }

    @Test("B415 a zone that a callback deletes after it was saved is deleted by the same send")
    func zoneAgain() async throws {
        let zone = CKRecordZone(zoneName: "Short")
        phone.onEvent { event, engine in
            guard case .sentDatabaseChanges(let sent) = event, !sent.savedZones.isEmpty else { return }
            engine.state.add(pendingDatabaseChanges: [.deleteZone(zone.zoneID)])
        }
        engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        try await engine.sendChanges()
        #expect(phone.journal == ["sign in", "will send", "zones 1/0-0/0", "zones 0/0-1/0", "did send"])
        #expect(engine.state.pendingDatabaseChanges.isEmpty)
    }

    @Test("B411 a batch beyond the limit: each item with limitExceeded, dropped, nothing stored")
    func ownBatch() async throws {
        try await sendZone()
        let world = world
        let records = (0..<401).map { world.note("\($0)") }
        engine.state.add(pendingRecordZoneChanges: records.map { .saveRecord($0.recordID) })
        phone.onBatch { _, _ in CKSyncEngine.RecordZoneChangeBatch(recordsToSave: records) }
        let error = await failure { try await engine.sendChanges() }
        #expect(error?.code == .limitExceeded)
        #expect(phone.journal == ["will send", "sent 0/401-0/0", "did send"])
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        #expect(try await world.database().recordZoneChanges(inZoneWith: world.zone, since: nil).0.isEmpty)
    }

    @Test("B237 B442 atomic by zone or not", arguments: [true, false])
    func atomic(isAtomic: Bool) async throws {
        try await sendZone()
        try await world.database("tablet").save(world.note("b"))
        let world = world
        let records = ["a", "b", "c"].map { world.note($0) }
        engine.state.add(pendingRecordZoneChanges: records.map { .saveRecord($0.recordID) })
        phone.onBatch { _, _ in .init(recordsToSave: records, atomicByZone: isAtomic) }
        let error = await failure { try await engine.sendChanges() }
        let codes = (error?.partialErrorsByItemID ?? [:]).values.compactMap { ($0 as? CKError)?.code.rawValue }.sorted()
        #expect(codes == (isAtomic ? [14, 22, 22] : [14]))
        #expect(phone.journal.contains(isAtomic ? "sent 0/3-0/0" : "sent 2/1-0/0"))
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
    }

    @Test("B418 B447 a delete that is added while the save is in flight goes with the next batch")
    func deleteInFlight() async throws {
        try await sendZone()
        world.add("a", to: phone, engine)
        let (world, phone, isFirst) = (world, phone, Lock(true))
        phone.onBatch { _, engine in
            let isFirst = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            guard isFirst else {
                let changes = engine.state.pendingRecordZoneChanges
                return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { phone.record($0) }
            }
            return .init(recordsToSave: [world.note("a")])
        }
        phone.onEvent { event, engine in
            guard case .sentRecordZoneChanges(let sent) = event, sent.savedRecords.count == 1 else { return }
            #expect(engine.state.pendingRecordZoneChanges == [.deleteRecord(world.id("a"))])
        }
        try world.store.console.setNetwork(.slow(.milliseconds(300)))
        async let sending: Void = engine.sendChanges()
        #expect(await soon { isSending })
        #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(world.id("a"))])
        engine.state.add(pendingRecordZoneChanges: [.deleteRecord(world.id("a"))])
        try await sending
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        #expect(phone.journal == ["will send", "sent 1/0-0/0", "sent 0/0-1/0", "did send"])
    }

    /// True while a change of a record is in flight.
    private var isSending: Bool {
        engine.state.content.withLock { $0.recordChanges.entries.contains { $0?.isInFlight == true } }
    }

    @Test("B419 a change that is removed while it is in flight: its result is reported, nothing is put back")
    func removeInFlight() async throws {
        try await sendZone()
        for code in [CKError.Code?.none, .zoneBusy, .quotaExceeded] {
            phone.forgetEvents()
            world.add("a", "\(code as Any)", to: phone, engine)
            try world.store.console.setNetwork(.slow(.milliseconds(200)))
            if let code { try world.store.console.failNext(of: .modifyRecords, with: code, scope: .item) }
            async let sending = failure { try await engine.sendChanges() }
            #expect(await soon { isSending })
            engine.state.remove(pendingRecordZoneChanges: [.saveRecord(world.id("a"))])
            let error = await sending
            #expect((error?.partialErrorsByItemID?[world.id("a")] as? CKError)?.code == code)
            #expect(phone.journal == ["will send", code == nil ? "sent 1/0-0/0" : "sent 0/1-0/0", "did send"])
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        }
    }

    /// Every code as the error of a record, of a zone and of a request: kept, or dropped.
    @Test("B235 B438 the table of errors", arguments: CKError.Code.allSyncCodes)
    func table(code: CKError.Code) async throws {
        try await sendZone()
        let isKept = [3, 4, 6, 7, 9, 20, 23, 34, 36].contains(code.rawValue)
        for scope in [CloudStore.FaultScope.item, .request] {
            phone.forgetEvents()
            world.add("a", "\(scope)", to: phone, engine)
            try world.store.console.failNext(of: .modifyRecords, with: code, scope: scope)
            let error = await failure { try await engine.sendChanges() }
            #expect(error?.code == (scope == .item ? .partialFailure : code))
            #expect(phone.journal == ["will send", "sent 0/1-0/0", "did send"])
            #expect(engine.state.pendingRecordZoneChanges.count == (isKept ? 1 : 0))
            engine.state.remove(pendingRecordZoneChanges: [.saveRecord(world.id("a"))])
            phone.forgetEvents()
            engine.state.add(pendingRecordZoneChanges: [.deleteRecord(world.id("a"))])
            try world.store.console.failNext(of: .modifyRecords, with: code, scope: scope)
            #expect(await failure { try await engine.sendChanges() } != nil)
            #expect(phone.journal == ["will send", "sent 0/0-0/1", "did send"])
            #expect(engine.state.pendingRecordZoneChanges.count == (isKept ? 1 : 0))
            engine.state.remove(pendingRecordZoneChanges: [.deleteRecord(world.id("a"))])
            let zone = CKRecordZone(zoneName: "Other")
            engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
            try world.store.console.failNext(of: .modifyRecordZones, with: code, scope: scope)
            #expect(await failure { try await engine.sendChanges() } != nil)
            #expect(engine.state.pendingDatabaseChanges.count == (isKept ? 1 : 0))
            engine.state.remove(pendingDatabaseChanges: [.saveZone(zone)])
        }
    }
}

extension CKError.Code {
    /// All codes but the partial failure, which consists of others.
    static var allSyncCodes: [CKError.Code] { (1...37).filter { $0 != 2 }.compactMap { CKError.Code(rawValue: $0) } }
}
