import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("The commit queue under load")
struct ConcurrentQueueTests {
    private let store = TinyStore()

    /// A disk whose syncs wait until they are let go.
    private final class HeldDisk: Sendable {
        private let state = Monitor((isHeld: false, waiting: 0))

        init(_ disk: SimulatedDisk) {
            disk.beforeCall = { [state] kind, path in
                guard kind == .syncData, path.hasSuffix(".seg") else { return }
                state.withLock { $0.waiting += 1 }
                state.notifyAll()
                state.wait { $0.isHeld ? nil : () }
                state.withLock { $0.waiting -= 1 }
            }
        }

        func hold() { state.withLock { $0.isHeld = true } }

        func release() {
            state.withLock { $0.isHeld = false }
            state.notifyAll()
        }

        /// Sleeps in between, because tasks that are to get there may need this thread.
        func waitUntilSomebodyWaits() async throws {
            let waits = try await awaited { state.withLock { $0.waiting } > 0 }
            try check(waits, "nobody ever came to a sync")
        }
    }

    @Test("Closing while a thread commits on its own waits for it, and no longer")
    func closeWhileBusy() async throws {
        let log = try store.open()
        let queue = try CommitQueue(log)
        let held = HeldDisk(store.disk)
        held.hold()
        let results = Monitor<[String]>([])
        let writer = try WorkerThread(name: "test-writer") {
            let outcome = appendOutcome { _ = try queue.commit(MarkedPayload.make(writer: 0, index: 0)[...]) }
            results.withLock { $0.append(outcome ?? "committed") }
        }
        try await held.waitUntilSomebodyWaits()
        let closer = try WorkerThread(name: "test-closer") {
            queue.close()
            results.withLock { $0.append("closed") }
            results.notifyAll()
        }
        try await Task.sleep(for: .milliseconds(50))
        #expect(results.withLock { $0 } == [])
        held.release()
        writer.join()
        let isClosed = results.wait(milliseconds: 60_000) { $0.contains("closed") ? true : nil }
        // Not joined where it hangs, or the test would hang too.
        try #require(isClosed == true)
        closer.join()
        #expect(results.withLock { Set($0) } == ["committed", "closed"])
        #expect(log.end.offset == 1)
    }

    @Test("Closing finishes what waits, and lets in nobody new")
    func closeWithWaiting() async throws {
        let log = try store.open()
        let queue = try CommitQueue(log)
        let held = HeldDisk(store.disk)
        held.hold()
        let tasks = (0..<20).map { index in
            Task { try await queue.commit(MarkedPayload.make(writer: 1, index: index)[...]) }
        }
        try await held.waitUntilSomebodyWaits()
        try await Task.sleep(for: .milliseconds(30))
        let closer = try WorkerThread(name: "test-closer") { queue.close() }
        try await Task.sleep(for: .milliseconds(10))
        held.release()
        var committed: Set<UInt64> = []
        var refused = 0
        for task in tasks {
            do { committed.insert(try await task.value.offset) } catch let error as StrataError {
                #expect(error.code == .closed)
                refused += 1
            }
        }
        closer.join()
        #expect(committed.count + refused == 20 && !committed.isEmpty)
        #expect(committed == Set(1...log.end.offset))
        #expect(thrownCode { _ = try queue.commit(MarkedPayload.make(writer: 0, index: 0)[...]) } == .closed)
        await #expect(throws: StrataError.self) {
            _ = try await queue.commit(MarkedPayload.make(writer: 0, index: 0)[...])
        }
        #expect(committed == Set(1...log.end.offset))
        queue.close()
        _ = try log.append([], expecting: log.end)
        try log.sync()
    }

    @Test("More than 32 MiB that wait make callers wait, and all get in")
    func backpressure() async throws {
        let log = try SegmentedLog.open(
            at: store.path, options: LogOptions(spaceStepBytes: 0), platform: store.platform,
            touches: LogFixture.noTouches)
        let queue = try CommitQueue(log)
        let held = HeldDisk(store.disk)
        held.hold()
        let payloads = (0..<50).map { [UInt8](repeating: UInt8($0), count: 1 << 20) }
        let tasks = payloads[..<46].map { payload in Task { try await queue.commit(payload[...]) } }
        try await held.waitUntilSomebodyWaits()
        try await Task.sleep(for: .milliseconds(100))
        let committed = Monitor<[Position]>([])
        let threads = try payloads[46...].map { payload in
            try WorkerThread(name: "test-writer") {
                if let position = try? queue.commit(payload[...]) { committed.withLock { $0.append(position) } }
            }
        }
        try await Task.sleep(for: .milliseconds(20))
        held.release()
        for (task, payload) in zip(tasks, payloads) {
            let position = try await task.value
            #expect(try log.commit(at: position.offset)?.payload.first == payload[0])
        }
        for thread in threads { thread.join() }
        #expect(committed.withLock { $0.count } == 4)
        #expect(log.end.offset == 50)
        queue.close()
    }

    @Test("An error reaches every caller, and those who come later are served")
    func errors() async throws {
        let log = try store.open()
        let queue = try CommitQueue(log)
        _ = try await queue.commit(MarkedPayload.make(writer: 0, index: 0)[...])
        store.disk.fail(.write, from: 1, with: .errno(ENOSPC), on: ".seg")
        let codes = await withTaskGroup(of: StrataError.Code?.self) { group in
            for index in 0..<20 {
                group.addTask {
                    do { _ = try await queue.commit(MarkedPayload.make(writer: 1, index: index)[...]) } catch {
                        return code(of: error)
                    }
                    return nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == Array(repeating: .noSpace, count: 20))
        #expect(thrownCode { _ = try queue.commit(MarkedPayload.make(writer: 2, index: 0)[...]) } == .noSpace)
        store.disk.heal()
        #expect(try await queue.commit(MarkedPayload.make(writer: 2, index: 0)[...]).offset == 2)
        #expect(try await queue.commit(MarkedPayload.make(writer: 2, index: 1)[...]).offset == 3)
        queue.close()
    }

    @Test("A payload that is too long, or none, fails alone")
    func badPayloads() async throws {
        let log = try store.open()
        let queue = try CommitQueue(log)
        #expect(thrownCode { _ = try queue.commit([1, 2, 3]) } != nil)
        await #expect(throws: (any Error).self) { _ = try await queue.commit([1, 2, 3]) }
        let long = [UInt8](repeating: 0, count: (64 << 20) + 1)
        #expect(appendOutcome { _ = try queue.commit(long[...]) } == "too large")
        await #expect(throws: AppendFailure.self) { _ = try await queue.commit(long[...]) }
        #expect(try await queue.commit(MarkedPayload.make(writer: 0, index: 0)[...]).offset == 1)
        queue.close()
    }

    @Test("Times of commits never fall, even when the clock does")
    func clock() throws {
        let log = try store.open()
        let time = ManualTime(microseconds: 5_000)
        let queue = try CommitQueue(log, platform: Platform(files: store.disk, time: time))
        for step in [10, -4_000, 1, -100, 9_000] as [Int64] {
            time.advance(byMicroseconds: step)
            _ = try queue.commit(MarkedPayload.make(writer: 0, index: 0)[...])
        }
        #expect(try log.allCommits().map(\.time) == [5_010, 5_010, 5_010, 5_010, 9_911])
        queue.close()
    }
}
