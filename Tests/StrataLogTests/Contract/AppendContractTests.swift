import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("Contract of every log: appending")
struct AppendContractTests {
    @Test("What was appended is read back, by offset and in order", arguments: LogKind.allCases)
    func readBack(kind: LogKind) throws {
        try Self.checkReadBack(try LogFixture(kind))
    }

    /// Throws rather than records, so that a canary can see it fail.
    static func checkReadBack(_ fixture: LogFixture) throws {
        try fixture.fill(60)
        let commits = try fixture.log.allCommits()
        let difference = firstDifference(fixture.own(commits), fixture.appended)
        try check(difference == nil, "read other commits than were appended: \(difference ?? "")")
        try check(commits.last?.position == fixture.log.end, "the last commit is not the end")
        try check(commits.last?.time == fixture.log.endTime, "the last commit's time is not the end's")
        try check(ReferenceChain.firstBreak(in: commits) == nil, "the chain breaks")
        for (left, right) in zip(commits, commits.dropFirst()) {
            try check(left.offset < right.offset, "offsets \(left.offset), \(right.offset) do not grow")
        }
        for commit in commits {
            try check(try fixture.log.commit(at: commit.offset) == commit, "commit \(commit.offset) by its offset")
        }
    }

    @Test(
        "What may be lost is appended like anything else, and durable with what comes next", arguments: LogKind.allCases
    )
    func lazyAppend(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(5)
        for round in 0..<40 {
            let end = fixture.log.end
            let commit = fixture.make(1)[0]
            do throws(AppendFailure) {
                let appended = try fixture.log.appendLazily([commit], expecting: end)
                #expect(appended.positions.last == fixture.log.end && appended.count == 1)
                // Repeating it is as safe as ever.
                #expect(try fixture.log.appendLazily([commit], expecting: end) == appended)
                let read = try? fixture.log.commit(at: fixture.log.end.offset)
                #expect(read?.payload == commit.payload)
            } catch {
                if case .unknown = error { (fixture.log as? HostileLog)?.reopen() }
            }
            guard round % 4 == 3 else { continue }
            try fixture.fill(1)
            #expect(fixture.log.durableEnd == fixture.log.end)
        }
        #expect(ReferenceChain.firstBreak(in: try fixture.log.allCommits()) == nil)
    }

    @Test("Offsets that no commit has give none", arguments: LogKind.allCases)
    func absentOffsets(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        #expect(fixture.log.end == .start)
        #expect(fixture.log.endTime == nil)
        #expect(try fixture.log.commit(at: 1) == nil)
        #expect(try fixture.log.allCommits().isEmpty)
        try fixture.fill(30)
        let offsets = Set(try fixture.log.allCommits().map(\.offset))
        for offset in 0...fixture.log.end.offset + 3 {
            try check(
                try fixture.log.commit(at: offset)?.offset == (offsets.contains(offset) ? offset : nil),
                "offset \(offset)")
        }
        #expect(try fixture.log.commit(at: .max) == nil)
    }

    static let sizes = [
        0, 1, 2, 7, 8, 63, 64, 95, 96, 97, 300, 4_095, 65_471, 64 << 10, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, 9 << 20,
    ]

    @Test("Payloads of every size come back, random and compressible", arguments: LogKind.allCases, [true, false])
    func sizes(kind: LogKind, isRandom: Bool) throws {
        // Large payloads only once each: reading short pieces of megabytes proves nothing more.
        let limit =
            switch kind {
            case .stutteringDisk, .hostileMemory, .hostileReplicated: 64 << 10
            default: Int.max
            }
        let fixture = try LogFixture(kind, touches: LogFixture.noTouches)
        let commits = Self.sizes.filter { $0 <= limit }.map { fixture.makeRaw($0, isRandom: isRandom) }
        for commit in commits { try fixture.append([commit]) }
        let read = fixture.own(try fixture.log.allCommits())
        #expect(read.map(\.payload.count) == commits.map(\.payload.count))
        #expect(firstDifference(read, fixture.appended) == nil)
        for commit in read {
            let byOffset = try #require(try fixture.log.commit(at: commit.offset))
            try check(firstDifference([byOffset], [commit]) == nil, "\(commit.payload.count) bytes by offset")
        }
        let small = try fixture.log.allCommits().prefix { $0.payload.count <= 64 << 10 }
        #expect(ReferenceChain.firstBreak(in: Array(small)) == nil)
    }

    @Test(
        "The chain of commits in several parts is that of the whole payload",
        arguments: [
            LogKind.simulatedDisk, .memory,
        ])
    func largeChain(kind: LogKind) throws {
        let fixture = try LogFixture(kind, touches: LogFixture.noTouches)
        for size in [(4 << 20) - 1, (4 << 20) + 1, 9 << 20] {
            try fixture.append([fixture.makeRaw(size, isRandom: true)])
        }
        #expect(ReferenceChain.firstBreak(in: try fixture.log.allCommits()) == nil)
    }

    @Test("A batch goes in as one, larger than a segment too", arguments: LogKind.allCases)
    func batches(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        let commits = fixture.make(50, events: 4, bytesPerEvent: 1_500)
        let positions = try fixture.append(commits)
        #expect(positions.count == 50)
        #expect(fixture.own(try fixture.log.allCommits()).map(\.position) == positions)
        #expect(try fixture.append([]).isEmpty)
    }

    @Test("A commit with its touches is the same commit", arguments: LogKind.allCases)
    func givenTouches(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        var commits = fixture.make(6, events: 30, bytesPerEvent: 900)
        for index in [0, 2, 3] {
            let commit = commits[index]
            let touches = try commit.payload.withUnsafeBytes { try Envelope.touches(of: $0) }
            commits[index] = NewCommit(id: commit.id, time: commit.time, payload: commit.payload, touches: touches)
        }
        try fixture.append(commits)
        let read = fixture.own(try fixture.log.allCommits())
        #expect(read.map(\.payload) == commits.map(\.payload))
        #expect(try fixture.log.touches(zone: 1, after: 0, limit: 1_000).touches.count > 10)
    }

    @Test("An append that expects another end is a conflict that names the end", arguments: LogKind.allCases)
    func conflicts(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(5)
        try Self.checkConflicts(fixture)
    }

    static func checkConflicts(_ fixture: LogFixture) throws {
        let end = fixture.log.end
        let first = try #require(try fixture.log.allCommits().first).position
        let wrong = [
            Position.start, first, Position(offset: end.offset, chain: end.chain ^ 1),
            Position(offset: end.offset + 1, chain: end.chain), Position(offset: .max, chain: 0),
        ]
        for expecting in wrong {
            var failure: AppendFailure?
            do throws(AppendFailure) { _ = try fixture.log.append(fixture.make(1), expecting: expecting) } catch {
                failure = error
            }
            guard case .conflict(end) = failure else {
                throw Mismatch("behind \(expecting): \(failure.map(\.description) ?? "appended")")
            }
        }
        try check(fixture.log.end == end, "a conflict moved the end")
    }

    @Test("Repeating an append changes nothing; what was missing of it goes in", arguments: LogKind.allCases)
    func repeating(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(3)
        let start = fixture.log.end
        let commits = fixture.make(4)
        let positions = try fixture.append(commits)
        let mine = try #require(positions.first)
        // The commit in front of the first of ours is where it was appended, whatever somebody else did meanwhile.
        let before = try fixture.log.allCommits().last(where: { $0.offset < mine.offset })?.position ?? start
        let contiguous = try fixture.log.commits(from: mine.offset).map(\.position) == positions
        let end = fixture.log.end
        #expect(try fixture.log.append([commits[0]], expecting: before).positions == [mine])
        if contiguous {
            #expect(try fixture.log.append(commits, expecting: before).positions == positions)
            #expect(try fixture.log.append(Array(commits[..<2]), expecting: before).positions == Array(positions[..<2]))
        }
        #expect(fixture.log.end == end)
        let more = fixture.make(2)
        if contiguous {
            let again = try fixture.log.append(commits + more, expecting: before)
            #expect(Array(again.positions.prefix(4)) == positions)
            try fixture.append(Array(more[(again.count - 4)...]))
        }
        let ids = try fixture.log.allCommits().map(\.id)
        #expect(Set(ids).count == ids.count)
    }

    @Test(
        "A repeated append with another commit behind the known ones takes only those", arguments: LogKind.predictable)
    func repeatingInPart(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        let commits = fixture.make(3)
        let positions = try fixture.append(commits)
        try fixture.append(fixture.make(1))
        let other = fixture.make(1)
        let again = try fixture.log.append([commits[0], commits[1]] + other, expecting: .start)
        #expect(again.positions == Array(positions[..<2]))
        #expect(appendOutcome { _ = try fixture.log.append(other, expecting: positions[0]) } == "conflict")
        #expect(try fixture.log.allCommits().count == 4)
    }

    @Test("A time that falls is refused, and nothing of that append goes in", arguments: LogKind.allCases)
    func fallingTimes(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        try fixture.fill(3)
        let end = fixture.log.end
        let time = try #require(fixture.log.endTime)
        func commit(_ time: Int64) -> NewCommit {
            var commit = fixture.make(1)[0]
            commit.time = time
            return commit
        }
        let early = [commit(time - 1)]
        #expect(thrownCode { _ = try fixture.log.append(early, expecting: end) } == .invalidArgument)
        let inside = [commit(time), commit(time + 5), commit(time + 4)]
        #expect(thrownCode { _ = try fixture.log.append(inside, expecting: end) } == .invalidArgument)
        #expect(fixture.log.end == end)
        try fixture.append([commit(time), commit(time), commit(.max)])
        #expect(fixture.log.endTime == .max)
        #expect(ReferenceChain.firstBreak(in: try fixture.log.allCommits()) == nil)
    }

    @Test("Payloads that are no envelopes are refused", arguments: LogKind.allCases)
    func badPayloads(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        for _ in 0..<5 {
            let bad = [fixture.make(1)[0], fixture.makeRaw(50, isRandom: false)]
            #expect(appendOutcome { _ = try fixture.log.append(bad, expecting: .start) } == "not written")
        }
        #expect(fixture.log.end == .start)
    }
}
