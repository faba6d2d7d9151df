import StrataLog
import StrataModel
import StrataQuery
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("A store as it was")
struct PastStoreTests {
    private let anna = Actor(user: "anna")
    private let path = "/Past.strata"

    /// Few events between two states, so that many are kept.
    private var options: StoreOptions {
        var options = StoreOptions.service
        options.trees.generationBytes = 128 << 10
        options.segmentBytes = 64 << 10
        return options
    }

    private func titles(_ store: Store, _ names: [String]) throws -> [String] {
        try names.map { name in
            do {
                let record = try store.snapshot().record(NoteRequest.id(name), in: NoteRequest.database, as: anna)
                guard case .string(let title)? = try record["title"] else { return "?" }
                return title
            } catch let error as Refusal where error.code == .unknownItem { return "-" }
        }
    }

    private func save(_ name: String, _ title: String, _ store: Store) throws -> UInt64 {
        let answer = try store.modify(NoteRequest.saving([name], [("title", .string(title))]), as: anna)
        return try #require(answer.offset)
    }

    @Test("Every offset of a seeded history has the digests that it had", arguments: TwinStore.Ground.allCases)
    func digests(ground: TwinStore.Ground) throws {
        let keptStates = Lock(0)
        try withSeeds(8) { seed in
            var twin = try TwinStore(ground, seed: seed)
            var known: [UInt64: Digests] = [0: try twin.store.snapshot().digests()]
            for step in 1...60 {
                try twin.step()
                let snapshot = twin.store.snapshot()
                known[snapshot.offset] = try snapshot.digests()
                if step % 15 == 0 { try twin.reopen() }
                if step == 40 { try twin.compact(to: twin.log.floor.offset + twin.log.end.offset / 3) }
                if step == 50 { try twin.crash() }
            }
            let store = twin.store
            // In an order that no kept state fits, and then again, when there are some.
            let order = known.sorted { $0.key < $1.key }
            var generator = SeededGenerator(seed: seed)
            for (offset, digests) in order.shuffled(using: &generator) + order {
                guard offset >= store.log.floor.offset else {
                    #expect(thrownCode { _ = try store.asOf(offset) } == .outOfRange)
                    continue
                }
                let past = try store.asOf(offset)
                #expect(try past.snapshot().digests() == digests, "seed \(seed), offset \(offset)")
                #expect(past.offset == offset)
                if let path = store.engine.path, store.offset - offset > 20 {
                    let opened = try Views.openForReading(
                        past.log, store: store.engine.storeID, in: path, platform: store.engine.platform,
                        options: store.options.trees)
                    if opened.beginning > 0 { keptStates.withLock { $0 += 1 } }
                }
                try past.close()
            }
            try store.close()
        }
        // Not all of them were folded from the beginning.
        if ground == .segmented { #expect(keptStates.withLock { $0 } > 8) }
    }

    @Test("Several pasts at once, each for itself, while the store goes on and lets states go")
    func several() throws {
        let disk = SimulatedDisk()
        let store = try Store.open(at: path, options: options, platform: Platform(files: disk))
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        var pasts: [(Store, [String])] = []
        let names = (0..<4).map { "note \($0)" }
        var now = names.map { _ in "-" }
        for number in 0..<200 {
            now[number % 4] = "title \(number)"
            let offset = try save(names[number % 4], now[number % 4], store)
            if number % 20 == 0 { pasts.append((try store.asOf(offset), now)) }
        }
        for (past, expected) in pasts { #expect(try titles(past, names) == expected) }
        #expect(try titles(store, names) == now)
        let first = try #require(pasts.first)
        #expect(thrownCode { _ = try save("x", "y", first.0) } == .onlyRead)
        #expect(try first.0.refresh() == false)
        #expect(try first.0.asOf(first.0.offset - 1).offset == first.0.offset - 1)
        #expect(thrownCode { _ = try first.0.asOf(first.0.offset + 1) } == .outOfRange)
        for (past, _) in pasts { try past.close() }
        #expect(thrownCode { _ = try first.0.asOf(1) } == .closed)
        try store.close()
        #expect(thrownCode { _ = try store.asOf(1) } == .closed)
    }

    @Test("A time stands for all that was committed up to then")
    func times() throws {
        let clock = ManualTime(microseconds: 1_000)
        let store = try Store.open(at: path, options: options, platform: Platform(files: SimulatedDisk(), time: clock))
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        clock.advance(byMicroseconds: 1_000)
        let second = try save("a", "1", store)
        let third = try save("a", "2", store)
        clock.advance(byMicroseconds: 1_000)
        let fourth = try save("a", "3", store)
        for (time, offset) in [
            (Int64.min, 0), (999, 0), (1_000, second - 1), (1_999, second - 1), (2_000, third), (2_999, third),
            (3_000, fourth), (.max, fourth),
        ] {
            #expect(try store.asOf(time: time).offset == offset, "\(time)")
        }
        try store.close()
    }

    @Test("What was let go is told, and its first state is the base's")
    func release() throws {
        let store = try Store.open(at: path, options: options, platform: Platform(files: SimulatedDisk()))
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        var digests: [UInt64: Digests] = [:]
        for number in 0..<30 {
            digests[try save("a", "\(number)", store)] = try store.snapshot().digests()
        }
        try store.compact(before: 20)
        #expect(store.log.floor.offset == 19)
        #expect(thrownCode { _ = try store.asOf(18) } == .outOfRange)
        #expect(thrownCode { _ = try store.asOf(store.offset + 1) } == .outOfRange)
        for offset in 19...store.offset {
            #expect(try store.asOf(offset).snapshot().digests() == digests[offset], "\(offset)")
        }
        try store.close()
    }

    @Test("Queries of the past use the indexes of a state on disk, brought to where the past is")
    func queries() throws {
        var options = options
        options.trees.generationBytes = 128 << 10
        let store = try Store.open(at: path, options: options, platform: Platform(files: SimulatedDisk()))
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        for part in 0..<4 {
            let names = (0..<300).map { "note \(part) \($0)" }
            _ = try store.modify(NoteRequest.saving(names, [("title", .string("\(part)"))]), as: anna)
        }
        try store.declareIndex(type: "Note", field: "title")
        store.awaitIndexes()
        var expected: [UInt64: Int] = [:]
        for number in 0..<700 {
            let offset = try save("note 0 \(number % 100)", number % 3 == 0 ? "hit" : "other", store)
            if number % 35 == 34 { expected[offset] = try hits(store).count }
        }
        store.awaitIndexes()
        var indexed = 0
        for (offset, count) in expected {
            let past = try store.asOf(offset)
            let found = try hits(past)
            #expect(found.count == count, "\(offset)")
            if found.plan.contains("index") { indexed += 1 }
            try past.close()
        }
        // Those before the first state that has the index look at all records.
        #expect(indexed > 5)
        try store.close()
    }

    private func hits(_ store: Store) throws -> (count: Int, plan: String) {
        let query = Query("Note", where: try PredicateParser.parse("title == 'hit'"))
        let page = try store.query(.new(query), in: NoteRequest.database, as: anna)
        return (page.matches.count, page.plan.text)
    }
}
