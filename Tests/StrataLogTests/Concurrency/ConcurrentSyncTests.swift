import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

/// The system reports a failed sync once, to whoever asked first; another sync of the same file that is under way
/// succeeds, and must not be believed.
@Suite("Syncs of several threads at once")
struct ConcurrentSyncTests {
    private let store = TinyStore()

    /// Lets the first sync wait until a second one is under way too, or clearly will not come; then the first to go on
    /// fails, and forgets what was not written.
    private func failFirstOfTwo() {
        let arrived = Monitor(0)
        store.disk.beforeCall = { [path = store.segment(1), arrived] kind, name in
            guard kind == .syncData, name == path else { return }
            arrived.withLock { $0 += 1 }
            arrived.notifyAll()
            _ = arrived.wait(milliseconds: 300) { $0 > 1 ? true : nil }
        }
        store.disk.fail(.syncData, at: 1, with: .syncLoses, on: store.segment(1))
    }

    private func run(_ bodies: [@Sendable () throws -> Void]) throws -> [StrataError.Code?] {
        let outcomes = Lock<[StrataError.Code?]>([])
        let threads = try bodies.map { body in
            try WorkerThread(name: "test-sync") {
                let code = thrownCode { try body() }
                outcomes.withLock { $0.append(code) }
            }
        }
        for thread in threads { thread.join() }
        return outcomes.withLock { $0 }
    }

    private func open() throws -> SegmentedLog {
        var options = TinyStore.options
        options.durability = .system
        let log = try store.open(options)
        var sequence = CommitSequence(seed: 1)
        _ = try log.append(sequence.next(3), expecting: .start)
        return log
    }

    @Test("Of two syncs none says that it is durable when one of them failed")
    func twoSyncs() throws {
        let log = try open()
        failFirstOfTwo()
        let outcomes = try run([{ try log.sync() }, { try log.sync() }])
        store.disk.beforeCall = nil
        #expect(outcomes == [.outcomeUnknown, .outcomeUnknown])
        #expect(log.durableEnd.offset <= (try store.left(keeping: .nothingUnsynced).open().end.offset))
    }

    @Test("A close beside a sync that failed does not say that all is durable")
    func syncAndClose() throws {
        let log = try open()
        failFirstOfTwo()
        let outcomes = try run([{ try log.sync() }, { try log.close() }])
        store.disk.beforeCall = nil
        #expect(!outcomes.contains(nil) || outcomes.contains(.closed), "\(outcomes)")
        #expect(log.durableEnd.offset <= (try store.left(keeping: .nothingUnsynced).open().end.offset))
    }
}
