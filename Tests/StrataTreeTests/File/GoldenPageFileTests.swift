import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// A page file of format 1 as it was written when the format was fixed. Later versions must read it.
@Suite("The golden page file of format 1")
struct GoldenPageFileTests {
    private static let directory = "/Notes.strata"
    private static let store = Identifier(high: 0x1122_3344_5566_7788, low: 0x99AA_BBCC_DDEE_FF00)
    private static let trees = [TreeID(rawValue: 1), TreeID(rawValue: 5)]

    private static let path: String = {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        return root.joined(separator: "/") + "/Golden/views-1"
    }()

    private func open(_ disk: SimulatedDisk) throws -> OpenedPageStore {
        try PageStore.open(
            in: Self.directory, store: Self.store,
            platform: Platform(files: disk, time: ManualTime(microseconds: 5_000), random: SeededRandom(seed: 1)),
            options: PageStoreOptions(maximumPages: 1 << 12, maximumArenaPages: 1 << 12, pace: { _ in })
        ) { _ in true }
    }

    /// Leaves and branches, a prefix, overflow pages, free and retired pages, and two checkpoints.
    private func generate() throws -> (disk: SimulatedDisk, models: [TreeModel]) {
        let disk = SimulatedDisk()
        try disk.makeDirectory(Self.directory)
        let store = try open(disk).store
        var entries = EntryGenerator(.text, seed: 2026)
        var models = [TreeModel(), TreeModel()]
        for round in 0..<3 {
            let fork = store.fork()
            for (tree, id) in Self.trees.enumerated() {
                for _ in 0..<120 {
                    let (key, value) = (entries.key(), entries.value())
                    try fork.put(id, key, value)
                    models[tree][key] = value
                }
                for key in models[tree].sortedKeys.prefix(20 * round) {
                    try fork.delete(id, key)
                    models[tree][key] = nil
                }
                try fork.setFoldedOffset(id, UInt64(round + 1))
            }
            let snapshot = try store.publish(fork)
            try store.checkpoint(
                snapshot, at: Position(offset: UInt64(round + 1), chain: 0xC0FFEE), opaque: [1, 2, UInt8(round)])
        }
        return (disk, models)
    }

    @Test("It opens, and has the entries that it was given")
    func opens() throws {
        let disk = SimulatedDisk()
        try disk.makeDirectory(Self.directory)
        disk.setContent(try RealFileSystem().readAll(Self.path, atMost: 8 << 20), of: Self.directory + "/views")
        let opened = try open(disk)
        #expect(opened.finding == .whole && opened.checkpoint?.opaque == [1, 2, 2])
        #expect(opened.checkpoint?.position == Position(offset: 3, chain: 0xC0FFEE))
        let models = try generate().models
        let snapshot = opened.store.snapshot()
        for (tree, id) in Self.trees.enumerated() {
            let model = models[tree]
            #expect(try snapshot.entries(id) == model.sortedKeys.map { [$0, model[$0] ?? []] })
            #expect(snapshot.foldedOffset(id) == 3)
        }
        #expect(snapshot.entryCount(Self.trees[0]) > 150)
    }

    /// Which free page is used next is not part of the format, so nothing compares bytes.
    @Test("STRATA_UPDATE_GOLDEN=1 writes it", .enabled(if: getenv("STRATA_UPDATE_GOLDEN") != nil))
    func update() throws {
        var bytes = try generate().disk.content(of: Self.directory + "/views")
        // The file is extended in large steps; what is behind its last page is zero.
        while bytes.suffix(PageLayout.pageBytes).allSatisfy({ $0 == 0 }) { bytes.removeLast(PageLayout.pageBytes) }
        try? RealFileSystem().remove(Self.path)
        let file = try RealFileSystem().open(Self.path, .create)
        try file.write(bytes, at: 0)
    }
}
