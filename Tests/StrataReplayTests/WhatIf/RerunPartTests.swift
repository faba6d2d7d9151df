import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataReplay

/// Judged side by side with one state for both timelines, against one commit after the other with a state for each.
@Suite("A history is judged in parts")
struct RerunPartTests {
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
        _ seed: UInt64, stepCount: Int = 160, setsQuotas: Bool = true, _ change: (inout StoreOptions) -> Void = { _ in }
    ) throws -> Store {
        let fixture = try RerunFixture(change)
        var history = RandomHistory(fixture, seed: seed)
        history.setsQuotas = setsQuotas
        try history.run(stepCount)
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

    /// - Parameter partCount: nil for a change that changes nothing, which has everything told with two states.
    private func replay(_ store: Store, _ rules: Rules? = nil, partCount: Int?) throws -> Replayed {
        var rerun = Rerun(of: store)
        if let rules { rerun.rules = rules }
        if partCount == nil { rerun.changes = [.insert([], by: RerunFixture.anna, after: store.log.floor.offset)] }
        let limits = RerunPart.Limits(minimumCommits: 5, maximumParts: partCount ?? 1)
        var commits: [Replayed.Commit] = []
        let report = try rerun.run(into: nil, inParts: limits) {
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

    @Test("As long as nothing changes, all of it comes to the same in any number of parts")
    func unchanged() throws {
        try withSeeds(6) { seed in
            let store = try history(seed)
            defer { try? store.close() }
            let truth = try replay(store, partCount: nil)
            try #require(truth.divergence == nil && truth.commits.isEmpty && truth.unjudged.isEmpty)
            for count in [1, 2, 3, 7] {
                let difference = try replay(store, partCount: count).difference(from: truth)
                try #require(difference == nil, "\(count) parts")
            }
        }
    }

    @Test("Where other rules part the timelines, what follows is told in order")
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
                let truth = try replay(store, rules, partCount: nil)
                for count in [1, 2, 5] {
                    let difference = try replay(store, rules, partCount: count).difference(from: truth)
                    try #require(difference == nil, "\(count) parts")
                }
                truth.divergence.map { _ = divergences.insert($0) }
            }
        }
        #expect(divergences.contains { $0 > 40 } && divergences.contains { $0 < 40 }, "\(divergences)")
    }

    @Test("Commits in a row with one reason are one range, however many there are and wherever parts meet")
    func unjudgedRanges() {
        var (front, back) = (RerunTally(), RerunTally())
        for offset in UInt64(1)...3_000 { front.addUnjudged(offset, "none", isKept: true) }
        for offset in UInt64(3_001)...9_000 { back.addUnjudged(offset, "none", isKept: offset < 5_000) }
        front.add(back)
        #expect(front.unjudged.map(\.offsets) == [1...4_999, 5_000...9_000] && front.unjudgedCount == 9_000)
        // Where each second one is judged, memory is bounded, and the count is exact.
        for offset in stride(from: UInt64(9_002), to: 19_002, by: 2) { front.addUnjudged(offset, "none", isKept: true) }
        #expect(front.unjudged.count == 1_000 && front.unjudgedCount == 14_000)
        let places = front.unjudged.map(\.offsets.lowerBound)
        #expect(places == places.sorted() && front.unjudged[2].offsets == 9_002...9_002)
    }

    @Test("Refusals that no state gives are counted once, whichever part they are in")
    func unjudgedRefusals() throws {
        try withSeeds(4) { seed in
            // Only this store has so little room in a request.
            let store = try history(seed) { $0.limits.itemsPerRequest = 3 }
            defer { try? store.close() }
            let truth = try replay(store, partCount: nil)
            try #require(truth.divergence == nil && truth.unjudged.count > 5, "\(truth.unjudged)")
            for count in [1, 2, 4, 7] {
                let difference = try replay(store, partCount: count).difference(from: truth)
                try #require(difference == nil, "\(count) parts")
            }
        }
    }

    /// Asks a refusal behind each commit, and only where its stakes are touched; returns how often each asked, and how
    /// often the answer has changed.
    private func askRefusals(of store: Store) throws -> (sparing: Int, always: Int, changes: Int) {
        let sparing = try makeRerun(store, on: PageStore.inMemory())
        // Where an account has been changed, a refusal may depend on whatever a commit changes.
        let always = try makeRerun(store, on: stateWithAccount())
        var (last, changeCount): ([UInt64: Bool], Int) = ([:], 0)
        for offset in 1...store.offset {
            try #require(try sparing.runUnchanged(through: offset) && always.runUnchanged(through: offset))
            func states(_ rerun: RequestRerun) -> [[UInt64]] {
                rerun.window.noted.map { [$0.offset, $0.fits ? 1 : 0, $0.isReplayed ? 1 : 0] }
            }
            try #require(states(sparing) == states(always), "behind \(offset)")
            for noted in always.window.noted {
                if let before = last.updateValue(noted.fits, forKey: noted.offset), before != noted.fits {
                    changeCount += 1
                }
            }
        }
        return (sparing.window.askedCount, always.window.askedCount, changeCount)
    }

    @Test("A refusal that nothing touches would be what it is, were it asked again")
    func refusalsThatAreNotAsked() throws {
        try withSeeds(6) { seed in
            let store = try history(seed, setsQuotas: false)
            defer { try? store.close() }
            let asked = try askRefusals(of: store)
            try #require(asked.sparing < asked.always && asked.changes > 10, "\(asked)")
        }
    }

    @Test("Refusals of plain saves are asked where their records change")
    func refusalsOfPlainSaves() throws {
        try withSeeds(3) { seed in
            var generator = SeededGenerator(seed: seed)
            let fixture = try RerunFixture()
            var newest: [String: Version] = [:]
            for _ in 0..<200 {
                let name = "r\(generator.next(below: 24))"
                let actor = generator.next(below: 2) == 0 ? RerunFixture.anna : RerunFixture.bert
                // In one of three somebody knows nothing of the others.
                let base = generator.next(below: 3) == 0 ? nil : newest[name]
                let rank = FieldValue.int64(Int64(generator.next(below: 9)))
                newest[name] = try fixture.save(name, ["rank": rank], base: base, as: actor) ?? newest[name]
                if generator.next(below: 9) == 0 { try fixture.delete("none\(generator.next(below: 3))") }
            }
            let store = try copy(fixture)
            defer { try? store.close() }
            let asked = try askRefusals(of: store)
            try #require(asked.sparing * 5 < asked.always && asked.changes > 10, "\(asked)")
        }
    }

    private func makeRerun(_ store: Store, on pages: PageStore) throws -> RequestRerun {
        let timeline = AlternateTimeline(on: pages, time: .min, rules: store.rules, into: nil)
        let window = try RerunWindow(store.log, from: 1, through: store.offset)
        return RequestRerun(window, timeline, store.rules, time: 0)
    }

    /// An empty state, but for the account of a user whom no history has.
    private func stateWithAccount() throws -> PageStore {
        let fixture = try RerunFixture()
        try fixture.store.setQuota(bytes: 100_000, of: "bert")
        let (pages, key) = (try PageStore.inMemory(), [UInt8](repeating: 0xFF, count: 9))
        let fork = pages.fork()
        try fixture.store.snapshot().trees.scan(ViewTree.users, from: nil, to: nil) { _, row in
            try key.withUnsafeBytes { try fork.put(ViewTree.users, $0, row) }
            return false
        }
        _ = try pages.publish(fork)
        return pages
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

    // MARK: What refusals depend on

    private func dependencies(_ change: (inout RequestBuilder) throws -> Void, isOfNone: Bool = false) rethrows
        -> DecisionDependencies
    {
        var builder = RequestBuilder(RerunFixture.database)
        try change(&builder)
        return DecisionDependencies(of: builder.request, isOfNone: isOfNone)
    }

    private func touches(_ change: (RerunFixture) throws -> Void) throws -> CommitTouches {
        let fixture = try RerunFixture()
        try fixture.save("milk", ["rank": .int64(1)])
        try fixture.save("bread", ["rank": .int64(1)])
        try change(fixture)
        let commit = try #require(try fixture.store.log.commit(at: fixture.store.offset))
        return try CommitTouches(commit.payload)
    }

    @Test("What a refusal depends on is its records, and anything where it names others")
    func dependenciesOfRequests() throws {
        let milk = RecordID("milk", zone: RerunFixture.notes)
        let other = try touches { try $0.save("bread", ["rank": .int64(2)], policy: .allKeys) }
        let same = try touches { try $0.save("milk", ["rank": .int64(2)], policy: .allKeys) }
        let gone = try touches { try $0.delete("milk") }
        let zone = try touches { try $0.modify(.zones(saving: [ZoneID("More")])) }
        let field = try touches { try $0.save("bread", ["new": .int64(2)], policy: .allKeys) }
        let save = dependencies { $0.save(milk, type: "Note", fields: ["rank": .int64(3)]) }
        let expected = [(other, false), (same, true), (gone, true), (zone, true), (field, true)]
        for (touches, isTouched) in expected { #expect(save.areTouched(by: touches) == isTouched) }
        let child = dependencies { $0.save(milk, type: "Note", parent: .set("bread"), fields: [:]) }
        #expect(child.areTouched(by: other))
        let delete = dependencies { $0.delete(milk) }
        #expect(delete.areTouched(by: other))
        let deleteOfNone = dependencies({ $0.delete(milk) }, isOfNone: true)
        #expect(!deleteOfNone.areTouched(by: other) && deleteOfNone.areTouched(by: same))
        #expect(DecisionDependencies(of: .zones(saving: [ZoneID("Notes")]), isOfNone: false).areTouched(by: other))
    }
}
