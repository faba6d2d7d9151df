import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("Contract of every log: following")
struct FollowContractTests {
    @Test("Changes give what is there and then what comes, and end with the log", arguments: LogKind.allCases)
    func changes(kind: LogKind) async throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(5)
        let log = fixture.log
        let start = try #require(try log.allCommits().dropFirst(2).first).position
        let counter = Monitor(0)
        let follower = Task {
            var seen: [Commit] = []
            for try await commit in log.changes(after: start) {
                seen.append(commit)
                counter.withLock { $0 += 1 }
            }
            return seen
        }
        for _ in 0..<10 {
            try fixture.fill(3)
            await Task.yield()
        }
        let expected = try log.commits(from: start.offset + 1)
        try #require(try await awaited { counter.withLock { $0 } >= expected.count })
        try log.close()
        #expect(try await follower.value == expected)
    }

    @Test("A position of another history is refused", arguments: LogKind.allCases)
    func foreignPosition(kind: LogKind) async throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(5)
        for commit in try fixture.log.allCommits() {
            let foreign = Position(offset: commit.offset, chain: commit.chain ^ 0x8000)
            #expect(await failure(of: fixture.log, after: foreign) == .brokenChain)
        }
        #expect(await failure(of: fixture.log, after: Position(offset: 0, chain: 1)) == .brokenChain)
        let behind = Position(offset: fixture.log.end.offset + 9, chain: 0)
        #expect(await failure(of: fixture.log, after: behind) == .outOfRange)
    }

    private func failure(of log: any EventLog, after position: Position) async -> StrataError.Code? {
        do { for try await _ in log.changes(after: position) { return nil } } catch {
            return (error as? StrataError)?.code
        }
        return nil
    }

    @Test("Waiting ends at once when the end is behind, and when it moves there", arguments: LogKind.allCases)
    func waiting(kind: LogKind) async throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(3)
        let log = fixture.log
        await log.waitForEnd(past: 0)
        let end = log.end.offset
        let waiters = (0..<20).map { _ in
            Task {
                await log.waitForEnd(past: end)
                return log.end.offset
            }
        }
        await Task.yield()
        try fixture.fill(1)
        for waiter in waiters { #expect(await waiter.value > end) }
    }

    @Test("A wait and a stream end when their task is cancelled", arguments: LogKind.allCases)
    func cancellation(kind: LogKind) async throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(2)
        let log = fixture.log
        let waiter = Task { await log.waitForEnd(past: .max) }
        let follower = Task {
            var count = 0
            for try await _ in log.changes(after: log.end) { count += 1 }
            return count
        }
        let cancelledBefore = Task {
            while !Task.isCancelled { await Task.yield() }
            await log.waitForEnd(past: .max)
        }
        try await Task.sleep(for: .milliseconds(5))
        for task in [waiter, cancelledBefore] { task.cancel() }
        follower.cancel()
        await waiter.value
        await cancelledBefore.value
        #expect(try await follower.value == 0)
    }

    @Test("A wait ends when the log is closed", arguments: LogKind.allCases)
    func closing(kind: LogKind) async throws {
        let fixture = try LogFixture(kind)
        let log = fixture.log
        let waiters = (0..<5).map { _ in Task { await log.waitForEnd(past: .max) } }
        try await Task.sleep(for: .milliseconds(5))
        try log.close()
        for waiter in waiters { await waiter.value }
        await log.waitForEnd(past: .max)
        #expect(log.end == .start)
    }
}
