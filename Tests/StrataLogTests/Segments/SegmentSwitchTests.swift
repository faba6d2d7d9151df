import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("Segments that follow one another")
struct SegmentSwitchTests {
    private let store = TinyStore()

    /// Appends commits of about `bytes` each that do not compress, one at a time.
    private func fill(_ log: SegmentedLog, _ count: Int, bytes: Int = 6_000, seed: UInt64 = 1) throws -> [NewCommit] {
        var sequence = CommitSequence(seed: seed, noise: 1)
        var commits = sequence.next(count, events: 3, bytesPerEvent: bytes / 3)
        for index in commits.indices {
            commits[index].time += log.endTime ?? 0
            _ = try log.append([commits[index]], expecting: log.end)
        }
        return commits
    }

    @Test(
        "Segments keep to their size, are sealed and cut off, and read as one log", arguments: [0, 8 << 10, 64 << 10])
    func sizes(step: Int) throws {
        var options = TinyStore.options
        options.spaceStepBytes = step
        let log = try store.open(options)
        let commits = try fill(log, 50)
        #expect(store.segments.count == 5)
        for path in store.segments.dropLast() {
            let content = try store.disk.content(of: path)
            #expect(content.count <= 64 << 10 && content.count > 56 << 10)
            #expect(content[(content.count - 64)...].starts(with: Array("StFr".utf8) + [3]))
        }
        #expect(try log.allCommits() == expectedCommits(commits))
        try log.close()
        #expect(!store.disk.paths.contains(store.log + "/spare"))
        #expect(store.verify().damage == nil)
        #expect(store.verify().commitCount == 50)
        let again = try store.open(options)
        #expect(again.recovery == RecoveryReport(replayedCommits: 50 - Int(store.newestFirstOffset) + 1))
        #expect(try again.allCommits() == expectedCommits(commits))
    }

    @Test("Segments double from the first size to the largest, also when the store is opened in between")
    func growth() throws {
        var options = TinyStore.options
        options.segmentBytes = 256 << 10
        options.firstSegmentBytes = 64 << 10
        var log = try store.open(options)
        for round in 0..<6 {
            _ = try fill(log, 30, seed: UInt64(round))
            try log.close()
            log = try store.open(options)
        }
        let sizes = try store.segments.dropLast().map { try store.disk.content(of: $0).count }
        #expect(sizes.count >= 4)
        let commitBytes = 10 << 10
        for (size, limit) in zip(sizes, [64 << 10, 128 << 10, 256 << 10, 256 << 10]) {
            #expect(size <= limit && size > limit - 2 * commitBytes, "\(sizes)")
        }
    }

    @Test("Whoever takes the spare gets it as it is, and does not wait until it is full")
    func spareInTheMaking() throws {
        let limitBytes = 64 << 20
        // Where the machine is busy the thread may be done before it is asked, but not each time.
        for _ in 0..<50 {
            let filled = try Self.spareTaken(limitBytes)
            #expect(filled >= 1 << 20)
            if filled < limitBytes { return }
        }
        Issue.record("every spare was full")
    }

    /// How much of a spare is filled that is taken as soon as it is there.
    private static func spareTaken(_ limitBytes: Int) throws -> Int {
        let store = TinyStore()
        try store.open().close()
        let keeper = try SegmentPreallocator(paths: StorePaths(store.path), files: store.disk, stepBytes: 4 << 20)
        defer { keeper.stop() }
        keeper.begin(store.segment(1), filled: limitBytes, limitBytes: limitBytes, nextLimitBytes: limitBytes)
        keeper.didWrite(upTo: limitBytes)
        // As soon as it is there, so that it is not full yet.
        let start = ContinuousClock.now
        while !store.disk.paths.contains(store.log + "/spare"), start.duration(to: .now) < .seconds(60) { usleep(10) }
        let spare = try #require(keeper.takeSpare())
        spare.file.close()
        return spare.filled
    }

    @Test("The spare gets its zeros a step at a time, in small pieces, and not some for each commit")
    func zerosInSteps() throws {
        let store = TinyStore()
        try store.open().close()
        let writes = Lock(0)
        let files = InterceptedFiles(store.disk) { kind, path in
            if kind == .write, path.hasSuffix("/spare") { writes.withLock { $0 += 1 } }
            return true
        }
        let (limitBytes, stepBytes, pieceBytes) = (64 << 20, 4 << 20, 16 << 10)
        let keeper = try SegmentPreallocator(paths: StorePaths(store.path), files: files, stepBytes: stepBytes)
        defer { keeper.stop() }
        keeper.begin(store.segment(1), filled: limitBytes, limitBytes: limitBytes, nextLimitBytes: limitBytes)
        let start = limitBytes / 8
        keeper.didWrite(upTo: start + 1)
        #expect(eventually { writes.withLock { $0 } == stepBytes / pieceBytes })
        for commit in 1...1_000 { keeper.didWrite(upTo: start + commit * 400) }
        let spare = try #require(keeper.takeSpare())
        spare.file.close()
        #expect(spare.filled == stepBytes)
        #expect(writes.withLock { $0 } == stepBytes / pieceBytes)
    }

    @Test("A commit larger than a segment has one of its own")
    func largeCommits() throws {
        let log = try store.open()
        var sequence = CommitSequence(seed: 5, noise: 1)
        let commits = [
            sequence.next(events: 1, bytesPerEvent: 100), sequence.next(events: 100, bytesPerEvent: 1_000),
            sequence.next(events: 100, bytesPerEvent: 2_000), sequence.next(events: 1, bytesPerEvent: 100),
            sequence.next(events: 1, bytesPerEvent: 100),
        ]
        _ = try log.append(commits, expecting: .start)
        #expect(store.segments == [1, 2, 3, 4].map(store.segment))
        #expect(try log.allCommits() == expectedCommits(commits))
        try log.close()
        #expect(try store.open().allCommits() == expectedCommits(commits))
    }

    @Test("A segment takes a commit that fits to the byte, and not one that is eight bytes longer", arguments: [0, 8])
    func exactSize(excess: Int) throws {
        let log = try SegmentedLog.open(
            at: store.path, options: TinyStore.options, platform: store.platform, touches: LogFixture.noTouches)
        var sequence = CommitSequence(seed: 5)
        let first = sequence.raw(1_000, isRandom: true)
        // Header of the segment, two frame headers, the seal.
        let room = (64 << 10) - 128 - 64 - 1_000 - 64 - 64
        let second = sequence.raw(room + excess, isRandom: true)
        _ = try log.append([first], expecting: .start)
        _ = try log.append([second], expecting: log.end)
        _ = try log.append([sequence.raw(10, isRandom: true)], expecting: log.end)
        #expect(store.segments.count == (excess == 0 ? 2 : 3) - (excess == 0 ? 0 : 1))
        #expect(store.newestFirstOffset == (excess == 0 ? 3 : 2))
        if excess == 0 { #expect(try store.disk.content(of: store.segment(1)).count == 64 << 10) }
    }

    @Test("A large segment size that shrinks, and a small one that grows, change nothing of what is there")
    func changedSize() throws {
        var all: [NewCommit] = []
        for size in [64 << 10, 1 << 20, 64 << 10, 128 << 10] {
            var options = TinyStore.options
            options.segmentBytes = size
            let log = try store.open(options)
            all += try fill(log, 20, seed: UInt64(size))
            #expect(try log.allCommits() == expectedCommits(all))
            try log.close()
        }
        #expect(store.verify().commitCount == 80)
    }

    @Test("A closed newest segment gets the successor that a crash kept from it")
    func missingSuccessor() throws {
        let log = try store.open()
        let commits = try fill(log, 15)
        let second = store.newestFirstOffset
        let left = store.copy()
        try left.disk.removeFile(left.segment(second))
        let again = try left.open()
        #expect(again.recovery.madeSuccessor)
        #expect(again.end.offset == second - 1)
        let kept = expectedCommits(Array(commits[..<Int(second - 1)]))
        #expect(try again.allCommits() == kept)
        #expect(left.newestFirstOffset == second)
        _ = try fill(again, 15, seed: 9)
        try again.close()
        #expect(left.verify().damage == nil)
        #expect(try Array(left.open().allCommits().prefix(kept.count)) == kept)
    }

    @Test("What interrupted work left behind is removed and told")
    func leftovers() throws {
        try store.open().close()
        let names = [store.log + "/spare", store.path + "/STORE.new", store.log + "/FLOOR.new"]
        for name in names { store.disk.setContent([1, 2, 3], of: name) }
        let strangers = [store.log + "/notes.txt", store.log + "/1.seg", store.path + "/views"]
        for name in strangers { store.disk.setContent([4], of: name) }
        let log = try store.open()
        #expect(Set(log.recovery.removedFiles) == Set(names))
        #expect(names.allSatisfy { !store.disk.paths.contains($0) })
        #expect(strangers.allSatisfy(store.disk.paths.contains))
        try log.close()
        #expect(try store.open().recovery.removedFiles == [])
    }
}
