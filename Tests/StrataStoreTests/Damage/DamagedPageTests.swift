import Glibc
import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("Pages that go wrong while a store is open")
struct DamagedPageTests {
    private typealias Access = DamagedStore.Access

    @Test("Canary: without the retries every one of these stores would fail", arguments: DamagedStore.Access.allCases)
    func canary(access: DamagedStore.Access) throws {
        let worn = try DamagedStore(access)
        let trees = worn.store.snapshot().trees
        try worn.damage()
        #expect(thrownCode { _ = try trees.digests() } == .badChecksum)
        #expect(worn.store.rebuilds.count == 0)
        try worn.store.close()
    }

    @Test("A request that meets one is judged on new views and done once", arguments: DamagedStore.Access.allCases)
    func modify(access: DamagedStore.Access) throws {
        let worn = try DamagedStore(access)
        let count = try worn.commitCount
        try worn.damage()
        let answer = try worn.save([7, 301], "new")
        #expect(answer.result.saves.allSatisfy { (try? $0.get()) != nil })
        #expect(try worn.commitCount == count + 1)
        #expect(try worn.words([7, 301, 8], in: answer.snapshot) == ["new", "new", "old"])
        #expect(worn.store.rebuilds.count == 1)
        #expect(worn.store.rebuilds.lastReason?.code == .badChecksum)
        #expect(worn.disk.paths.contains(DamagedStore.views + ".damaged"))
        try worn.checkAndClose()
    }

    @Test("They are folded from the base if history is let go in the midst of it")
    func compacted() throws {
        let written = try DamagedStore(.read, segmentBytes: 64 << 10)
        var generator = SeededGenerator(seed: 5)
        for number in 0..<60 {
            let noise = (0..<8_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            let values = DamagedStore.title("noisy") + [("noise", FieldValue.data(noise))]
            _ = try written.store.modify(NoteRequest.saving([DamagedStore.name(number)], values), as: written.anna)
        }
        let worn = try DamagedStore.reopened(written)
        let (disk, store) = (worn.disk, worn.store)
        let segments = disk.paths.filter { $0.hasSuffix(".seg") }.sorted()
        #expect(segments.count > 4)
        // Or the thread which seals may be the one that meets the damage.
        (store.log as? SegmentedLog)?.stopSealing()
        try worn.damage()
        let (isFirst, horizon, outcome) = (Lock(true), store.offset, Lock<String>(""))
        let caller = pthread_self()
        disk.beforeCall = { kind, path in
            guard kind == .read, path == segments[1], pthread_self() == caller, isFirst.isTaken() else { return }
            let compactor = try? WorkerThread(name: "compact") {
                let done = Result { try store.compact(before: horizon).segmentCount }
                outcome.withLock { $0 = "\(done)" }
            }
            compactor?.join()
        }
        let answer = try worn.save([7], "new")
        disk.beforeCall = nil
        #expect(outcome.withLock { $0 } == "success(\(segments.count - 1))")
        #expect(try worn.words([7, 8, 301], in: answer.snapshot) == ["new", "noisy", "old"])
        #expect(store.log.floor.offset == horizon - 1 && store.rebuilds.count == 1)
        try worn.checkAndClose()
    }

    @Test("So is one that suspends", arguments: DamagedStore.Access.allCases)
    func modifyAsync(access: DamagedStore.Access) async throws {
        let worn = try DamagedStore(access)
        let count = try worn.commitCount
        try worn.damage()
        let request = NoteRequest.saving([DamagedStore.name(3)], DamagedStore.title("new"))
        let answer = try await worn.store.modify(request, as: worn.anna)
        #expect(try worn.word(3, in: answer.snapshot) == "new")
        #expect(try worn.commitCount == count + 1)
        #expect(worn.store.rebuilds.count == 1)
        try worn.checkAndClose()
    }

    @Test("Each way to read gets over one", arguments: DamagedStore.Access.allCases, 0..<6)
    func reading(access: DamagedStore.Access, way: Int) throws {
        let worn = try DamagedStore(access)
        let (store, anna, database) = (worn.store, worn.anna, NoteRequest.database)
        let ids = [5, 100, 399].map { NoteRequest.id(DamagedStore.name($0)) }
        let versions = try store.snapshot().records(ids, in: database, as: anna).map { try $0.get().version }
        let fresh = try DamagedStore.reopened(worn)
        try fresh.damage()
        let snapshot = fresh.store.snapshot()
        switch way {
        case 0:
            let found = try fresh.store.fetch(ids, in: database, as: anna)
            #expect(try found.map { try $0.get().version } == versions)
        case 1: #expect(try snapshot.records(ids, in: database, as: anna).map { try $0.get().version } == versions)
        case 2: #expect(try snapshot.record(ids[1], in: database, as: anna).version == versions[1])
        case 3: #expect(try snapshot.zones(in: database, as: anna).count == 2)
        case 4: #expect(try snapshot.zone(NoteRequest.zone, in: database, as: anna).recordCount == 400)
        default: #expect(try snapshot.record(ids[2], at: versions[2], in: database, as: anna)?.version == versions[2])
        }
        #expect(fresh.store.rebuilds.count == 1)
        try fresh.checkAndClose()
    }

    @Test("What a record only names is looked up in new views", arguments: DamagedStore.Access.allCases)
    func names(access: DamagedStore.Access) throws {
        let worn = try DamagedStore(access)
        let id = NoteRequest.id(DamagedStore.name(9))
        let record = try worn.store.snapshot().record(id, in: NoteRequest.database, as: worn.anna)
        try worn.damage()
        _ = try worn.save([9], "new")
        #expect(try record.type == "Note")
        #expect(try record.createdBy == "anna")
        #expect(try record.modifiedWith == "phone")
        #expect(try record.fields.keys.sorted() == ["title"])
        try worn.checkAndClose()
    }

    @Test("A state that somebody holds stays that of its offset", arguments: DamagedStore.Access.allCases)
    func heldState(access: DamagedStore.Access) throws {
        let worn = try DamagedStore(access)
        let held = worn.store.snapshot()
        let digests = try Views.inMemory(worn.store.log).pages.snapshot().digests()
        try worn.damage()
        let numbers = [0, 77, 399]
        #expect(try worn.words(numbers, in: worn.save(numbers, "new").snapshot) == ["new", "new", "new"])
        // The new views have never had that state; it is folded for those who hold it.
        #expect(try worn.words(numbers, in: held) == ["old", "old", "old"])
        #expect(try held.digests() == digests)
        #expect(held.offset + 1 == worn.store.offset)
        #expect(worn.disk.paths.contains(DamagedStore.views), "what is wrong with the old file is not the new one's")
        #expect(worn.store.rebuilds.count == 1)
        try worn.checkAndClose()
    }

    @Test("Indexes are built again", arguments: DamagedStore.Access.allCases)
    func indexes(access: DamagedStore.Access) throws {
        let worn = try DamagedStore(access, indexing: true)
        let before = try IndexCatalog(worn.store.views.pages.snapshot()).declared
        #expect(before.count == 1)
        try worn.damage()
        _ = try worn.save([1, 2, 3], "new")
        worn.store.awaitIndexes()
        #expect(worn.store.indexLag == 0)
        let trees = worn.store.views.pages.snapshot()
        #expect(try IndexCatalog(trees).ready == before)
        #expect(trees.entryCount(ViewTree.index) == UInt64(DamagedStore.noteCount))
        let lag = worn.store.pipeline.state.withLock { $0.indexes.mark.catchUp.lag }
        #expect(try worn.store.views.scrub(trees, lag: lag, scratch: try PageStore.inMemory()).isWhole)
        try worn.checkAndClose()
    }

    @Test("Work on indexes gets over one while nobody asks for anything", arguments: DamagedStore.Access.allCases)
    func declaring(access: DamagedStore.Access) throws {
        let worn = try DamagedStore(access)
        try worn.damage()
        try worn.store.declareIndex(type: "Note", field: "title")
        worn.store.awaitIndexes()
        let trees = worn.store.views.pages.snapshot()
        #expect(trees.entryCount(ViewTree.index) == UInt64(DamagedStore.noteCount))
        #expect(worn.store.rebuilds.count == 1)
        try worn.checkAndClose()
    }

    @Test("A second page that goes wrong is no worse than the first")
    func again() throws {
        let worn = try DamagedStore(.read)
        for round in 1...3 {
            try worn.damage()
            _ = try worn.save([round], "round-\(round)")
            #expect(worn.store.rebuilds.count == round)
            // Until a checkpoint has written them the new pages are in memory.
            try worn.store.views.checkpoint(worn.store.views.pages.snapshot())
        }
        #expect(try worn.words([1, 2, 3, 4], in: worn.store.snapshot()) == ["round-1", "round-2", "round-3", "old"])
        try worn.checkAndClose()
    }

    @Test("Views that are in memory have no file to be damaged: an error there is one")
    func memory() throws {
        let store = try Store(on: MemoryLog())
        let anna = Actor(user: "anna")
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        let error = StrataError(.badChecksum, "A page's bytes do not match its checksum.")
        let damage = try #require(ViewsDamage(error, store.views))
        #expect(thrownCode { try store.pipeline.rebuildViews(damage) } == .badChecksum)
        let context = store.engine.reader.context
        var tries = 0
        let code = thrownCode {
            try context.reading(store.views.pages.snapshot()) { _ in
                tries += 1
                throw error
            }
        }
        #expect(code == .badChecksum && tries == 1)
        _ = try store.modify(NoteRequest.saving(["a"]), as: anna)
        try store.close()
    }
}
