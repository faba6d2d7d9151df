import StrataModel
import StrataSystem
import Testing

@Suite("Monitor, gate and worker thread")
struct MonitorTests {
    @Test("One thread at a time is inside")
    func exclusion() throws {
        let monitor = Monitor((inside: 0, most: 0, entries: 0))
        let threads = try (0..<4).map { number in
            try WorkerThread(name: "worker \(number)") {
                for _ in 0..<2_000 {
                    monitor.withLock { state in
                        state.inside += 1
                        state.most = max(state.most, state.inside)
                        state.entries += 1
                        state.inside -= 1
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(monitor.withLock { $0 } == (0, 1, 8_000))
    }

    @Test("A thread that waits goes on when what it waits for is there")
    func waiting() throws {
        let monitor = Monitor<[Int]>([])
        let thread = try WorkerThread(name: "waiter") {
            let sum: Int = monitor.wait { $0.count < 3 ? nil : $0.reduce(0, +) }
            monitor.withLock { $0 = [sum] }
            monitor.notifyAll()
        }
        for number in 1...3 {
            monitor.withLock { $0.append(number) }
            monitor.notifyAll()
        }
        let sum: Int? = monitor.wait(milliseconds: 20_000) { $0.count == 1 && $0[0] == 6 ? 6 : nil }
        #expect(sum == 6)
        thread.join()
    }

    @Test("A limited wait gives up, not before its time", arguments: [0, 1, 60, 1_050])
    func timeout(milliseconds: Int) {
        let monitor = Monitor(0)
        let clock = ContinuousClock()
        let start = clock.now
        let result: Int? = monitor.wait(milliseconds: milliseconds) { _ in nil }
        #expect(result == nil)
        #expect(start.duration(to: clock.now) >= .milliseconds(milliseconds))
    }

    @Test("A limited wait for what is there already does not wait")
    func immediateResult() {
        let clock = ContinuousClock()
        let start = clock.now
        let result = Monitor(5).wait(milliseconds: 60_000) { $0 }
        #expect(result == 5)
        #expect(start.duration(to: clock.now) < .seconds(30))
    }

    @Test("An error inside leaves the monitor usable")
    func errors() {
        struct Failure: Error {}
        let monitor = Monitor(1)
        #expect(throws: Failure.self) { try monitor.withLock { _ in throw Failure() } }
        #expect(throws: Failure.self) { try monitor.wait { _ -> Int? in throw Failure() } }
        #expect(throws: Failure.self) { try monitor.wait(milliseconds: 1) { _ -> Int? in throw Failure() } }
        #expect(monitor.withLock { $0 } == 1)
    }

    @Test("A gate that was opened lets its thread through, whether it waits yet or not")
    func gate() throws {
        let opened = Gate()
        opened.open()
        opened.wait()

        let first = Gate()
        let second = Gate()
        let order = Monitor<[Int]>([])
        let thread = try WorkerThread(name: "gated") {
            first.wait()
            order.withLock { $0.append(2) }
            second.open()
        }
        order.withLock { $0.append(1) }
        first.open()
        second.wait()
        #expect(order.withLock { $0 } == [1, 2])
        thread.join()
    }

    @Test("A worker thread has its name, and joining waits for its end")
    func workerThread() throws {
        let name = Monitor("")
        try WorkerThread(name: "strata-commit") {
            let bytes = (try? RealFileSystem().open("/proc/thread-self/comm", .read).read(count: 64, at: 0)) ?? []
            name.withLock { $0 = String(decoding: bytes, as: UTF8.self) }
        }.join()
        #expect(name.withLock { $0 } == "strata-commit\n")
    }
}
