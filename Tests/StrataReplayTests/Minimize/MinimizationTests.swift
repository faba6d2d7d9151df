import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplay

@Suite("Histories made small")
struct MinimizationTests {
    private typealias Fixture = RerunFixture

    private func question(
        _ predicate: String, record: String? = nil, in database: DatabaseID = Fixture.database
    ) throws -> BisectionQuestion {
        BisectionQuestion(
            "Note", where: try PredicateParser.parse(predicate), in: database, record: record, as: Fixture.anna)
    }

    private func minimize(
        _ fixture: RerunFixture, _ question: BisectionQuestion, reducesKeys: Bool = true
    ) throws -> MinimalHistory {
        var minimization = Minimization(of: fixture.store, question)
        minimization.reducesKeys = reducesKeys
        return try minimization.run()
    }

    /// Whether a record fulfils the question at the end of a store.
    static func holds(_ question: BisectionQuestion, in store: Store) throws -> Bool {
        // Where nothing was saved there is no type to ask for.
        guard let matcher = try? MinimizationMatcher(question, in: store) else { return false }
        return try matcher.witness(in: store.snapshot().trees) != nil
    }

    /// Writes the history, and looks at what comes of it with and without each of its commits; empty if it is right.
    static func flaws(
        of history: MinimalHistory, _ question: BisectionQuestion, _ store: Store, _ rules: Rules? = nil
    ) throws -> [String] {
        let log = MemoryLog()
        try history.write(of: store, into: log)
        let few = try Store(on: log)
        defer { try? few.close() }
        var flaws: [String] = []
        if Int(log.end.offset) != history.requests.count { flaws.append("\(log.end.offset) commits") }
        if try !holds(question, in: few) { flaws.append("it does not hold") }
        // The history has a secret of its own, whatever the rules are.
        var judging = rules ?? few.rules
        judging.secrets.newSecret = few.rules.secrets.newSecret
        judging.secrets.recordedName = few.rules.secrets.recordedName
        if try !JudgedLog.of(few, by: judging).isSame { flaws.append("judged again it is another one") }
        for offset in log.floor.offset + 1..<log.end.offset + 1 {
            let replayed = MemoryLog()
            var rerun = Rerun(of: few, changes: [.drop(offset)])
            rerun.rules = judging
            let report = try rerun.run(into: replayed)
            defer { try? report.close() }
            let less = try Store(on: replayed)
            defer { try? less.close() }
            if try holds(question, in: less) { flaws.append("it holds without commit \(offset)") }
        }
        return flaws
    }

    private static func requireMinimal(
        _ history: MinimalHistory, _ question: BisectionQuestion, of store: Store, rules: Rules? = nil
    ) throws {
        let flaws = try flaws(of: history, question, store, rules)
        try #require(flaws.isEmpty, "\(flaws)")
    }

    @Test("A record that no request names is one that a request made beside")
    func madeBeside() throws {
        let fixture = try Fixture()
        _ = try fixture.save("milk", ["rank": .int64(1)])
        _ = try fixture.save("bread", ["rank": .int64(2)])
        let question = BisectionQuestion(
            "Users", where: .constant(true), in: Fixture.database, as: Fixture.anna)
        let history = try minimize(fixture, question)
        #expect(history.requests.count == 1)
        try Self.requireMinimal(history, question, of: fixture.store)
    }

    @Test("Of a lost update three saves are left, and what one of them says")
    func lostUpdate() throws {
        let fixture = try Fixture()
        let first = try fixture.save("milk", ["rank": .int64(1), "title": .string("Milk")])
        try fixture.save("bread", ["rank": .int64(1)])
        let second = try fixture.save("milk", ["rank": .int64(2)], base: first)
        try fixture.save("bread", ["rank": .int64(4)], policy: .allKeys)
        #expect(try fixture.save("milk", ["rank": .int64(9)], base: first, as: Fixture.bert) == nil)
        try fixture.save("milk", ["rank": .int64(7), "title": .string("Old")], as: Fixture.bert, policy: .allKeys)
        try fixture.save("tea", ["rank": .int64(4)])
        #expect(second != nil)
        let asked = try question("title == 'Old'", record: "milk")
        let history = try minimize(fixture, asked)
        #expect(history.isComplete)
        // The zone, and the save that wrote it.
        #expect(history.requests.map(\.newOffset) == [1, 2])
        #expect(history.requests[1].fieldCount == 1 && history.requests[1].originalFieldCount == 2)
        try Self.requireMinimal(history, asked, of: fixture.store)
    }

    @Test("Saves that need each other's tags stay together")
    func tags() throws {
        let fixture = try Fixture()
        let first = try fixture.save("milk", ["rank": .int64(1)])
        let second = try fixture.save("milk", ["rank": .int64(2), "note": .string("x")], base: first)
        try fixture.save("milk", ["done": .int64(1)], base: second, as: Fixture.bert)
        let asked = try question("rank == 2 AND done == 1")
        let history = try minimize(fixture, asked)
        // The first save is not needed: the second one then makes the record.
        #expect(history.requests.map(\.offset) == [1, 3, 4])
        #expect(history.requests.map(\.fieldCount) == [0, 1, 1])
        try Self.requireMinimal(history, asked, of: fixture.store)
        let whole = try minimize(fixture, asked, reducesKeys: false)
        #expect(whole.requests.map(\.offset) == [1, 3, 4] && whole.requests.allSatisfy(\.isWhole))
    }

    @Test("Of a request for many records the one is left, and its parent")
    func items() throws {
        let fixture = try Fixture()
        var builder = RequestBuilder(Fixture.database)
        builder.save(RecordID("list", zone: Fixture.notes), type: "Note", fields: ["rank": .int64(0)])
        for number in 0..<50 {
            builder.save(
                RecordID("n\(number)", zone: Fixture.notes), type: "Note", parent: .set("list"),
                fields: ["rank": .int64(Int64(number)), "title": .string("t")])
        }
        try fixture.modify(builder.request)
        let asked = try question("rank == 31")
        let history = try minimize(fixture, asked)
        #expect(history.requests.map(\.itemCount) == [1, 1] && history.requests[1].originalItemCount == 51)
        #expect(history.requests[1].fieldCount == 1 && history.requests[1].originalFieldCount == 101)
        try Self.requireMinimal(history, asked, of: fixture.store)
        let child = try question("___parent != nil AND rank == 31")
        let withParent = try minimize(fixture, child)
        #expect(withParent.requests.last?.itemCount == 2, "a parent must be there")
        try Self.requireMinimal(withParent, child, of: fixture.store)
    }

    @Test("Where a schema decides, the whole log is gone through")
    func wholeLog() throws {
        var options = StoreOptions.service
        options.schema = .enforced
        let time = ManualTime(microseconds: 1_795_240_000_000_000)
        let store = try Store.inMemory(options: options, platform: Platform(time: time, random: SeededRandom(seed: 1)))
        defer { try? store.close() }
        let grants = "GRANT WRITE TO \"_creator\", GRANT CREATE TO \"_icloud\", GRANT READ TO \"_world\""
        try store.declareSchema(
            try SchemaDefinition(reading: "DEFINE SCHEMA RECORD TYPE Note (rank INT64 QUERYABLE, \(grants));"))
        try store.modify(.zones(saving: [Fixture.notes]), as: Fixture.anna)
        for number in 0..<20 {
            var builder = RequestBuilder(Fixture.database, policy: .allKeys)
            builder.save(
                RecordID("n\(number % 3)", zone: Fixture.notes), type: "Note",
                fields: ["rank": .int64(Int64(number))])
            time.advance(byMicroseconds: 10_000)
            try store.modify(builder.request, as: Fixture.anna)
        }
        let asked = try question("rank == 19")
        let history = try Minimization(of: store, asked).run()
        #expect(history.requests.count == 3 && history.requests[0].actor == .service, "\(history.requests)")
        try Self.requireMinimal(history, asked, of: store, rules: store.rules)
    }

    @Test("What does not hold at the end, and what cannot be asked, are errors that say so")
    func errors() throws {
        let fixture = try Fixture()
        try fixture.save("milk", ["rank": .int64(1)])
        func error(_ question: BisectionQuestion) -> (any Error)? {
            do { _ = try minimize(fixture, question) } catch { return error }
            return nil
        }
        #expect((error(try question("rank == 2")) as? StrataError)?.code == .notFound)
        #expect((error(try question("rank == 1", record: "tea")) as? StrataError)?.code == .notFound)
        #expect((error(try question("other.rank == 1")) as? StrataError)?.code == .invalidArgument)
        var unknown = try question("rank == 1")
        unknown.type = "Nothing"
        #expect(error(unknown) is Refusal)
    }

    @Test("Values that were erased are in no history")
    func erased() throws {
        let directory = try TestDirectory()
        let fixture = try Fixture(at: directory.path("Notes.strata"))
        try fixture.save("milk", ["rank": .int64(1)])
        try fixture.save("tea", ["rank": .int64(5)])
        try fixture.store.erase(
            [RecordID("tea", zone: Fixture.notes)], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
        try fixture.save("tea", ["rank": .int64(6)])
        let history = try minimize(fixture, try question("rank == 6"))
        #expect(history.requests.count == 2 && history.requests.last?.originalFieldCount == 1)
        try Self.requireMinimal(history, try question("rank == 6"), of: fixture.store)
    }

    @Test("A log that begins with a base begins with it again")
    func base() throws {
        let directory = try TestDirectory()
        let fixture = try Fixture(at: directory.path("Notes.strata"))
        let first = try #require(try fixture.save("milk", ["rank": .int64(1)]))
        try fixture.save("tea", ["rank": .int64(1)])
        try fixture.store.compact(before: fixture.store.offset + 1)
        try fixture.save("tea", ["rank": .int64(3)], policy: .allKeys)
        let last = try #require(try fixture.save("milk", ["rank": .int64(2)], base: first))
        let asked = try question("rank == 2", record: "milk")
        let history = try minimize(fixture, asked)
        #expect(history.floor > 0 && history.requests.map(\.offset) == [last.offset])
        // A log in memory has no base.
        #expect(throws: StrataError.self) { try history.write(of: fixture.store, into: MemoryLog()) }
        #expect(throws: StrataError.self) { try MinimalTest(of: history, named: "x", from: "y") }
        let nothing = try minimize(fixture, try question("rank == 1 OR rank == 2", record: "milk"))
        #expect(nothing.requests.isEmpty && nothing.isComplete, "the base has it")
    }

    @Test("Trials of more bytes than a timeline keeps unpublished leave the base as it is")
    func largeTrials() throws {
        let directory = try TestDirectory()
        let fixture = try Fixture(at: directory.path("Notes.strata"))
        try fixture.save("milk", ["rank": .int64(1)])
        try fixture.store.compact(before: fixture.store.offset + 1)
        // A timeline publishes 16 MiB.
        let blob = FieldValue.data([UInt8](repeating: 7, count: 900_000))
        for _ in 0..<24 { try fixture.save("milk", ["rank": .int64(2), "blob": blob], policy: .allKeys) }
        let history = try minimize(fixture, try question("rank == 2", record: "milk"))
        #expect(history.requests.count == 1)
    }

    @Test("Stopped, it gives what it has found by then")
    func stopped() throws {
        let fixture = try Fixture()
        for number in 0..<40 { try fixture.save("milk", ["rank": .int64(Int64(number))], policy: .allKeys) }
        var minimization = Minimization(of: fixture.store, try question("rank == 39"))
        let trials = Lock(0)
        minimization.isStopped = { trials.withLock { $0 } >= 2 }
        let history = try minimization.run { progress in trials.withLock { $0 = progress.trialCount } }
        #expect(!history.isComplete && history.requests.count >= 2)
        let log = MemoryLog()
        try history.write(of: fixture.store, into: log)
        let few = try Store(on: log)
        defer { try? few.close() }
        #expect(try Self.holds(try question("rank == 39"), in: few))
        minimization.isStopped = { true }
        #expect(throws: StrataError.self) { try minimization.run() }
    }

    // MARK: Random histories

    private static let predicates = [
        "k0 > 50", "k1 < 20 AND k2 > 10", "title != nil AND k3 == nil", "k0 + k1 > 120", "___parent != nil",
    ]

    @Test("Of random histories what is left is 1-minimal, and gives the same")
    func random() throws {
        let found = Lock(0)
        try withSeeds(12) { seed in
            let fixture = try Fixture()
            var history = RandomHistory(fixture, seed: seed)
            try history.run(100)
            for predicate in Self.predicates {
                guard let asked = try? question(predicate), (try? Self.holds(asked, in: fixture.store)) == true
                else { continue }
                let history = try minimize(fixture, asked, reducesKeys: seed % 2 == 0)
                try #require(history.isComplete && history.requests.count < 12, "\(history.requests.count) left")
                try Self.requireMinimal(history, asked, of: fixture.store)
                found.withLock { $0 += 1 }
            }
        }
        #expect(found.withLock { $0 } >= 20)
    }

    @Test("Canary: with one commit too many it is not minimal")
    func canary() throws {
        let fixture = try Fixture()
        let first = try fixture.save("milk", ["rank": .int64(1)])
        try fixture.save("milk", ["rank": .int64(2)], base: first)
        let asked = try question("rank == 2")
        let history = try minimize(fixture, asked)
        let whole = MinimalHistory(
            requests: try RequestRebuilder.requests(of: fixture.store.log).map { asked in
                try MinimalRequest(
                    asked, judgedAs: asked.request, .init(judgment: .refused(Refusal(.internalError, "Not judged."))),
                    whole: (1, 1), shares: [])
            }, question: asked, floor: 0, startTime: 0, rules: fixture.store.rules, trialCount: 0, isComplete: true)
        #expect(history.requests.count < whole.requests.count)
        #expect(try Self.flaws(of: whole, asked, fixture.store) == ["it holds without commit 2"])
        let other = try question("rank == 3")
        #expect(try Self.flaws(of: history, other, fixture.store).contains("it does not hold"))
    }
}
