import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

/// Payloads that say who wrote them, and the how-manieth it is.
enum MarkedPayload {
    static func make(writer: Int, index: Int, bytes: Int = 900) -> [UInt8] {
        var body = ByteWriter()
        body.appendVarint(UInt64(writer % 4 + 1))
        body.appendVarint(1)
        body.appendString("\(writer)-\(index)")
        var generator = SeededGenerator(seed: UInt64(writer * 10_000 + index))
        body.append(bytes: generator.nextBytes(bytes))
        return Envelope(events: [Event(.recordSaved, body: body.bytes[...])]).encoded()
    }
}

@Suite("Writers and readers at once")
struct ConcurrentLogTests {
    @Test(
        "Each commit is where its writer was told, in the order of each writer",
        arguments: [
            LogKind.simulatedDisk, .realDisk, .memory,
        ])
    func writersAndReaders(kind: LogKind) async throws {
        let fixture = try LogFixture(kind)
        try await run(on: fixture.log)
    }

    @Test("The same on a log that leaves gaps, takes prefixes and has other writers", arguments: seeds(4))
    func hostile(seed: UInt64) async throws {
        try await run(on: HostileLog(.init(gaps: 200, partialAcceptance: 300, conflicts: 100), seed: seed))
    }

    private func run(on log: any EventLog) async throws {
        let told = Monitor<[[Position]]>(Array(repeating: [], count: 16))
        let reader = ConcurrentReader(log)
        let threads = try (0..<4).map { writer in
            try WorkerThread(name: "test-writer") {
                for index in 0..<30 {
                    let payload = MarkedPayload.make(writer: writer, index: index)
                    guard let positions = try? log.commit([payload[...]]) else { return }
                    told.withLock { $0[writer] += positions }
                }
            }
        }
        let reading = Task { try await reader.readUntilClosed() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 4..<16 {
                group.addTask {
                    for start in stride(from: 0, to: 15, by: 3) {
                        let group = (start..<start + 3).map { MarkedPayload.make(writer: writer, index: $0)[...] }
                        let positions = try log.commit(group)
                        told.withLock { $0[writer] += positions }
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
        // Joining blocks, which a task may not do for long: by now the threads are nearly done.
        for thread in threads { thread.join() }
        let commits = try log.allCommits()
        try checkTold(told.withLock { $0 }, commits)
        try log.close()
        let seen = try await reading.value
        #expect(firstDifference(seen, Array(commits.prefix(seen.count))) == nil)
    }

    private func checkTold(_ told: [[Position]], _ commits: [Commit]) throws {
        #expect(ReferenceChain.firstBreak(in: commits) == nil)
        let byOffset = Dictionary(uniqueKeysWithValues: commits.map { ($0.offset, $0) })
        for (writer, positions) in told.enumerated() {
            #expect(positions.count == (writer < 4 ? 30 : 15))
            for (left, right) in zip(positions, positions.dropFirst()) {
                try check(left.offset < right.offset, "writer \(writer) was told \(left), then \(right)")
            }
            for (index, position) in positions.enumerated() {
                let commit = byOffset[position.offset]
                let expected = MarkedPayload.make(writer: writer, index: index)
                try check(commit?.payload == expected[...] && commit?.position == position, "\(writer)-\(index)")
            }
        }
        let foreign = commits.count - told.reduce(0) { $0 + $1.count }
        #expect(foreign >= 0)
    }

    @Test("Readers without the lock follow a writer through its segments")
    func readersBesideWriter() async throws {
        let store = TinyStore()
        var options = TinyStore.options
        options.spaceStepBytes = 8 << 10
        let log = try store.open(options)
        let isDone = Monitor(false)
        let readers = (0..<2).map { _ in
            Task {
                let reader = try store.reader()
                var commits: [Commit] = []
                var cursor = try reader.read(from: 1)
                while true {
                    let wasDone = isDone.withLock { $0 }
                    try reader.refresh()
                    while let commit = try cursor.next() { commits.append(commit) }
                    if wasDone { return commits }
                    await Task.yield()
                }
            }
        }
        var sequence = CommitSequence(seed: 1, noise: 1)
        let commits = sequence.next(60, events: 2, bytesPerEvent: 2_000)
        let thread = try WorkerThread(name: "test-writer") {
            for commit in commits { _ = try? log.append([commit], expecting: log.end) }
            isDone.withLock { $0 = true }
        }
        for reader in readers { #expect(firstDifference(try await reader.value, expectedCommits(commits)) == nil) }
        thread.join()
        #expect(store.segments.count > 3)
        try log.close()
    }

    @Test("Syncs, trims and reads beside appends leave a whole log", arguments: [Durability.commit, .system])
    func maintenance(durability: Durability) async throws {
        let store = TinyStore()
        var options = TinyStore.options
        options.durability = durability
        let log = try store.open(options)
        var sequence = CommitSequence(seed: 1, noise: 1)
        let commits = sequence.next(80, events: 2, bytesPerEvent: 2_000)
        let isDone = Monitor(false)
        let thread = try WorkerThread(name: "test-writer") {
            for commit in commits { _ = try? log.append([commit], expecting: log.end) }
            isDone.withLock { $0 = true }
        }
        var floors: [Position] = [log.floor]
        while !isDone.withLock({ $0 }) {
            let end = log.end
            try log.sync()
            #expect(log.durableEnd.offset >= end.offset)
            if end.offset > 40 { floors.append(try log.trim(to: end.offset - 40)) }
            let page = try log.touches(zone: 1, after: log.floor.offset, limit: 5)
            #expect(page.readThrough <= log.end.offset)
            await Task.yield()
        }
        thread.join()
        let expected = expectedCommits(commits)
        #expect(firstDifference(try log.allCommits(), Array(expected[Int(log.floor.offset)...])) == nil)
        #expect(floors.allSatisfy { floor in floor == .start || expected.contains { $0.position == floor } })
        try log.close()
        #expect(store.verify().damage == nil)
        #expect(store.verify().end == expected.last?.position)
    }
}

/// Reads a log in every way while others write to it.
struct ConcurrentReader: Sendable {
    let log: any EventLog

    init(_ log: any EventLog) { self.log = log }

    /// What a stream gave until the log was closed; the other ways of reading agree with it.
    func readUntilClosed() async throws -> [Commit] {
        var commits: [Commit] = []
        do {
            for try await commit in log.changes(after: .start) {
                commits.append(commit)
                guard commits.count % 8 == 0 else { continue }
                let again = try log.commit(at: commit.offset)
                try check(again == commit, "commit \(commit.offset) by its offset")
                try check(try log.chain(at: commit.offset) == commit.chain, "the chain at \(commit.offset)")
                let found = try log.firstOffset(notBefore: commit.time)
                try check(found.map { $0 <= commit.offset } == true, "the time of \(commit.offset)")
                let page = try log.touches(zone: 1, after: commit.offset, limit: 3)
                try check(page.touches.allSatisfy { $0.offset > commit.offset }, "touches behind \(commit.offset)")
            }
        } catch let error as StrataError where error.code == .closed {
            // The log was closed while this was behind: what was read until then counts.
        }
        return commits
    }
}
