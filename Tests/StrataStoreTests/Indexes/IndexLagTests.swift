import Glibc
import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import StrataTree
import TestSupport
import Testing

@testable import StrataStore
@testable import StrataViews

/// When indexes catch up with the records, and what they show until then.
@Suite struct IndexLagTests {
    private let anna = Actor(user: "anna")

    private func store() throws -> Store {
        let store = try Store.inMemory(options: .embedded)
        try store.modify(NoteRequest.makingZones(), as: anna)
        try save(0..<10, "first", in: store)
        try store.declareIndex(type: "Note", field: "title")
        store.awaitIndexes()
        return store
    }

    private func save(_ numbers: Range<Int>, _ title: String, in store: Store) throws {
        try store.modify(NoteRequest.saving(numbers.map { "n\($0)" }, [("title", .string(title))]), as: anna)
    }

    @Test func `idle threads are told each time that indexes fall behind`() throws {
        let pages = try PageStore.inMemory()
        let fork = pages.fork()
        try IndexCatalog.put(IndexID(type: 1, .membership), .ready, in: fork)
        let snapshot = try pages.publish(fork)
        let indexes = IndexState(IndexCatchUp(snapshot), try IndexCatalog(snapshot))
        var state = Pipeline.State(end: Position(offset: 0, chain: 0), endTime: 0, indexes: indexes)
        state.indexes.isWanted = false
        state.indexes.publishedEvents = IndexState.idleLag + 1
        func endAppending() -> Bool {
            state.turns.takeAppending()
            return state.endAppending()
        }
        var told = [endAppending(), endAppending()]
        state.indexes.mark.shownEvents = state.indexes.publishedEvents
        // Somebody else decides when the catch-up ends.
        state.turns.takeDeciding()
        told.append(endAppending())
        state.turns.releaseDeciding()
        state.indexes.publishedEvents += IndexState.idleLag + 1
        told.append(endAppending())
        // The second time they know; the last time they would sleep on.
        #expect(told == [true, false, true, true])
    }

    @Test func `indexes that are far behind catch up once it is quiet`() throws {
        let store = try store()
        for round in 1...8 {
            try save(0..<Int(IndexState.idleLag) + 500, "round \(round)", in: store)
            try #require(eventually { store.indexLag == 0 }, "round \(round)")
            #expect(try store.indexedSnapshot(maximumTouched: 0).touched.isEmpty)
        }
        // A few changes wait for who asks.
        try save(0..<5, "few", in: store)
        usleep(100_000)
        #expect(store.indexLag == 5)
        #expect(try store.indexedSnapshot().touched.count == 5)
        store.awaitIndexes()
        #expect(try store.indexLag == 0 && store.indexedSnapshot().touched.isEmpty)
        // More than a query should examine are worth catching up at once.
        try save(0..<51, "more", in: store)
        #expect(try store.indexedSnapshot().touched.isEmpty && store.indexLag == 0)
        try store.close()
    }

    @Test func `the lag is bounded while a writer never pauses`() throws {
        let store = try store()
        var greatest: UInt64 = 0
        var lots = 0
        while lots < 60 {
            try save(lots % 4 * 1_000..<lots % 4 * 1_000 + 1_000, "lot \(lots)", in: store)
            greatest = max(greatest, store.indexLag)
            lots += 1
        }
        #expect(greatest > IndexState.idleLag, "nothing lagged")
        #expect(greatest <= IndexState.tolerableLag + 10_000)
        try store.close()
    }

    @Test func `what a reader gets is one state, its rows and the records to look at themselves`() throws {
        let store = try store()
        let failures = Lock<[String]>([])
        let isOver = Lock(false)
        let reader = try WorkerThread(name: "reader") {
            while !isOver.withLock({ $0 }) {
                do { try IndexAudit(store).check() } catch { failures.withLock { $0.append("\(error)") } }
            }
        }
        for round in 0..<60 {
            let start = round * 37 % 300
            try save(start..<start + 400, "round \(round)", in: store)
            if round % 3 == 0 { store.awaitIndexes() }
            if round % 5 == 0 {
                try store.modify(NoteRequest.deleting((start..<start + 20).map { "n\($0)" }), as: anna)
            }
        }
        isOver.withLock { $0 = true }
        reader.join()
        #expect(failures.withLock { $0 } == [])
        try store.close()
    }

    @Test func `rows follow records whose zones end and whose types change`() throws {
        let store = try store()
        let other = ZoneID("Other")
        func save(_ names: [String], _ type: String, _ round: Int, in zone: ZoneID) throws {
            let fields: [(String, FieldValue)] = [
                ("title", .string("round \(round)")), ("rank", .int64(Int64(round % 3))),
            ]
            var request = NoteRequest.saving(names, fields, in: zone)
            guard case .modifyRecords(var body) = request.content else { return }
            let type = request.names.ordinal(ofType: type)
            for index in body.saves.indices { body.saves[index].type = type }
            request.content = .modifyRecords(body)
            try store.modify(request, as: anna)
        }
        try save(["memo"], "Memo", 0, in: NoteRequest.zone)
        try store.declareIndexes(type: "Memo", fields: [("title", [.queryable, .searchable]), ("rank", .queryable)])
        store.awaitIndexes()
        var collected = 0
        for round in 0..<40 {
            if round % 5 == 0 { try store.modify(NoteRequest.makingZones([other]), as: anna) }
            let start = round * 37 % 200
            let names = (start..<start + 60).map { "n\($0)" }
            let isMemo = round / 3 % 2 == 1
            // A record of another type must be a new one.
            if round % 3 == 0 { try store.modify(NoteRequest.deleting((0..<300).map { "n\($0)" }), as: anna) }
            try save(names, isMemo ? "Memo" : "Note", round, in: NoteRequest.zone)
            try save(names, "Note", round, in: other)
            if round % 5 == 4 {
                var request = Request(database: NoteRequest.database, .modifyZones(ModifyZonesRequest()))
                let zone = request.names.ordinal(of: other)
                request.content = .modifyZones(ModifyZonesRequest(deletes: [zone]))
                try store.modify(request, as: anna)
            }
            if store.pipeline.state.withLock({ !$0.indexes.rows.parts.isEmpty }) { collected += 1 }
            if round % 4 == 3 { store.awaitIndexes() }
            try IndexAudit(store).check()
        }
        #expect(collected > 10)
        store.awaitIndexes()
        #expect(store.pipeline.state.withLock { $0.indexes.rows.parts.isEmpty })
        try IndexAudit(store).check()
        try store.close()
    }

    /// Calls `body` with a query that waits for the indexes, while idle threads do nothing. `hasReturned` says if it
    /// waits no more.
    private func waiting(for store: Store, _ body: (_ hasReturned: () -> Bool) throws -> Void) throws {
        let pipeline = store.pipeline
        pipeline.state.wait { state -> Void? in
            if !state.turns.areFree { return nil }
            state.turns.takeDeciding()
            return ()
        }
        let isOver = Lock(false)
        let query = try WorkerThread(name: "query") {
            pipeline.awaitCatchUp()
            isOver.withLock { $0 = true }
        }
        defer {
            pipeline.releaseDeciding()
            pipeline.state.notifyAll()
            query.join()
        }
        try #require(eventually { pipeline.state.withLock { $0.indexes.waitingQueries == 1 } })
        try body { isOver.withLock(\.self) }
    }

    @Test func `a request completes the indexes for a query that waits`() throws {
        let store = try store()
        try save(0..<60, "more", in: store)
        #expect(store.indexLag == 60)
        try waiting(for: store) { hasReturned in
            var batch = Batch()
            store.pipeline.stepIndexes(for: &batch)
            #expect(eventually { hasReturned() })
            #expect(store.indexLag == 0)
        }
        try IndexAudit(store).check()
        try store.close()
    }

    @Test func `a query waits for what was published before it, and no more`() throws {
        let store = try store()
        try save(0..<60, "more", in: store)
        try waiting(for: store) { hasReturned in
            let before = store.pipeline.state.withLock { state in
                defer {
                    var mark = state.indexes.mark
                    mark.shownEvents = state.indexes.publishedEvents
                    state.indexes.take(mark)
                    state.indexes.publishedEvents += 1
                }
                return (mark: state.indexes.mark, published: state.indexes.publishedEvents)
            }
            store.pipeline.state.notifyAll()
            #expect(eventually { hasReturned() })
            store.pipeline.state.withLock { state in
                (state.indexes.mark, state.indexes.publishedEvents) = before
            }
        }
        store.awaitIndexes()
        try IndexAudit(store).check()
        try store.close()
    }

    @Test func `a store that is only read shows no index`() throws {
        let disk = SimulatedDisk()
        let store = try Store.open(at: "/A.strata", options: .embedded, platform: Platform(files: disk))
        try store.modify(NoteRequest.makingZones(), as: anna)
        try save(0..<30, "first", in: store)
        try store.declareIndex(type: "Note", field: "title")
        store.awaitIndexes()
        let copy = disk.afterPowerLoss(seed: 1)
        try store.close()
        let reading = try Store.open(at: "/A.strata", access: .readOnly, platform: Platform(files: copy))
        reading.awaitIndexes()
        let (snapshot, touched) = try reading.indexedSnapshot()
        let catalog = try IndexCatalog(snapshot.trees)
        #expect(touched.isEmpty && catalog.ready.isEmpty && catalog.declared.count == 1)
        try reading.close()
    }
}
