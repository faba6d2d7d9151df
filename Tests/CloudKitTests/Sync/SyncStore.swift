import CloudKit
import StrataSystem
import Testing

@testable import CloudKit

/// A store on a manual clock, and devices with engines on it.
struct SyncStore {
    let clock = CloudStore.ManualClock()
    let store: CloudStore
    let zone = CKRecordZone.ID(zoneName: "Notes")

    /// - Parameter seed: The seed of all random numbers, the store's ID among them.
    init(seed: UInt64 = 1) throws {
        var options = CloudStore.Options.service
        options.clock = clock
        options.random = CloudStore.SeededRandomNumbers(seed: seed)
        store = try CloudStore.inMemory(options: options)
    }

    func database(_ device: String = "phone", user: String = "anna") -> CKDatabase {
        store.container(user: user, device: device).privateCloudDatabase
    }

    func engine(
        _ delegate: SyncDevice, _ device: String = "phone", user: String = "anna",
        scope: CKDatabase.Scope = .private, state: CKSyncEngine.State.Serialization? = nil, automatically: Bool = false
    ) -> CKSyncEngine {
        let database = store.container(user: user, device: device).database(with: scope)
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: state, delegate: delegate)
        configuration.automaticallySync = automatically
        return CKSyncEngine(configuration)
    }

    func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zone) }

    func note(_ name: String, _ text: String = "text") -> CKRecord {
        let note = CKRecord(recordType: "Note", recordID: id(name))
        note["text"] = text
        return note
    }

    /// Gives a device a note to send.
    func add(_ name: String, _ text: String = "text", to delegate: SyncDevice, _ engine: CKSyncEngine) {
        delegate.set(text, id(name))
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(id(name))])
    }

    /// Returns true once an engine does nothing and has reported its state, and its next sync, if it has to try again,
    /// waits for the clock.
    func rests(_ engine: CKSyncEngine, retries: Bool = false) async -> Bool {
        await soon {
            engine.core.runCount == 0 && (engine.core.scheduler.due != nil) == retries
                && clock.sleeperCount == (retries ? 1 : 0)
        }
    }

    /// Advances the clock step by step, letting each step's work end, until a condition holds. Returns the time that
    /// passed.
    func advance(_ step: Duration = .milliseconds(50), atMost: Duration = .seconds(1_000), until condition: () -> Bool)
        async -> Duration
    {
        var passed = Duration.zero
        while !condition(), passed < atMost {
            clock.advance(by: step)
            passed += step
            await settle()
        }
        return passed
    }

    /// Returns once work that is ready has probably ended: nothing depends on how long that takes but the tests' time.
    func settle() async {
        for _ in 0..<20 { await Task.yield() }
        try? await Task.sleep(for: .milliseconds(2))
    }
}

/// Returns true once a condition holds, and false if that takes so long that it never will, on a busy machine too.
func soon(_ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(100)
    while !condition() {
        if ContinuousClock.now > end { return false }
        try? await Task.sleep(for: .milliseconds(1))
    }
    return true
}

/// The error that a piece of work throws.
func failure(of work: () async throws -> Void) async -> CKError? {
    do { try await work() } catch { return error as? CKError }
    return nil
}
