import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import TestSupport
import Testing

@testable import StrataStore
@testable import StrataViews

/// Indexes that are written with each save.
@Suite struct WrittenIndexTests {
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

    @Test func `the rows of a state are those of its records, whatever is written`() throws {
        let store = try store()
        let failures = Lock<[String]>([])
        let audits = Lock(0)
        let isOver = Lock(false)
        let reader = try WorkerThread(name: "reader") {
            while !isOver.withLock({ $0 }) {
                do { try IndexAudit(store).check() } catch { failures.withLock { $0.append("\(error)") } }
                audits.withLock { $0 += 1 }
            }
        }
        for round in 0..<60 {
            let start = round * 37 % 300
            try save(start..<start + 400, "round \(round)", in: store)
            if round % 5 == 0 {
                try store.modify(NoteRequest.deleting((start..<start + 20).map { "n\($0)" }), as: anna)
            }
            if round % 10 == 0 {
                let before = audits.withLock { $0 }
                #expect(eventually { audits.withLock { $0 > before } })
            }
        }
        isOver.withLock { $0 = true }
        reader.join()
        #expect(failures.withLock { $0 } == [])
        try IndexAudit(store).check()
        try store.close()
    }

    @Test func `a row that is missing or left is noticed`() throws {
        let store = try store()
        let pages = store.views.trees
        var row: [UInt8] = []
        try pages.snapshot().scan(ViewTree.index) { key, _ in
            row = [UInt8](key)
            return false
        }
        for (change, extra) in [(row, false), (row + [0x41], true)] {
            try #require(store.pipeline.claimTurns())
            try store.pipeline.publishSlice(of: store.views) { fork, _ in
                if extra {
                    try fork.put(ViewTree.index, key: change)
                } else {
                    try fork.delete(ViewTree.index, key: change)
                }
            }
            store.pipeline.returnTurns()
            #expect(throws: IndexAudit.Failure.self) { try IndexAudit(store).check() }
            if extra { continue }
            try #require(store.pipeline.claimTurns())
            try store.pipeline.publishSlice(of: store.views) { fork, _ in try fork.put(ViewTree.index, key: change) }
            store.pipeline.returnTurns()
            try IndexAudit(store).check()
        }
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
        for round in 0..<40 {
            if round % 5 == 0 { try store.modify(NoteRequest.makingZones([other]), as: anna) }
            let start = round * 37 % 200
            let names = (start..<start + 60).map { "n\($0)" }
            let isMemo = round / 3 % 2 == 1
            // A record of another type must be a new one.
            if round % 3 == 0 { try store.modify(NoteRequest.deleting((0..<300).map { "n\($0)" }), as: anna) }
            try save(names, isMemo ? "Memo" : "Note", round, in: NoteRequest.zone)
            try save(names, "Note", round, in: other)
            try IndexAudit(store).check()
            if round % 5 == 4 { try store.modify(NoteRequest.deletingZones([other]), as: anna) }
            try IndexAudit(store).check()
        }
        try store.close()
    }

    @Test func `a store that is only read builds no index`() throws {
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
        let catalog = try IndexCatalog(reading.snapshot().trees)
        #expect(catalog.ready.isEmpty && catalog.declared.count == 1)
        try reading.close()
    }
}
