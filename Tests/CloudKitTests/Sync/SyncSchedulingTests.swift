import CloudKit
import StrataSystem
import Testing

@testable import CloudKit

/// When an engine syncs by itself: B238, B416, B437 to B441, B463 to B467.
@Suite("Sync: scheduling", .timeLimit(.minutes(2)))
struct SyncSchedulingTests {
    private let world: SyncStore
    private let phone = SyncDevice()

    init() async throws {
        world = try SyncStore()
        try await world.database("desk").save(CKRecordZone(zoneID: world.zone))
    }

    /// Returns true once an engine has reported its state after a sync, and a number of timers wait for the clock.
    private func rests(_ device: SyncDevice, timers: Int) async -> Bool {
        await soon {
            guard case .stateUpdate? = device.events.last else { return false }
            return world.clock.sleeperCount == timers
        }
    }

    /// An engine whose first sync has ended.
    private func settled(_ device: SyncDevice, _ name: String = "phone") async -> CKSyncEngine {
        let engine = world.engine(device, name, automatically: true)
        _ = await world.advance(until: { device.journal.contains("did fetch") })
        _ = await rests(device, timers: 0)
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
        guard case .willSendChanges(let event)? = phone.events.first else { return #expect(Bool(false)) }
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

    @Test("B440 B438 B439 throttled for 30 s: reported once, kept, silent, then sent; changes do not shorten it")
    func throttled() async throws {
        let engine = await settled(phone)
        for name in ["a", "b", "c"] { world.add(name, to: phone, engine) }
        try world.store.console.failNext(of: .modifyRecords, with: .requestRateLimited, retryAfter: 30)
        world.clock.advance(by: .milliseconds(100))
        #expect(await soon { phone.journal.contains("did send") })
        #expect(phone.journal == ["will send", "sent 0/3-0/0", "did send"])
        #expect(engine.state.pendingRecordZoneChanges.count == 3)
        #expect(await rests(phone, timers: 1))
        phone.forgetEvents()
        world.add("d", to: phone, engine)
        world.clock.advance(by: .milliseconds(29_999))
        await world.settle()
        #expect(phone.journal.isEmpty)
        world.clock.advance(by: .milliseconds(1))
        #expect(await soon { phone.journal.contains("did send") })
        // B437: after a failed send it fetches first.
        #expect(phone.journal.first == "will fetch" && phone.journal.contains("sent 4/0-0/0"))
    }

    @Test("B439 without a time: 1, 2, 4, 8 s; a success resets it; a manual call asks at once")
    func backoff() async throws {
        let engine = await settled(phone)
        try world.store.console.failNext(5, of: .modifyRecords, with: .serviceUnavailable)
        world.add("a", to: phone, engine)
        world.clock.advance(by: .milliseconds(100))
        #expect(await soon { phone.journal.contains("did send") })
        for (number, seconds) in [1, 2, 4, 8].enumerated() {
            #expect(await rests(phone, timers: 1))
            phone.forgetEvents()
            world.clock.advance(by: .milliseconds(seconds * 1_000 - 1))
            await world.settle()
            #expect(phone.journal.isEmpty, "retry \(number) is early")
            world.clock.advance(by: .milliseconds(1))
            #expect(await soon { phone.journal.contains("did send") })
        }
        #expect(await rests(phone, timers: 1))
        try await engine.sendChanges()
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        try world.store.console.failNext(of: .modifyRecords, with: .serviceUnavailable)
        world.add("b", to: phone, engine)
        phone.forgetEvents()
        world.clock.advance(by: .milliseconds(100))
        #expect(await soon { phone.journal.contains("did send") })
        #expect(await rests(phone, timers: 1))
        phone.forgetEvents()
        world.clock.advance(by: .seconds(1))
        #expect(await soon { phone.journal.contains("sent 1/0-0/0") })
    }

    @Test("B416 what a handler adds after a failure is sent by a cycle of its own")
    func addedAfterFailure() async throws {
        let engine = await settled(phone)
        try await world.database("desk").save(world.note("a", "theirs"))
        let (phone, id) = (phone, world.id("a"))
        phone.onEvent { event, engine in
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
