import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// Real processes that read while this one writes, on a real disk.
@Suite("Readers in other processes", .serialized)
struct ReaderProcessTests {
    /// Flushes and merges as fast as it can, so that files are soon removed.
    private struct Writer {
        let store: TreeStore
        var random = SeededGenerator(seed: 1)
        var offset: UInt64 = 0

        init(_ directory: String) throws {
            var options = TreeTrial.options
            // Or most of what is read would stay anyway.
            options.maximumKeptStates = 0
            store = try TreeStore.open(
                in: directory, TreeTrial.owner, hashed: TreeTrial.hashed, options: options, isValid: { _ in true }
            ).store
        }

        /// - Parameter isWrong: true to note a checksum of other entries.
        mutating func flush(isWrong: Bool = false) throws {
            let fork = try store.fork()
            for _ in 0..<300 {
                let key = Array("\(Int.random(in: 0..<3_000, using: &random))".utf8)
                let count = Int.random(in: 0..<100, using: &random) == 0 ? 9_000 : 40
                try fork.put(StateStory.id, key, [UInt8](repeating: UInt8(offset & 255), count: count))
            }
            try store.publish(fork)
            try store.freeze()
            offset += 1
            while let waiting = store.nextToFlush() {
                var sum = CRC32C()
                try waiting.scan(StateStory.id) { key, value in
                    sum.update(key)
                    sum.update(value)
                    return true
                }
                if isWrong { sum.update(1 as UInt32) }
                try store.flush(
                    waiting, at: Position(offset: offset, chain: 0),
                    opaque: withUnsafeBytes(of: sum.value.littleEndian) { Array($0) })
            }
            while try store.mergeStep(isAtRest: false) {}
        }
    }

    /// The output of two readers while a writer went on.
    private static func words(isWrong: Bool = false, milliseconds: Int64) throws -> [String] {
        let directory = try TestDirectory()
        var writer = try Writer(directory.path)
        for _ in 0..<3 { try writer.flush(isWrong: isWrong) }
        let readers = try (0..<2).map { _ in
            try ChildProcess(ChildProcess.product("reader-child"), [directory.path, "\(milliseconds)", "10000"])
        }
        let end = SystemTime().nowMicroseconds() + milliseconds * 1_000
        while SystemTime().nowMicroseconds() < end { try writer.flush(isWrong: isWrong) }
        return readers.flatMap { $0.lines() }
    }

    @Test("Each state stays whole as long as it is held", .timeLimit(.minutes(10)))
    func whole() throws {
        let words = try Self.words(milliseconds: 2_000)
        #expect(words.filter { $0.hasPrefix("done ") && $0 != "done 0" }.count == 2, "\(words)")
        #expect(words.allSatisfy { !$0.hasPrefix("bad") }, "\(words)")
    }

    @Test("Canary: a reader notices other entries", .timeLimit(.minutes(10)))
    func otherEntries() throws {
        #expect(try Self.words(isWrong: true, milliseconds: 500).contains { $0.hasPrefix("bad") })
    }
}
