import CloudKit
import StrataSystem
import Testing

@testable import CloudKit

/// When an engine syncs by itself: B238, B416, B437 to B441, B463 to B467.
@Suite("Sync: scheduling", .timeLimit(.minutes(10)))
struct SyncSchedulingTests {
    private let world: SyncStore
    private let phone = SyncDevice()

    init() async throws {
        world = try SyncStore()
        try await world.database("desk").save(CKRecordZone(zoneID: world.zone))
    }

    /// An engine whose first sync has ended.
    private func settled(_ device: SyncDevice, _ name: String = "phone") async -> CKSyncEngine {
        let engine = world.engine(device, name, automatically: true)
        _ = await world.advance(until: { device.journal.contains("did fetch") })
        _ = await world.rests(engine)
        device.forgetEvents()
        return engine
    }

    @Test("B463 B465 B464 a send comes 100 ms after the last change, and at most 1 s after the first; once for all")
    func gathering() async throws {
        let engine = await settled(phone)
        world.add("a", to: phone, engine)
        world.clock.advance(by: .milliseconds(99))
        await world.settle()
        #expect(phone.journal.isEmpty)
        world.clock.advance(by: .milliseconds(1))
        #expect(await soon { phone.journal == ["will send", "sent 1/0-0/0", "did send"] })
        guard case .willSendChanges(let event)? = phone.events.first(where: { $0.shortName == "will send" })
        else { return #expect(Bool(false)) }
        #expect(event.context.reason == .scheduled)
        await world.settle()
        phone.forgetEvents()
        var count = 0
        let passed = await world.advance(.milliseconds(50)) {
            if !phone.journal.isEmpty { return true }
            count += 1
            world.add("b\(count)", to: phone, engine)
            return false
        }
        #expect(passed >= .seconds(1) && passed <= .milliseconds(1_050))
        #expect(await soon { phone.journal.contains("did send") })
    }

    @Test("B238 B466 off: neither changes nor pushes nor errors do anything")
    func off() async throws {
        let engine = world.engine(phone)
        try await engine.fetchChanges()
        phone.forgetEvents()
        world.add("a", to: phone, engine)
        try await world.database("desk").save(world.note("b"))
        try world.store.console.failNext(of: .modifyRecords, with: .serviceUnavailable)
        _ = await failure { try await engine.sendChanges() }
        phone.forgetEvents()
        _ = await world.advance(atMost: .seconds(5), until: { false })
        #expect(phone.journal.isEmpty && engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
    }

    @Test("B437 B438 B439 throttled for 30 s: reported once, kept, silent, then sent; changes do not shorten it")
    func throttled() async throws {
        let engine = await settled(phone)
        for name in ["a", "b", "c"] { world.add(name, to: phone, engine) }
        try world.store.console.failNext(of: .modifyRecords, with: .requestRateLimited, retryAfter: 30)
        world.clock.advance(by: .milliseconds(100))
        #expect(await soon { phone.journal.contains("did send") })
        #expect(phone.journal == ["will send", "sent 0/3-0/0", "did send"])
        #expect(engine.state.pendingRecordZoneChanges.count == 3)
        #expect(await world.rests(engine, retries: true))
        phone.forgetEvents()
        world.add("d", to: phone, engine)
        world.clock.advance(by: .milliseconds(29_999))
        await world.settle()
        #expect(phone.journal.isEmpty)
        world.clock.advance(by: .milliseconds(1))
        #expect(await soon { phone.journal.contains("did send") })
        // After a failed send it fetches first.
        #expect(phone.journal.first == "will fetch" && phone.journal.contains("sent 4/0-0/0"))
    }

    @Test("B439 B440 without a time: 1, 2, 4, 8 s; a success resets it; a manual call asks at once")
    func backoff() async throws {
        let engine = await settled(phone)
        try world.store.console.failNext(5, of: .modifyRecords, with: .serviceUnavailable)
        world.add("a", to: phone, engine)
        world.clock.advance(by: .milliseconds(100))
        #expect(await soon { phone.journal.contains("did send") })
        for (number, seconds) in [1, 2, 4, 8].enumerated() {
            #expect(await world.rests(engine, retries: true))
            phone.forgetEvents()
            world.clock.advance(by: .milliseconds(seconds * 1_000 - 1))
            await world.settle()
            #expect(phone.journal.isEmpty, "retry \(number) is early")
            world.clock.advance(by: .milliseconds(1))
            #expect(await soon { phone.journal.contains("did send") })
        }
        #expect(await world.rests(engine, retries: true))
        try await engine.sendChanges()
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        try world.store.console.failNext(of: .modifyRecords, with: .serviceUnavailable)
        world.add("b", to: phone, engine)
        phone.forgetEvents()
        world.clock.advance(by: .milliseconds(100))
        #expect(await soon { phone.journal.contains("did send") })
        #expect(await world.rests(engine, retries: true))
        phone.forgetEvents()
        world.clock.advance(by: .seconds(1))
        #expect(await soon { phone.journal.contains("sent 1/0-0/0") })
    }

    @Test("B439 a pause grows by a tenth at most, by the random numbers of the store; on a manual clock by nothing")
    func jitter() throws {
        func parts(_ seed: UInt64) throws -> [Double] {
            var options = CloudStore.Options.service
            options.random = CloudStore.SeededRandomNumbers(seed: seed)
            let store = try CloudStore.inMemory(options: options)
            var configuration = CKSyncEngine.Configuration(
                database: store.container(user: "anna").publicCloudDatabase, stateSerialization: nil, delegate: phone)
            configuration.automaticallySync = false
            let engine = CKSyncEngine(configuration)
            return (0..<100).map { _ in engine.core.scheduler.jitter() }
        }
        let first = try parts(1)
        #expect(first.allSatisfy { $0 >= 0 && $0 < 0.1 } && Set(first).count == 100)
        #expect(try first == parts(1) && first != parts(2))
        #expect(world.engine(phone).core.scheduler.jitter() == 0)
    }

    @Test("B439 jitter lengthens each pause, from 1 to 300 s, but not the time that the server asks for")
    func pauses() async throws {
        let clock = world.clock
        var options = CloudStore.Options.service
        options.clock = clock
        let scheduler = SyncScheduler(isAutomatic: true, options.syncClock) { 0.05 }
        let begun = Lock(0)
        scheduler.syncTimer.onDue {
            #expect(scheduler.beginScheduled() != nil)
            begun.withLock { $0 += 1 }
        }
        func expectPause(_ microseconds: Int, after error: CKError) async {
            let count = begun.withLock { $0 }
            scheduler.end(retry: error, isSuccess: false)
            #expect(await soon { clock.sleeperCount == 1 })
            clock.advance(by: .microseconds(microseconds - 1))
            #expect(clock.sleeperCount == 1 && begun.withLock { $0 } == count)
            clock.advance(by: .microseconds(1))
            #expect(await soon { begun.withLock { $0 } == count + 1 })
        }
        scheduler.begin()
        let busy = CKError(.zoneBusy, message: "The zone is busy.")
        for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            await expectPause(seconds * 1_050_000, after: busy)
        }
        scheduler.end(retry: nil, isSuccess: true)
        scheduler.begin()
        await expectPause(1_050_000, after: busy)
        let refused = CKError(.zoneBusy, message: "The zone is busy.", userInfo: [CKErrorRetryAfterKey: 30])
        await expectPause(30_000_000, after: refused)
    }

    @Test("B443 a waiting time is the engine's, not of the zone whose item failed")
    func oneWaitingTime() async throws {
        let engine = await settled(phone)
        let other = CKRecordZone(zoneName: "Other")
        try await world.database("desk").save(other)
        _ = await world.advance(until: { phone.journal.contains("did fetch Other") })
        #expect(await world.rests(engine))
        world.add("a", to: phone, engine)
        try world.store.console.failNext(of: .modifyRecords, with: .zoneBusy, retryAfter: 30, scope: .item)
        world.clock.advance(by: .milliseconds(100))
        #expect(await soon { phone.journal.contains("sent 0/1-0/0") })
        #expect(await world.rests(engine, retries: true))
        phone.forgetEvents()
        let id = CKRecord.ID(recordName: "b", zoneID: other.zoneID)
        phone.set("text", id)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        world.clock.advance(by: .milliseconds(29_999))
        #expect(await world.rests(engine, retries: true))
        #expect(phone.journal.isEmpty)
        world.clock.advance(by: .milliseconds(1))
        #expect(await soon { phone.journal.contains("sent 2/0-0/0") })
    }

    @Test("B416 what a handler adds after a failure is sent by a cycle of its own")
    func addedAfterFailure() async throws {
        let engine = await settled(phone)
        let (world, phone, id) = (world, phone, world.id("a"))
        phone.onEvent { event, engine in
            if case .willSendChanges = event, phone.journal.filter({ $0 == "will send" }).count == 1 {
                // Only now, or a push would let the engine fetch before it sends.
                _ = try? await world.database("desk").save(world.note("a", "theirs"))
            }
            guard case .sentRecordZoneChanges(let sent) = event, let failed = sent.failedRecordSaves.first else {
                return
            }
            phone.content.withLock { $0.known[id] = failed.error.serverRecord }
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        }
        phone.set("mine", id)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        _ = await world.advance(atMost: .seconds(10), until: { phone.journal.contains("sent 1/0-0/0") })
        #expect(phone.journal.contains("sent 1/0-0/0") && phone.journal.contains("sent 0/1-0/0"))
    }

    @Test("B463 B467 two automatic devices: a push brings what the other sent, in few fetches")
    func twoDevices() async throws {
        let tablet = SyncDevice()
        let (engine, other) = (await settled(phone), await settled(tablet, "tablet"))
        for number in 0..<100 { world.add("n\(number)", to: phone, engine) }
        _ = await world.advance(atMost: .seconds(20), until: { tablet.texts.count == 100 })
        #expect(tablet.texts.count == 100)
        #expect(tablet.journal.filter { $0 == "will fetch" }.count <= 3)
        guard case .willFetchChanges(let event)? = tablet.events.first(where: { $0.shortName == "will fetch" })
        else { return #expect(Bool(false)) }
        #expect(event.context.reason == .scheduled)
        withExtendedLifetime(other) {}
    }

    @Test("B441 B465 a network cut and back delivers everything once")
    func network() async throws {
        let engine = await settled(phone)
        try world.store.console.setNetwork(.unavailable)
        world.add("a", to: phone, engine)
        _ = await world.advance(atMost: .seconds(5), until: { false })
        #expect(phone.journal.isEmpty)
        try world.store.console.setNetwork(.normal)
        #expect(await soon { phone.journal.contains("sent 1/0-0/0") })
        // The same when the network went in between.
        await world.settle()
        phone.forgetEvents()
        try world.store.console.setNetwork(.unavailable)
        world.add("b", to: phone, engine)
        #expect(await failure { try await engine.sendChanges() }?.code == .networkUnavailable)
        await world.settle()
        phone.forgetEvents()
        try world.store.console.setNetwork(.normal)
        #expect(await soon { phone.journal.contains("sent 1/0-0/0") })
    }

    @Test("B464 B439 causes without a network make one sync, and none comes before the time that the server asks for")
    func causesWithoutNetwork() async throws {
        let engine = await settled(phone)
        try world.store.console.setNetwork(.unavailable)
        for name in ["a", "b", "c"] {
            world.add(name, to: phone, engine)
            world.clock.advance(by: .milliseconds(200))
            #expect(await soon { world.clock.sleeperCount == 0 })
            await engine.reportState()
        }
        try world.store.console.failNext(3, of: .modifyRecords, with: .requestRateLimited, retryAfter: 30)
        phone.forgetEvents()
        try world.store.console.setNetwork(.normal)
        #expect(await soon { phone.journal.contains("did send") })
        #expect(await world.rests(engine, retries: true))
        // Whatever waits for its turn has had it once a call has.
        await engine.reportState()
        #expect(phone.journal == ["will send", "sent 0/3-0/0", "did send"])
    }

    @Test("B437 after a send with an error of the app's the next automatic sync fetches first, too")
    func fetchAfterFailure() async throws {
        let engine = await settled(phone)
        try world.store.console.failNext(of: .modifyRecords, with: .quotaExceeded, scope: .item)
        world.add("a", to: phone, engine)
        world.clock.advance(by: .milliseconds(100))
        #expect(await soon { phone.journal.contains("did send") })
        #expect(await world.rests(engine))
        phone.forgetEvents()
        world.add("a", to: phone, engine)
        world.clock.advance(by: .milliseconds(100))
        #expect(await soon { phone.journal.contains("did send") })
        #expect(phone.journal == ["will fetch", "did fetch", "will send", "sent 1/0-0/0", "did send"])
    }

    @Test("B432 a fetch does not join a scheduled sync that turns out to send only")
    func joinsNoSend() async throws {
        let engine = await settled(phone)
        let (phone, isHeld) = (phone, Lock(true))
        phone.onEvent { event, _ in
            if case .stateUpdate = event { #expect(await soon { !isHeld.withLock { $0 } }) }
        }
        // A report of the state has the turn, and the scheduled sync waits for it.
        engine.state.change { _ in true }
        async let reporting: Void = engine.reportState()
        #expect(await soon { phone.states.count == 1 })
        world.add("a", to: phone, engine)
        world.clock.advance(by: .milliseconds(100))
        #expect(await soon { engine.core.runCount == 2 })
        async let fetching = failure { try await engine.fetchChanges() }
        #expect(await soon { engine.core.runCount == 3 })
        isHeld.withLock { $0 = false }
        await reporting
        #expect(await fetching == nil)
        #expect(phone.journal.contains("did fetch") && phone.journal.contains("did send"))
    }

    @Test("B473 two engines on one database of one device are two devices")
    func sameDatabase() async throws {
        let other = SyncDevice()
        let (engine, second) = (await settled(phone), await settled(other))
        world.add("a", to: phone, engine)
        _ = await world.advance(atMost: .seconds(10), until: { other.texts.count == 1 })
        #expect(other.texts.count == 1)
        withExtendedLifetime(second) {}
    }

    @Test("B465 an idle engine sleeps: nothing waits for the clock")
    func idle() async throws {
        let engine = await settled(phone)
        _ = await world.advance(atMost: .seconds(2), until: { false })
        #expect(await soon { world.clock.sleeperCount == 0 })
        withExtendedLifetime(engine) {}
    }
}
