import StrataModel
import StrataQuery
import StrataRules
import StrataStore
import TestSupport
import Testing

@testable import StrataReplay

@Suite("Bisecting a predicate")
struct BisectionTests {
    private static let predicates = [
        "rank > 5", "rank == nil", "title BEGINSWITH 'text' AND rank < 3", "rank == 4 OR title == 'none'",
        "NOT rank BETWEEN {1, 8}", "self CONTAINS 'text'", "recordID.recordName == nil AND rank == 2",
        "unheardOf == 1", "TRUEPREDICATE",
    ]

    @Test(
        "Of random histories it finds what opening every state finds, with and without a base",
        arguments: [
            false, true,
        ])
    func asPlainSearch(isCompacted: Bool) throws {
        try withSeeds(4) { seed in
            var fixture = try BisectionFixture(seed: seed)
            for _ in 0..<70 { try fixture.step() }
            let end = fixture.store.offset
            if isCompacted { try fixture.store.compact(before: end / 3) }
            let floor = fixture.store.log.floor.offset
            #expect((floor > 0) == isCompacted)
            for (index, predicate) in Self.predicates.enumerated() where !predicate.contains("recordName") {
                let zone = [nil, BisectionFixture.zones[1]][index % 2]
                let name = BisectionFixture.names[index % 6]
                for (from, to) in [(floor, end), (floor + (end - floor) / 3, end - 2), (end, end)] {
                    let comment: Comment = "seed \(seed), \(predicate), \(from) to \(to)"
                    try fixture.check(try fixture.question(predicate, zone: zone), from: from, to: to, comment)
                    try fixture.check(
                        try fixture.question(predicate, zone: zone, record: name), from: from, to: to, comment)
                }
            }
            try fixture.store.close()
        }
    }

    @Test("A record that goes with its zone, and comes again, is told as it was")
    func zone() throws {
        let fixture = try BisectionFixture()
        let zone = BisectionFixture.zones[0]
        let first = try fixture.save(["a", "b"], ["rank": .int64(7)])
        try fixture.save(["c"], ["rank": .int64(1)])
        try fixture.store.modify(.zones(deleting: [zone]), as: BisectionFixture.anna)
        let deleted = fixture.store.offset
        try fixture.store.modify(.zones(saving: [zone]), as: BisectionFixture.anna)
        let again = try fixture.save(["a"], ["rank": .int64(8)])
        for record in [nil, "a"] {
            for from in [0, first] {
                let question = try fixture.question("rank > 5", record: record)
                let answer = try Bisection(of: fixture.store, question, from: from, to: again).answer()
                #expect(answer.holdsAtStart == (from == first))
                #expect(answer.flips.map(\.offset) == (from == 0 ? [first, deleted, again] : [deleted, again]))
                let end = try #require(answer.flips.first { $0.offset == deleted }?.record)
                #expect(try end.id.name == "a" && end.before?["rank"] == .int64(7) && end.after == nil)
                let begin = try #require(answer.flips.last?.record)
                #expect(try begin.before == nil && begin.after?["rank"] == .int64(8))
            }
        }
        try fixture.store.close()
    }

    @Test("A record that was erased since has no values, and its flips before do not show it")
    func erased() throws {
        let fixture = try BisectionFixture()
        let first = try fixture.save(["a"], ["rank": .int64(9)])
        let id = RecordID("a", zone: BisectionFixture.zones[0])
        try fixture.store.erase([id], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
        for record in [nil, "a"] {
            func answer(_ predicate: String) throws -> Bisection.Answer {
                let question = try fixture.question(predicate, record: record)
                return try Bisection(of: fixture.store, question, from: 0, to: fixture.store.offset).answer()
            }
            #expect(try answer("rank == 9").flipCount == 0)
            let flips = try answer("rank == nil").flips
            #expect(flips.map(\.holds) == [true, false] && flips.first?.offset == first)
            #expect(flips.first?.record == nil)
            #expect(flips.last?.record?.before?.id == id && flips.last?.record?.after == nil)
        }
        try fixture.store.close()
    }

    @Test("Only what the limit allows is listed, and all is counted")
    func limit() throws {
        let fixture = try BisectionFixture()
        for rank in [1, 9, 1, 9, 1] { try fixture.save(["a"], ["rank": .int64(Int64(rank))]) }
        let question = try fixture.question("rank > 5")
        for limit in 0...5 {
            let answer = try Bisection(of: fixture.store, question, from: 0, to: fixture.store.offset)
                .answer(limit: limit)
            #expect(answer.flips.count == min(limit, 4))
            #expect(answer.flipCount == 4)
        }
        try fixture.store.close()
    }

    @Test("What never was is never found; another record that holds does not count for the one that is named")
    func never() throws {
        let fixture = try BisectionFixture()
        try fixture.save(["a"], ["rank": .int64(9)])
        let end = fixture.store.offset
        for (predicate, record) in [("rank > 9", nil), ("rank > 5", "b"), ("rank > 5", "")] as [(String, String?)] {
            let answer = try Bisection(
                of: fixture.store, try fixture.question(predicate, record: record), from: 0, to: end
            ).answer()
            #expect(answer.flipCount == 0 && !answer.holdsAtStart)
        }
        try fixture.store.close()
    }

    @Test("One commit that makes one record hold and another cease is no flip")
    func noFlip() throws {
        let fixture = try BisectionFixture()
        let first = try fixture.save(["a"], ["rank": .int64(9)])
        var request = RequestBuilder(BisectionFixture.database, policy: .changedKeys)
        for (name, rank) in [("a", 1), ("b", 9)] {
            request.save(
                RecordID(name, zone: BisectionFixture.zones[0]), type: "Note", fields: ["rank": .int64(Int64(rank))])
        }
        try fixture.store.modify(request.request, as: BisectionFixture.anna)
        let last = try fixture.delete("b")
        let question = try fixture.question("rank > 5")
        let answer = try Bisection(of: fixture.store, question, from: 0, to: last).answer()
        #expect(answer.flips.map(\.offset) == [first, last])
        let end = try #require(answer.flips.last?.record)
        #expect(end.id.name == "b" && end.after == nil)
        try fixture.store.close()
    }

    @Test("What cannot be asked is refused: other records, unknown types and zones, offsets that are not there")
    func refused() throws {
        let fixture = try BisectionFixture()
        try fixture.save(["a"], ["rank": .int64(9)])
        let (store, end) = (fixture.store, fixture.store.offset)
        func code(_ question: BisectionQuestion, _ from: UInt64 = 0, _ to: UInt64? = nil) -> StrataError.Code? {
            do { _ = try Bisection(of: store, question, from: from, to: to ?? end) } catch {
                return (error as? StrataError)?.code
            }
            return nil
        }
        let question = try fixture.question("rank > 5")
        #expect(code(question) == nil)
        #expect(code(question, end, end) == nil)
        #expect(code(question, end, end - 1) == .outOfRange)
        #expect(code(question, 0, end + 1) == .outOfRange)
        #expect(code(try fixture.question("author.name == 'x'")) == .invalidArgument)
        var unknown = question
        unknown.type = "Nothing"
        #expect(throws: Refusal.self) { try Bisection(of: store, unknown, from: 0, to: end) }
        unknown = question
        unknown.zone = ZoneID("Nowhere")
        #expect(throws: Refusal.self) { try Bisection(of: store, unknown, from: 0, to: end) }
        try store.close()
    }
}
