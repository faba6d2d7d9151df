import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// Which states are kept for those who look at the past, and that none is kept too long.
@Suite("States that are kept of the past")
struct PastStatesTests {
    private let anna = Actor(user: "anna")
    private let path = "/Past.strata"

    private func options(_ change: (inout PastStates.Limits) -> Void = { _ in }) -> StoreOptions {
        var options = StoreOptions.service
        options.segmentBytes = 64 << 10
        options.trees.frameBytes = 1_024
        options.pasts.intervalBytes = 1_000
        options.pasts.nearCommits = 10
        change(&options.pasts)
        return options
    }

    /// A store with so many commits, each of which gives its offset to the title of a record.
    private func store(
        _ options: StoreOptions, _ disk: SimulatedDisk, commits: Int = 300, bodyBytes: Int = 0
    ) throws -> Store {
        let store = try Store.open(at: path, options: options, platform: Platform(files: disk))
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        while store.offset < commits { try save(store, bodyBytes: bodyBytes) }
        return store
    }

    private func save(_ store: Store, bodyBytes: Int = 0) throws {
        let next = store.offset + 1
        let body = String(repeating: ".", count: bodyBytes)
        _ = try store.modify(
            NoteRequest.saving(
                ["note \(next % 20)"], [("title", .string("\(next)")), ("body", .string(body))]), as: anna)
    }

    private func title(_ number: UInt64, _ store: Store) throws -> String? {
        let record = try store.snapshot().record(
            NoteRequest.id("note \(number % 20)"), in: NoteRequest.database, as: anna)
        guard case .string(let title)? = try record["title"] else { return nil }
        return title
    }

    private func expectPast(_ offset: UInt64, of store: Store) throws {
        let past = try store.asOf(offset)
        #expect(try title(offset, past) == "\(offset)")
        #expect(past.offset == offset)
        try past.close()
    }

    private func kept(_ store: Store) -> [UInt64] { store.engine.pasts.keptOffsets }

    @Test("States lie an interval apart up to the last one that was asked for, and serve those between")
    func intervals() throws {
        let store = try store(options(), SimulatedDisk())
        #expect(kept(store).isEmpty)
        try expectPast(200, of: store)
        let first = kept(store)
        #expect(first.first == 0 && first.last == 200 && first.count > 8)
        for offset in [150, 60, 199, 20, 200] as [UInt64] { try expectPast(offset, of: store) }
        #expect(kept(store) == first, "nothing is folded twice")
        try expectPast(209, of: store)
        #expect(kept(store) == first, "what is near is not kept")
        try expectPast(300, of: store)
        #expect(kept(store).starts(with: first) && kept(store).last == 300)
        try store.close()
        #expect(kept(store).isEmpty)
    }

    @Test("A state that is nearer is where another line begins")
    func nearerState() throws {
        let disk = SimulatedDisk()
        try store(options(), disk, commits: 200).close()
        let again = try Store.open(at: path, options: options(), platform: Platform(files: disk))
        for _ in 0..<100 { try save(again) }
        try expectPast(50, of: again)
        try expectPast(280, of: again)
        #expect(kept(again).contains(200), "where the store was closed")
        #expect(!kept(again).contains { (51..<200).contains($0) }, "what lies between is not folded")
        try expectPast(250, of: again)
        try again.close()
    }

    @Test("Few commits that are large are no near ones")
    func largeCommits() throws {
        let store = try store(options { $0.nearCommits = 1_000 }, SimulatedDisk(), commits: 100)
        try expectPast(5, of: store)
        #expect(kept(store) == [0], "what is near and small is not kept")
        try expectPast(90, of: store)
        let first = kept(store)
        #expect(first.count > 4 && first.last == 90)
        try expectPast(95, of: store)
        #expect(kept(store) == first)
        try store.close()
    }

    @Test("Where there is no room for all, those that are left lie as far apart as can be")
    func thinning() throws {
        let store = try store(options { $0.maximumBytes = 512 << 10 }, SimulatedDisk(), commits: 600)
        try expectPast(600, of: store)
        let kept = kept(store)
        #expect(kept.first == 0 && kept.last == 600 && (3...40).contains(kept.count))
        let gaps = zip(kept, kept.dropFirst()).map { $1 - $0 }
        #expect(gaps.dropLast().max().map { $0 <= 4 * (gaps.dropLast().min() ?? 0) } == true, "\(gaps)")
        for offset in stride(from: UInt64(2), to: 600, by: 71) { try expectPast(offset, of: store) }
        try store.close()
    }

    @Test("The files of the state where a line begins take none of the room, however large they are")
    func inherited() throws {
        let (options, disk) = (options { $0.maximumBytes = 256 << 10 }, SimulatedDisk())
        let store = try store(options, disk, commits: 60, bodyBytes: 60_000)
        try store.settleViews()
        try store.close()
        let files = disk.paths.filter { $0.contains("/views/") }
        #expect(try files.reduce(0) { try $0 + disk.content(of: $1).count } > 1 << 20)
        let again = try Store.open(at: path, options: options, platform: Platform(files: disk))
        while again.offset < 160 { try save(again) }
        try expectPast(160, of: again)
        let kept = kept(again)
        #expect(kept.first == 60 && kept.last == 160 && kept.count > 3, "\(kept)")
        try again.close()
    }

    @Test("What is erased is in no state any more, whoever erases it")
    func erasure() throws {
        let disk = SimulatedDisk()
        let store = try store(options(), disk)
        try expectPast(300, of: store)
        #expect(kept(store).count > 2)
        try store.erase([NoteRequest.id("note 7")], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
        #expect(kept(store).isEmpty)
        let past = try store.asOf(207)
        #expect(try title(207, past) == nil)
        try past.close()
        try store.close()
    }

    @Test("A reader beside the writer lets states go when the writer has erased something, and only then")
    func erasedByOthers() throws {
        let folder = try TestDirectory()
        let path = folder.path("Past.strata")
        let writer = try Store.open(at: path, options: options())
        _ = try writer.modify(NoteRequest.makingZones(), as: anna)
        while writer.offset < 300 { try save(writer) }
        let engine = try StoreEngine.openForReading(at: path, options(), Platform()) { _ in }
        let reader = Store(engine, nil, .readOnly)
        try expectPast(300, of: reader)
        let before = kept(reader)
        try save(writer)
        try expectPast(150, of: reader)
        #expect(kept(reader) == before, "more commits are no reason")
        try writer.erase([NoteRequest.id("note 7")], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
        let past = try reader.asOf(207)
        #expect(try title(207, past) == nil)
        try past.close()
        _ = try writer.compact(before: 100)
        try expectPast(201, of: reader)
        _ = try reader.refresh()
        #expect(thrownCode { _ = try reader.asOf(50) } == .outOfRange)
        try expectPast(201, of: reader)
        try reader.close()
        try writer.close()
    }

    @Test("A log that was opened while something was being erased leaves nothing behind")
    func openedDuringErasure() throws {
        let disk = SimulatedDisk()
        let store = try store(options(), disk)
        try expectPast(300, of: store)
        let early = Lock<FollowerLog?>(nil)
        try store.erase([NoteRequest.id("note 7")], in: DatabaseID(.private, owner: "anna"), reason: "asked for") {
            let log = try FollowerLog { try LogReader.open(at: path, platform: Platform(files: disk)) }
            early.withLock { $0 = log }
        }
        let log = try #require(early.withLock { $0 })
        #expect(log.end.offset == store.offset)
        _ = try store.engine.pasts.views(at: HistoricalLog(log, of: log.storeID, through: 207), of: log)
        let past = try store.asOf(210)
        #expect(try title(207, past) == nil)
        try past.close()
        try store.close()
    }

    @Test("What a base has is folded once")
    func base() throws {
        let options = options()
        let disk = SimulatedDisk()
        let store = try store(options, disk, commits: 600, bodyBytes: 600)
        _ = try store.compact(before: 400)
        let floor = store.log.floor.offset
        #expect(floor > 100 && floor < 500)
        try expectPast(floor + 50, of: store)
        #expect(kept(store).contains(floor))
        try expectPast(floor + 30, of: store)
        try expectPast(600, of: store)
        #expect(thrownCode { _ = try store.asOf(floor - 1) } == .outOfRange)
        try store.close()
    }

    @Test("Generations may be as small as can be")
    func smallGenerations() throws {
        var options = options()
        options.trees.generationBytes = 64 << 10
        let store = try store(options, SimulatedDisk(), commits: 600)
        try expectPast(600, of: store)
        for offset in stride(from: UInt64(2), to: 600, by: 71) { try expectPast(offset, of: store) }
        try store.close()
    }

    @Test("A reader whose state was let go before it looked again is told so")
    func letGoBehindReader() throws {
        let folder = try TestDirectory()
        let path = folder.path("Past.strata")
        let options = options()
        let writer = try Store.open(at: path, options: options)
        _ = try writer.modify(NoteRequest.makingZones(), as: anna)
        while writer.offset < 60 { try save(writer) }
        let reader = Store(try StoreEngine.openForReading(at: path, options, Platform()) { _ in }, nil, .readOnly)
        let past = try reader.asOf(50)
        while writer.offset < 600 { try save(writer, bodyBytes: 600) }
        _ = try writer.compact(before: 500)
        // As whoever reads on finds it.
        try (reader.engine.log as? FollowerLog)?.beginningAnew(first: true) {}
        #expect(reader.log.floor.offset > reader.offset)
        #expect(thrownCode { _ = try reader.asOf(50) } == .outOfRange)
        _ = try reader.refresh()
        try expectPast(590, of: reader)
        #expect(try title(50, past) == "50")
        _ = thrownCode { _ = try past.asOf(45) }
        try past.close()
        try reader.close()
        try writer.close()
    }

    @Test("Indexes show what the past had, wherever one begins", arguments: seeds(3))
    func indexes(seed: UInt64) throws {
        let disk = SimulatedDisk()
        var writer = try store(options(), disk, commits: 100)
        try writer.declareIndex(type: "Note", field: "title")
        writer.awaitIndexes()
        while writer.offset < 200 { try save(writer) }
        try writer.close()
        writer = try Store.open(at: path, options: options(), platform: Platform(files: disk))
        while writer.offset < 400 {
            try save(writer)
            if writer.offset % 9 == 0 {
                _ = try? writer.modify(NoteRequest.deleting(["note \(writer.offset % 20)"]), as: anna)
            }
        }
        let random = SeededRandom(seed: seed)
        var readyCount = 0
        for _ in 0..<30 {
            let offset = 2 + random.next() % (writer.offset - 1)
            let past = try writer.asOf(offset)
            let isReady = try past.indexes.contains(where: \.isReady)
            if isReady { try IndexAudit(past).check() }
            #expect(isReady || offset <= 210, "the state at 200 has it, \(offset)")
            readyCount += isReady ? 1 : 0
            #expect(
                try past.snapshot().digests()
                    == Views.inMemory(
                        HistoricalLog(writer.log, of: writer.engine.storeID, through: offset)
                    ).trees.snapshot().digests())
            if offset < writer.offset {
                try past.advance(to: offset + random.next() % (writer.offset - offset))
                if isReady { try IndexAudit(past).check() }
            }
            try past.close()
        }
        #expect(readyCount > 0)
        try writer.close()
    }

    @Test("They are let go when nobody asks any more")
    func idle() async throws {
        let store = try store(options { $0.idleMilliseconds = 5_000 }, SimulatedDisk())
        try expectPast(300, of: store)
        #expect(try await awaited { kept(store).isEmpty })
        try expectPast(300, of: store)
        #expect(!kept(store).isEmpty)
        try store.close()
    }

    @Test("Many ask at once, while the store goes on")
    func concurrently() async throws {
        let store = try store(options { $0.maximumBytes = 512 << 10 }, SimulatedDisk())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 0..<100 { try save(store) } }
            for seed in UInt64(0)..<4 {
                group.addTask {
                    let random = SeededRandom(seed: seed)
                    for _ in 0..<30 { try expectPast(2 + random.next() % (store.offset - 1), of: store) }
                }
            }
            try await group.waitForAll()
        }
        try store.close()
    }

    @Test("One that goes on step by step compares what it was with what it is")
    func steps() throws {
        let store = try store(options(), SimulatedDisk())
        let past = try store.asOf(30)
        for _ in 0..<270 {
            let before = past.offset
            try past.advance(to: before + 1)
            var changed: [String] = []
            try past.past.forEachChange(from: before, to: past.offset) {
                changed.append($0.id.name)
                return true
            }
            #expect(changed == ["note \(past.offset % 20)"])
        }
        #expect(try title(300, past) == "300")
        try past.close()
        try store.close()
    }
}
