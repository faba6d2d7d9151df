import StrataLog
import StrataModel
import StrataStore
import Testing

@testable import StrataReplay

/// Logs as an earlier release could have written them, with other words for the same refusals.
@Suite("The wording of refusals in a log")
struct WordingTests {
    private static let milk = RecordID("milk", zone: RerunFixture.notes)

    /// A store with a refused request, a refused item of an audit, and a refused item of a commit, which is the last
    /// but one.
    private func fixture() throws -> RerunFixture {
        let fixture = try RerunFixture()
        let first = try fixture.save("milk", ["rank": .int64(1)])
        try fixture.save("milk", ["rank": .int64(2)], base: first)
        var twice = RequestBuilder(RerunFixture.database)
        for rank in 3...4 as ClosedRange<Int64> {
            twice.save(Self.milk, type: "Note", fields: ["rank": .int64(rank)])
        }
        try fixture.modify(twice.request)
        try fixture.save("milk", ["rank": .int64(5)], base: first)
        var partly = RequestBuilder(RerunFixture.database, isAtomic: false)
        partly.save(RecordID("bread", zone: RerunFixture.notes), type: "Note", fields: ["rank": .int64(1)])
        partly.save(Self.milk, type: "Note", base: first, fields: ["rank": .int64(6)])
        try fixture.modify(partly.request, as: RerunFixture.bert)
        try fixture.settle()
        return fixture
    }

    /// Returns a copy of a log with its refusals changed, and the offsets of those commits.
    private func copy(
        _ log: any EventLog, item: (inout Refusal) -> Void = { _ in }, audit: (inout RequestRefusedEvent) -> Void
    ) throws -> (store: Store, changed: [UInt64]) {
        let copy = MemoryLog()
        var changed: [UInt64] = []
        var cursor = try log.read(from: 1)
        while let commit = try cursor.next() {
            var envelope = try Envelope(decoding: commit.payload)
            if !envelope.header.requestShape.isEmpty {
                var shape = try RequestShape(decoding: envelope.header.requestShape)
                if let request = shape.request {
                    var items = shape.leftOut
                    for index in items.indices {
                        items[index].refusal.map { items[index].refusal = changing($0, item) }
                    }
                    shape.leaveOut(items, request: request)
                    envelope.header.requestShape = try shape.encoded()[...]
                }
            }
            for index in envelope.events.indices where envelope.events[index].kind == .requestRefused {
                var refused = try RequestRefusedEvent(decoding: envelope.events[index].body)
                audit(&refused)
                envelope.events[index] = try refused.event()
            }
            let payload = envelope.encoded()[...]
            if payload != commit.payload { changed.append(commit.offset) }
            try copy.appendAll([NewCommit(id: commit.id, time: commit.time, payload: payload)])
        }
        return (try Store(on: copy), changed)
    }

    private func changing(_ refusal: Refusal, _ change: (inout Refusal) -> Void) -> Refusal {
        var refusal = refusal
        change(&refusal)
        return refusal
    }

    private func reworded(_ fixture: RerunFixture) throws -> (store: Store, changed: [UInt64]) {
        try copy(fixture.store.log) {
            $0.message = "Worded otherwise: \($0.message)"
        } audit: {
            $0.message = $0.message.map { "Worded otherwise: \($0)" }
        }
    }

    @Test("A log whose refusals are worded otherwise reruns as unchanged")
    func otherWords() throws {
        let (store, changed) = try reworded(fixture())
        defer { try? store.close() }
        #expect(changed.count == 2)
        let check = try JudgedLog.of(store)
        #expect(check.isSame && check.unjudgedCount == 0, "\(check)")
        let changes: [[RerunChange]] = [[], [.insert([], by: RerunFixture.anna, after: 0)]]
        for changes in changes {
            let log = MemoryLog()
            var commits: [RerunCommit] = []
            let report = try Rerun(of: store, changes: changes).run(into: log) { commits.append($0) }
            defer { try? report.close() }
            #expect(report.isIdentical && commits.isEmpty && report.unjudgedCount == 0, "\(report.unjudged)")
            for offset in changed {
                #expect(try log.commit(at: offset)?.payload == store.log.commit(at: offset)?.payload)
            }
        }
    }

    @Test("After a change, refusals with other words in the log still have the same outcome")
    func otherWordsAfterChange() throws {
        let fixture = try fixture()
        let (store, _) = try reworded(fixture)
        defer { try? store.close() }
        var commits: [RerunCommit] = []
        let change = RerunChange.edit(2, field: "rank", to: .value(.int64(7)))
        let report = try Rerun(of: store, changes: [change]).run { commits.append($0) }
        defer { try? report.close() }
        #expect(commits.map(\.offset) == [2], "\(commits)")
    }

    @Test("Canary: another code or conflict of an item in a commit is a difference")
    func otherItems() throws {
        let fixture = try fixture()
        let changes: [(inout Refusal) -> Void] = [
            { $0.code = .unknownItem }, { $0.serverVersion = Version(offset: 2, eventIndex: 0) },
            { $0.didResetEncryptedData = true },
        ]
        for change in changes {
            let (store, changed) = try copy(fixture.store.log) {
                $0.message = "Worded otherwise."
                change(&$0)
            } audit: { _ in
            }
            defer { try? store.close() }
            let check = try JudgedLog.of(store)
            #expect(check.difference?.offset == changed.first && changed.count == 1)
            let report = try Rerun(of: store).run()
            defer { try? report.close() }
            #expect(report.divergence?.offset == changed.first)
        }
    }

    @Test("Canary: the state that a refusal was judged on gives no audit with another code, item or conflict")
    func otherAudits() throws {
        let fixture = try fixture()
        let changes: [(inout RequestRefusedEvent) -> Void] = [
            { if $0.culprits.isEmpty { $0.code = Refusal.Code.limitExceeded.rawValue } },
            { if !$0.culprits.isEmpty { $0.culprits[0].code = Refusal.Code.unknownItem.rawValue } },
            { if !$0.culprits.isEmpty { $0.culprits[0].index = 1 } },
            { if !$0.culprits.isEmpty { $0.culprits[0].version = Version(offset: 2, eventIndex: 0) } },
        ]
        for change in changes {
            let (store, changed) = try copy(fixture.store.log, audit: change)
            defer { try? store.close() }
            let check = try JudgedLog.of(store)
            #expect(changed.count == 1 && check.difference != nil && check.unjudgedCount == 0, "\(check)")
        }
    }

    @Test("The same error by another rule is another outcome, also where the log has the words of a third")
    func otherRule() throws {
        let fixture = try fixture()
        let (store, _) = try reworded(fixture)
        defer { try? store.close() }
        for store in [fixture.store, store] {
            var commits: [RerunCommit] = []
            // Without the first save of milk its tag stands for none: not a stale tag, but a record that exists.
            let report = try Rerun(of: store, changes: [.drop(2)]).run { commits.append($0) }
            defer { try? report.close() }
            let partly = try #require(commits.first { $0.before?.kind == .partly })
            let refusals = [partly.before?.items.first?.refusal, partly.after.items.first?.refusal]
            #expect(refusals.map { $0?.code } == [.serverRecordChanged, .serverRecordChanged])
            #expect(refusals.map { $0?.rule } == [.staleTag, .newRecordOnly])
        }
    }

    @Test("A refusal has the rule that decided at its own place, not one that earlier states would have given")
    func ruleOfItsPlace() throws {
        let fixture = try RerunFixture()
        func save(_ name: String, type: String, _ value: FieldValue) throws {
            var builder = RequestBuilder(RerunFixture.database)
            builder.save(RecordID(name, zone: RerunFixture.notes), type: type, fields: ["f": value])
            try fixture.modify(builder.request)
        }
        try save("a", type: "U", .int64(1))
        try save("r", type: "T", .int64(1))
        // Refused for its type. Before the second save it would have been refused for its value, by the same code.
        try save("r", type: "U", .string("text"))
        try fixture.settle()
        let check = try JudgedLog.of(fixture.store)
        #expect(check.isSame && check.unjudgedCount == 0, "\(check)")
        let rerun = try fixture.replay(.insert([], by: RerunFixture.anna, after: 0))
        #expect(rerun.commits.isEmpty, "\(rerun.commits)")
    }

    @Test("Outcomes compare codes and, where both are known, rules; not words")
    func sameOutcome() {
        let outcome = RequestOutcome(.refused, Refusal(.serverRecordChanged, "Some words.", rule: .staleTag))
        let others: [(Refusal, isSame: Bool)] = [
            (Refusal(.serverRecordChanged, "Other words.", rule: .staleTag), true),
            (Refusal(.serverRecordChanged, "Other words."), true),
            (Refusal(.serverRecordChanged, "Some words.", rule: .newRecordOnly), false),
            (Refusal(.unknownItem, "Some words.", rule: .staleTag), false),
        ]
        for (refusal, isSame) in others {
            #expect(outcome.isSame(as: RequestOutcome(.refused, refusal)) == isSame, "\(refusal)")
        }
        #expect(!outcome.isSame(as: RequestOutcome(.refused)))
    }
}
