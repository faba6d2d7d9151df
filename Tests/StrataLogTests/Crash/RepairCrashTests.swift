import StrataModel
import StrataSystem
import Synchronization
import TestSupport
import Testing

@testable import StrataLog

/// A damaged store, and how many commits of it must survive.
struct RepairCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var survivors: Int
    /// Commits that were let go.
    var floor = 0
    /// Whether closed segments are sealed.
    var isSealed = false
    var damage: @Sendable (TinyStore, [Commit]) throws -> Void

    private static func frame(_ store: TinyStore, _ segment: UInt64, _ index: Int) throws -> SeenFrame {
        SeenFrame.all(in: try store.disk.content(of: store.segment(segment)))[index]
    }

    static let all: [RepairCase] = [
        .init(testDescription: "a commit of the first segment", survivors: 1) { store, _ in
            try store.disk.flipBit(store.segment(1), byte: try frame(store, 1, 1).position + 3, bit: 1)
        },
        .init(testDescription: "a commit of the newest segment", survivors: 7) { store, _ in
            try store.disk.flipBit(store.segment(6), byte: try frame(store, 6, 2).position + 3, bit: 1)
        },
        .init(testDescription: "a missing segment", survivors: 3) { store, _ in
            try store.disk.removeFile(store.segment(4))
        },
        .init(testDescription: "a header, a seal and a commit", survivors: 6) { store, _ in
            try store.disk.flipBit(store.segment(1), byte: 20, bit: 1)
            try store.disk.flipBit(store.segment(1), byte: try frame(store, 1, 3).position + 9, bit: 1)
            try store.disk.flipBit(store.segment(6), byte: try frame(store, 6, 1).position + 9, bit: 1)
        },
        .init(testDescription: "the floor and a commit", survivors: 4, floor: 3) { store, commits in
            let id = try store.reader().identity.storeID
            var floor = FloorMark(storeID: id, position: commits[2].position, time: commits[2].time).encoded()
            floor[30] ^= 8
            store.disk.setContent(floor, of: store.log + "/FLOOR")
            try store.disk.removeFile(store.segment(1))
            try store.disk.flipBit(store.segment(4), byte: try frame(store, 4, 1).position + 9, bit: 1)
        },
        .init(testDescription: "a sealed segment's index and a commit", survivors: 6, isSealed: true) { store, _ in
            let count = try store.disk.content(of: store.segment(1)).count
            try store.disk.flipBit(store.segment(1), byte: count - 80, bit: 1)
            try store.disk.flipBit(store.segment(6), byte: try frame(store, 6, 1).position + 9, bit: 1)
        },
        .init(testDescription: "a sealed segment's commits", survivors: 3, isSealed: true) { store, _ in
            try store.disk.flipBit(store.segment(4), byte: 200, bit: 1)
        },
    ]

    /// The damaged store on a disk of its own, and the commits that it had.
    func make(_ disk: SimulatedDisk = SimulatedDisk(), files: (any FileSystem)? = nil) throws -> (TinyStore, [Commit]) {
        let forge = try StoreForge.three()
        if isSealed {
            let log = try forge.store.open()
            while try log.sealNext(lookup: SealedStore.lookup) {}
            try log.close()
        }
        try damage(forge.store, forge.commits)
        for (path, content) in try forge.store.files() { disk.setContent(content, of: path) }
        return (TinyStore(disk, files: files), forge.commits)
    }

    /// Repairs what a crash in the middle of a repair left, and sees that nothing that must survive is gone.
    func checkSurvivor(_ store: TinyStore, _ commits: [Commit], damaged: TinyStore) throws {
        try SurvivalOracle(damaged).checkNothingIsThrownAway(damaged, store)
        let plan = try store.repair()
        try check(plan.obstacle == nil, "cannot be repaired any more: \(plan.obstacle ?? "")")
        try SurvivalOracle(damaged).checkNothingIsThrownAway(damaged, store)
        let log = try store.open()
        let difference = firstDifference(try log.allCommits(), Array(commits[floor..<survivors]))
        try check(difference == nil, "what is left is not what must survive: \(difference ?? "")")
    }
}

/// Runs a repair and lets power be lost before every call that changes the disk, in several ways each.
final class RepairFreezeHarness: Sendable {
    let repairCase: RepairCase
    let frozen = Monitor(0)
    private let failure = Monitor<Mismatch?>(nil)

    init(_ repairCase: RepairCase) { self.repairCase = repairCase }

    func run(on disk: SimulatedDisk = SimulatedDisk(), files: (any FileSystem)? = nil) throws {
        let (store, commits) = try repairCase.make(disk, files: files)
        let damaged = TinyStore(disk.afterPowerLoss(seed: 1, keeping: .everything))
        disk.beforeCall = { [self, weak disk] kind, path in
            if let disk, kind.isChange { freeze(disk, commits, damaged, "\(kind) of \(path)") }
        }
        defer { disk.beforeCall = nil }
        try store.repair()
        freeze(disk, commits, damaged, "the end")
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private func freeze(_ disk: SimulatedDisk, _ commits: [Commit], _ damaged: TinyStore, _ call: String) {
        if failure.withLock({ $0 != nil }) { return }
        let number = frozen.withLock { frozen in
            frozen += 1
            return UInt64(frozen)
        }
        let ways: [(SimulatedDisk.PowerLoss, UInt64)] =
            [(.nothingUnsynced, 0), (.everything, 0)] + (0..<6).map { (.random, number * 10 + $0) }
        for (keeping, seed) in ways {
            let left = TinyStore(disk.afterPowerLoss(seed: seed, keeping: keeping), seed: 77)
            do { try repairCase.checkSurvivor(left, commits, damaged: damaged) } catch {
                let mismatch = Mismatch("power lost before \(call), \(keeping), seed \(seed): \(error)")
                failure.withLock { $0 = $0 ?? mismatch }
                return
            }
        }
    }
}

@Suite("A repair is interrupted")
struct RepairCrashTests {
    @Test(
        "Power is lost at any moment: the repair can be run again, and nothing is lost by it", arguments: RepairCase.all
    )
    func powerLoss(repairCase: RepairCase) throws {
        let harness = RepairFreezeHarness(repairCase)
        try harness.run()
        #expect(harness.frozen.withLock { $0 } >= 8)
    }

    @Test("Any call fails: the repair can be run again", arguments: [0, 3, 5].map { RepairCase.all[$0] })
    func faults(repairCase: RepairCase) throws {
        let kinds: [SimulatedDisk.CallKind] = [.create, .write, .syncData, .truncate, .rename, .syncDirectory]
        for kind in kinds {
            var call = 1
            while true {
                let (store, commits) = try repairCase.make()
                let damaged = store.copy()
                store.disk.fail(kind, at: call, with: .errno(28))
                let error = thrownError { try store.repair() }
                store.disk.heal()
                do { try repairCase.checkSurvivor(store.copy(), commits, damaged: damaged) } catch {
                    throw Mismatch("\(kind) \(call): \(error)")
                }
                if error == nil { break }
                call += 1
            }
            try check(call > 1 || kind == .truncate || kind == .rename, "no \(kind) failed")
        }
    }
}

@Suite("Canary: the crash harness of repair notices files that forget something")
struct RepairCrashCanaryTests {
    @Test("A sync that does nothing is noticed", arguments: [".repaired-1.new", "log"])
    func forgottenSync(path: String) throws {
        let disk = SimulatedDisk()
        let files = InterceptedFiles(disk) { kind, name in
            !(kind == .syncData || kind == .syncDirectory) || !name.hasSuffix(path)
        }
        #expect(throws: Mismatch.self) { try RepairFreezeHarness(RepairCase.all[0]).run(on: disk, files: files) }
    }

    @Test("A copy that is not made is noticed")
    func noCopy() throws {
        let disk = SimulatedDisk()
        let files = InterceptedFiles(disk) { kind, name in kind != .write || !name.hasSuffix(".repaired-1.new") }
        #expect(throws: Mismatch.self) { try RepairFreezeHarness(RepairCase.all[0]).run(on: disk, files: files) }
    }

    @Test("The plain expectation of survivors notices a commit that decayed")
    func oracle() throws {
        let store = try StoreForge.three().store
        let oracle = try SurvivalOracle(store)
        #expect(try oracle.lastOffset(in: store.copy()) == 9)
        let frame = SeenFrame.all(in: try store.disk.content(of: store.segment(4)))[1]
        try store.disk.flipBit(store.segment(4), byte: frame.position + 5, bit: 1)
        #expect(try oracle.lastOffset(in: store.copy()) == 4)
        #expect(throws: Mismatch.self) {
            try oracle.checkNothingIsThrownAway(store.copy(), try StoreForge.three(seed: 2).store)
        }
    }
}
