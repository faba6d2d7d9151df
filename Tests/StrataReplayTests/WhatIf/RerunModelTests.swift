import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplay

@Suite("Random histories told once more")
struct RerunModelTests {
    private static let stepCount = 120

    private func history(_ seed: UInt64, recordsRefusals: Bool = true) throws -> RerunFixture {
        let fixture = try RerunFixture(recordsRefusals: recordsRefusals)
        var history = RandomHistory(fixture, seed: seed)
        try history.run(Self.stepCount)
        return fixture
    }

    @Test("With nothing changed the log is the same, byte by byte", arguments: [true, false])
    func nothingChanged(recordsRefusals: Bool) throws {
        try withSeeds(10) { seed in
            let fixture = try history(seed, recordsRefusals: recordsRefusals)
            let log = MemoryLog()
            let rerun = try fixture.replay(into: log)
            defer { try? rerun.report.close() }
            try #require(rerun.report.divergence == nil, "\(String(describing: rerun.report.divergence))")
            try #require(rerun.commits.isEmpty && rerun.differences.isEmpty)
            try #require(rerun.report.unjudgedCount == 0, "\(rerun.report.unjudged)")
            try #require(log.end == fixture.store.log.end)
            try #require(try rerun.report.after.digests() == fixture.store.snapshot().digests())
        }
    }

    @Test("A change that changes nothing leaves all as it was, judged from anywhere")
    func noChange() throws {
        try withSeeds(4) { seed in
            let fixture = try history(seed)
            let end = fixture.store.offset
            for offset in stride(from: UInt64(2), through: end, by: 17) {
                let rerun = try fixture.replay(.insert([], by: RerunFixture.anna, after: offset))
                defer { try? rerun.report.close() }
                try #require(rerun.commits.isEmpty && rerun.differences.isEmpty)
                try #require(try rerun.report.after.digests() == fixture.store.snapshot().digests(), "from \(offset)")
            }
        }
    }

    @Test("What is left of a history without one of its commits is a history of its own")
    func dropped() throws {
        try withSeeds(5) { seed in
            let fixture = try history(seed)
            for offset in stride(from: UInt64(1), through: fixture.store.offset, by: 11) {
                let log = MemoryLog()
                let rerun = try fixture.replay(.drop(offset), into: log)
                defer { try? rerun.report.close() }
                let store = try Store(on: log)
                defer { try? store.close() }
                try #require(try store.snapshot().digests() == rerun.report.after.digests())
                // It is one that the rules make: told again it is the same.
                let check = try JudgedLog.of(store)
                try #require(check.isSame, "drop \(offset): \(check)")
                var found: Set<String> = []
                try store.snapshot().forEachDifference(fromOther: fixture.store.snapshot()) {
                    found.insert($0.id.name)
                    return true
                }
                try #require(found == Set(rerun.differences.keys))
                for commit in rerun.commits where !commit.isDirect {
                    try #require(commit.hasOtherOutcome)
                    try #require(commit.cause == nil || commit.cause?.root == offset)
                }
            }
        }
    }

    @Test("Progress goes from nothing to all")
    func progress() throws {
        let fixture = try history(2)
        for changes in [[], [RerunChange.drop(3)]] {
            var rerun = Rerun(of: fixture.store, changes: changes)
            let last = Lock<(judged: UInt64, all: UInt64)>((0, 0))
            rerun.progress = { judged, all in last.withLock { $0 = (judged, all) } }
            let report = try rerun.run()
            try report.close()
            let seen = last.withLock { $0 }
            #expect(seen.judged == seen.all && seen.all == UInt64(report.commitCount) && seen.all > 100)
        }
    }

    @Test("If most commits can be judged, counting ends early with the same answer", arguments: [true, false])
    func unjudged(isMost: Bool) throws {
        let fixture = try history(4)
        let log = MemoryLog()
        var cursor = try fixture.store.log.read(from: 1)
        var generator = SeededGenerator(seed: 9)
        while let commit = try cursor.next() {
            var envelope = try Envelope(decoding: commit.payload)
            if (generator.next(below: 10) < 6) == isMost { envelope.header.requestShape = [] }
            let payload = envelope.encoded()
            _ = try log.append([NewCommit(id: commit.id, time: commit.time, payload: payload[...])], expecting: log.end)
        }
        let store = try Store(on: log)
        defer { try? store.close() }
        var foundCount = 0
        for offset in 1...store.offset {
            let rerun = Rerun(of: store, changes: [.drop(offset)])
            let count = try rerun.countFollowing()
            let found = try rerun.countFollowingIfMostUnjudged()
            #expect((found != nil) == (count.unjudged > count.commits / 2))
            if let found {
                #expect(found == count)
                foundCount += 1
            }
        }
        #expect(isMost ? foundCount > 20 : foundCount < Int(store.offset))
    }
}
