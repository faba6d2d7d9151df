import Glibc
import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("What one process erases, every copy erases from its files", .timeLimit(.minutes(5)))
struct SharedErasureTests {
    private static let anna = AssetFixture.anna
    private static let owner = DatabaseID(.private, owner: "anna")

    private let shared: SharedFiles
    private let secret = SeededGenerator.text(seed: 1)
    private let other = SeededGenerator.text(seed: 2)

    init() { self.init(SharedFiles()) }
    private init(_ shared: SharedFiles) { self.shared = shared }

    private func save(_ name: String, _ text: String, in store: Store) throws {
        let answer = try store.modify(NoteRequest.saving([name], [("text", .string(text))]), as: Self.anna)
        for save in answer.result.saves { _ = try save.get() }
    }

    /// Saves versions of both records through all stores, and deletes the first one and makes it again.
    private func fill(_ stores: [Store]) throws {
        for round in 0..<6 {
            let store = stores[round % stores.count]
            try save("secret", "\(round) \(secret)", in: store)
            try save("other", "\(round) \(other)", in: store)
            if round == 3 { _ = try store.modify(NoteRequest.deleting(["secret"]), as: Self.anna) }
        }
        for store in stores { try store.confirm() }
    }

    private func erase(_ names: String..., in store: Store) throws {
        try store.erase(names.map { NoteRequest.id($0) }, in: Self.owner, reason: "asked for")
    }

    private func text(_ name: String, in store: Store) throws -> String? {
        let record = try store.snapshot().record(NoteRequest.id(name), in: NoteRequest.database, as: Self.anna)
        guard case .string(let text)? = try record["text"] else { return nil }
        return text
    }

    /// The files below a directory in which the bytes of a text stand.
    private func files(with text: String, in directory: String, on disk: SimulatedDisk? = nil) throws -> [String] {
        let (disk, wanted) = (disk ?? shared.disk, Array(text.utf8))
        return disk.paths.filter { $0.hasPrefix(directory + "/") }.filter { path in
            // A thread may have renamed it meanwhile.
            (try? disk.content(of: path)).map { isFound(wanted, in: $0) } ?? false
        }
    }

    private func isErased(_ name: String, on disk: SimulatedDisk? = nil) throws -> Bool {
        let log = "/\(name).strata"
        return try !(disk ?? shared.disk).exists(log + "/log/ERASING")
            && files(with: secret, in: log, on: disk) == []
    }

    /// The number of entries of the sequencer that have a text.
    private func entries(with text: String) throws -> Int {
        let count = Lock(0)
        shared.sequence.tamper { entries in
            let found = entries.count { isFound(Array(text.utf8), in: $0) }
            count.withLock { $0 = found }
        }
        return count.withLock { $0 }
    }

    private func progress() throws -> ErasureProgress? {
        let sequencer = MemorySequencer(shared.sequence)
        var history = try SequencedHistory(sequencer, in: SharedFiles.directory, shared.disk)
        let last = try sequencer.last()
        while try history.next(through: last) != nil {}
        return try ErasureProgress(history, in: SharedFiles.directory, shared.platform)
    }

    @Test("A new copy that is folded while its commits come has the same state, and erases before it is open")
    func early() throws {
        let stores = try shared.open(2)
        try fill(stores)
        try erase("secret", in: stores[0])
        for round in 0..<70 { try save("other", "\(round) \(other)", in: stores[round % 2]) }
        for store in stores { try store.confirm() }
        let place = LogPlace(address: "gated") { [sequence = shared.sequence] _ in GatedSequencer(sequence) }
            .withFiles(in: SharedFiles.directory)
        let copy = try shared.open("late", place)
        #expect(copy.offset == stores[0].offset)
        #expect(try copy.snapshot().digests() == stores[0].snapshot().digests())
        #expect(try isErased("late") && text("other", in: copy) == "69 \(other)")
        try save("other", "70 \(other)", in: copy)
        try stores[0].confirm()
        #expect(try text("other", in: stores[0]) == "70 \(other)")
        for store in stores + [copy] { try store.close() }
    }

    @Test("Copies at work, closed ones and new ones; the sequencer loses it with the trim, and no base has it")
    func everywhere() throws {
        let stores = try shared.open(3)
        try fill(stores)
        // One of them has a base that has the record, and is closed.
        _ = try stores[2].compact(before: stores[2].offset - 1)
        try stores[2].close()
        // The canary: the same search finds it in every copy.
        for name in ["0", "1", "2"] { #expect(try !files(with: secret, in: "/\(name).strata").isEmpty) }
        try #require(try progress() == nil)
        try erase("secret", in: stores[0])
        #expect(try isErased("0"))
        #expect(eventually { (try? isErased("1")) == true })
        let digests = try stores[0].snapshot().digests()
        for store in stores[..<2] {
            try store.confirm()
            #expect(try text("other", in: store) == "5 \(other)")
            #expect(throws: Refusal.self) { try text("secret", in: store) }
            #expect(try store.snapshot().digests() == digests)
        }
        // The closed one has not, and says so. The others note that they have after they did.
        #expect(eventually { (try? progress()?.waiting?.map(\.path)) == ["/2.strata"] })
        let before = try #require(try progress())
        #expect(before.offset == stores[0].offset)
        #expect(before.copyCount == 3)
        let late = try shared.open("2")
        #expect(late.hasResumedErasure)
        #expect(try isErased("2") && progress()?.waiting?.isEmpty == true)
        // So does one that is made now.
        let new = try shared.open("new")
        #expect(try isErased("new") && new.snapshot().digests() == digests)
        #expect(try entries(with: secret) > 0)
        _ = try stores[0].trimSequencer(before: before.trimBefore)
        #expect(try entries(with: secret) == 0 && files(with: secret, in: SharedFiles.directory) == [])
        #expect(try progress() == nil)
        let last = try shared.open("last")
        #expect(last.log.floor.offset == stores[0].offset)
        for store in [stores[0], stores[1], late, new, last] {
            try save("secret", "new", in: store)
            try store.close()
        }
        for name in ["0", "1", "2", "new", "last"] {
            #expect(LogVerifier.verify(at: "/\(name).strata", platform: shared.platform).damage == nil)
            // All entries, and so the chain values, fit what is left.
            try? shared.disk.removeFile("/\(name).strata/REPLICA")
            let again = try shared.open(name)
            #expect(try text("secret", in: again) == "new")
            try again.close()
        }
    }

    @Test("A base from before the erasure has it until the next trim; a copy that begins there erases it")
    func earlyBase() throws {
        let stores = try shared.open(2)
        try fill(stores)
        _ = try stores[1].trimSequencer(before: stores[1].offset - 1, ignoresCopies: true)
        #expect(try files(with: secret, in: SharedFiles.directory).count == 1)
        try erase("secret", in: stores[0])
        let new = try shared.open("new")
        #expect(new.log.floor.offset > 0)
        #expect(try isErased("new") && new.snapshot().digests() == stores[0].snapshot().digests())
        #expect(try files(with: secret, in: SharedFiles.directory).count == 1)
        try stores[1].confirm()
        #expect(eventually { (try? progress()?.waiting?.isEmpty) == true })
        let left = try #require(try progress())
        _ = try new.trimSequencer(before: left.trimBefore)
        #expect(try files(with: secret, in: SharedFiles.directory) == [] && entries(with: secret) == 0)
        for store in stores + [new] { try store.close() }
    }

    @Test("Power of a copy lost before every changing call while it follows an erasure: it erases when it is opened")
    func powerLoss() throws {
        let writer = try shared.open(1)[0]
        let disk = SimulatedDisk()
        let place = LogPlace(address: "memory") { [sequence = shared.sequence] _ in MemorySequencer(sequence) }
        func open(_ disk: SimulatedDisk) throws -> Store {
            var options = StoreOptions.service
            options.place = place
            return try Store.open(at: "/copy.strata", options: options, platform: Platform(files: disk))
        }
        try fill([writer])
        let copy = try open(disk)
        // Both files of a base and of segments are rewritten.
        _ = try copy.compact(before: 8)
        #expect(try files(with: secret, in: "/copy.strata", on: disk).contains { $0.hasSuffix(".base") })
        let survivors = Lock<[(String, SimulatedDisk)]>([])
        disk.beforeCall = { [weak disk] kind, path in
            let changes: Set<SimulatedDisk.CallKind> = [.create, .write, .rename, .remove, .syncData, .syncDirectory]
            guard let disk, changes.contains(kind) else { return }
            let number = survivors.withLock { $0.count }
            for (index, way) in SimulatedDisk.PowerLoss.allCases.enumerated() where (number + index) % 2 == 0 {
                let survivor = disk.afterPowerLoss(seed: UInt64(number + index), keeping: way)
                survivors.withLock { $0.append(("\(kind) of \(path), \(way)", survivor)) }
            }
        }
        try erase("secret", in: writer)
        try copy.confirm()
        #expect(eventually { (try? isErased("copy", on: disk)) == true })
        disk.beforeCall = nil
        try copy.close()
        let all = survivors.withLock { $0 }
        #expect(all.count > 30)
        let digests = try writer.snapshot().digests()
        for (call, survivor) in all {
            do {
                let store = try open(survivor)
                #expect(try isErased("copy", on: survivor), "before \(call)")
                #expect(try store.snapshot().digests() == digests, "before \(call)")
                try store.close()
            } catch { Issue.record("before \(call): \(error)") }
        }
    }

    @Test("A copy that cannot note the erasure does not apply it; one that cannot carry it out says so, and does later")
    func fullDisk() throws {
        for file in ["ERASING", "sealing"] {
            let shared = SharedFiles()
            let stores = try shared.open(2)
            let test = SharedErasureTests(shared)
            try test.fill(stores)
            let offset = stores[0].offset
            shared.disk.fail(.create, from: 1, with: .errno(ENOSPC), on: "/1.strata/log/\(file)")
            try test.erase("secret", in: stores[0])
            if file == "ERASING" {
                #expect(eventually { stores[1].replication?.interruption?.code == .noSpace })
                #expect(stores[1].offset == offset)
            } else {
                #expect(eventually { stores[1].offset == offset + 1 })
            }
            #expect(try test.progress()?.waiting?.map(\.path) == ["/1.strata"])
            // Nothing would say that there is something to do if the entries were gone.
            if file == "sealing" {
                try stores[1].close()
                let again = try shared.open("1")
                #expect(again.opening?.reasons.last?.code == .noSpace)
                #expect(thrownCode { _ = try stores[0].trimSequencer(before: offset + 2) } == .invalidArgument)
                try again.close()
            } else {
                try stores[1].close()
            }
            shared.disk.heal()
            let healed = try shared.open("1")
            #expect(try test.isErased("1") && test.progress()?.waiting?.isEmpty == true)
            for store in [stores[0], healed] { try store.close() }
        }
    }

    @Test("Several processes erase the same record at once, and others write it again")
    func twice() throws {
        let stores = try shared.open(3)
        try fill(stores)
        let threads = try stores.prefix(2).map { store in
            try WorkerThread(name: "eraser") {
                do { for _ in 0..<3 { try erase("secret", in: store) } } catch { Issue.record(error) }
            }
        }
        for number in 0..<20 { try save("note\(number)", "x", in: stores[2]) }
        for thread in threads { thread.join() }
        for store in stores { try store.confirm() }
        for name in ["0", "1", "2"] { #expect(eventually { (try? isErased(name)) == true }) }
        try save("secret", "again", in: stores[1])
        for store in stores {
            try store.confirm()
            #expect(try text("secret", in: store) == "again")
            #expect(try store.snapshot().digests() == stores[0].snapshot().digests())
        }
        for store in stores { try store.close() }
        for name in ["0", "1", "2"] {
            #expect(LogVerifier.verify(at: "/\(name).strata", platform: shared.platform).damage == nil)
        }
    }

    @Test("Three processes on one hostile sequencer that save and erase at once: no copy has what was erased")
    func hostile() throws {
        for seed in seeds(4) {
            let test = SharedErasureTests(SharedFiles())
            try test.checkHostile(seed)
        }
    }

    private func checkHostile(_ seed: UInt64) throws {
        let sequencers = (0..<3).map { HostileSequencer(shared.sequence, .everything, seed: 10 * seed + UInt64($0)) }
        let stores = try sequencers.enumerated().map { number, sequencer in
            var log: ReplicatedLog?
            let isOpen = eventually {
                log = try? ReplicatedLog.open(
                    at: "/\(number).strata", sequencer: sequencer, options: .init(outcomeMilliseconds: 80),
                    platform: shared.platform)
                return log != nil
            }
            try #require(isOpen)
            return try Store(on: #require(log), platform: shared.platform)
        }
        #expect(eventually { (try? stores[0].modify(NoteRequest.makingZones(), as: Self.anna)) != nil })
        let threads = try (0..<3).map { thread in
            try WorkerThread(name: "client") {
                var random = SeededGenerator(seed: 100 * seed + UInt64(thread))
                for round in 0..<12 {
                    let store = stores[Int(random.next() % 3)]
                    // Each may fail, and what has no answer may be in the log.
                    if random.next() % 4 == 0 {
                        try? erase("secret", in: store)
                    } else {
                        try? save("secret", "\(round) \(secret)", in: store)
                        try? save("other", "\(round) \(other)", in: store)
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        for sequencer in sequencers { sequencer.calm() }
        #expect(eventually { (try? save("secret", "last \(secret)", in: stores[1])) != nil })
        #expect(eventually { (try? erase("secret", in: stores[2])) != nil })
        #expect(try entries(with: secret) > 0)
        for number in 0..<3 {
            #expect(eventually { (try? stores[number].confirm()) != nil })
            #expect(eventually { (try? isErased("\(number)")) == true }, "seed \(seed), copy \(number)")
        }
        let digests = try stores[0].snapshot().digests()
        for store in stores {
            #expect(try store.snapshot().digests() == digests)
            try store.close()
        }
        for number in 0..<3 {
            let report = LogVerifier.verify(at: "/\(number).strata", platform: shared.platform)
            #expect(report.damage == nil && report.end.chain == stores[0].log.end.chain, "seed \(seed)")
        }
    }

    @Test("Notes of refused requests that wait in another process do not bring the values back")
    func audits() throws {
        var options = StoreOptions.service
        options.place = shared.place
        options.recordsRefusals = true
        let stores = try (0..<2).map {
            try Store.open(at: "/\($0).strata", options: options, platform: shared.platform)
        }
        _ = try stores[0].modify(NoteRequest.makingZones(), as: Self.anna)
        try save("secret", "0 \(secret)", in: stores[0])
        let stale = NoteRequest.saving(
            ["secret"], [("text", .string("refused \(secret)"))], policy: .ifServerRecordUnchanged)
        let answer = try stores[1].modify(stale, as: Self.anna)
        #expect(answer.result.saves.contains { (try? $0.get()) == nil })
        #expect(!stores[1].pipeline.audits.isEmpty)
        let before = try entries(with: secret)
        try erase("secret", in: stores[0])
        try stores[1].confirm()
        #expect(eventually { (try? isErased("1")) == true })
        try save("other", "x", in: stores[1])
        for store in stores.reversed() { try store.close() }
        #expect(try entries(with: secret) == before)
        for name in ["0", "1"] { #expect(try isErased(name)) }
    }

    @Test("Files of assets go once they are old, unless another record or a request names them")
    func assets() throws {
        let stores = try shared.open(2)
        for (name, number) in [("a", 1), ("b", 2), ("both", 2), ("c", 3)] {
            try shared.save(name, number, in: stores[0])
        }
        #expect(try shared.kept.count == 3)
        for store in stores { try store.confirm() }
        try erase("a", "b", "c", in: stores[1])
        // A request of another process may name them.
        #expect(try shared.kept.count == 3)
        shared.clock.advance(byMicroseconds: 2 * SharedFiles.day)
        let named = try stores[0].importAsset(at: shared.source(3))
        stores[1].engine.assets.collectSoon()
        #expect(try shared.kept.count == 2)
        try AssetFixture.save("new", [named], in: stores[0])
        #expect(try shared.bytes(of: "new", in: stores[1]) == AssetFixture.bytes(3))
        #expect(try shared.bytes(of: "both", in: stores[1]) == AssetFixture.bytes(2))
        for store in stores { try store.close() }
    }

    @Test("A reader in another process goes on: its old state has the record, a new one does not")
    func readers() throws {
        let stores = try shared.open(2)
        try fill(stores)
        try stores[1].sync()
        var options = StoreOptions.service
        options.place = shared.place
        let reader = Store(
            try StoreEngine.openForReading(at: "/1.strata", options, shared.platform), nil, .readOnly)
        let past = try reader.asOf(reader.offset)
        let old = reader.snapshot()
        try erase("secret", in: stores[0])
        #expect(eventually { (try? isErased("1")) == true })
        for snapshot in [old, past.snapshot()] {
            let record = try snapshot.record(NoteRequest.id("secret"), in: NoteRequest.database, as: Self.anna)
            #expect(try record["text"] == .string("5 \(secret)"))
        }
        try stores[1].sync()
        _ = try reader.refresh()
        #expect(throws: Refusal.self) { try text("secret", in: reader) }
        #expect(try text("other", in: reader) == "5 \(other)")
        #expect(try reader.snapshot().digests() == stores[0].snapshot().digests())
        for store in [past, reader] + stores { try store.close() }
    }

    @Test("An erasure that the home writer commits for another process is carried out at both")
    func homeWriter() throws {
        let place = shared.place.writing(.home)
        let stores = try (0..<2).map { try shared.open("\($0)", place) }
        _ = try stores[0].modify(NoteRequest.makingZones(), as: Self.anna)
        try fill([stores[0]])
        try stores[1].confirm()
        try erase("secret", in: stores[1])
        #expect(try isErased("1"))
        #expect(eventually { (try? isErased("0")) == true })
        for store in stores { try store.close() }
    }
}
