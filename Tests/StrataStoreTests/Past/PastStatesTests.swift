import StrataLog
import StrataModel
import StrataSystem
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
        options.checkpoints = .init(logBytes: 1 << 30, events: 1 << 30, dirtyPercent: 99)
        options.pasts.intervalBytes = 1_000
        options.pasts.nearCommits = 10
        change(&options.pasts)
        return options
    }

    /// A store with so many commits, each of which gives its offset to the title of a record.
    private func store(_ options: StoreOptions, _ disk: SimulatedDisk, commits: Int = 300) throws -> Store {
        let store = try Store.open(at: path, options: options, platform: Platform(files: disk))
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        while store.offset < commits { try save(store) }
        return store
    }

    private func save(_ store: Store) throws {
        let next = store.offset + 1
        _ = try store.modify(
            NoteRequest.saving(["note \(next % 20)"], [("title", .string("\(next)"))]), as: anna)
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

    @Test("A checkpoint that is nearer is where another line begins")
    func checkpoints() throws {
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

    @Test("Where there is no room for all, those that are left lie as far apart as can be")
    func thinning() throws {
        let store = try store(options { $0.maximumPages = 120 }, SimulatedDisk(), commits: 600)
        try expectPast(600, of: store)
        let kept = kept(store)
        #expect(kept.first == 0 && kept.last == 600 && (3...40).contains(kept.count))
        let gaps = zip(kept, kept.dropFirst()).map { $1 - $0 }
        #expect(gaps.dropLast().max().map { $0 <= 4 * (gaps.dropLast().min() ?? 0) } == true, "\(gaps)")
        for offset in stride(from: UInt64(2), to: 600, by: 71) { try expectPast(offset, of: store) }
        try store.close()
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

    @Test("They are let go when nobody asks any more")
    func idle() async throws {
        let store = try store(options { $0.idleMilliseconds = 30 }, SimulatedDisk())
        try expectPast(300, of: store)
        var waits = 0
        while !kept(store).isEmpty, waits < 2_000 {
            try await Task.sleep(for: .milliseconds(10))
            waits += 1
        }
        #expect(kept(store).isEmpty)
        try expectPast(300, of: store)
        #expect(!kept(store).isEmpty)
        try store.close()
    }

    @Test("Many ask at once, while the store goes on")
    func concurrently() async throws {
        let store = try store(options { $0.maximumPages = 200 }, SimulatedDisk())
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
            let before = past.snapshot()
            try past.advance(to: past.offset + 1)
            var changed: [String] = []
            try past.snapshot().forEachDifference(since: before) {
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
