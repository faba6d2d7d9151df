import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// Real processes that read while this one writes, on a real disk.
@Suite("Readers in other processes", .serialized)
struct ReaderProcessTests {
    private static let tree = TreeID(rawValue: 1)

    /// Writes as fast as it can, so that pages are soon used again.
    private struct Writer {
        let store: PageStore
        let forgetsReaders: Bool
        var random = SeededGenerator(seed: 1)
        var offset: UInt64 = 0

        init(_ directory: String, forgetsReaders: Bool = false) throws {
            self.forgetsReaders = forgetsReaders
            var options = DurableRun.smallOptions
            // Or most of what is read would stay anyway.
            options.maximumKeptCheckpoints = 0
            store = try PageStore.open(in: directory, store: DurableRun.storeID, options: options) { _ in true }.store
        }

        mutating func checkpoint() throws {
            let fork = store.fork()
            for _ in 0..<300 {
                let key = Array("\(Int.random(in: 0..<3_000, using: &random))".utf8)
                let count = Int.random(in: 0..<100, using: &random) == 0 ? 9_000 : 40
                try fork.put(ReaderProcessTests.tree, key, [UInt8](repeating: UInt8(offset & 255), count: count))
            }
            let snapshot = try store.publish(fork)
            var sum = CRC32C()
            try snapshot.scan(ReaderProcessTests.tree) { key, value in
                sum.update(key)
                sum.update(value)
                return true
            }
            offset += 1
            try store.checkpoint(
                snapshot, at: Position(offset: offset, chain: 0),
                opaque: withUnsafeBytes(of: sum.value.littleEndian) { Array($0) })
            if forgetsReaders { store.checkpoints?.letGoOfReaders() }
        }
    }

    /// What two readers said while a writer went on.
    private static func words(
        forgetsReaders: Bool = false, milliseconds: Int64, restMicroseconds: Int
    ) throws -> [String] {
        let directory = try TestDirectory()
        var writer = try Writer(directory.path, forgetsReaders: forgetsReaders)
        for _ in 0..<3 { try writer.checkpoint() }
        let readers = try (0..<2).map { _ in
            try ChildProcess(
                ChildProcess.product("reader-child"), [directory.path, "\(milliseconds)", "\(restMicroseconds)"])
        }
        let end = SystemTime().nowMicroseconds() + milliseconds * 1_000
        while SystemTime().nowMicroseconds() < end { try writer.checkpoint() }
        let words = readers.flatMap { $0.lines() }
        #expect(try TreeChecker.faults(of: writer.store, holding: [writer.store.snapshot()]) == [])
        return words
    }

    @Test("Each checkpoint stays whole as long as it is held", .timeLimit(.minutes(10)))
    func whole() throws {
        let words = try Self.words(milliseconds: 2_000, restMicroseconds: 10_000)
        #expect(words.filter { $0.hasPrefix("done") }.count == 2, "\(words)")
        #expect(words.allSatisfy { !$0.hasPrefix("bad") }, "\(words)")
    }

    @Test("Canary: processes notice a writer that forgets them", .timeLimit(.minutes(10)))
    func forgets() throws {
        // On a busy machine a reader may look too rarely to meet a page that was used again, and a writer may write too
        // slowly to use one again while it is held.
        let noticed = try [10, 20, 40, 80, 160, 320, 10, 40, 160, 320].contains { rest in
            try Self.words(forgetsReaders: true, milliseconds: 2_000, restMicroseconds: rest * 1_000)
                .contains { $0.hasPrefix("bad") }
        }
        #expect(noticed)
    }

    @Test("A reader that is killed holds nothing any more", .timeLimit(.minutes(10)))
    func killed() throws {
        let directory = try TestDirectory()
        var writer = try Writer(directory.path)
        try writer.checkpoint()
        let reader = try ChildProcess(ChildProcess.product("reader-child"), [directory.path, "30000", "10000"])
        #expect(reader.waitForLine())
        reader.kill()
        for _ in 0..<3 { try writer.checkpoint() }
        #expect(writer.store.checkpoints?.state.withLock { $0.readers } == [])
        let slots = try RealFileSystem().readAll(PageStore.readersPath(directory.path), atMost: 1 << 16)
        #expect(slots.allSatisfy { $0 == 0 })
    }
}
