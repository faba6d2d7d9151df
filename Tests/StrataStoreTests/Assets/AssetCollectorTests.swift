import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("What collects files never takes one that is needed", .timeLimit(.minutes(3)))
struct AssetCollectorTests {
    private let disk = SimulatedDisk()

    @Test("A file goes with its last pin, unless a commit names it")
    func pins() throws {
        let fixture = try AssetFixture(disk)
        try fixture.makeZone()
        let source = try AssetFixture.write(AssetFixture.bytes(1), to: "/source", on: disk)
        var first: PinnedAsset? = try fixture.store.importAsset(at: source)
        var second: PinnedAsset? = try fixture.store.importAsset(at: source)
        #expect(first?.value == second?.value)
        first = nil
        #expect(try fixture.store.collectAssets() == 0)
        #expect(try AssetFixture.kept(on: disk).count == 1)
        second = nil
        #expect(try AssetFixture.kept(on: disk).isEmpty)
        try fixture.save("a", AssetFixture.bytes(1))
        // Nor does it go when the record does: the log still has the commit.
        _ = try fixture.store.modify(NoteRequest.deleting(["a"]), as: AssetFixture.anna)
        #expect(try fixture.store.collectAssets() == 0)
        #expect(try AssetFixture.kept(on: disk).count == 1)
        try fixture.store.close()
    }

    @Test("Opening a store collects what a process left that ended too early, and leaves strangers' files alone")
    func opening() throws {
        let fixture = try AssetFixture(disk)
        try fixture.makeZone()
        try fixture.save("a", AssetFixture.bytes(1))
        let source = try AssetFixture.write(AssetFixture.bytes(2), to: "/source", on: disk)
        let pin = try fixture.store.importAsset(at: source)
        let assets = AssetFixture.path + "/assets"
        try AssetFixture.write([1], to: assets + "/new-00", on: disk)
        try AssetFixture.write([1], to: assets + "/\("\(pin.value.hash)".prefix(2))/note", on: disk)
        let left = disk.afterPowerLoss(seed: 1, keeping: .everything)
        let again = try AssetFixture(left)
        #expect(try !left.exists(assets + "/new-00"))
        // The thread that was started may be done already.
        _ = try again.store.collectAssets()
        let kept = Set(try AssetFixture.kept(on: left))
        #expect(kept.count == 2 && kept.contains("note") && !kept.contains("\(pin.value.hash)"))
        #expect(try AssetFixture.requireWhole(again.store, ["a"]).count == 1)
        try again.store.close()
        try fixture.store.close()
    }

    @Test("A draft that its writer finishes while drafts are removed is no error, for an erasure neither")
    func finishedDraft() throws {
        let fixture = try AssetFixture(disk)
        try fixture.makeZone()
        try fixture.save("a", AssetFixture.bytes(1))
        let draft = AssetFixture.path + "/assets/new-00"
        func finishWhenRemoved() throws {
            try AssetFixture.write([1], to: draft, on: disk)
            disk.beforeCall = { [disk] kind, path in
                guard kind == .remove, path == draft else { return }
                disk.beforeCall = nil
                try? disk.removeFile(draft)
            }
        }
        try finishWhenRemoved()
        #expect(try fixture.store.collectAssets() == 0)
        #expect(disk.beforeCall == nil)
        try finishWhenRemoved()
        try fixture.store.erase(
            [NoteRequest.id("a")], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
        #expect(disk.beforeCall == nil)
        #expect(try !disk.exists(AssetFixture.path + "/log/ERASING"))
        #expect(try AssetFixture.kept(on: disk).isEmpty)
        try fixture.store.close()
    }

    @Test("Where a commit's outcome is unknown nothing is collected until the store is opened again")
    func unknownOutcome() throws {
        let fixture = try AssetFixture(disk)
        try fixture.makeZone()
        let source = try AssetFixture.write(AssetFixture.bytes(1), to: "/source", on: disk)
        var pin: PinnedAsset? = try fixture.store.importAsset(at: source)
        // The commit is written, and neither synced nor cut away.
        for kind in [SimulatedDisk.CallKind.syncData, .truncate, .write] {
            disk.fail(kind, from: kind == .write ? 2 : 1, with: .errno(5), on: "/log")
        }
        let value = try #require(pin?.value)
        #expect(throws: (any Error).self) {
            _ = try fixture.store.modify(
                NoteRequest.saving(["a"], [(AssetFixture.field, .asset(value))]), as: AssetFixture.anna)
        }
        let isRefused = fixture.store.pipeline.state.withLock { $0.refusal != nil }
        #expect(isRefused)
        pin = nil
        #expect(try fixture.store.collectAssets() == 0)
        #expect(try AssetFixture.kept(on: disk).count == 1)
        disk.heal()
        let left = disk.afterPowerLoss(seed: 1, keeping: .everything)
        let again = try AssetFixture(left)
        #expect(try AssetFixture.requireWhole(again.store, ["a"]).count <= 1)
        try again.store.close()
        try? fixture.store.close()
    }

    /// What a collector could do wrong.
    private enum Collector {
        case ours
        /// Asks no pins.
        case careless
    }

    /// Writers that save and drop the same few files while somebody collects; returns how often a record's file was
    /// not there.
    private func lost(_ seed: UInt64, _ collector: Collector, rounds: Int) throws -> Int {
        let disk = SimulatedDisk()
        let fixture = try AssetFixture(disk)
        try fixture.makeZone()
        for number in 0..<3 {
            try AssetFixture.write(AssetFixture.bytes(number, count: 200), to: "/source-\(number)", on: disk)
        }
        let lost = Lock(0)
        let writers = Lock(2)
        var threads = try (0..<2).map { thread in
            try WorkerThread(name: "asset-writer") {
                let count = write(seed, thread, rounds, fixture.store)
                lost.withLock { $0 += count }
                writers.withLock { $0 -= 1 }
            }
        }
        threads.append(
            try WorkerThread(name: "asset-collector") {
                while writers.withLock({ $0 > 0 }) { try? collect(fixture.store, disk, collector) }
            })
        for thread in threads { thread.join() }
        let names = (0..<2).flatMap { thread in (0..<rounds).map { "\(seed)-\(thread)-\($0)" } }
        do { _ = try AssetFixture.requireWhole(fixture.store, names) } catch { lost.withLock { $0 += 1 } }
        try fixture.store.close()
        return lost.withLock { $0 }
    }

    /// Imports and saves, or drops; returns how often that failed.
    private func write(_ seed: UInt64, _ thread: Int, _ rounds: Int, _ store: Store) -> Int {
        var generator = SeededGenerator(seed: seed &* 31 &+ UInt64(thread))
        var failures = 0
        for round in 0..<rounds {
            let name = "\(seed)-\(thread)-\(round)"
            do {
                let pin = try store.importAsset(at: "/source-\(generator.next(below: 3))")
                if generator.next(below: 4) == 0 { usleep(UInt32(generator.next(below: 300))) }
                // Half of them are dropped.
                if generator.next(below: 2) == 0 { continue }
                try AssetFixture.save(name, [pin], in: store)
                _ = try AssetFixture.requireWhole(store, [name])
            } catch {
                failures += 1
            }
        }
        return failures
    }

    private func collect(_ store: Store, _ disk: SimulatedDisk, _ collector: Collector) throws {
        guard case .careless = collector else { return _ = try store.collectAssets() }
        for name in try AssetFixture.kept(on: disk) {
            guard let hash = ContentHash(name), try store.snapshot().trees.assetRow(hash) == nil else { continue }
            try? disk.remove("\(AssetFixture.path)/assets/\(name.prefix(2))/\(name)")
        }
    }

    @Test("Writers with the same bytes lose nothing to it", arguments: seeds(6))
    func concurrentWriters(seed: UInt64) throws {
        #expect(try lost(seed, .ours, rounds: 60) == 0)
    }

    @Test("A collector that asks no pins is noticed")
    func canary() throws {
        var count = 0
        for seed in UInt64(1)...20 where count == 0 { count = try lost(seed, .careless, rounds: 60) }
        #expect(count > 0)
    }
}
