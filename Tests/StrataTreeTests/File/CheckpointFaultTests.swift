import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

@Suite("Checkpoints that fail")
struct CheckpointFaultTests {
    typealias Kind = SimulatedDisk.CallKind

    static func outcomes(of kind: Kind) -> [SimulatedDisk.FaultOutcome] {
        switch kind {
        case .write: [.errno(28), .writeThenErrno(700, 5), .doneThenErrno(5)]
        case .syncData: [.errno(5), .syncLoses, .doneThenErrno(5)]
        default: [.errno(28)]
        }
    }

    /// Lets the k-th call of a kind fail, tries again, loses power; returns what was wrong, and whether there was a
    /// k-th call.
    static func faults(
        _ kind: Kind, _ outcome: SimulatedDisk.FaultOutcome, at call: Int, trustsFailedSync: Bool = false
    ) throws -> (faults: [String], hasFailed: Bool) {
        let run = try DurableRun(seed: UInt64(call))
        for _ in 0..<3 {
            try run.step(changes: 60)
            try run.checkpoint()
        }
        try run.step(changes: 60)
        run.disk.fail(kind, at: call, with: outcome, on: "views")
        var hasFailed = false
        do { try run.checkpoint() } catch is StrataError { hasFailed = true }
        guard hasFailed else { return ([], false) }
        if trustsFailedSync { try run.trustFailedSync() }
        var faults: [String] = []
        for keeping in SimulatedDisk.PowerLoss.allCases {
            let survivor = run.disk.afterPowerLoss(seed: UInt64(call), keeping: keeping)
            faults += try run.faults(of: survivor, acceptable: run.acceptable)
        }
        // The store goes on.
        for _ in 0..<3 {
            try run.step(changes: 20)
            try run.checkpoint()
            faults += try TreeChecker.faults(of: run.store, holding: [run.store.snapshot()])
            let survivor = run.disk.afterPowerLoss(seed: UInt64(call), keeping: .nothingUnsynced)
            faults += try run.faults(of: survivor, acceptable: run.acceptable)
        }
        return (faults, true)
    }

    @Test(
        "Each call fails once: nothing is flipped, and the next try succeeds",
        arguments: [.write, .syncData, .allocate] as [Kind])
    func everyCall(kind: Kind) throws {
        for outcome in Self.outcomes(of: kind) {
            var call = 1
            while true {
                let (faults, hasFailed) = try Self.faults(kind, outcome, at: call)
                #expect(faults == [], "\(kind) \(call), \(outcome)")
                if !hasFailed { break }
                call += 1
            }
            #expect(call > 1 || kind == .allocate, "no \(kind) has failed")
        }
    }

    @Test("Canary: pages that a failed sync lost, taken for written, are noticed")
    func trustedSync() throws {
        #expect(try !Self.faults(.syncData, .syncLoses, at: 1, trustsFailedSync: true).faults.isEmpty)
    }

    @Test("A dirty page that a failed sync lost is an error of the next checkpoint, too")
    func lostPage() throws {
        let run = try DurableRun(seed: 1)
        try run.step(changes: 300)
        try run.checkpoint()
        let memory = run.store.core.memory
        let root = run.store.snapshot().roots[DurableRun.tree].page
        memory.takeBack([MovedPage(number: root, birth: .max)])
        run.store.core.withLedger { ledger in
            ledger.markDirtyAgain([root])
            return ((), [])
        }
        let error = #expect(throws: StrataError.self) { try run.checkpoint() }
        #expect(error?.code == .malformed)
    }

    /// Takes all memory that a checkpoint gives back, as a fork that grows would.
    private final class Greed: Sendable {
        private let store = Lock<PageStore?>(nil)
        let slots = Lock<[UInt32]>([])

        func start(on store: PageStore) { self.store.withLock { $0 = store } }

        func take() {
            guard let memory = store.withLock({ $0 })?.core.memory else { return }
            while let slot = try? memory.slots.withLock({ try $0.take() }) { slots.withLock { $0.append(slot) } }
        }

        func end() {
            store.withLock { $0 }?.core.memory.slots.withLock { $0.give(slots.withLock { $0 }) }
            store.withLock { $0 = nil }
        }
    }

    @Test("Pages for which there is no memory any more when a checkpoint fails are not lost")
    func noMemory() throws {
        let greed = Greed()
        var options = PageStoreOptions(maximumPages: 1 << 18, maximumArenaPages: 4_000, pace: { _ in greed.take() })
        options.maximumKeptCheckpoints = 0
        let run = try DurableRun(seed: 1, options: options)
        try run.step(changes: 30)
        try run.checkpoint()
        greed.start(on: run.store)
        run.disk.fail(.syncData, at: 1, with: .errno(5), on: "views")
        #expect(throws: StrataError.self) { try run.fill(pages: 3_000) }
        #expect(greed.slots.withLock { $0.count } > 1_024, "the memory of a slice was taken")
        greed.end()
        let entries = run.model.sortedKeys.map { [$0, run.model[$0] ?? []] }
        #expect(try run.store.snapshot().entries(DurableRun.tree) == entries)
        #expect(run.store.writablePages >= 3_000)
        try run.checkpoint()
        let survivor = run.disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        #expect(try run.faults(of: survivor, acceptable: [run.offset]) == [])
    }

    @Test("A failure late in a checkpoint brings back the pages of all its slices", arguments: [0, 1, 2, 3])
    func lateWrite(slice: Int) throws {
        let run = try DurableRun(seed: 1)
        try run.step(changes: 30)
        try run.checkpoint()
        // The record has one page, and each slice is written in pieces of four.
        let write = 2 + slice * SliceWriter.slicePages / 4
        run.disk.fail(.write, at: write, with: .errno(5), on: "views")
        #expect(throws: StrataError.self) { try run.fill(pages: 3 * SliceWriter.slicePages) }
        #expect(run.store.writablePages >= 3 * SliceWriter.slicePages)
        let entries = run.model.sortedKeys.map { [$0, run.model[$0] ?? []] }
        #expect(try run.store.snapshot().entries(DurableRun.tree) == entries)
        let survivor = run.disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        #expect(try run.faults(of: survivor, acceptable: run.acceptable) == [])
        try run.checkpoint()
        #expect(run.store.writablePages == 0)
        let again = run.disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        #expect(try run.faults(of: again, acceptable: [run.offset]) == [])
    }

    @Test("Short and interrupted calls are no errors")
    func stutter() throws {
        let run = try DurableRun(seed: 4)
        run.disk.stutter(seed: 5)
        for _ in 0..<5 {
            try run.step()
            try run.checkpoint()
        }
        run.disk.heal()
        #expect(try run.faults(of: run.disk.afterPowerLoss(seed: 1), acceptable: run.acceptable) == [])
    }

    @Test("A full disk is an error of the checkpoint; with room again it goes on")
    func noSpace() throws {
        let run = try DurableRun(seed: 4)
        try run.step(changes: 300)
        try run.checkpoint()
        run.disk.capacityBytes = run.disk.usedBytes
        var code: StrataError.Code?
        for _ in 0..<40 where code == nil {
            try run.step(changes: 300)
            do { try run.checkpoint() } catch let error as StrataError { code = error.code }
        }
        #expect(code == .noSpace)
        #expect(try run.faults(of: run.disk.afterPowerLoss(seed: 1), acceptable: run.acceptable) == [])
        run.disk.capacityBytes = nil
        try run.checkpoint()
        #expect(try run.faults(of: run.disk.afterPowerLoss(seed: 1), acceptable: run.acceptable) == [])
        #expect(run.store.info.failedCheckpoints == 1)
    }
}
