import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("Frames that go wrong while a store is open")
struct DamagedFrameTests {
    @Test("Canary: without new views every one of these stores would fail")
    func canary() throws {
        let worn = try DamagedStore()
        let trees = worn.store.snapshot().trees
        try worn.damage()
        #expect(thrownCode { _ = try trees.digests() } == .badChecksum)
        #expect(worn.store.rebuilds.count == 0)
        try worn.store.close()
    }

    @Test("A request that reads one waits, is judged on new views and done once")
    func modify() throws {
        let worn = try DamagedStore()
        let count = try worn.commitCount
        try worn.damage()
        let answer = try worn.save([7, 301], "new")
        #expect(answer.result.saves.allSatisfy { (try? $0.get()) != nil })
        #expect(try worn.commitCount == count + 1)
        #expect(try worn.words([7, 301, 8], in: answer.snapshot) == ["new", "new", "old"])
        #expect(worn.store.rebuilds.count == 1)
        #expect(worn.store.rebuilds.lastReason?.code == .badChecksum)
        try worn.checkAndClose()
    }

    @Test("They are folded from the base if history is let go in the midst of it")
    func compacted() throws {
        let written = try DamagedStore(segmentBytes: 64 << 10)
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
        disk.beforeCall = { kind, path in
            guard kind == .read, path == segments[1], isFirst.isTaken() else { return }
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

    @Test("So is one that suspends")
    func modifyAsync() async throws {
        let worn = try DamagedStore()
        let count = try worn.commitCount
        try worn.damage()
        let request = NoteRequest.saving([DamagedStore.name(3)], DamagedStore.title("new"))
        let answer = try await worn.store.modify(request, as: worn.anna)
        #expect(try worn.word(3, in: answer.snapshot) == "new")
        #expect(try worn.commitCount == count + 1)
        #expect(worn.store.rebuilds.count == 1)
        try worn.checkAndClose()
    }

    @Test("Each way to read gets over one", arguments: 0..<6)
    func reading(way: Int) throws {
        let worn = try DamagedStore()
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

    @Test("What a record only names is looked up in new views")
    func names() throws {
        let worn = try DamagedStore()
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

    @Test("A state that is held ends with the one error, and the next one is whole")
    func heldState() throws {
        let worn = try DamagedStore()
        let held = worn.store.snapshot()
        try worn.damage()
        let numbers = [0, 77, 399]
        #expect(try worn.words(numbers, in: worn.save(numbers, "new").snapshot) == ["new", "new", "new"])
        let error = #expect(throws: StrataError.self) { try worn.words(numbers, in: held) }
        #expect(error?.code == .viewsDamaged)
        #expect(error?.description.contains("damaged and are being folded again: try again") == true)
        #expect(thrownCode { _ = try held.digests() } == .viewsDamaged)
        #expect(try worn.words(numbers, in: worn.store.snapshot()) == ["new", "new", "new"])
        #expect(worn.store.rebuilds.count == 1)
        try worn.checkAndClose()
    }

    @Test("A state that is held continues if nothing was written since")
    func heldNewest() throws {
        let worn = try DamagedStore()
        let held = worn.store.snapshot()
        let digests = try Views.inMemory(worn.store.log).trees.snapshot().digests()
        try worn.damage()
        #expect(try worn.words([0, 77, 399], in: held) == ["old", "old", "old"])
        #expect(try held.digests() == digests)
        #expect(worn.store.rebuilds.count == 1)
        try worn.checkAndClose()
    }

    @Test("A query that reads one is answered, and its cursor continues")
    func query() throws {
        let worn = try DamagedStore(indexing: true)
        func page(_ question: Question) throws -> QueryPage {
            try worn.retrying { try worn.store.query(question, in: NoteRequest.database, limit: 150, as: worn.anna) }
        }
        let query = Query("Note")
        let first = try page(.new(query))
        try worn.damage()
        var (names, cursor) = (first.matches.map(\.id.name), first.cursor)
        while let next = cursor {
            let page = try page(.continued(next))
            names += page.matches.map(\.id.name)
            cursor = page.cursor
        }
        #expect(Set(names).count == DamagedStore.noteCount && names.count == DamagedStore.noteCount)
        #expect(worn.store.rebuilds.count == 1)
        try worn.checkAndClose()
    }

    @Test("A merge that reads one leads to new views though nobody asks for anything")
    func merge() throws {
        let worn = try DamagedStore()
        let flusher = try #require(worn.store.pipeline.flusher)
        try worn.damage()
        // The runs are merged once nothing has happened for some seconds.
        #expect(eventually { worn.store.rebuilds.count == 1 && !worn.store.pipeline.live.isDamaged })
        #expect(flusher.failure != nil)
        _ = try worn.save([1], "new")
        #expect(worn.store.rebuilds.count == 1)
        try worn.checkAndClose()
    }

    @Test("A compaction that reads one waits, and is done")
    func compaction() throws {
        let worn = try DamagedStore()
        try worn.damage()
        let end = worn.store.offset
        #expect(try worn.store.compact(before: end + 1).horizon == end)
        #expect(worn.store.rebuilds.count == 1)
        #expect(try worn.words([0, 399], in: worn.store.snapshot()) == ["old", "old"])
        try worn.checkAndClose()
    }

    @Test("A process that only reads a store folds its log, and leaves the files alone")
    func onlyRead() throws {
        let worn = try DamagedStore()
        try worn.store.close()
        let reader = try Store.open(
            at: DamagedStore.path, options: worn.options, access: .readOnly, platform: Platform(files: worn.disk))
        let held = reader.snapshot()
        try worn.damage()
        let paths = worn.disk.paths
        #expect(try worn.words([0, 200, 399], in: held) == ["old", "old", "old"])
        #expect(try held.digests() == Views.inMemory(reader.log).trees.snapshot().digests())
        #expect(reader.rebuilds.count == 1)
        let isNewer = try reader.refresh()
        #expect(!isNewer)
        try reader.close()
        #expect(worn.disk.paths == paths)
    }

    @Test("A process that only reads folds its log again although the writer has compacted it")
    func onlyReadCompacted() throws {
        let worn = try DamagedStore(segmentBytes: 64 << 10)
        let reader = try Store.open(
            at: DamagedStore.path, options: worn.options, access: .readOnly, platform: Platform(files: worn.disk))
        #expect(reader.log.floor.offset == 0)
        let horizon = try worn.store.compact(before: worn.store.offset + 1).horizon
        try #require(horizon > 0)
        let held = reader.snapshot()
        reader.pipeline.live.note(DamagedStore.error, in: reader.views)
        #expect(try worn.words([0, 399], in: reader.snapshot()) == ["old", "old"])
        #expect(eventually { reader.rebuilds.count == 1 && !reader.pipeline.live.isDamaged })
        #expect(reader.log.floor.offset == horizon && reader.offset == held.offset)
        #expect(try worn.words([200], in: reader.snapshot()) == ["old"])
        try reader.close()
        try worn.store.close()
    }

    @Test("Views that turn out damaged are removed when the store is closed before they are folded again")
    func closing() throws {
        let worn = try DamagedStore()
        let (store, pipeline) = (worn.store, worn.store.pipeline)
        // Nothing is folded again before the store is being closed.
        try #require(pipeline.claimTurns())
        try worn.damage()
        #expect(eventually { pipeline.live.isDamaged })
        let closing = try WorkerThread(name: "closing") { #expect(throws: Never.self) { try store.close() } }
        #expect(eventually { pipeline.state.withLock { $0.isClosing } })
        pipeline.returnTurns()
        closing.join()
        let hasStates = worn.hasStates
        #expect(!hasStates)
        let again = try DamagedStore.open(worn.disk, worn.options)
        #expect(try worn.words([0, 399], in: again.snapshot()) == ["old", "old"])
        try again.close()
    }

    private static func note(_ text: String) throws -> Audit {
        Audit(
            actor: .service, operation: OperationInfo(), kind: .console, time: 1,
            event: try ConsoleActedEvent(ConsoleNote(text)).event())
    }

    @Test("A note that broke its batch is lost, unless the state was to blame", arguments: [false, true])
    func brokenNote(isStateToBlame: Bool) throws {
        var batch = Batch()
        let request = NoteRequest.makingZones()
        batch.entries = [
            .init(
                submission: Submission(request, as: .service, OperationInfo(), reply: .function { _ in }),
                outcome: .poisoned(DamagedStore.error)),
            .init(submission: Submission(try Self.note("whole")), outcome: .waiting),
            .init(submission: Submission(try Self.note("broken")), outcome: .poisoned(DamagedStore.error)),
        ]
        let back = batch.removeAudits(includingPoisoned: isStateToBlame)
        let texts = try back.map { try ConsoleActedEvent(decoding: $0.event.body).note.text }
        #expect(texts == (isStateToBlame ? ["whole", "broken"] : ["whole"]))
        // The request stays, and is answered.
        #expect(batch.entries.count == 1 && batch.entries[0].submission.audit == nil)
    }

    @Test("A note that waits when the store is closed is written")
    func closingWithNote() throws {
        let worn = try DamagedStore()
        let pipeline = worn.store.pipeline
        let end = worn.store.offset
        // No note is written, and nothing folded again, before the store is being closed.
        try #require(pipeline.claimTurns())
        pipeline.audits.add([try Self.note("slow")]) {}
        pipeline.live.note(DamagedStore.error, in: worn.store.views)
        let closing = try WorkerThread(name: "closing") { #expect(throws: Never.self) { try worn.store.close() } }
        #expect(eventually { pipeline.state.withLock { $0.isClosing } })
        pipeline.returnTurns()
        closing.join()
        let again = try DamagedStore.open(worn.disk, worn.options)
        #expect(again.offset == end + 1)
        try again.close()
    }

    @Test("Indexes are built again")
    func indexes() throws {
        let worn = try DamagedStore(indexing: true)
        let before = try IndexCatalog(worn.store.views.trees.snapshot()).declared
        #expect(before.count == 1)
        try worn.damage()
        _ = try worn.save([1, 2, 3], "new")
        worn.store.awaitIndexes()
        let trees = worn.store.views.trees.snapshot()
        #expect(try IndexCatalog(trees).ready == before)
        #expect(try trees.entryCount(ViewTree.index) == UInt64(DamagedStore.noteCount))
        #expect(try worn.store.differencesFromLog() == [])
        try worn.checkAndClose()
    }

    @Test("Work on indexes gets over one while nobody asks for anything")
    func declaring() throws {
        let worn = try DamagedStore()
        try worn.damage()
        try worn.store.declareIndex(type: "Note", field: "title")
        worn.store.awaitIndexes()
        let trees = worn.store.views.trees.snapshot()
        #expect(try trees.entryCount(ViewTree.index) == UInt64(DamagedStore.noteCount))
        #expect(worn.store.rebuilds.count == 1)
        try worn.checkAndClose()
    }

    @Test("Views that are in memory have no file to be damaged: an error there is one")
    func memory() throws {
        let store = try Store(on: MemoryLog())
        let anna = Actor(user: "anna")
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        #expect(!store.pipeline.live.note(DamagedStore.error, in: store.views) && !store.pipeline.live.isDamaged)
        let context = store.engine.reader.context
        var tries = 0
        let code = thrownCode {
            try context.reading(store.views.trees.snapshot()) { _ in
                tries += 1
                throw DamagedStore.error
            }
        }
        #expect(code == .badChecksum && tries == 1)
        _ = try store.modify(NoteRequest.saving(["a"]), as: anna)
        try store.close()
    }
}
