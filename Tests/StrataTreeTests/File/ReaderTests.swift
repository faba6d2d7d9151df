import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

@Suite("Readers beside the writer")
struct ReaderTests {
    private static func openReader(
        _ run: DurableRun, upTo limit: UInt64 = .max, files: (any FileSystem)? = nil, scratch: SpillPlace? = nil
    ) throws -> OpenedPageReader {
        try PageStore.openReader(
            in: DurableRun.directory, store: DurableRun.storeID, upTo: limit,
            platform: Platform(files: files ?? run.disk), options: run.options, scratch: scratch
        ) { run.log[$0.offset] == $0.chain }
    }

    /// Whether a reader sees just what was there at its checkpoint.
    private static func isWhole(_ reader: OpenedPageReader, _ run: DurableRun) -> Bool {
        guard let model = run.states[reader.checkpoint.position.offset] else { return false }
        let entries = try? reader.snapshot.entries(DurableRun.tree)
        return entries == model.sortedKeys.map { [$0, model[$0] ?? []] }
    }

    private static func churn(_ run: DurableRun, checkpoints: Int = 1) throws {
        for _ in 0..<checkpoints {
            try run.step(changes: 80)
            try run.checkpoint()
        }
    }

    @Test("A reader keeps its checkpoint while the writer goes on, and lets go with its last snapshot")
    func holds() throws {
        let run = try DurableRun(seed: 3)
        #expect(throws: StrataError.self) { try Self.openReader(run) }
        try Self.churn(run, checkpoints: 2)
        var readers = [try Self.openReader(run)]
        #expect(readers[0].checkpoint.position == run.position)
        for round in 0..<6 {
            try Self.churn(run)
            readers.append(try Self.openReader(run))
            #expect(readers.allSatisfy { Self.isWhole($0, run) }, "\(round)")
            #expect(try TreeChecker.faults(of: run.store, holding: [run.store.snapshot()]) == [])
        }
        readers = []
        try Self.churn(run, checkpoints: 2)
        #expect(run.store.checkpoints?.state.withLock { $0.readers } == [])
        #expect(try run.disk.content(of: PageStore.readersPath(DurableRun.directory)).allSatisfy { $0 == 0 })
    }

    @Test("A reader takes the newest checkpoint that is not too late, and keeps it", arguments: seeds(3))
    func older(seed: UInt64) throws {
        let run = try DurableRun(seed: seed)
        var readers: [OpenedPageReader] = []
        for _ in 0..<12 {
            try Self.churn(run)
            // Both headers lead to what they keep.
            let slots = run.store.checkpoints?.state.withLock { $0.slots } ?? []
            let headers = slots.compactMap(\.header?.position.offset)
            let offsets = Set(headers + slots.flatMap { $0.kept.map(\.position.offset) }).sorted()
            for limit in offsets.flatMap({ [$0 - 1, $0, $0 + 1] }) {
                let wanted = offsets.last { $0 <= limit }
                let reader = try? Self.openReader(run, upTo: limit)
                #expect(reader?.checkpoint.position.offset == wanted, "\(limit) of \(offsets)")
                if let reader, limit == wanted, readers.count < 100 { readers.append(reader) }
            }
        }
        #expect(readers.allSatisfy { Self.isWhole($0, run) })
        #expect(Set(readers.map(\.checkpoint.position.offset)).count > 5)
        #expect(throws: StrataError.self) { try Self.openReader(run, upTo: 0) }
    }

    @Test("What a reader publishes on top of a checkpoint is its own, and may be more than memory has")
    func goingOn() throws {
        let run = try DurableRun(seed: 5)
        try Self.churn(run, checkpoints: 3)
        run.options.maximumMemoryPages = 8
        let reader = try Self.openReader(run, scratch: SpillPlace(run.disk, path: DurableRun.directory + "/scratch"))
        let before = try run.disk.content(of: PageStore.viewsPath(DurableRun.directory))
        var expected = run.states[reader.checkpoint.position.offset] ?? TreeModel()
        for round in 0..<4 {
            let fork = reader.store.fork()
            for index in 0..<400 {
                let (key, value) = (Array("own \(index)".utf8), [UInt8](repeating: UInt8(round), count: index * 3))
                try key.withUnsafeBytes { key in try value.withUnsafeBytes { try fork.put(DurableRun.tree, key, $0) } }
                expected[key] = value
            }
            try reader.store.publish(fork)
        }
        let found = try reader.store.snapshot().entries(DurableRun.tree)
        #expect(found == expected.sortedKeys.map { [$0, expected[$0] ?? []] })
        #expect(Self.isWhole(reader, run))
        #expect(try run.disk.content(of: PageStore.viewsPath(DurableRun.directory)) == before)
        #expect(reader.store.info.spilledPages > 0)
    }

    @Test("A writer that starts anew spares those who read already", arguments: seeds(3))
    func newWriter(seed: UInt64) throws {
        let run = try DurableRun(seed: seed)
        try Self.churn(run, checkpoints: 2)
        let reader = try Self.openReader(run)
        for _ in 0..<4 {
            try Self.churn(run, checkpoints: 3)
            #expect(try run.reopen().finding == .whole)
            #expect(Self.isWhole(reader, run))
        }
    }

    @Test("A reader of a checkpoint that is not taken keeps its file, and the writer makes another")
    func rejected() throws {
        let run = try DurableRun(seed: 1)
        try Self.churn(run, checkpoints: 3)
        let reader = try Self.openReader(run)
        let lost = run.states[run.offset]
        run.loseTail(to: run.offset - 1)
        #expect(try run.reopen().finding == .inUse)
        for _ in 0..<5 {
            try run.step(changes: 100, timeline: 2)
            try run.checkpoint()
        }
        #expect(try reader.snapshot.entries(DurableRun.tree).map { $0[0] } == lost?.sortedKeys)
    }

    @Test("Canary: a writer that forgets its readers is noticed")
    func forgetsReaders() throws {
        let run = try DurableRun(seed: 3)
        run.didCheckpoint = { $0.letGoOfReaders() }
        _ = try run.reopen()
        try Self.churn(run, checkpoints: 2)
        let reader = try Self.openReader(run)
        try Self.churn(run, checkpoints: 12)
        #expect(!Self.isWhole(reader, run))
    }

    @Test("The writer overtakes a reader that has yet to say what it reads", arguments: [false, true])
    func overtaken(isCanary: Bool) throws {
        var damaged = 0
        for seed in seeds(5) {
            // What the writer keeps anyhow does not miss the reader.
            var options = DurableRun.smallOptions
            options.maximumKeptCheckpoints = 0
            let run = try DurableRun(seed: seed, options: options)
            try Self.churn(run, checkpoints: 2)
            let writer = Overtaking(run)
            // The first write there is the reader's, after it has read the headers.
            run.disk.beforeCall = { kind, path in writer.see(kind, path) }
            let reader = try? Self.openReader(run, files: isCanary ? StaleHeaders(disk: run.disk) : nil)
            run.disk.beforeCall = nil
            guard let reader else {
                damaged += 1
                continue
            }
            try Self.churn(run, checkpoints: 10)
            if !Self.isWhole(reader, run) { damaged += 1 }
        }
        #expect((damaged == 0) == !isCanary)
    }

    @Test(
        "A file that grows while it is opened is no damaged one", arguments: [SimulatedDisk.CallKind.map, .read, .size])
    func growing(moment: SimulatedDisk.CallKind) throws {
        for place in 1... {
            let run = try DurableRun(seed: 3)
            try Self.churn(run, checkpoints: 2)
            let before = try run.disk.content(of: PageStore.viewsPath(DurableRun.directory)).count
            let writer = Growing(run, moment, place)
            run.disk.beforeCall = { kind, path in writer.see(kind, path) }
            let reader = try Self.openReader(run)
            run.disk.beforeCall = nil
            let after = try run.disk.content(of: PageStore.viewsPath(DurableRun.directory)).count
            // Until the reader has no such call any more.
            guard writer.hasGrown else { return #expect(place > 1) }
            #expect(after > before && Self.isWhole(reader, run), "at \(place) of \(moment)")
        }
    }

    @Test("A slot with an epoch that no store can have is nobody's")
    func impossibleEpoch() throws {
        let run = try DurableRun(seed: 3)
        let readers = ReadersFile(try run.disk.open(PageStore.readersPath(DurableRun.directory), .writeOrCreate))
        let slot = try readers.takeSlot()
        for epoch in [UInt64.max, .max - 1, .max >> 1] {
            try slot.set(epoch: epoch)
            #expect(try run.reopen().finding == .missing)
            try run.step()
        }
        try Self.churn(run)
        #expect(try run.reopen().finding == .whole)
    }

    @Test("When `readers` cannot be read, nothing is let go")
    func unreadable() throws {
        let run = try DurableRun(seed: 3)
        try Self.churn(run, checkpoints: 2)
        let reader = try Self.openReader(run)
        run.disk.fail(.read, from: 1, with: .errno(5), on: "readers")
        try Self.churn(run, checkpoints: 5)
        run.disk.heal()
        #expect(Self.isWhole(reader, run))
        try Self.churn(run, checkpoints: 5)
        #expect(Self.isWhole(reader, run))
    }

    @Test("Where `readers` cannot be written, reading is refused")
    func readOnly() throws {
        let run = try DurableRun(seed: 3)
        try Self.churn(run)
        run.disk.isReadOnly = true
        do {
            _ = try Self.openReader(run)
            Issue.record("it was opened")
        } catch let error as StrataError { #expect(error.code == .readOnlyMedium) }
    }
}

// @unchecked: everything runs on the thread of the test, which is also the one that the disk calls back on.
private final class Growing: @unchecked Sendable {
    private let run: DurableRun
    private let moment: SimulatedDisk.CallKind
    private var callsLeft: Int
    private(set) var hasGrown = false

    init(_ run: DurableRun, _ moment: SimulatedDisk.CallKind, _ place: Int) {
        (self.run, self.moment, callsLeft) = (run, moment, place)
    }

    /// Before a certain call of the reader both headers are replaced by such as name pages behind the file's old end.
    func see(_ kind: SimulatedDisk.CallKind, _ path: String) {
        guard kind == moment, path == PageStore.viewsPath(DurableRun.directory), callsLeft > 0 else { return }
        callsLeft -= 1
        guard callsLeft == 0 else { return }
        hasGrown = true
        for _ in 0..<2 {
            try? run.step(changes: 1_500)
            try? run.checkpoint()
        }
    }
}

// @unchecked: everything runs on the thread of the test, which is also the one that the disk calls back on.
private final class Overtaking: @unchecked Sendable {
    private let run: DurableRun
    private var hasOvertaken = false

    init(_ run: DurableRun) { self.run = run }

    func see(_ kind: SimulatedDisk.CallKind, _ path: String) {
        guard kind == .write, path.hasSuffix("readers"), !hasOvertaken else { return }
        hasOvertaken = true
        for _ in 0..<3 {
            try? run.step(changes: 120)
            try? run.checkpoint()
        }
    }
}
