import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("Following a log that another opener writes")
struct LogFollowerTests {
    private let store: RealStore

    init() throws { store = try RealStore() }

    /// Commits one by one from a thread, through several segments.
    private func write(_ count: Int, to log: SegmentedLog) throws -> WorkerThread {
        try WorkerThread(name: "writer") {
            for _ in 0..<count { try? log.appendOne(bytesPerEvent: 4_000) }
        }
    }

    @Test("A follower sees each commit once, in order, through segment switches", arguments: [1, 30, 90] as [UInt64])
    func following(first: UInt64) async throws {
        let log = try store.open()
        let reader = try store.reader()
        let thread = try write(100, to: log)
        var seen: [Commit] = []
        for try await commit in reader.follow(from: first) {
            seen.append(commit)
            if commit.offset == 100 { break }
        }
        thread.join()
        #expect(try firstDifference(seen, log.commits(from: first)) == nil)
        #expect(reader.segments.count > 3)
        try log.close()
    }

    @Test("Segments that are sealed in front of a follower and behind it are read on by offset")
    func sealed() throws {
        let log = try store.open()
        try write(50, to: log).join()
        let readers = [try store.reader(), try store.reader(.written)]
        var cursors = try readers.map { try $0.read(from: 1) }
        var seen: [[Commit]] = [[], []]
        for index in 0..<2 {
            for _ in 0..<20 { if let commit = try cursors[index].next() { seen[index].append(commit) } }
        }
        // What the readers know as frames, and what they have not come to yet.
        try write(100, to: log).join()
        while try log.sealNext() {}
        #expect(try readers[0].wait(past: 149, milliseconds: 60_000))
        try log.close()
        #expect(try readers[1].wait(past: 149, milliseconds: 60_000))
        for index in 0..<2 {
            while let commit = try cursors[index].next() { seen[index].append(commit) }
            #expect(firstDifference(seen[index], try store.reader().allCommits()) == nil)
            #expect(readers[index].end.offset == 150 && readers[index].segments.allSatisfy { $0.lastOffset != nil })
            #expect(try firstDifference(readers[index].allCommits(), seen[index]) == nil)
        }
    }

    @Test("Without pages in memory it looks again and again", arguments: [[], [SharedPageUse.own, .read]])
    func polling(uses: [SharedPageUse]) async throws {
        let log = try SegmentedLog.open(
            at: store.paths.store, options: RealStore.options, platform: Platform(files: HookedFiles(pageUses: uses)))
        let reader = try store.reader(files: HookedFiles(pageUses: uses))
        let thread = try write(40, to: log)
        var seen: [Commit] = []
        for try await commit in reader.follow(from: 1) {
            seen.append(commit)
            if commit.offset == 40 { break }
        }
        thread.join()
        #expect(try firstDifference(seen, log.allCommits()) == nil)
        try log.close()
    }

    @Test("A thread that waits is woken by the writer, and so are tasks")
    func waking() async throws {
        let log = try store.open()
        let reader = try store.reader()
        let task = Task { try await reader.waitForEnd(past: 0) }
        let other = try store.reader()
        let woken = Lock<Bool?>(nil)
        let thread = try WorkerThread(name: "waiter") {
            let result = try? other.wait(past: 0, milliseconds: 600_000)
            woken.withLock { $0 = result }
        }
        try await Task.sleep(for: .milliseconds(20))
        try log.appendOne()
        try await task.value
        thread.join()
        #expect(woken.withLock { $0 } == true)
        #expect(reader.end == log.end && other.end == log.end)
        try log.close()
    }

    @Test("Who waits goes on when the writer closes and another one comes")
    func restart() async throws {
        var log = try store.open()
        try log.appendOne()
        let reader = try store.reader()
        let follower = Task {
            var offsets: [UInt64] = []
            for try await commit in reader.follow(from: 1) {
                offsets.append(commit.offset)
                if commit.offset == 4 { break }
            }
            return offsets
        }
        for _ in 0..<3 {
            try log.close()
            try await Task.sleep(for: .milliseconds(10))
            log = try store.open()
            try log.appendOne()
        }
        #expect(try await follower.value == [1, 2, 3, 4])
        try log.close()
    }

    @Test("A task that is cancelled does not wait any more; the reader can be used again")
    func cancelling() async throws {
        let log = try store.open()
        let reader = try store.reader()
        let follower = Task {
            var count = 0
            for try await _ in reader.follow(from: 1) { count += 1 }
            return count
        }
        let waiter = Task { try await reader.waitForEnd(past: 5) }
        try await Task.sleep(for: .milliseconds(10))
        follower.cancel()
        waiter.cancel()
        #expect(try await follower.value == 0)
        try await waiter.value
        try log.appendOne()
        try await reader.waitForEnd(past: 0)
        #expect(reader.end == log.end)
        try log.close()
    }

    @Test("A reader that stops waiting ends its followers, those that come later too; it still reads")
    func stopping() async throws {
        let log = try store.open()
        let reader = try store.reader()
        let follower = Task {
            var count = 0
            for try await _ in reader.follow(from: 1) { count += 1 }
            return count
        }
        try await Task.sleep(for: .milliseconds(5))
        reader.stopWaiting()
        #expect(try await follower.value == 0)
        try log.appendOne()
        // The thread may still have seen the commit, but there may be none any more to see the next.
        try await reader.waitForEnd(past: 1)
        try reader.refresh()
        #expect(reader.end == log.end)
        try log.close()
    }

    @Test("What keeps the log from being read on is thrown at all who wait, and only once")
    func failing() async throws {
        let log = try store.open()
        try log.appendOne()
        try log.close()
        let reader = try store.reader()
        let file = try RealFileSystem().open(store.paths.segment(1), .write)
        let whole = try file.read(count: 1 << 20, at: 0)
        let tasks = (0..<2).map { _ in Task { try await reader.waitForEnd(past: 1) } }
        try file.truncate(to: 130)
        for task in tasks {
            let result = await task.result
            #expect(throws: StrataError.self) { try result.get() }
        }
        #expect(thrownCode { _ = try reader.wait(past: 1, milliseconds: 0) } == .impossibleLength)
        try file.write(whole, at: 0)
        let waiter = Task { try await reader.waitForEnd(past: 1) }
        let next = try store.open()
        try next.appendOne()
        try await waiter.value
        try next.close()
    }

    @Test("An offset whose history was let go is refused")
    func release() async throws {
        let log = try store.open()
        try write(40, to: log).join()
        let floor = try log.trim(to: 30)
        #expect(floor.offset > 0)
        var iterator = try store.reader().follow(from: floor.offset).makeAsyncIterator()
        do {
            _ = try await iterator.next()
            Issue.record("it was not refused")
        } catch let error as StrataError { #expect(error.code == .outOfRange) }
        var allowed = try store.reader().follow(from: floor.offset + 1).makeAsyncIterator()
        #expect(try await allowed.next()?.offset == floor.offset + 1)
        try log.close()
    }

    @Test("A reader that nobody has any more ends its thread")
    func releasing() async throws {
        let log = try store.open()
        try log.appendOne()
        weak var weakReader: LogReader?
        do {
            let reader = try store.reader()
            weakReader = reader
            let task = Task { try await reader.waitForEnd(past: 1) }
            try await Task.sleep(for: .milliseconds(5))
            task.cancel()
            try await task.value
        }
        #expect(try await awaited { weakReader == nil })
        try log.close()
    }
}
