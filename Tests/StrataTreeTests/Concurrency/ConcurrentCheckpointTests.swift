import StrataModel
import StrataSystem
import Synchronization
import TestSupport
import Testing

@testable import StrataTree

/// One thread writes, one checkpoints, some read: what each of them sees is one state.
@Suite("Concurrent checkpoints", .serialized)
struct ConcurrentCheckpointTests {
    private static let tree = TreeID(rawValue: 1)
    private static let keys = 400

    /// Every state has the same value under each key that it changed last: the sum of all is kept beside.
    private final class Shared: Sendable {
        let store: PageStore
        let published = Lock<(snapshot: Snapshot, offset: UInt64)?>(nil)
        let isOver = Atomic<Bool>(false)
        let faults = Lock<[String]>([])
        let checkpointCount = Atomic<Int>(0)
        let readCount = Atomic<Int>(0)

        init(_ store: PageStore) { self.store = store }

        func report(_ fault: String) { faults.withLock { $0.append(fault) } }
    }

    private static func write(_ shared: Shared, batches: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var values = [Int](repeating: 0, count: keys)
        for batch in 1...batches {
            if !shared.store.awaitRoom(milliseconds: 60_000) { return shared.report("no checkpoint made room") }
            let fork = shared.store.fork()
            do {
                for _ in 0..<20 {
                    let index = Int.random(in: 0..<keys, using: &random)
                    values[index] = batch
                    let count = index % 50 == 0 ? 5_000 : 100
                    try fork.put(tree, Array("key \(index)".utf8), [UInt8](repeating: UInt8(batch & 63), count: count))
                }
                let sum = values.reduce(0) { $0 + ($1 & 63) }
                try fork.put(tree, Array("sum".utf8), Array("\(sum)".utf8))
                let snapshot = try shared.store.publish(fork)
                shared.published.withLock { $0 = (snapshot, UInt64(batch)) }
            } catch { shared.report("\(error)") }
        }
        shared.isOver.store(true, ordering: .releasing)
    }

    private static func checkpoint(_ shared: Shared) {
        while true {
            let isOver = shared.isOver.load(ordering: .acquiring)
            if let state = shared.published.withLock({ $0 }) {
                do {
                    try shared.store.checkpoint(state.snapshot, at: Position(offset: state.offset, chain: 1))
                    shared.checkpointCount.add(1, ordering: .relaxed)
                } catch { shared.report("\(error)") }
            }
            if isOver { return }
        }
    }

    private static func read(_ shared: Shared) {
        repeat {
            let snapshot = shared.store.snapshot()
            do {
                var sum = 0
                var expected = 0
                try snapshot.scan(tree) { key, value in
                    if key.elementsEqual("sum".utf8) {
                        expected = Int(String(decoding: value, as: UTF8.self)) ?? -1
                    } else {
                        sum += Int(value[0])
                        if value.contains(where: { $0 != value[0] }) { shared.report("a value of two batches") }
                    }
                    return true
                }
                if sum != expected { shared.report("a state of two batches: \(sum), not \(expected)") }
            } catch { shared.report("\(error)") }
            shared.readCount.add(1, ordering: .relaxed)
        } while !shared.isOver.load(ordering: .acquiring)
    }

    @Test(
        "Readers see whole states while pages move to the file and are used again", .timeLimit(.minutes(10)),
        arguments: DurableRun.accesses)
    func together(access: PageAccess) throws {
        let directory = try TestDirectory()
        var options = DurableRun.smallOptions
        options.maximumDirtyPages = 5
        options.access = access
        options.maximumKeptCheckpoints = 2
        let opened = try PageStore.open(in: directory.path, store: DurableRun.storeID, options: options) { _ in true }
        let shared = Shared(opened.store)
        let threads = [
            try WorkerThread(name: "writer") { Self.write(shared, batches: 300, seed: 1) },
            try WorkerThread(name: "checkpointer") { Self.checkpoint(shared) },
            try WorkerThread(name: "reader") { Self.read(shared) },
            try WorkerThread(name: "reader") { Self.read(shared) },
        ]
        for thread in threads { thread.join() }
        #expect(shared.faults.withLock { $0 } == [])
        let checkpointCount = shared.checkpointCount.load(ordering: .relaxed)
        #expect(checkpointCount > 2)
        #expect(shared.store.info.waits > 0, "the writer had to wait")
        shared.published.withLock { $0 = nil }
        #expect(try TreeChecker.faults(of: shared.store, holding: [shared.store.snapshot()]) == [])
        let again = try PageStore.open(in: directory.path, store: DurableRun.storeID, options: options) { _ in true }
        #expect(again.checkpoint?.position.offset == 300)
        #expect(try TreeChecker.faults(of: again.store, holding: [again.store.snapshot()]) == [])
    }

    @Test("Whoever waits for room gives up in time, and goes on after a checkpoint", .timeLimit(.minutes(10)))
    func waiting() throws {
        var options = DurableRun.smallOptions
        options.maximumDirtyPages = 4
        let run = try DurableRun(seed: 1, options: options)
        #expect(run.store.awaitRoom(milliseconds: 0))
        try run.step(changes: 600)
        #expect(!run.store.awaitRoom(milliseconds: 10))
        let store = run.store
        let hadRoom = Atomic<Bool>(false)
        let waiter = try WorkerThread(name: "waiter") {
            hadRoom.store(store.awaitRoom(milliseconds: 60_000), ordering: .releasing)
        }
        try run.checkpoint()
        waiter.join()
        let isThere = hadRoom.load(ordering: .acquiring)
        #expect(isThere)
        #expect(run.store.info.waits >= 1)
    }
}
