import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

@Suite("A page file made small again")
struct CompactionTests {
    /// A store most of whose pages are free.
    private static func sparse(seed: UInt64) throws -> DurableRun {
        let run = try DurableRun(seed: seed)
        run.options.maximumKeptCheckpoints = 0
        _ = try run.reopen()
        try run.step(changes: 4_000)
        try run.checkpoint()
        try run.empty(keeping: 300)
        for _ in 0..<3 {
            try run.step()
            try run.checkpoint()
        }
        return run
    }

    private static func platform(_ run: DurableRun) -> Platform { Platform(files: run.disk) }

    @Test("The new file holds what lives and nothing else; what was open stays good", arguments: seeds(2))
    func compacts(seed: UInt64) throws {
        let run = try Self.sparse(seed: seed)
        let before = run.store.info
        let old = run.store.snapshot()
        let entries = try old.entries(DurableRun.tree)
        let reader = try PageStore.openReader(
            in: DurableRun.directory, store: DurableRun.storeID, platform: Self.platform(run), options: run.options
        ) { _ in true }
        let store = try run.store.compact(old, at: run.position, opaque: [7], platform: Self.platform(run))
        #expect(store.info.pageCount < before.pageCount / 2)
        #expect(store.info.freePages <= 1)
        #expect(try store.snapshot().entries(DurableRun.tree) == entries)
        #expect(store.keptCheckpoints.map(\.opaque) == [[7]])
        #expect(try TreeChecker.faults(of: store, holding: [store.snapshot()]) == [])
        // The old file is written no more, and read as long as somebody likes.
        #expect(throws: StrataError.self) { try run.store.checkpoint(old, at: run.position) }
        run.adopt(store)
        for _ in 0..<4 {
            try run.step()
            try run.checkpoint()
        }
        #expect(try old.entries(DurableRun.tree) == entries)
        #expect(try reader.snapshot.entries(DurableRun.tree) == entries)
        #expect(try run.faults(of: run.disk.afterPowerLoss(seed: seed), acceptable: run.acceptable) == [])
    }

    @Test("Power lost at any call leaves the old file or the new one")
    func crashes() throws {
        let run = try Self.sparse(seed: 1)
        try run.step()
        let position = run.position
        let found = Monitor<[String]>([])
        let seed = Monitor<UInt64>(0)
        let (disk, options, log) = (run.disk, run.options, run.log)
        let expected: [UInt64?: [[UInt8]]] = [
            position.offset: run.states[position.offset]?.sortedKeys ?? [],
            position.offset - 1: run.states[position.offset - 1]?.sortedKeys ?? [],
        ]
        disk.beforeCall = { kind, _ in
            guard [.write, .syncData, .rename, .syncDirectory, .allocate].contains(kind) else { return }
            for keeping in SimulatedDisk.PowerLoss.allCases {
                let number = seed.withLock { seed in
                    seed += 1
                    return seed
                }
                do {
                    let survivor = disk.afterPowerLoss(seed: number, keeping: keeping)
                    let opened = try DurableRun.open(survivor, options, log)
                    let keys = try opened.store.snapshot().entries(DurableRun.tree).map { $0[0] }
                    let faults = try TreeChecker.faults(of: opened.store, holding: [opened.store.snapshot()])
                    let isSame = keys == expected[opened.checkpoint?.position.offset]
                    if !isSame || !faults.isEmpty { found.withLock { $0.append("\(kind) \(keeping): \(faults)") } }
                    if try survivor.exists("/store/views.new") { found.withLock { $0.append("a draft is left") } }
                } catch { found.withLock { $0.append("\(error)") } }
            }
        }
        _ = try run.store.compact(run.store.snapshot(), at: position, platform: Self.platform(run))
        disk.beforeCall = nil
        #expect(found.withLock { $0 } == [])
    }

    @Test("When it fails the store goes on with its old file", arguments: 1...4)
    func fails(call: Int) throws {
        let run = try Self.sparse(seed: 2)
        run.disk.fail(
            call == 4 ? .rename : call == 3 ? .allocate : call == 2 ? .syncData : .write, at: 1, with: .errno(28))
        #expect(throws: StrataError.self) {
            _ = try run.store.compact(run.store.snapshot(), at: run.position, platform: Self.platform(run))
        }
        run.disk.heal()
        #expect(try !run.disk.exists("/store/views.new"))
        try run.step()
        try run.checkpoint()
        #expect(try run.faults(of: run.disk.afterPowerLoss(seed: 1), acceptable: run.acceptable) == [])
    }

    @Test("With the new file in place it is used, even if the name's sync fails")
    func unsyncedName() throws {
        let run = try Self.sparse(seed: 2)
        run.disk.fail(.syncDirectory, at: 1, with: .errno(5))
        run.adopt(try run.store.compact(run.store.snapshot(), at: run.position, platform: Self.platform(run)))
        run.disk.heal()
        // Until the next checkpoint the old file may come back.
        let names = try SimulatedDisk.PowerLoss.allCases.map { keeping in
            try DurableRun.open(run.disk.afterPowerLoss(seed: 1, keeping: keeping), run.options, run.log)
                .store.info.pageCount
        }
        #expect(Set(names).count == 2)
        try run.step()
        try run.checkpoint()
        for keeping in SimulatedDisk.PowerLoss.allCases {
            let survivor = run.disk.afterPowerLoss(seed: 1, keeping: keeping)
            #expect(try run.faults(of: survivor, acceptable: run.acceptable) == [])
        }
    }

    @Test("Whether a file is sparse")
    func sparse() throws {
        let run = try DurableRun(seed: 1)
        #expect(!run.store.isSparse)
        run.options.maximumKeptCheckpoints = 0
        _ = try run.reopen()
        try run.fill(pages: 2 * KeptPolicy.smallPages + 200)
        #expect(!run.store.isSparse)
        try run.empty(keeping: 2)
        for _ in 0..<2 {
            try run.step()
            try run.checkpoint()
        }
        #expect(run.store.isSparse)
    }
}
