import CloudKit
import Foundation
import StrataModel
import StrataStore
import StrataSystem
import Testing

@testable import CloudKit

/// The pending lists and the state: B230, B420 to B425, B444 to B450.
@Suite("Sync: state", .timeLimit(.minutes(10)))
struct SyncStateTests {
    private let world: SyncStore
    private let phone = SyncDevice()
    private let engine: CKSyncEngine

    init() throws {
        world = try SyncStore()
        engine = world.engine(phone)
    }

    private func save(_ name: String) -> CKSyncEngine.PendingRecordZoneChange { .saveRecord(world.id(name)) }
    private func delete(_ name: String) -> CKSyncEngine.PendingRecordZoneChange { .deleteRecord(world.id(name)) }

    @Test("B230 B420 B423 records: the same kind keeps its place, the other kind goes to the end")
    func records() {
        let state = engine.state
        state.add(pendingRecordZoneChanges: [save("a"), save("b"), save("a")])
        #expect(state.pendingRecordZoneChanges == [save("a"), save("b")])
        state.add(pendingRecordZoneChanges: [delete("a")])
        #expect(state.pendingRecordZoneChanges == [save("b"), delete("a")])
        state.add(pendingRecordZoneChanges: [save("a")])
        #expect(state.pendingRecordZoneChanges == [save("b"), save("a")])
        state.remove(pendingRecordZoneChanges: [delete("b"), save("c"), save("b")])
        #expect(state.pendingRecordZoneChanges == [save("a")])
    }

    @Test("B421 B422 zones: the later object replaces the earlier one in place; records of a deleted zone stay")
    func zones() {
        let state = engine.state
        let (first, second) = (CKRecordZone(zoneName: "A"), CKRecordZone(zoneName: "A"))
        let other = CKRecordZone(zoneName: "B")
        state.add(pendingDatabaseChanges: [.saveZone(first), .saveZone(other), .saveZone(second)])
        #expect(state.pendingDatabaseChanges == [.saveZone(second), .saveZone(other)])
        state.add(pendingRecordZoneChanges: [.saveRecord(.init(recordName: "r", zoneID: first.zoneID))])
        state.add(pendingDatabaseChanges: [.deleteZone(first.zoneID)])
        #expect(state.pendingDatabaseChanges == [.saveZone(other), .deleteZone(first.zoneID)])
        #expect(state.pendingRecordZoneChanges.count == 1)
    }

    @Test("B420 many changes: order survives removals at all places")
    func many() {
        let state = engine.state
        state.add(pendingRecordZoneChanges: (0..<1_000).map { save("\($0)") })
        state.remove(pendingRecordZoneChanges: (0..<1_000).filter { $0 % 3 != 0 }.map { save("\($0)") })
        state.add(pendingRecordZoneChanges: [save("0"), save("1")])
        let expected = (0..<1_000).filter { $0 % 3 == 0 }.map { save("\($0)") } + [save("1")]
        #expect(state.pendingRecordZoneChanges == expected)
    }

    @Test("B424 B445 updates are gathered for 100 ms; adding what is there posts none")
    func gathering() async throws {
        await engine.reportState()
        #expect(phone.states.count == 1)
        for number in 0..<1_000 { engine.state.add(pendingRecordZoneChanges: [save("\(number)")]) }
        await world.settle()
        #expect(phone.states.count == 1)
        world.clock.advance(by: .milliseconds(99))
        await world.settle()
        #expect(phone.states.count == 1)
        world.clock.advance(by: .milliseconds(1))
        #expect(await soon { phone.states.count == 2 })
        #expect(phone.states.last?.content.recordChanges.count == 1_000)
        engine.state.add(pendingRecordZoneChanges: [save("1")])
        engine.state.hasPendingUntrackedChanges = false
        engine.state.remove(pendingRecordZoneChanges: [save("none")])
        world.clock.advance(by: .seconds(1))
        await world.settle()
        #expect(phone.states.count == 2)
    }

    @Test("B445 nothing waits when a call returns: the last event is a state that has nothing pending")
    func lastEvent() async throws {
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: world.zone))])
        for number in 0..<10 { world.add("\(number)", to: phone, engine) }
        try await engine.sendChanges()
        guard case .stateUpdate(let update)? = phone.events.last else { return #expect(Bool(false)) }
        #expect(!update.stateSerialization.content.hasChangesToSend)
        try await engine.fetchChanges()
        guard case .stateUpdate = phone.events.last else { return #expect(Bool(false)) }
    }

    private func filled() async throws -> CKSyncEngine.State.Serialization {
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: world.zone))])
        world.add("known", to: phone, engine)
        try await engine.sendChanges()
        try await engine.fetchChanges()
        engine.state.add(pendingDatabaseChanges: [.deleteZone(.init(zoneName: "Old"))])
        let sealed = CKRecordZone(zoneName: "Sealed")
        sealed.encryptionScope = .perZone
        engine.state.add(pendingDatabaseChanges: [.saveZone(sealed)])
        engine.state.add(pendingRecordZoneChanges: [save("a"), delete("b")])
        engine.state.hasPendingUntrackedChanges = true
        return CKSyncEngine.State.Serialization(engine.state.content.withLock { $0 })
    }

    @Test("B444 B448 a state survives coding by any encoder, whole")
    func coding() async throws {
        struct Kept: Codable { var state: CKSyncEngine.State.Serialization }
        let state = try await filled()
        let json = try JSONDecoder().decode(Kept.self, from: JSONEncoder().encode(Kept(state: state))).state
        let list = try PropertyListDecoder().decode(Kept.self, from: PropertyListEncoder().encode(Kept(state: state)))
        for decoded in [json, list.state] {
            #expect(decoded.content.encoded() == state.content.encoded())
            let other = world.engine(SyncDevice(), state: decoded)
            #expect(other.state.pendingRecordZoneChanges == [save("a"), delete("b")])
            #expect(other.state.pendingDatabaseChanges.map(\.itemID.zoneName) == ["Old", "Sealed"])
            #expect(other.state.hasPendingUntrackedChanges)
            #expect(decoded.content.databaseToken != nil && decoded.content.zoneTokens.count == 1)
            #expect(decoded.content.subscriptionID == "cksyncengine.private" && decoded.content.lastFetch != nil)
        }
    }

    @Test("B448 every flipped byte, every cut and other versions are dataCorrupted")
    func damage() async throws {
        struct Raw: Codable { var data: Data }
        let data = try await filled().content.encoded()
        func isRefused(_ data: Data) throws -> Bool {
            let json = try JSONEncoder().encode(Raw(data: data))
            let decoded = Result { try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: json) }
            guard case .failure(DecodingError.dataCorrupted) = decoded else { return false }
            return true
        }
        #expect(try !isRefused(data))
        for place in data.indices {
            for bit in 0..<8 {
                var damaged = data
                damaged[place] ^= 1 << UInt8(bit)
                #expect(try isRefused(damaged))
            }
            #expect(try isRefused(data.prefix(place)))
        }
        #expect(try isRefused(data + [0]) && isRefused(Data()))
    }

    @Test("B448 the size of a state: at most 100 bytes for each pending change")
    func size() {
        let count = 10_000
        engine.state.add(
            pendingRecordZoneChanges: (0..<count).map { _ in .saveRecord(world.id(UUID().uuidString)) })
        #expect(engine.state.content.withLock { $0.encoded().count } <= 100 * count)
    }

    @Test("B404 requests are in the log with the operation ID of the engine and the group of the options")
    func logged() async throws {
        let group = CKOperationGroup()
        group.name = "Upload"
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: world.zone))])
        world.add("a", to: phone, engine)
        try await engine.sendChanges(.init(operationGroup: group))
        let headers = try (1...world.store.offset).compactMap { offset in
            try world.store.store.log.commit(at: offset).map { try Envelope(decoding: $0.payload).header }
        }
        let sent = headers.filter { $0.groupID == group.operationGroupID }
        #expect(sent.map(\.operationKind) == [.modifyZones, .modifyRecords])
        #expect(sent.allSatisfy { $0.operationID == "cksyncengine.private" && $0.groupName == "Upload" })
        #expect(sent.allSatisfy { $0.qualityOfService == .utility })
    }

    @Test("B438 the errors that explanations call retried are those that the engine retries")
    func retriedCodes() {
        let codes = (1...UInt64(40)).map { Refusal.Code(rawValue: $0) }.filter { !$0.description.hasPrefix("error ") }
        #expect(codes.count > 20)
        for code in codes {
            guard let number = CKError.Code(rawValue: Int(code.rawValue)) else { continue }
            #expect(CKError(number, message: "").isRetriedBySyncEngine == code.isRetriedBySyncEngine, "\(code)")
        }
    }

    @Test("B449 a state of another store or scope counts as none, and the description says so")
    func foreign() async throws {
        let state = try await filled()
        let other = try SyncStore(seed: 2)
        let device = SyncDevice()
        let engine = other.engine(device, state: state)
        #expect(engine.state.pendingRecordZoneChanges.isEmpty && "\(engine)".contains("another store"))
        await engine.reportState()
        #expect(device.journal == ["sign in"])
        var configuration = CKSyncEngine.Configuration(
            database: world.store.container(user: "anna").sharedCloudDatabase, stateSerialization: state,
            delegate: device)
        configuration.automaticallySync = false
        #expect("\(CKSyncEngine(configuration))".contains("another store or scope"))
        #expect(!"\(self.engine)".contains("another"))
    }

    @Test("B234 B446 B447 B450 from every state an engine resumes without missing a record")
    func resume() async throws {
        let tablet = world.database("tablet")
        try await tablet.save(CKRecordZone(zoneID: world.zone))
        let records = (0..<450).map { world.note("r\($0)") }
        _ = try await tablet.modifyRecords(saving: Array(records.prefix(225)), deleting: [])
        _ = try await tablet.modifyRecords(saving: Array(records.suffix(225)), deleting: [])
        let clock = world.clock
        // Every event is followed by a state.
        phone.onEvent { event, _ in
            if case .stateUpdate = event {} else { clock.advance(by: .milliseconds(100)) }
        }
        for number in 0..<3 { world.add("own\(number)", to: phone, engine) }
        try await engine.fetchChanges()
        try await engine.sendChanges()
        let events = phone.events
        #expect(phone.states.count >= 5)
        for (place, event) in events.enumerated() {
            guard case .stateUpdate(let update) = event else { continue }
            // The app of the time: what it was given before the state.
            let device = SyncDevice()
            for number in 0..<3 { device.set("text", world.id("own\(number)")) }
            let next = world.engine(device, state: nil)
            for earlier in events[..<place] { await device.handleEvent(earlier, syncEngine: next) }
            let resumed = world.engine(device, state: update.stateSerialization)
            try await resumed.fetchChanges()
            _ = await failure { try await resumed.sendChanges() }
            try await resumed.fetchChanges()
            #expect(device.content.withLock { $0.known.count } == 453)
            #expect(resumed.state.pendingRecordZoneChanges.isEmpty)
        }
    }
}
