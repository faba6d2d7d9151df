import Glibc
import StrataLog
import StrataModel
import StrataQuery
import StrataSystem
import StrataTree
import TestSupport
import Testing

@testable import StrataStore
@testable import StrataViews

/// Indexes that are built while others write.
@Suite struct IndexBuildTests {
    private static let path = "/Build.strata"
    private let anna = Actor(user: "anna")

    /// A clock whose reading takes a moment, so that a build takes many slices and can be met.
    private struct SlowTime: TimeSource {
        func nowMicroseconds() -> Int64 {
            usleep(500)
            return SystemTime().nowMicroseconds()
        }
    }

    private func open(
        _ disk: SimulatedDisk, _ time: any TimeSource = SystemTime(), generationBytes: Int? = nil
    ) throws -> Store {
        var options = StoreOptions.embedded
        if let generationBytes { options.trees.generationBytes = generationBytes }
        return try Store.open(at: Self.path, options: options, platform: Platform(files: disk, time: time))
    }

    private func save(_ numbers: Range<Int>, _ rank: Int, in store: Store) throws {
        let fields: [(String, FieldValue)] = [("title", .string("note \(rank)")), ("rank", .int64(Int64(rank % 7)))]
        try store.modify(NoteRequest.saving(numbers.map { "n\($0)" }, fields), as: anna)
    }

    private func filled(_ count: Int, _ disk: SimulatedDisk, generationBytes: Int? = nil) throws -> Store {
        let store = try open(disk, generationBytes: generationBytes)
        try store.modify(NoteRequest.makingZones(), as: anna)
        for start in stride(from: 0, to: count, by: 1_000) { try save(start..<start + 1_000, start, in: store) }
        return store
    }

    @Test func `rows are those of the records, whatever was written meanwhile`() throws {
        let disk = SimulatedDisk()
        try filled(8_000, disk).close()
        let store = try open(disk, SlowTime())
        let failures = Lock<[String]>([])
        let other = ZoneID("Other")
        let writer = try WorkerThread(name: "writer") {
            do {
                for round in 0..<80 {
                    try save(round * 97 % 7_000..<round * 97 % 7_000 + 60, round, in: store)
                    let gone = (round * 31..<round * 31 + 9).map { "n\($0)" }
                    try store.modify(NoteRequest.deleting(gone), as: anna)
                    if round % 4 == 0 { try store.modify(NoteRequest.makingZones([other]), as: anna) }
                    let names = (0..<50).map { "o\(round) \($0)" }
                    try store.modify(NoteRequest.saving(names, [("rank", .int64(7))], in: other), as: anna)
                    if round % 4 == 3 { try store.modify(NoteRequest.deletingZones([other]), as: anna) }
                }
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        try store.declareIndex(type: "Note", field: "rank")
        usleep(20_000)
        // The second one comes while the first is built, or is ready already.
        try store.declareIndexes(type: "Note", fields: [("title", [.queryable, .searchable])])
        var audits = 0
        while try store.indexes.contains(where: { !$0.isReady }) {
            try IndexAudit(store).check()
            audits += 1
        }
        #expect(audits > 0)
        store.awaitIndexes()
        #expect(try store.indexes.allSatisfy(\.isReady) && store.indexes.count == 3)
        writer.join()
        #expect(failures.withLock { $0 } == [])
        try IndexAudit(store).check()
        #expect(try store.differencesFromLog() == [])
        try store.close()
    }

    @Test(arguments: [false, true])
    func `a build waits while nothing can be written, until there is room or the store is closed`(heals: Bool) throws {
        let disk = SimulatedDisk()
        var store = try filled(20_000, disk, generationBytes: 128 << 10)
        let trees = store.views.trees
        #expect(eventually { trees.waitingGenerations == 0 })
        disk.fail(.write, from: 1, with: .errno(ENOSPC), on: "/views/")
        try store.declareIndex(type: "Note", field: "title")
        #expect(eventually { trees.waitingGenerations >= 3 && store.pipeline.flusher?.failure != nil })
        let refusal = #expect(throws: Refusal.self) { try save(0..<1, 1, in: store) }
        #expect(refusal?.message.contains("The disk or quota is full.") == true, "\(refusal.debugDescription)")
        #expect(trees.waitingGenerations <= 5 && store.pipeline.state.withLock { $0.hasBuilds })
        if !heals {
            #expect(throws: StrataError.self) { try store.close() }
            disk.heal()
            store = try open(disk, generationBytes: 128 << 10)
        }
        disk.heal()
        store.awaitIndexes()
        #expect(try store.indexes.allSatisfy(\.isReady))
        try IndexAudit(store).check()
        try store.close()
    }

    @Test func `a build that closing cuts short goes on in another life`() throws {
        let disk = SimulatedDisk()
        try filled(12_000, disk).close()
        var store = try open(disk, SlowTime())
        try store.declareIndex(type: "Note", field: "rank")
        func reached() throws -> [UInt8]? { try IndexCatalog(store.snapshot().trees).building.values.first }
        #expect(eventually { (try? reached())?.isEmpty == false })
        let before = try #require(try reached(), "the build was not met")
        // Closing does not wait for it.
        try store.close()
        // Which builds nothing, so that what closing left can be seen.
        let reading = try Store.open(at: Self.path, access: .readOnly, platform: Platform(files: disk))
        let after = try IndexCatalog(reading.snapshot().trees).building.values.first
        #expect(!(try #require(after, "the build was over").lexicographicallyPrecedes(before)))
        try reading.close()
        store = try open(disk, SlowTime())
        #expect(try store.indexes.map(\.field) == ["rank"])
        for start in stride(from: 3_000, to: 9_000, by: 1_000) { try save(start..<start + 1_000, 5, in: store) }
        store.awaitIndexes()
        #expect(try store.indexes.allSatisfy(\.isReady))
        try IndexAudit(store).check()
        #expect(try store.differencesFromLog() == [])
        try store.close()
    }

    @Test func `a build that cannot be done says why, and queries do without`() throws {
        let store = try Store.inMemory(options: .embedded)
        let other = ZoneID("Other")
        try store.modify(NoteRequest.makingZones([NoteRequest.zone, other]), as: anna)
        try save(0..<700, 0, in: store)
        try store.modify(NoteRequest.saving(["bad"], [("rank", .int64(1))], in: other), as: anna)
        var (key, state) = ([UInt8](), [UInt8]())
        try store.snapshot().trees.scan(ViewTree.records) { record, bytes in
            (key, state) = ([UInt8](record), [UInt8](bytes))
            return true
        }
        func put(_ state: [UInt8]) throws {
            try #require(store.pipeline.claimTurns())
            defer { store.pipeline.returnTurns() }
            try store.pipeline.publishSlice(of: store.views) { fork, _ in
                try fork.put(ViewTree.records, key: key, row: state)
            }
        }
        try put([0xFF])
        try store.declareIndex(type: "Note", field: "rank")
        store.awaitIndexes()
        let status = try #require(try store.indexes.first)
        #expect(!status.isReady && status.failure != nil, "\(status)")
        let query = Query("Note", where: try PredicateParser.parse("rank = 0"), zone: NoteRequest.zone)
        let page = try store.query(.new(query), in: NoteRequest.database, limit: 5, as: anna)
        #expect(page.matches.count == 5)
        try put(state)
        try store.declareIndex(type: "Note", field: "title")
        store.awaitIndexes()
        #expect(try store.indexes.allSatisfy { $0.isReady && $0.failure == nil }, "another try")
        try IndexAudit(store).check()
        try store.close()
    }

    @Test func `what is left of a build before is taken out first`() throws {
        let store = try filled(2_000, SimulatedDisk())
        try store.declareIndex(type: "Note", field: "rank")
        store.awaitIndexes()
        let count = try store.views.trees.snapshot().entryCount(ViewTree.index)
        for _ in 0..<3 {
            try store.declareSchema(SchemaDefinition(recordTypes: [.init("Note", fields: [.init("rank", .int64)])]))
            try store.declareIndex(type: "Note", field: "rank")
        }
        store.awaitIndexes()
        #expect(try store.views.trees.snapshot().entryCount(ViewTree.index) == count)
        try IndexAudit(store).check()
        try store.close()
    }
}
