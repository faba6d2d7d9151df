import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("Power is lost between an asset and its commit", .timeLimit(.minutes(4)))
struct AssetCrashTests {
    private static let names = ["a", "b", "c", "d"]

    /// Two records share one file; one has two; a file is imported and never named.
    private func run(on disk: SimulatedDisk, _ acknowledged: Lock<Set<String>>) throws {
        let fixture = try AssetFixture(disk)
        try fixture.makeZone()
        func save(_ name: String, _ bytes: [UInt8]...) throws {
            let pins = try bytes.enumerated().map { index, bytes in
                try fixture.store.importAsset(
                    at: try AssetFixture.write(bytes, to: "/source-\(name)-\(index)", on: disk))
            }
            try AssetFixture.save(name, pins, in: fixture.store)
            acknowledged.withLock { _ = $0.insert(name) }
        }
        try save("a", AssetFixture.bytes(1))
        try save("b", AssetFixture.bytes(1))
        try save("c", AssetFixture.bytes(2), AssetFixture.bytes(3))
        let dropped = try AssetFixture.write(AssetFixture.bytes(4), to: "/dropped", on: disk)
        _ = try fixture.store.importAsset(at: dropped)
        try save("d", AssetFixture.bytes(4))
        try fixture.store.close()
    }

    /// What must hold of a disk after power was lost.
    private static func check(_ disk: SimulatedDisk, _ acknowledged: Set<String>) throws {
        let store = try Store.open(at: AssetFixture.path, platform: Platform(files: disk))
        // Those that are there are whole, or it throws.
        let named = try AssetFixture.requireWhole(store, names)
        for name in acknowledged {
            _ = try store.snapshot().record(NoteRequest.id(name), in: NoteRequest.database, as: AssetFixture.anna)
        }
        let kept = try AssetFixture.kept(on: disk)
        try #require(!kept.contains { AssetPaths.isDraft($0) })
        try store.collectAssets()
        try #require(Set(try AssetFixture.kept(on: disk)) == Set(named.map { "\($0.hash)" }))
        try store.close()
    }

    @Test("At every step: what a commit names is whole, and no draft outlives the next opening")
    func everyStep() throws {
        let disk = SimulatedDisk()
        let acknowledged = Lock<Set<String>>([])
        let survivors = Lock<[(String, SimulatedDisk, Set<String>)]>([])
        disk.beforeCall = { [weak disk] kind, path in
            let changes: Set<SimulatedDisk.CallKind> = [.create, .write, .rename, .remove, .syncData, .syncDirectory]
            guard let disk, changes.contains(kind), path.hasPrefix(AssetFixture.path) else { return }
            let known = acknowledged.withLock { $0 }
            // Before the store is there it has nothing to keep.
            guard (try? disk.exists(AssetFixture.path + "/assets")) == true else { return }
            let number = survivors.withLock { $0.count }
            for (index, way) in [SimulatedDisk.PowerLoss.nothingUnsynced, .everything, .random].enumerated() {
                let survivor = disk.afterPowerLoss(seed: UInt64(number + index), keeping: way)
                survivors.withLock { $0.append(("\(kind) of \(path), \(way)", survivor, known)) }
            }
        }
        try run(on: disk, acknowledged)
        disk.beforeCall = nil
        let all = survivors.withLock { $0 }
        #expect(all.count > 100)
        for (step, survivor, known) in all {
            do { try Self.check(survivor, known) } catch {
                Issue.record("before \(step), with \(known): \(error)")
            }
        }
        // The harness would see a file that a commit names and that is not whole.
        let last = try #require(all.last?.1).afterPowerLoss(seed: 1, keeping: .everything)
        let hash = try #require(try AssetFixture.kept(on: last).first { !AssetPaths.isDraft($0) })
        try last.remove("\(AssetFixture.path)/assets/\(hash.prefix(2))/\(hash)")
        #expect(throws: StrataError.self) { try Self.check(last, ["a"]) }
    }

    @Test("A failed call at any step fails the import or the save, and the next one succeeds")
    func everyFault() throws {
        for kind in [SimulatedDisk.CallKind.create, .write, .syncData, .rename, .syncDirectory] {
            for call in 1...3 {
                let disk = SimulatedDisk()
                let fixture = try AssetFixture(disk)
                try fixture.makeZone()
                let source = try AssetFixture.write(AssetFixture.bytes(1), to: "/source", on: disk)
                disk.fail(kind, at: call, with: .errno(5), on: "/assets")
                let failed = thrownCode { _ = try fixture.store.importAsset(at: source) } != nil
                disk.heal()
                #expect(failed || call > 1, "\(kind) \(call)")
                try fixture.save("a", AssetFixture.bytes(1))
                try fixture.store.close()
                try Self.check(disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced), ["a"])
            }
        }
    }
}
