import CloudKit
import StrataSystem
import Testing

@testable import CloudKit

/// Callbacks, cancellation and the end of engines: B233, B240, B456 to B462.
@Suite("Sync: life", .timeLimit(.minutes(10)))
struct SyncLifeTests {
    private let world: SyncStore
    private let phone = SyncDevice()

    init() async throws {
        world = try SyncStore()
        try await world.database("desk").save(CKRecordZone(zoneID: world.zone))
    }

    @Test(
        "B458 B459 calls in a callback throw at once, also in its tasks; a detached one works, as does another engine")
    func reentrancy() async throws {
        let engine = world.engine(phone)
        let errors = Lock<[CKError.Code?]>([])
        let detached = Lock<Task<CKError?, Never>?>(nil)
        let (world, second) = (world, SyncDevice())
        let isFirst = Lock(true)
        phone.onEvent { event, engine in
            guard case .willSendChanges = event,
                isFirst.withLock({ first in
                    defer { first = false }
                    return first
                })
            else { return }
            let direct = await failure { try await engine.sendChanges() }
            let inTask = await Task { await failure { try await engine.fetchChanges() } }.value
            await engine.cancelOperations()
            errors.withLock { $0 = [direct?.code, inTask?.code] }
            detached.withLock { $0 = Task.detached { await failure { try await engine.fetchChanges() } } }
            let other = world.engine(second, "tablet")
            // In the macro, the compiler would call the closure above.
            let otherError = await failure { try await other.fetchChanges() }
            #expect(otherError == nil)
            #expect(engine.state.pendingRecordZoneChanges.count == 1)
        }
        world.add("a", to: phone, engine)
        #expect(await failure { try await engine.sendChanges() }?.code == .operationCancelled)
        #expect(errors.withLock { $0 } == [.invalidArguments, .invalidArguments])
        #expect(await detached.withLock { $0 }?.value == nil)
        #expect(
            second.journal == [
                "sign in", "will fetch", "database 1-0", "will fetch Notes", "did fetch Notes", "did fetch",
            ], "\(second.events)")
        let later = Lock<Task<CKError?, Never>?>(nil)
        phone.onEvent { event, engine in
            guard case .willSendChanges = event else { return }
            later.withLock { later in
                later = Task {
                    try? await Task.sleep(for: .milliseconds(50))
                    return await failure { try await engine.sendChanges() }
                }
            }
        }
        try await engine.sendChanges()
        let error = await later.withLock { $0 }?.value
        #expect(error?.code == .invalidArguments && "\(error as Any)".contains("within a delegate callback"))
    }

    @Test("B405 B457 B233 callbacks never overlap, whatever calls there are")
    func serial() async throws {
        let engine = world.engine(phone)
        let running = Lock(0)
        let most = Lock(0)
        phone.onEvent { _, _ in
            let now = running.withLock {
                $0 += 1
                return $0
            }
            most.withLock { $0 = max($0, now) }
            await Task.yield()
            running.withLock { $0 -= 1 }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                world.add("\(number)", to: phone, engine)
                group.addTask { try await engine.sendChanges() }
                group.addTask { try await engine.fetchChanges() }
            }
            try await group.waitForAll()
        }
        #expect(most.withLock { $0 } == 1)
        #expect(phone.journal.filter { $0 == "will send" }.count == phone.journal.filter { $0 == "did send" }.count)
    }

    @Test("B240 B461 cancelling in the second of five batches: none after it, the rest pending, will and did paired")
    func cancel() async throws {
        let engine = world.engine(phone)
        for number in 0..<1_250 { world.add("\(number)", to: phone, engine) }
        let batches = Lock(0)
        let phone = phone
        phone.onBatch { _, engine in
            let number = batches.withLock {
                $0 += 1
                return $0
            }
            if number == 2 { await engine.cancelOperations() }
            return await .init(pendingChanges: engine.state.pendingRecordZoneChanges) { phone.record($0) }
        }
        #expect(await failure { try await engine.sendChanges() }?.code == .operationCancelled)
        #expect(phone.journal.dropFirst() == ["will send", "sent 250/0-0/0", "sent 0/250-0/0", "did send"])
        #expect(engine.state.pendingRecordZoneChanges.count == 1_000)
        try await engine.sendChanges()
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
    }

    @Test("B461 calls that wait for their turn are cancelled too, without events")
    func cancelWaiting() async throws {
        let engine = world.engine(phone)
        try await engine.fetchChanges()
        phone.forgetEvents()
        try world.store.console.setNetwork(.slow(.milliseconds(100)))
        world.add("a", to: phone, engine)
        async let first = failure { try await engine.sendChanges() }
        #expect(await soon { phone.journal.contains("will send") })
        async let second = failure { try await engine.fetchChanges() }
        try await Task.sleep(for: .milliseconds(20))
        await engine.cancelOperations()
        #expect(await second?.code == .operationCancelled)
        _ = await first
        #expect(!phone.journal.contains("will fetch") && phone.journal.last == "did send")
    }

    @Test("B462 cancelling the task of a call cancels that call only")
    func cancelTask() async throws {
        let engine = world.engine(phone)
        try world.store.console.setNetwork(.slow(.milliseconds(50)))
        let task = Task { await failure { try await engine.fetchChanges() } }
        #expect(await soon { phone.journal.contains("will fetch") })
        task.cancel()
        #expect(await task.value?.code == .operationCancelled)
        #expect(phone.journal.last == "did fetch")
        try await engine.fetchChanges()
    }

    @Test("B462 B432 a call that joined a fetch does not end with the call that began it")
    func cancelJoined() async throws {
        let engine = world.engine(phone)
        try world.store.console.setNetwork(.slow(.milliseconds(50)))
        let first = Task { await failure { try await engine.fetchChanges() } }
        #expect(await soon { phone.journal.contains("will fetch") })
        async let second = failure { try await engine.fetchChanges() }
        await world.settle()
        first.cancel()
        #expect(await first.value?.code == .operationCancelled)
        #expect(await second == nil)
        #expect(phone.journal.last == "did fetch")
        #expect(engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
    }

    @Test("B456 without its delegate an engine syncs nothing")
    func delegate() async throws {
        var device: SyncDevice? = SyncDevice()
        weak let gone = device
        let engine = world.engine(try #require(device))
        try await engine.fetchChanges()
        device = nil
        #expect(await soon { gone == nil })
        #expect(await failure { try await engine.fetchChanges() }?.code == .operationCancelled)
    }

    @Test("B460 an engine that nobody holds ends, and posts nothing more")
    func release() async throws {
        var engine: CKSyncEngine? = world.engine(phone, automatically: true)
        weak let core = engine?.core
        _ = await world.advance(until: { phone.journal.contains("did fetch") })
        await world.settle()
        engine?.state.add(pendingRecordZoneChanges: [.saveRecord(world.id("a"))])
        let count = phone.events.count
        engine = nil
        #expect(await soon { core == nil })
        _ = await world.advance(atMost: .seconds(3), until: { false })
        #expect(phone.events.count == count)
        #expect(await soon { world.clock.sleeperCount == 0 })
    }
}
