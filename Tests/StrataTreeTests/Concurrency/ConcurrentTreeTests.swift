import StrataModel
import StrataSystem
import Synchronization
import TestSupport
import Testing

@testable import StrataTree

/// Readers beside a writer. Every published state holds one number in all of its values, so that a reader that sees two
/// has seen a page that was not its snapshot's.
@Suite("Readers beside a writer")
struct ConcurrentTreeTests {
    private static let id = TwinTree.id
    private static let keys = 150

    @Test("Every read of a snapshot sees one state", .timeLimit(.minutes(10)))
    func oneState() throws {
        let store = try TreeStore.sample(TreeTrial.options)
        try Self.write(store, round: 1)
        let stops = Flag()
        let reads = Counter()
        let failures = Lock<[String]>([])
        let readers = try (0..<3).map { number in
            try WorkerThread(name: "test-reader") {
                var random = SeededGenerator(seed: UInt64(number))
                do {
                    var last: UInt32 = 0
                    while !stops.isSet {
                        let seen = try Self.read(store.snapshot(), &random)
                        if seen.count != 1 || seen[0] < last {
                            failures.withLock { $0.append("\(last), then \(seen)") }
                        }
                        last = seen.last ?? last
                        reads.add()
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        defer {
            stops.set()
            for reader in readers { reader.join() }
            #expect(failures.withLock { $0 } == [])
        }
        for round in UInt32(2)..<60 {
            try Self.write(store, round: round)
            if round % 10 == 0 { reads.awaitMore() }
            // One that is dropped, and one on another that is dropped.
            let dropped = try store.fork()
            try dropped.deleteRange(Self.id, from: nil, to: nil)
            try Fork(on: dropped).put(Self.id, [1], bytes(9_000))
        }
    }

    /// - Parameter hasLong: false for values that are all in pages.
    private static func write(_ store: TreeStore, round: UInt32, hasLong: Bool = true) throws {
        let fork = try store.fork()
        for number in 0..<keys {
            let size = hasLong && number % 25 == 0 ? 5_000 : 80 + Int(round) % 40
            try fork.put(id, bigEndian(number * 3), bigEndian(Int(round)) + bytes(size))
        }
        try fork.delete(id, bigEndian(Int(round) % keys * 3))
        try store.publish(fork)
    }

    /// - Returns: the numbers of the states that were seen.
    private static func read(_ snapshot: Snapshot, _ random: inout SeededGenerator) throws -> [UInt32] {
        var seen: Set<UInt32> = []
        func note(_ value: UnsafeRawBufferPointer) {
            seen.insert(UInt32(bigEndian: value.loadUnaligned(as: UInt32.self)))
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            try snapshot.scan(id) { _, value in
                note(value)
                return true
            }
        case 1:
            for number in 0..<keys {
                _ = try bigEndian(number * 3).withUnsafeBytes { try snapshot.get(id, $0) { note($0) } }
            }
        default:
            let cursor = snapshot.cursor(id)
            var isThere = try cursor.seekLast()
            while isThere {
                _ = try cursor.withEntry { _, value in note(value) }
                isThere = try cursor.previous()
            }
        }
        return seen.sorted()
    }

    /// Calls `body` while many threads take snapshots and release them.
    private static func besideSnapshots(of store: TreeStore, _ body: () throws -> Void) throws {
        let stops = Flag()
        let taken = Counter()
        let threads = try (0..<4).map { number in
            try WorkerThread(name: "test-snapshots") {
                var random = SeededGenerator(seed: UInt64(number))
                var held: [Snapshot] = []
                while !stops.isSet {
                    held.append(store.snapshot())
                    if held.count > 8 { held.remove(at: Int.random(in: 0..<held.count, using: &random)) }
                    taken.add()
                }
            }
        }
        defer {
            stops.set()
            for thread in threads { thread.join() }
        }
        taken.awaitMore()
        try body()
        taken.awaitMore()
    }

    @Test("Snapshots taken and released by many threads keep no generation", .timeLimit(.minutes(10)))
    func generations() throws {
        let store = try TreeStore.sample(TreeTrial.options)
        try Self.write(store, round: 1)
        var kept = [WeakGeneration(generation: store.snapshot().top.generation)]
        // The first generation is not released before this.
        let held = store.snapshot()
        try Self.besideSnapshots(of: store) {
            for round in UInt32(2)..<60 {
                try Self.write(store, round: round)
                kept.append(WeakGeneration(generation: store.snapshot().top.generation))
            }
        }
        try store.settle()
        func alive() -> Int {
            let top = store.snapshot().top.generation
            return kept.count { $0.generation.map { $0 !== top } ?? false }
        }
        try withExtendedLifetime(held) { try #require(alive() > 0) }
        kept.removeAll { $0.generation === held.top.generation }
        #expect(kept.count > 20 && alive() == 0)
    }

    @Test("They leave no page pinned, which would not be used again", .timeLimit(.minutes(10)))
    func pages() throws {
        let store = try TreeStore.sample()
        try Self.write(store, round: 1, hasLong: false)
        try Self.besideSnapshots(of: store) {
            for round in UInt32(2)..<60 { try Self.write(store, round: round, hasLong: false) }
        }
        /// The bytes that more rounds take.
        func growth() throws -> Int {
            try Self.write(store, round: 60, hasLong: false)
            let before = store.memoryBytes
            for round in UInt32(61)..<90 { try Self.write(store, round: round, hasLong: false) }
            return store.memoryBytes - before
        }
        let most = 16 * PageLayout.pageBytes
        #expect(try growth() <= most)
        let held = store.snapshot()
        let grown = try withExtendedLifetime(held) { try growth() }
        #expect(grown > most, "a snapshot pins pages")
    }

    @Test("Of several writers who fork the same state one is published", .timeLimit(.minutes(10)))
    func rivals() throws {
        let store = try TreeStore.sample(TreeTrial.options)
        let published = Counter()
        let writers = try (0..<3).map { number in
            try WorkerThread(name: "test-writer") {
                for round in 0..<60 {
                    guard let fork = try? store.fork() else { continue }
                    try? fork.put(Self.id, bigEndian(number * 1_000 + round), bytes(100))
                    if (try? store.publish(fork)) != nil { published.add() }
                }
            }
        }
        for writer in writers { writer.join() }
        let snapshot = store.snapshot()
        #expect(try published.value > 0 && snapshot.entryCount(Self.id) == UInt64(published.value))
    }
}

private final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }

    /// Waits until it has grown.
    func awaitMore() {
        let before = value
        #expect(eventually { value > before })
    }
}

private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}
