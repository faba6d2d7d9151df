import StrataModel
import StrataSystem
import Synchronization
import TestSupport
import Testing

@testable import StrataLog

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

    @Test(
        "The next process finds what it was told, and so does the one after power was lost",
        arguments: [
            (Durability.commit, 0), (.commit, 16 << 10), (.system, 0),
        ])
    func everyCall(durability: Durability, spaceStepBytes: Int) throws {
        let workload = CrashWorkload(durability, spaceStepBytes: spaceStepBytes)
        var calls = 0
        var wrong: [String] = []
        while true {
            let disk = SimulatedDisk()
            let told = Monitor(CrashWorkload.Told())
            let hasDied = die(workload, on: disk, after: calls, told: told)
            do { try checkNextProcess(workload, disk, told.withLock { $0 }) } catch {
                wrong.append("dead after \(calls) calls: \(error)")
            }
            if !hasDied { break }
            calls += 1
        }
        #expect(calls > 50)
        #expect(wrong == [])
    }

    private func checkNextProcess(
        _ workload: CrashWorkload, _ disk: SimulatedDisk, _ told: CrashWorkload.Told
    ) throws {
        let failure = Monitor<(any Error)?>(nil)
        disk.beforeCall = { [weak disk] kind, path in
            guard let disk, kind.isChange else { return }
            // Until the next process is told that its log is durable, power may take what the dead one had not synced;
            // what holds is what the dead one was told to be durable.
            do { try losePower(workload, disk, told) } catch {
                failure.withLock { $0 = $0 ?? Mismatch("then power lost before \(kind) of \(path): \(error)") }
            }
        }
        let log = try TinyStore(disk, seed: 5).open(workload.options)
        disk.beforeCall = nil
        if let failure = failure.withLock({ $0 }) { throw failure }
        // All that the dead process wrote is there, synced or not.
        try check(log.end.offset >= told.end, "the next process misses commits of the dead one")
        try checkPowerLoss(workload, disk, log, "opened")
        let end = Int(log.end.offset)
        guard end < workload.reference.count else { return }
        let next = workload.batches.flatMap(\.self)[end]
        _ = try log.append([next], expecting: log.end)
        try checkPowerLoss(workload, disk, log, "appended")
    }

    /// An open log says that the store is there, and up to where all is durable.
    private func checkPowerLoss(
        _ workload: CrashWorkload, _ disk: SimulatedDisk, _ log: SegmentedLog, _ moment: String
    ) throws {
        let durable = log.durableEnd.offset
        let told = CrashWorkload.Told(storeID: log.identity.storeID, durable: durable, end: durable)
        do { try losePower(workload, disk, told) } catch { throw Mismatch("\(moment), then power lost: \(error)") }
    }

    private func losePower(_ workload: CrashWorkload, _ disk: SimulatedDisk, _ told: CrashWorkload.Told) throws {
        try workload.checkSurvivor(TinyStore(disk.afterPowerLoss(seed: 0, keeping: .nothingUnsynced), seed: 7), told)
        for seed in 1...3 as ClosedRange<UInt64> {
            try workload.checkSurvivor(TinyStore(disk.afterPowerLoss(seed: seed), seed: 7), told)
        }
    }
}
