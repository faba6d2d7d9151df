import StrataLog
import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("Power is lost while history is let go of", .timeLimit(.minutes(4)))
struct CompactionCrashTests {
    private struct Expected: Sendable {
        var digests: Digests
        var end: UInt64
        var horizons: Set<UInt64>
    }

    private static let changes: Set<SimulatedDisk.CallKind> = [
        .create, .write, .rename, .remove, .syncData, .syncDirectory,
    ]

    /// What must hold of a disk after power was lost.
    private static func check(_ disk: SimulatedDisk, _ expected: Expected, removingViews: Bool) throws -> UInt64 {
        if removingViews { try disk.removeFiles(in: CompactedNotes.path + "/views") }
        let notes = try CompactedNotes(disk)
        CompactedNotes.awaitPruning(notes.store)
        let log = notes.store.log
        try #require(notes.store.offset == expected.end)
        try #require(try notes.digests == expected.digests)
        let horizon = log.floor.offset
        try #require(expected.horizons.contains(horizon))
        try #require(try (log.base()?.offset ?? 0) == horizon)
        try #require(notes.bases.count == (horizon == 0 ? 0 : 1), "\(notes.bases)")
        for offset in horizon..<expected.end { _ = try #require(try log.commit(at: offset + 1)) }
        try #require(try Views.inMemory(log).trees.snapshot().digests() == expected.digests)
        try notes.store.collectAssets()
        let assets = try AssetFixture.kept(on: disk, at: CompactedNotes.path)
        try #require(assets.count == (horizon == 0 ? 2 : 1), "\(assets) at \(horizon)")
        try notes.store.requireAssets(of: try notes.record("with-file"))
        try notes.store.close()
        return horizon
    }

    private func notes() throws -> CompactedNotes {
        let notes = try CompactedNotes()
        try notes.fill(3, bytes: 40_000)
        for (number, name) in ["with-file", "gone"].enumerated() {
            let source = try AssetFixture.write(AssetFixture.bytes(number), to: "/source-\(number)", on: notes.disk)
            let pin = try notes.store.importAsset(at: source)
            try notes.save([name], "x", [("photo", .asset(pin.value))])
        }
        _ = try notes.store.modify(NoteRequest.deleting(["gone"]), as: CompactedNotes.anna)
        try notes.fill(2, bytes: 40_000)
        return notes
    }

    @Test("Before each changing call: the store is as it was, or compacted, and has its state either way")
    func everyStep() throws {
        let notes = try notes()
        let end = notes.store.offset
        let middle = end - 4
        let expected = Expected(digests: try notes.digests, end: end, horizons: [0, middle, end])
        let survivors = Lock<[(String, SimulatedDisk)]>([])
        notes.disk.beforeCall = { [weak disk = notes.disk] kind, path in
            guard let disk, Self.changes.contains(kind), path.hasPrefix(CompactedNotes.path) else { return }
            let number = UInt64(survivors.withLock { $0.count })
            let ways = SimulatedDisk.PowerLoss.allCases
            let way = ways[Int(number) % ways.count]
            let survivor = disk.afterPowerLoss(seed: number, keeping: way)
            survivors.withLock { $0.append(("\(kind) of \(path), \(way)", survivor)) }
        }
        try notes.store.compact(before: middle + 1)
        try notes.store.compact(before: end + 1)
        notes.disk.beforeCall = nil
        let all = survivors.withLock { $0 }
        #expect(all.count > 20)
        var seen: Set<UInt64> = []
        for (number, (step, survivor)) in all.enumerated() {
            do { seen.insert(try Self.check(survivor, expected, removingViews: number % 2 == 0)) } catch {
                Issue.record("before \(step): \(error)")
            }
        }
        #expect(seen == expected.horizons)
        _ = try Self.check(
            notes.disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced),
            Expected(digests: expected.digests, end: end, horizons: [end]), removingViews: true)
        try notes.store.close()
    }

    @Test("A call that fails leaves the store as it was, or compacted, and the next compaction does it")
    func everyFault() throws {
        for kind in [SimulatedDisk.CallKind.create, .write, .syncData, .rename, .syncDirectory, .remove] {
            for call in 1...4 {
                let notes = try notes()
                let end = notes.store.offset
                let digests = try notes.digests
                notes.disk.fail(kind, at: call, with: .errno(5), on: "/log/")
                let code = thrownCode { try notes.store.compact(before: end) }
                notes.disk.heal()
                let floor = notes.store.log.floor.offset
                #expect((code == nil) == (floor == end - 1), "\(kind) \(call): \(String(describing: code)), \(floor)")
                try #require(try notes.digests == digests)
                try notes.save(["after"])
                try notes.store.compact(before: end + 1)
                #expect(notes.store.log.floor.offset == end)
                try notes.store.close()
            }
        }
    }
}
