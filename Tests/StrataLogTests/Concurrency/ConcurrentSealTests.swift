import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("A sync beside a segment switch")
struct ConcurrentSealTests {
    @Test("A segment is not sealed over commits that a sync beside it lost")
    func sealBesideFailedSync() throws {
        let store = TinyStore()
        var options = TinyStore.options
        options.durability = .system
        let log = try store.open(options)
        var sequence = CommitSequence(seed: 1, noise: 1)
        _ = try log.append(sequence.next(1, events: 1, bytesPerEvent: 40_000), expecting: .start)
        let next = sequence.next(1, events: 1, bytesPerEvent: 40_000)
        let arrived = Monitor(0)
        store.disk.beforeCall = { [path = store.segment(1), arrived] kind, name in
            guard kind == .syncData, name == path else { return }
            arrived.withLock { $0 += 1 }
            arrived.notifyAll()
            _ = arrived.wait(milliseconds: 300) { $0 > 1 ? true : nil }
        }
        store.disk.fail(.syncData, at: 1, with: .syncLoses, on: store.segment(1))
        let threads = [
            try WorkerThread(name: "test-sync") { try? log.sync() },
            try WorkerThread(name: "test-append") { _ = try? log.append(next, expecting: log.end) },
        ]
        for thread in threads { thread.join() }
        store.disk.beforeCall = nil
        #expect(log.durableEnd == .start)
        #expect(try store.left(keeping: .nothingUnsynced).open().end == .start)
    }
}
