import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataViews
import TestSupport
import Testing

@testable import StrataReplay

/// Judged with one state for both timelines up to the first difference, against a state for each from the beginning.
@Suite("A history is judged with one state or two")
struct RerunJudgingTests {
    private struct Replayed: Equatable {
        struct Commit: Equatable {
            var offset: UInt64?
            var newOffset: UInt64?
            var outcome: RequestOutcome
            var cause: UInt64?
        }

        var commits: [Commit] = []
        var commitCount = 0
        var changedCount = 0
        var end: UInt64 = 0
        var divergence: UInt64?
        var unjudged: [UInt64] = []
        var unjudgedCount = 0
        var reasons: Set<String> = []
        var state: Digests

        /// What is not the same in another one; nil if nothing is.
        func difference(from truth: Replayed) -> String? {
            if let place = zip(commits, truth.commits).enumerated().first(where: { $1.0 != $1.1 })?.offset {
                return "told \(commits[place]), and not \(truth.commits[place])"
            }
            if self == truth { return nil }
            return "\(summary), and not \(truth.summary)"
        }

        private var summary: String {
            "\(commits.count) told, \(commitCount) commits, \(unjudged) unjudged, from \(divergence ?? 0)"
        }
    }

    /// A store that nobody writes to any more: what waits to be noted would come to the log between two tellings.
    private func history(
        _ seed: UInt64, _ change: (inout StoreOptions) -> Void = { _ in }
    ) throws -> Store {
        let fixture = try RerunFixture(change)
        var history = RandomHistory(fixture, seed: seed)
        try history.run(160)
        return try copy(fixture)
    }

    private func copy(_ fixture: RerunFixture) throws -> Store {
        try fixture.settle()
        let log = MemoryLog()
        var cursor = try fixture.store.log.read(from: 1)
        while let commit = try cursor.next() {
            try log.appendAll([NewCommit(id: commit.id, time: commit.time, payload: commit.payload)])
        }
        return try Store(on: log)
    }

    /// - Parameter hasTwoStates: adds a change that changes nothing, which has everything judged with two states.
    private func replay(_ store: Store, _ rules: Rules? = nil, hasTwoStates: Bool) throws -> Replayed {
        var rerun = Rerun(of: store)
        if let rules { rerun.rules = rules }
        if hasTwoStates { rerun.changes = [.insert([], by: RerunFixture.anna, after: store.log.floor.offset)] }
        var commits: [Replayed.Commit] = []
        let report = try rerun.run {
            commits.append(.init(offset: $0.offset, newOffset: $0.newOffset, outcome: $0.after, cause: $0.cause?.root))
        }
        defer { try? report.close() }
        return Replayed(
            commits: commits, commitCount: report.commitCount, changedCount: report.changedCount, end: report.end,
            divergence: report.divergence?.offset, unjudged: report.unjudged.flatMap { Array($0.offsets) },
            unjudgedCount: report.unjudgedCount,
            reasons: Set(report.unjudged.map { "\($0.reason) \($0.isKept)" }),
            state: try report.after.digests())
    }

    @Test("As long as nothing changes, nothing differs")
    func unchanged() throws {
        try withSeeds(6) { seed in
            let store = try history(seed)
            defer { try? store.close() }
            let truth = try replay(store, hasTwoStates: true)
            try #require(truth.divergence == nil && truth.commits.isEmpty && truth.unjudged.isEmpty)
            let difference = try replay(store, hasTwoStates: false).difference(from: truth)
            try #require(difference == nil)
        }
    }

    @Test("Where other rules part the timelines, the rest is the same as with two states from the beginning")
    func otherRules() throws {
        var divergences: Set<UInt64> = []
        try withSeeds(6) { seed in
            let store = try history(seed)
            defer { try? store.close() }
            var rules: [Rules] = []
            rules.append(store.rules)
            rules[0].touchesParents = false
            rules.append(store.rules)
            rules[1].limits.itemsPerRequest = 3
            for rules in rules {
                let truth = try replay(store, rules, hasTwoStates: true)
                let difference = try replay(store, rules, hasTwoStates: false).difference(from: truth)
                try #require(difference == nil)
                truth.divergence.map { _ = divergences.insert($0) }
            }
        }
        #expect(divergences.contains { $0 > 40 } && divergences.contains { $0 < 40 }, "\(divergences)")
    }

    @Test("Commits in a row with one reason are one range, however many there are")
    func unjudgedRanges() {
        var tally = RerunTally()
        for offset in UInt64(1)...9_000 { tally.addUnjudged(offset, "none", isKept: offset < 5_000) }
        #expect(tally.unjudged.map(\.offsets) == [1...4_999, 5_000...9_000] && tally.unjudgedCount == 9_000)
        // Where each second one is judged, memory is bounded, and the count is exact.
        for offset in stride(from: UInt64(9_002), to: 19_002, by: 2) { tally.addUnjudged(offset, "none", isKept: true) }
        #expect(tally.unjudged.count == 1_000 && tally.unjudgedCount == 14_000)
        let places = tally.unjudged.map(\.offsets.lowerBound)
        #expect(places == places.sorted() && tally.unjudged[2].offsets == 9_002...9_002)
    }

    @Test("A history is judged by the rules that its log states, also in a store with others")
    func recordedRules() throws {
        try withSeeds(4) { seed in
            // The copy has the limits of the service, and much more room in a request.
            let store = try history(seed) { $0.limits.itemsPerRequest = 3 }
            defer { try? store.close() }
            try #require(store.rules.limits.itemsPerRequest > 3)
            let recorded = try replay(store, hasTwoStates: false)
            try #require(recorded.divergence == nil && recorded.unjudged.isEmpty, "\(recorded.unjudged)")
            let chosen = try replay(store, store.rules, hasTwoStates: false)
            try #require(chosen.divergence != nil && chosen.changedCount > 5)
        }
    }

    // MARK: Refusals

    /// The offsets of the audits in a log, with the states that their requests were judged on.
    private func audits(_ log: any EventLog) throws -> [(judgedOn: UInt64, offset: UInt64)] {
        var audits: [(judgedOn: UInt64, offset: UInt64)] = []
        var cursor = try log.read(from: 1)
        while let commit = try cursor.next() {
            let header = try commit.header
            if header.isLazy, let judgedOn = header.judgedOn { audits.append((judgedOn, commit.offset)) }
        }
        return audits
    }

    @Test("Audits are found by the states that their requests were judged on, up to a number of commits behind these")
    func findsAudits() throws {
        let store = try history(3)
        defer { try? store.close() }
        let all = try audits(store.log)
        try #require(all.contains { $0.offset - $0.judgedOn > 2 } && all.contains { $0.offset - $0.judgedOn <= 2 })
        for lookahead in [AuditedRequests.lookahead, 2] {
            var audited = try AuditedRequests(store.log, from: 1, through: store.offset, lookahead: lookahead)
            var found: [[UInt64]] = []
            for state in 0..<store.offset { found += try audited.offsets(judgedOn: state).map { [state, $0] } }
            let expected = all.filter { $0.offset - $0.judgedOn <= lookahead }
            #expect(Set(found) == Set(expected.map { [$0.judgedOn, $0.offset] }), "\(lookahead)")
        }
        // Those that were judged before the range are none of its own, and those after its end are not read.
        var late = try AuditedRequests(store.log, from: 40, through: 60)
        let found = try (39..<store.offset).flatMap { try late.offsets(judgedOn: $0) }
        #expect(found.sorted() == all.filter { $0.judgedOn >= 39 && $0.offset <= 60 }.map(\.offset).sorted())
    }

    @Test("A request is judged on the recorded state, although the one before its audit gives another answer")
    func recordedState() throws {
        let fixture = try RerunFixture()
        let first = try fixture.save("milk", ["rank": .int64(1)])
        let second = try #require(try fixture.save("milk", ["rank": .int64(2)], base: first))
        #expect(try fixture.save("milk", ["rank": .int64(7)], base: first, as: RerunFixture.bert) == nil)
        // Of a record that does not exist the tag is refused for another reason.
        try fixture.delete("milk")
        try fixture.settle()
        let audit = try #require(try audits(fixture.store.log).first)
        #expect(audit.judgedOn == second.offset && audit.offset > second.offset + 1)
        let judged = try JudgedLog.of(fixture.store)
        #expect(judged.isSame && judged.unjudgedCount == 0, "\(judged)")
        // A change to the audit is one to a request before the deletion.
        let rerun = try fixture.replay(.policy(audit.offset, .allKeys))
        defer { try? rerun.report.close() }
        let accepted = try #require(rerun.commit(audit.offset))
        #expect(accepted.after.kind == .accepted && accepted.newOffset == second.offset + 1)
    }

    @Test("A request that was not kept is reported with its length, and its audit is kept")
    func notKept() throws {
        let fixture = try RerunFixture()
        try fixture.save("_a", ["d": .data([UInt8](repeating: 1, count: 300_000))])
        try fixture.settle()
        let rerun = try fixture.replay()
        defer { try? rerun.report.close() }
        #expect(rerun.report.isIdentical && rerun.report.unjudgedCount == 1)
        let reason = try #require(rerun.report.unjudged.first?.reason)
        #expect(reason.hasPrefix("The request of 300") && reason.hasSuffix(" bytes was not kept."), "\(reason)")
    }

    @Test("A log that gets the new timeline has all of it, in order")
    func intoLog() throws {
        let source = try history(5)
        defer { try? source.close() }
        var rules = source.rules
        rules.touchesParents = false
        for rules in [source.rules, rules] {
            let log = MemoryLog()
            var rerun = Rerun(of: source)
            rerun.rules = rules
            let report = try rerun.run(into: log)
            defer { try? report.close() }
            let store = try Store(on: log)
            defer { try? store.close() }
            #expect(try store.snapshot().digests() == report.after.digests())
            #expect(log.end.offset == report.end)
        }
    }
}
