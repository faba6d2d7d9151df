import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// Power is lost in front of every call that a run makes, with all that a medium may have kept.
struct CrashHarness {
    /// - Returns: what was wrong with what was left; empty if all is well.
    static func faults(
        seed: UInt64, rounds: Int = 12, didCheckpoint: @escaping (Checkpoints) -> Void = { _ in }
    ) throws -> [String] {
        var options = DurableRun.smallOptions
        options.access = DurableRun.accesses[Int(seed / 2 % 2)]
        options.maximumKeptCheckpoints = seed % 2 == 0 ? 0 : 24
        let run = try DurableRun(seed: seed, options: options)
        run.didCheckpoint = didCheckpoint
        let crash = Crash(run, seed: seed)
        run.disk.beforeCall = { kind, _ in crash.freeze(kind) }
        for round in 0..<rounds {
            try run.step(changes: round == 0 ? 300 : 40)
            if round % 3 == 1 { run.snapshots.append(run.store.snapshot()) }
            if round % 5 == 4 { run.snapshots = [] }
            if round % 4 == 3 { try run.step() }
            try run.checkpoint()
            crash.freeze(.syncData)
            if !crash.faults.isEmpty { break }
        }
        run.disk.beforeCall = nil
        return crash.faults
    }
}

// @unchecked: everything runs on the thread of the test, which is also the one that the disk calls back on.
private final class Crash: @unchecked Sendable {
    private let run: DurableRun
    private var seed: UInt64
    private(set) var faults: [String] = []
    private var isJudging = false

    init(_ run: DurableRun, seed: UInt64) {
        self.run = run
        self.seed = seed &* 1_000
    }

    func freeze(_ kind: SimulatedDisk.CallKind) {
        guard [.write, .syncData, .allocate].contains(kind), faults.isEmpty else { return }
        seed += 1
        for keeping in SimulatedDisk.PowerLoss.allCases {
            let survivor = run.disk.afterPowerLoss(seed: seed, keeping: keeping)
            do {
                faults += try run.faults(of: survivor, acceptable: run.acceptable).map {
                    "\(kind), \(keeping), seed \(seed): \($0)"
                }
            } catch { faults.append("\(error)") }
        }
    }
}

@Suite("Power lost during checkpoints")
struct CheckpointCrashTests {
    @Test("Opening finds one of the two newest checkpoints, whole", arguments: seeds(6))
    func crashes(seed: UInt64) throws {
        #expect(try CrashHarness.faults(seed: seed) == [])
    }

    @Test("Canary: pages reused one slot too early are noticed")
    func reusesOneSlotTooEarly() throws {
        let isNoticed = try seeds(6).contains { seed in
            try !CrashHarness.faults(seed: seed) { $0.letGoOfOlderSlot() }.isEmpty
        }
        #expect(isNoticed)
    }

    @Test("A header whose sync failed is found by the next process, and then made durable", arguments: [false, true])
    func foundHeader(isCanary: Bool) throws {
        var faults: [String] = []
        for seed in seeds(4) {
            let run = try DurableRun(seed: seed)
            run.options.maximumKeptCheckpoints = 0
            _ = try run.reopen()
            for _ in 0..<3 {
                try run.step(changes: 60)
                try run.checkpoint()
            }
            try run.step(changes: 60)
            // Reading shows it, and nothing will write it: it is not on the medium.
            run.disk.fail(.syncData, at: 2, with: .syncLoses, on: "views")
            #expect(throws: StrataError.self) { try run.checkpoint() }
            run.disk.heal()
            #expect(try run.reopen().checkpoint?.position.offset == 4)
            try run.step(changes: 200)
            let crash = Crash(run, seed: seed)
            run.disk.beforeCall = { kind, _ in crash.freeze(kind) }
            // What the failed sync left is as good as what was acknowledged before.
            run.acceptsAlso(4)
            // The header that was found is not written again.
            if isCanary { run.disk.fail(.write, at: 1, with: .ignored, on: "views") }
            try run.checkpoint()
            run.disk.beforeCall = nil
            faults += crash.faults
        }
        #expect(faults.isEmpty != isCanary, "\(faults.first ?? "none")")
    }

    @Test("A header that was not taken never comes back", arguments: [false, true])
    func rejectedHeader(isCanary: Bool) throws {
        var found: [String] = []
        for seed in seeds(8) {
            let run = try DurableRun(seed: seed)
            for _ in 0..<3 {
                try run.step()
                try run.checkpoint()
            }
            // The log loses its last commit, and the same commit is made again later.
            let lost = run.position
            run.loseTail(to: lost.offset - 1)
            let opened = try run.reopen()
            #expect(opened.finding == .otherSlot && opened.checkpoint?.position.offset == lost.offset - 1)
            #expect(opened.reasons.map(\.code) == [.brokenChain])
            let whole = run.model
            // Pages are written, and then the checkpoint fails.
            try run.step(changes: 200)
            run.disk.fail(.syncData, at: 2, with: .errno(5), on: "views")
            // The header that was rejected is left where it is.
            if isCanary { run.disk.fail(.write, at: 1, with: .ignored, on: "views") }
            #expect(throws: StrataError.self) { try run.checkpoint() }
            run.disk.heal()
            let survivor = run.disk.afterPowerLoss(seed: seed, keeping: .everything)
            let again = try DurableRun.open(
                survivor, run.options, [lost.offset: lost.chain, lost.offset - 1: run.log[lost.offset - 1] ?? 0])
            let snapshot = again.store.snapshot()
            if again.checkpoint?.position == lost {
                found.append("the checkpoint is back")
            } else {
                #expect(try snapshot.entries(DurableRun.tree).count == whole.count)
            }
        }
        #expect(found.isEmpty != isCanary)
    }
}
