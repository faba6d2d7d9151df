import Glibc
import StrataLog
import StrataModel
import StrataQuery
import StrataSystem
import StrataTree
import Synchronization
import TestSupport
import Testing

@testable import StrataStore
@testable import StrataViews

/// Indexes that are built while others write.
@Suite struct IndexBuildTests {
    private static let path = "/Build.strata"
    private let anna = Actor(user: "anna")

    private func open(_ disk: SimulatedDisk, buildMemoryBytes: Int = 64 << 20) throws -> Store {
        var options = StoreOptions.embedded
        options.buildMemoryBytes = buildMemoryBytes
        return try Store.open(at: Self.path, options: options, platform: Platform(files: disk))
    }

    private func save(_ numbers: Range<Int>, _ rank: Int, in store: Store) throws {
        let fields: [(String, FieldValue)] = [("title", .string("note \(rank)")), ("rank", .int64(Int64(rank % 7)))]
        try store.modify(NoteRequest.saving(numbers.map { "n\($0)" }, fields), as: anna)
    }

    private func filled(_ count: Int, _ disk: SimulatedDisk) throws -> Store {
        let store = try open(disk)
        try store.modify(NoteRequest.makingZones(), as: anna)
        for start in stride(from: 0, to: count, by: 1_000) { try save(start..<start + 1_000, start, in: store) }
        return store
    }

    @Test func `rows are those of the records, whatever was written meanwhile`() throws {
        let store = try filled(8_000, SimulatedDisk())
        let failures = Lock<[String]>([])
        let writer = try WorkerThread(name: "writer") {
            do {
                for round in 0..<80 {
                    try save(round * 97 % 7_000..<round * 97 % 7_000 + 60, round, in: store)
                    let gone = (round * 31..<round * 31 + 9).map { "n\($0)" }
                    try store.modify(NoteRequest.deleting(gone), as: anna)
                }
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        try store.declareIndex(type: "Note", field: "rank")
        usleep(20_000)
        // The second one comes while the first is built, or is ready already.
        try store.declareIndexes(type: "Note", fields: [("title", [.queryable, .searchable])])
        store.awaitIndexes()
        #expect(try store.indexes.allSatisfy(\.isReady) && store.indexes.count == 3)
        writer.join()
        #expect(failures.withLock { $0 } == [])
        try IndexAudit(store).check()
        store.awaitIndexes()
        let trees = store.views.pages.snapshot()
        let lag = store.pipeline.indexedSnapshot().lag
        #expect(try store.views.scrub(trees, lag: lag, scratch: try PageStore.inMemory()).isWhole)
        try store.close()
    }

    @Test func `a build that was cut short begins anew`() throws {
        let disk = SimulatedDisk()
        var store = try filled(5_000, disk)
        try store.declareIndex(type: "Note", field: "rank")
        usleep(5_000)
        // Closing does not wait for it.
        try store.close()
        store = try open(disk)
        store.awaitIndexes()
        #expect(try store.indexes.map(\.field) == ["rank"] && store.indexes.allSatisfy(\.isReady))
        let lag = store.pipeline.indexedSnapshot().lag
        let scrubbed = try store.views.scrub(
            store.views.pages.snapshot(), lag: lag, scratch: try PageStore.inMemory())
        #expect(scrubbed.isWhole)
        try store.close()
    }

    @Test func `a build that is under way is cut short by closing, and comes to its end in another life`() throws {
        let disk = SimulatedDisk()
        try filled(12_000, disk).close()
        // What is sorted in a file rests at each piece, so that it can be met.
        disk.beforeCall = { kind, path in if kind == .write, path.hasSuffix("views.build") { usleep(5_000) } }
        var store = try open(disk, buildMemoryBytes: 10_000)
        var isCut = false
        for field in ["rank", "title", "___createTime", "___modTime", "___parent"] where !isCut {
            try store.declareIndex(type: "Note", field: field)
            for _ in 0..<100_000 {
                guard let progress = try store.indexes.first(where: { $0.field == field })?.progress else { break }
                if [.reading, .loading].contains(progress.phase), progress.done > 0 {
                    isCut = true
                    break
                }
            }
            if isCut { isCut = try store.indexes.contains { !$0.isReady } }
        }
        try #require(isCut, "no build was seen at work")
        try store.close()
        // In the other life it waits until it was seen.
        let isSeen = Atomic(false)
        disk.beforeCall = { kind, path in
            guard kind == .write, path.hasSuffix("views.build") else { return }
            _ = eventually { isSeen.load(ordering: .relaxed) }
        }
        store = try open(disk, buildMemoryBytes: 10_000)
        var phases: Set<IndexBuild.Phase> = []
        while true {
            let waiting = try store.indexes.compactMap(\.progress)
            if waiting.isEmpty { break }
            isSeen.store(true, ordering: .relaxed)
            for progress in waiting {
                phases.insert(progress.phase)
                #expect(progress.total == 0 || progress.done <= progress.total, "\(progress)")
            }
            try #require(try store.indexes.allSatisfy { $0.failure == nil })
        }
        #expect(!phases.isEmpty)
        try IndexAudit(store).check()
        try store.close()
    }

    @Test func `a build that cannot be done says why, and queries do without`() throws {
        let disk = SimulatedDisk()
        try filled(2_000, disk).close()
        var options = StoreOptions.embedded
        options.buildMemoryBytes = 10_000
        let store = try Store.open(at: Self.path, options: options, platform: Platform(files: disk))
        disk.fail(.write, from: 2, with: .errno(ENOSPC), on: "views.build")
        try store.declareIndex(type: "Note", field: "rank")
        store.awaitIndexes()
        let status = try #require(try store.indexes.first)
        #expect(!status.isReady && status.failure?.contains("views.build") == true, "\(status)")
        let query = Query("Note", where: try PredicateParser.parse("rank = 0"))
        let page = try store.query(.new(query), in: NoteRequest.database, limit: 5, as: anna)
        #expect(page.matches.count == 5)
        disk.heal()
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
        let count = store.views.pages.snapshot().entryCount(ViewTree.index)
        for _ in 0..<3 {
            try store.declareSchema(SchemaDefinition(recordTypes: [.init("Note", fields: [.init("rank", .int64)])]))
            try store.declareIndex(type: "Note", field: "rank")
        }
        store.awaitIndexes()
        #expect(store.views.pages.snapshot().entryCount(ViewTree.index) == count)
        try IndexAudit(store).check()
        try store.close()
    }
}
