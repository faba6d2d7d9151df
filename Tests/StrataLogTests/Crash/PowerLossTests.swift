import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("Power is lost at any moment")
struct PowerLossTests {
    @Test(
        "What was told to be durable is there, whole, and the store goes on",
        arguments: [
            (Durability.commit, 0), (.commit, 16 << 10), (.system, 0), (.interval(.milliseconds(1)), 0),
        ])
    func everyCall(durability: Durability, spaceStepBytes: Int) throws {
        let workload = CrashWorkload(durability, spaceStepBytes: spaceStepBytes)
        let harness = FreezeHarness(workload)
        let store = TinyStore()
        try harness.run(on: store)
        #expect(harness.frozen.withLock { $0 } > 150)
        let told = harness.told.withLock { $0 }
        #expect(told.durable == UInt64(workload.reference.count))
        try workload.checkSurvivor(store.left(keeping: .nothingUnsynced), told)
    }
}

/// Runs a workload and lets power be lost before every call that changes the disk, in several ways each.
final class FreezeHarness: Sendable {
    let workload: CrashWorkload
    let told = Monitor(CrashWorkload.Told())
    let frozen = Monitor(0)
    private let failure = Monitor<Mismatch?>(nil)

    init(_ workload: CrashWorkload) { self.workload = workload }

    /// - Throws: the first thing that was not as told.
    func run(on store: TinyStore) throws {
        store.disk.beforeCall = { [self, weak disk = store.disk] kind, path in
            if let disk, kind.isChange { freeze(disk, "\(kind) of \(path)", isSync: kind == .syncData) }
        }
        defer { store.disk.beforeCall = nil }
        try workload.run(on: store, told: told)
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Before a sync most is at stake: then every way that a medium may choose is tried more than once.
    private func freeze(_ disk: SimulatedDisk, _ call: String, isSync: Bool) {
        if failure.withLock({ $0 != nil }) { return }
        // Read first: what is told after this moment is not owed by the disk of this moment.
        let told = told.withLock { $0 }
        let number = frozen.withLock { frozen in
            frozen += isSync ? 5 : 2
            return UInt64(frozen)
        }
        let ways: [(SimulatedDisk.PowerLoss, UInt64)] =
            isSync
            ? [
                (.nothingUnsynced, 0), (.everything, 0), (.random, number), (.random, number + 1),
                (.random, number + 2),
            ]
            : [(number % 4 == 0 ? .everything : .nothingUnsynced, 0), (.random, number)]
        for (keeping, seed) in ways {
            let left = TinyStore(disk.afterPowerLoss(seed: seed, keeping: keeping), seed: 77)
            do { try workload.checkSurvivor(left, told) } catch {
                let mismatch = Mismatch("power lost before \(call), \(keeping), seed \(seed): \(error)")
                failure.withLock { $0 = $0 ?? mismatch }
                return
            }
        }
    }
}
