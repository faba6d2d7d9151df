import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("Where zeros are written ahead, commits are written in whole pages", .timeLimit(.minutes(3)))
struct WholePageTests {
    private static let page = DirectWrites.alignment
    private static let options = LogOptions(
        segmentBytes: 256 << 10, firstSegmentBytes: 256 << 10, spaceStepBytes: 16 << 10)

    /// Sizes on both sides of a page and of what is written past the cache.
    private static let sizes = [40, 4_000, 100, 20_000, 60, 60, 16_200, 8_000, 50_000, 300, 120_000, 40]

    private static func commits(_ count: Int, seed: UInt64) -> [NewCommit] {
        var sequence = CommitSequence(seed: seed, noise: 1)
        return (0..<count).map { sequence.next(events: 1, bytesPerEvent: sizes[$0 % sizes.count]) }
    }

    @Test("Whatever their sizes, whoever reads, with and without the writes past the cache", arguments: [false, true])
    func mixed(refusesDirectWrites: Bool) throws {
        try withSeeds(4) { seed in
            let store = TinyStore(seed: seed)
            store.disk.refusesDirectWrites = refusesDirectWrites
            var log = try store.open(Self.options)
            let commits = Self.commits(60, seed: seed)
            let expected = expectedCommits(commits)
            for (index, commit) in commits.enumerated() {
                if (index + Int(seed)) % 4 == 1 {
                    _ = try log.appendLazily([commit], expecting: log.end)
                } else {
                    _ = try log.append([commit], expecting: log.end)
                    try #expect(store.reader().end == expected[index].position)
                }
                try #expect(log.commit(at: expected[index].offset) == expected[index])
                if index % 13 == 7 {
                    try log.close()
                    log = try store.open(Self.options)
                    #expect(log.recovery.tornTail == nil)
                }
            }
            try #expect(firstDifference(log.allCommits(), expected) == nil)
            try log.close()
            #expect(store.verify().damage == nil && store.verify().commitCount == 60)
            try #expect(firstDifference(store.reader().allCommits(), expected) == nil)
            #expect(store.disk.directWrites.isEmpty == refusesDirectWrites)
            #expect(store.disk.directWrites.allSatisfy { ($0.range.lowerBound | $0.range.count) % Self.page == 0 })
        }
    }

    @Test("From 16 KiB on, and only if the commit is synced, and there are zeros ahead")
    func directly() throws {
        func directSizes(_ bytes: Int, _ options: LogOptions, isLazy: Bool = false) throws -> [Int] {
            let store = TinyStore()
            let log = try store.open(options)
            var sequence = CommitSequence(seed: 1, noise: 1)
            let commit = sequence.next(events: 1, bytesPerEvent: bytes)
            let done =
                isLazy
                ? try log.appendLazily([commit], expecting: log.end) : try log.append([commit], expecting: log.end)
            #expect(done.count == 1)
            defer { try? log.close() }
            // Not the zeros, which begin behind the first page or are in the spare.
            let writes = store.disk.directWrites.filter { $0.path == store.segment(1) && $0.range.lowerBound == 0 }
            return writes.map(\.range.count)
        }
        // The segment's header is in the first page, which is written again.
        let limit = (16 << 10) - 128 - 64
        #expect(try directSizes(limit - 200, Self.options) == [16 << 10])
        #expect(try directSizes(limit - 200 - Self.page, Self.options) == [])
        #expect(try directSizes(100_000, Self.options) == [102_400])
        #expect(try directSizes(100_000, Self.options, isLazy: true) == [])
        for durability in [Durability.system, .interval(.seconds(60))] {
            var options = Self.options
            options.durability = durability
            #expect(try directSizes(100_000, options) == [])
        }
        #expect(try directSizes(100_000, TinyStore.options) == [])
    }

    @Test("A write that fails and is undone leaves the page as it was, and the next commit finds it")
    func failed() throws {
        for bytes in [300, 40_000] {
            for outcome in [SimulatedDisk.FaultOutcome.errno(EIO), .writeThenErrno(5_000, EIO), .doneThenErrno(EIO)] {
                let store = TinyStore()
                let log = try store.open(Self.options)
                var sequence = CommitSequence(seed: 1, noise: 1)
                let first = sequence.next(events: 1, bytesPerEvent: 5_000)
                _ = try log.append([first], expecting: log.end)
                // The fault is not for the zeros.
                #expect(eventually { (try? store.disk.content(of: store.segment(1)).count) ?? 0 > 32 << 10 })
                store.disk.fail(.write, at: 1, with: outcome, on: ".seg")
                let failed = sequence.next(events: 1, bytesPerEvent: bytes)
                #expect(appendOutcome { _ = try log.append([failed], expecting: log.end) } == "not written")
                store.disk.heal()
                let next = sequence.next(events: 1, bytesPerEvent: bytes)
                _ = try log.append([next], expecting: log.end)
                let expected = expectedCommits([first, next])
                #expect(try log.allCommits() == expected)
                #expect(try store.left(keeping: .nothingUnsynced).reader().allCommits() == expected)
                try log.close()
                #expect(store.verify().damage == nil)
            }
        }
    }

    @Test("On the real disk, beside readers that have the same pages in the cache")
    func cached() throws {
        let directory = try TestDirectory()
        let path = directory.path("Notes.strata")
        let log = try SegmentedLog.open(at: path, options: Self.options)
        let commits = Self.commits(120, seed: 5)
        let expected = expectedCommits(commits)
        let reader = try LogReader.open(at: path)
        for (index, commit) in commits.enumerated() {
            _ = try log.append([commit], expecting: log.end)
            // From the commit before on, so that its page, and the zeros behind, were read before the next is there.
            let first = max(1, expected[index].offset - 1)
            try #expect(reader.refresh() && reader.end == expected[index].position)
            var cursor = try reader.read(from: first)
            for offset in first...expected[index].offset {
                try #expect(cursor.next() == expected[Int(offset - 1)])
            }
            try #expect(log.commit(at: expected[index].offset) == expected[index])
        }
        try log.close()
        #expect(firstDifference(try LogReader.open(at: path).allCommits(), expected) == nil)
    }
}
