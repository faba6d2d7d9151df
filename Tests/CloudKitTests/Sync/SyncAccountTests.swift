import CloudKit
import StrataSystem
import Testing

@testable import CloudKit

/// Accounts: B239, B451 to B455.
@Suite("Sync: accounts", .timeLimit(.minutes(10)))
struct SyncAccountTests {
    private let world: SyncStore
    private let phone = SyncDevice()

    init() throws { world = try SyncStore() }

    private func changes(_ device: SyncDevice) -> [CKSyncEngine.Event.AccountChange.ChangeType] {
        device.events.compactMap { if case .accountChange(let change) = $0 { change.changeType } else { nil } }
    }

    private func user(_ name: String) async throws -> CKRecord.ID {
        try await world.store.container(user: name).userRecordID()
    }

    @Test("B451 without a state: a sign-in before anything else; what was added since stays")
    func first() async throws {
        let engine = world.engine(phone)
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: world.zone))])
        try await engine.sendChanges()
        #expect(phone.journal == ["sign in", "will send", "zones 1/0-0/0", "did send"])
        #expect(changes(phone) == [.signIn(currentUser: try await user("anna"))])
    }

    @Test(
        "B451 the first event waits 100 ms on the store's clock, whatever changes meanwhile", arguments: [false, true])
    func waiting(automatically: Bool) async throws {
        let engine = world.engine(phone, automatically: automatically)
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: world.zone))])
        try world.store.console.setAccountStatus(.temporarilyUnavailable, of: "anna")
        try world.store.console.setAccountStatus(.available, of: "anna")
        #expect(await soon { world.clock.sleeperCount == 2 })
        world.clock.advance(by: .milliseconds(99))
        await world.settle()
        #expect(phone.events.isEmpty)
        world.clock.advance(by: .milliseconds(1))
        #expect(await soon { phone.journal.first == "sign in" })
        guard case .accountChange? = phone.events.first else {
            Issue.record("the first event is \(String(describing: phone.events.first))")
            return
        }
    }

    @Test("B451 an automatic engine without a network reports the account all the same")
    func unreachable() async throws {
        try world.store.console.setNetwork(.unavailable)
        let engine = world.engine(phone, automatically: true)
        #expect(await soon { world.clock.sleeperCount == 1 })
        world.clock.advance(by: .milliseconds(100))
        #expect(await soon { phone.journal == ["sign in"] })
        try world.store.console.setNetwork(.normal)
        #expect(await soon { phone.journal == ["sign in", "will fetch", "did fetch"] })
        withExtendedLifetime(engine) {}
    }

    /// An app that creates its engine in its own initializer, as Apple's sample does.
    private final class Starting: CKSyncEngineDelegate {
        private let engine = Lock<CKSyncEngine?>(nil)
        /// True once an event came, and true if that was before the engine was assigned.
        let first = Lock<(hasCome: Bool, wasEarly: Bool)>((false, false))

        init(_ database: CKDatabase, automatically: Bool) {
            var configuration = CKSyncEngine.Configuration(
                database: database, stateSerialization: nil, delegate: self)
            configuration.automaticallySync = automatically
            let engine = CKSyncEngine(configuration)
            self.engine.withLock { $0 = engine }
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            let isAssigned = engine.withLock { $0 != nil }
            first.withLock { if !$0.hasCome { $0 = (true, !isAssigned) } }
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
    }

    @Test("B451 no event comes while the app is still in its own initializer")
    func starts() async throws {
        let store = try CloudStore.inMemory()
        let apps = (0..<400).map { number in
            Starting(store.container(user: "user\(number)").privateCloudDatabase, automatically: number % 2 == 0)
        }
        #expect(await soon { apps.allSatisfy { $0.first.withLock { $0.hasCome } } })
        #expect(apps.filter { $0.first.withLock { $0.wasEarly } }.isEmpty)
    }

    @Test(
        "B239 B452 another user while not running: one switch, lists and tokens cleared before, what is added is sent")
    func switched() async throws {
        let engine = world.engine(phone)
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: world.zone))])
        try await engine.sendChanges()
        try await engine.fetchChanges()
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(world.id("a"))])
        let state = CKSyncEngine.State.Serialization(engine.state.content.withLock { $0 })
        let (other, world) = (SyncDevice(), world)
        other.onEvent { event, engine in
            guard case .accountChange = event else { return }
            #expect(engine.state.pendingRecordZoneChanges.isEmpty && engine.state.pendingDatabaseChanges.isEmpty)
            #expect(engine.state.content.withLock { $0.databaseToken == nil && $0.subscriptionID == nil })
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: world.zone))])
        }
        let next = world.engine(other, user: "ben", state: state)
        try await next.sendChanges()
        #expect(other.journal == ["switch", "will send", "zones 1/0-0/0", "did send"])
        let expected = CKSyncEngine.Event.AccountChange.ChangeType.switchAccounts(
            previousUser: try await user("anna"), currentUser: try await user("ben"))
        #expect(changes(other) == [expected])
    }

    @Test("B452 B455 nobody at the start: a sign-out; nothing is sent, changes may be added")
    func nobody() async throws {
        let engine = world.engine(phone)
        try await engine.fetchChanges()
        let state = try #require(phone.states.last)
        try world.store.console.setAccountStatus(.noAccount, of: "anna")
        let other = SyncDevice()
        let next = world.engine(other, state: state)
        #expect(await soon { world.clock.sleeperCount == 1 })
        world.clock.advance(by: .milliseconds(100))
        #expect(await soon { other.journal == ["sign out"] })
        next.state.add(pendingRecordZoneChanges: [.saveRecord(world.id("a"))])
        #expect(await failure { try await next.sendChanges() }?.code == .notAuthenticated)
        #expect(await failure { try await next.fetchChanges() }?.code == .notAuthenticated)
        #expect(other.journal == ["sign out"] && next.state.pendingRecordZoneChanges.count == 1)
    }

    @Test(
        "B453 B454 while running: out, in again; each engine gets its own event",
        arguments: [CKAccountStatus.noAccount, .restricted])
    func running(status: CKAccountStatus) async throws {
        let (engine, tablet) = (world.engine(phone), SyncDevice())
        let other = world.engine(tablet, "tablet")
        #expect(await soon { world.clock.sleeperCount == 2 })
        world.clock.advance(by: .milliseconds(100))
        #expect(await soon { phone.journal == ["sign in"] && tablet.journal == ["sign in"] })
        try world.store.console.setAccountStatus(status, of: "anna")
        #expect(await soon { phone.journal == ["sign in", "sign out"] && tablet.journal == ["sign in", "sign out"] })
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(world.id("a"))])
        try world.store.console.setAccountStatus(.available, of: "anna")
        #expect(await soon { phone.journal.count == 3 && tablet.journal.count == 3 })
        #expect(engine.state.pendingRecordZoneChanges.isEmpty && other.state.pendingRecordZoneChanges.isEmpty)
    }

    @Test("B453 B455 temporarily unavailable is no change: nothing is sent, then everything")
    func temporarily() async throws {
        let engine = world.engine(phone, automatically: true)
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: world.zone))])
        await engine.reportState()
        #expect(phone.journal == ["sign in"])
        try world.store.console.setAccountStatus(.temporarilyUnavailable, of: "anna")
        #expect(await failure { try await engine.sendChanges() }?.code == .accountTemporarilyUnavailable)
        _ = await world.advance(atMost: .seconds(5), until: { false })
        #expect(phone.journal == ["sign in"] && engine.state.pendingDatabaseChanges.count == 1)
        try world.store.console.setAccountStatus(.available, of: "anna")
        _ = await world.advance(atMost: .seconds(20), until: { phone.journal.contains("did send") })
        #expect(phone.journal.contains("zones 1/0-0/0") && phone.journal.filter { $0 == "sign in" }.count == 1)
    }
}
