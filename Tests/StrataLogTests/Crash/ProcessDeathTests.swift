@testable import StrataLog
import StrataModel
import StrataSystem
import Synchronization
import TestSupport
import Testing

/// A process that ends leaves everything in the system's memory. The next one builds on that, and then power is lost.
@Suite("A process dies at any moment, and power is lost later")
struct ProcessDeathTests {
    /// Runs the workload up to, not including, its `calls`-th change of the disk.
    private func die(
        _ workload: CrashWorkload, on disk: SimulatedDisk, after calls: Int, told: Monitor<CrashWorkload.Told>
    ) -> Bool {
        let count = Atomic(0)
        let files = InterceptedFiles(disk) { kind, path in
            guard count.add(1, ordering: .relaxed).newValue <= calls else {
                throw StrataError(.inputOutput, "The process is dead.", .init(path: path))
            }
            return true
        }
        do { try workload.run(on: TinyStore(disk, files: files), told: told) } catch { return true }
        return count.load(ordering: .relaxed) > calls
    }

    @Test("The next process finds what it was told, and so does the one after power was lost", arguments: [
        Durability.commit, .system,
    ])
    func everyCall(durability: Durability) throws {
        let workload = CrashWorkload(durability)
        var calls = 0
        while true {
            let disk = SimulatedDisk()
            let told = Monitor(CrashWorkload.Told())
            let hasDied = die(workload, on: disk, after: calls, told: told)
            do { try checkNextProcess(workload, disk, told.withLock { $0 }) } catch {
                throw Mismatch("dead after \(calls) calls: \(error)")
            }
            if !hasDied { break }
            calls += 1
        }
        #expect(calls > 60)
    }

    private func checkNextProcess(
        _ workload: CrashWorkload, _ disk: SimulatedDisk, _ told: CrashWorkload.Told
    ) throws {
        // All that the dead process wrote is there, synced or not.
        var told = told
        told.durable = told.end
        let next = TinyStore(disk, seed: 5)
        let failure = Monitor<(any Error)?>(nil)
        let durableTold = Monitor(told.durable)
        disk.beforeCall = { [weak disk] kind, path in
            guard let disk, kind.isChange else { return }
            let told = CrashWorkload.Told(storeID: nil, durable: 0, end: durableTold.withLock { $0 })
            // Until the next process was told that its log is durable, power may take what the dead one had not synced;
            // what must hold is that the store opens, with whole commits in order.
            let left = TinyStore(disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced), seed: 6)
            do { try workload.checkSurvivor(left, told) } catch {
                failure.withLock { $0 = $0 ?? Mismatch("then power lost before \(kind) of \(path): \(error)") }
            }
        }
        let log = try next.open(workload.options)
        disk.beforeCall = nil
        if let failure = failure.withLock({ $0 }) { throw failure }
        try check(log.end.offset >= told.end, "the next process misses commits of the dead one")
        // An open log says that all it found is durable, and that the store is there.
        told = CrashWorkload.Told(
            storeID: log.identity.storeID, durable: log.durableEnd.offset, end: log.durableEnd.offset)
        for keeping in [SimulatedDisk.PowerLoss.nothingUnsynced, .everything, .random] {
            let left = TinyStore(disk.afterPowerLoss(seed: 3, keeping: keeping), seed: 7)
            do { try workload.checkSurvivor(left, told) } catch {
                throw Mismatch("opened, then power lost, \(keeping): \(error)")
            }
        }
    }
}
