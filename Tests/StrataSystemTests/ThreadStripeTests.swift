import StrataModel
import StrataSystem
import Testing

@Suite("Numbers of threads")
struct ThreadStripeTests {
    @Test("A thread keeps its number, which is from 0 to 63, and threads differ")
    func range() throws {
        #expect((0..<64).contains(ThreadStripe.current))
        #expect(ThreadStripe.current == ThreadStripe.current)
        let seen = Lock<Set<Int>>([])
        let arrived = Monitor(0)
        let threads = try (0..<32).map { _ in
            try WorkerThread(name: "test-stripe") {
                seen.withLock { _ = $0.insert(ThreadStripe.current & 15) }
                arrived.withLock { $0 += 1 }
                arrived.notifyAll()
                _ = arrived.wait(milliseconds: 60_000) { $0 == 32 ? true : nil }
            }
        }
        for thread in threads { thread.join() }
        #expect(seen.withLock { $0.count } > 5)
    }
}
