import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("Tasks and threads follow one log at the same time")
struct ConcurrentFollowingTests {
    private static let count: UInt64 = 120

    @Test("All that share a reader see all commits, while segments are switched and sealed")
    func sharedReader() async throws {
        let store = try RealStore()
        let log = try store.open()
        let reader = try store.reader()
        let threads = try (0..<2).map { _ in try thread(reader) }
        let writer = try WorkerThread(name: "writer") {
            for index in 0..<Self.count {
                try? log.appendOne(bytesPerEvent: 2_000)
                if index % 40 == 39 { _ = try? log.sealNext() }
            }
        }
        let seen = try await withThrowingTaskGroup(of: [Position].self) { group in
            for first in [1, 1, 50] as [UInt64] {
                group.addTask {
                    var seen: [Position] = []
                    for try await commit in reader.follow(from: first) {
                        seen.append(commit.position)
                        if commit.offset == Self.count { break }
                    }
                    return seen
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        writer.join()
        for thread in threads { thread.worker.join() }
        let expected = try log.allCommits().map(\.position)
        #expect(expected.count == Int(Self.count))
        for positions in seen + threads.map({ $0.seen.withLock { $0 } }) {
            #expect(positions == Array(expected.suffix(positions.count)) && positions.count >= expected.count - 49)
        }
        try log.close()
    }

    private func thread(_ reader: LogReader) throws -> (worker: WorkerThread, seen: Lock<[Position]>) {
        let seen = Lock<[Position]>([])
        let worker = try WorkerThread(name: "follower") {
            guard var cursor = try? reader.read(from: 1) else { return }
            var last: UInt64 = 0
            while last < Self.count {
                guard (try? reader.wait(past: last, milliseconds: 60_000)) == true else { return }
                while let commit = try? cursor.next() {
                    last = commit.offset
                    seen.withLock { $0.append(commit.position) }
                }
            }
        }
        return (worker, seen)
    }
}
