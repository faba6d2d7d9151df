import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

@Suite("Pages that do not fit memory")
struct SpillTests {
    private static func options(memoryPages: Int) -> PageStoreOptions {
        var options = DurableRun.smallOptions
        options.maximumMemoryPages = memoryPages
        return options
    }

    @Test("A fork that outgrows memory goes on in a file without a name")
    func spills() throws {
        let run = try DurableRun(seed: 1, options: Self.options(memoryPages: 16))
        try run.step(changes: 3_000)
        #expect(run.store.info.spilledPages > 20)
        try run.checkpoint()
        #expect(run.store.info.spilledPages == 0)
        for _ in 0..<4 {
            try run.step(changes: 500)
            try run.checkpoint()
        }
        #expect(try !run.disk.exists("/store/views.spill"))
        #expect(try run.faults(of: run.disk.afterPowerLoss(seed: 1), acceptable: run.acceptable) == [])
    }

    @Test("The file takes no memory that lies behind the slots")
    func end() throws {
        let directory = try TestDirectory()
        let (capacity, memorySlots) = (1_500, 100)
        let memory = try ReservedMemory(byteCount: 4_096 * PageLayout.pageBytes)
        let behind = UnsafeMutableRawBufferPointer(
            start: memory.base + capacity * PageLayout.pageBytes, count: 1_024 * PageLayout.pageBytes)
        behind.initializeMemory(as: UInt8.self, repeating: 0xA5)
        var slots = SlotList(
            capacity: capacity, memorySlots: memorySlots, base: memory.base,
            spill: SpillFile(files: RealFileSystem(), path: directory.path("spill")))
        for _ in 0..<capacity { _ = try slots.take() }
        #expect(throws: StrataError.self) { try slots.take() }
        #expect(slots.spilledSlots == memorySlots..<capacity)
        #expect(behind.allSatisfy { $0 == 0xA5 })
    }

    @Test("On a real disk")
    func realDisk() throws {
        let directory = try TestDirectory()
        let options = Self.options(memoryPages: 16)
        let opened = try PageStore.open(in: directory.path, store: DurableRun.storeID, options: options) { _ in true }
        let fork = opened.store.fork()
        let keys = (0..<20_000).map { Array("key \($0 &* 7_919 % 20_000)".utf8) }
        for key in keys { try fork.put(DurableRun.tree, key, key + key + key) }
        let snapshot = try opened.store.publish(fork)
        #expect(opened.store.info.spilledPages > 100)
        for key in keys { try #require(try snapshot.value(DurableRun.tree, key) == key + key + key) }
        try opened.store.checkpoint(snapshot, at: Position(offset: 1, chain: 1))
        #expect(opened.store.info.spilledPages == 0)
        #expect(try RealFileSystem().list(directory.path).sorted() == ["readers", "views"])
        let again = try PageStore.open(in: directory.path, store: DurableRun.storeID, options: options) { _ in true }
        #expect(again.store.snapshot().entryCount(DurableRun.tree) == 20_000)
        #expect(try TreeChecker.faults(of: again.store, holding: [again.store.snapshot()]) == [])
    }

    @Test("Without space to spill to, the fork fails and the store goes on")
    func noSpace() throws {
        let run = try DurableRun(seed: 1, options: Self.options(memoryPages: 64))
        try run.step(changes: 100)
        try run.checkpoint()
        run.disk.capacityBytes = run.disk.usedBytes
        let fork = run.store.fork()
        var found: StrataError?
        for index in 0..<20_000 where found == nil {
            do {
                try fork.put(DurableRun.tree, Array("key \(index)".utf8), [UInt8](repeating: 1, count: 500))
            } catch let error as StrataError { found = error }
        }
        #expect(found?.code == .noSpace)
        #expect(found?.context.path == "/store/views.spill", "what has no space is named: \(found as Any)")
        run.disk.capacityBytes = nil
        try run.step()
        try run.checkpoint()
        #expect(try run.faults(of: run.disk.afterPowerLoss(seed: 1), acceptable: run.acceptable) == [])
    }

    @Test("A cache of pages that are read stays small")
    func cacheIsBounded() throws {
        var options = DurableRun.smallOptions
        options.access = .read(cachedPages: 20)
        let run = try DurableRun(seed: 1, options: options)
        try run.step(changes: 4_000)
        try run.checkpoint()
        _ = try run.reopen()
        for _ in 0..<5 {
            #expect(try run.store.snapshot().entries(DurableRun.tree).count == run.model.count)
            // One generation of frames may be on its way out while another one collects.
            #expect(run.store.info.arenaPages < 3 * 20)
        }
    }
}
