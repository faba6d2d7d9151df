import StrataSystem
import Testing

@Suite("Bare locks")
struct ConcurrentBareLockTests {
    // @unchecked: the lock protects the numbers.
    private final class Counter: @unchecked Sendable {
        private let lock = BareLock()
        private var numbers = (first: 0, second: 0, differences: 0)

        func add() {
            lock.take()
            defer { lock.give() }
            if numbers.first != numbers.second { numbers.differences += 1 }
            numbers.first += 1
            // Gives other threads time to come in between.
            if numbers.first % 1_000 == 0 { ThreadPause.brief() }
            numbers.second = numbers.first
        }

        var result: (first: Int, second: Int, differences: Int) {
            lock.take()
            defer { lock.give() }
            return numbers
        }
    }

    @Test("Threads that compete for a lock exclude each other")
    func threads() throws {
        let counter = Counter()
        let threads = try (0..<4).map { number in
            try WorkerThread(name: "counter-\(number)") { for _ in 0..<5_000 { counter.add() } }
        }
        for thread in threads { thread.join() }
        #expect(counter.result == (20_000, 20_000, 0))
    }
}
