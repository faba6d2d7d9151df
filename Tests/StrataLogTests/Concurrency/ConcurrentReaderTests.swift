import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("One reader, several threads")
struct ConcurrentReaderTests {
    @Test("Threads that look for more at the same time find it once")
    func refreshing() throws {
        let store = TinyStore()
        let log = try store.open()
        let reader = try store.reader()
        var sequence = CommitSequence(seed: 1)
        for _ in 0..<10 {
            _ = try log.append(sequence.next(200), expecting: log.end)
            let failures = Lock<[String]>([])
            let threads = try (0..<4).map { _ in
                try WorkerThread(name: "test-refresh") {
                    do { try reader.refresh() } catch { failures.withLock { $0.append("\(error)") } }
                }
            }
            for thread in threads { thread.join() }
            let seen = failures.withLock { $0 }
            try check(seen.isEmpty, seen.joined())
            try check(reader.end == log.end, "the reader is at \(reader.end), the log at \(log.end)")
        }
        #expect(try reader.allCommits() == log.allCommits())
    }
}
