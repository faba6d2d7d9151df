import Foundation
import StrataModel
import StrataQuery
import TestSupport
import Testing

@testable import StrataStore

@Suite("Queries against a plain look at all records", .timeLimit(.minutes(10)))
struct QuerySemanticsTests {
    /// How plans began, over all queries of a test.
    private final class Seen {
        var sources: [String: Int] = [:]
        var matches = 0

        func add(_ plan: QueryPlan) {
            let line = plan.steps.first ?? ""
            for word in ["index", "any of", "both of", "records by name", "all records", "nothing"]
            where line.hasPrefix(word) { sources[word, default: 0] += 1 }
            if line.contains("nearest") { sources["nearest", default: 0] += 1 }
            if line.contains("in reverse order") { sources["backwards", default: 0] += 1 }
            matches += plan.actual?.matches ?? 0
        }
    }

    private func generator(_ world: QueryWorld, _ place: Int, isPlain: Bool = false) throws -> QuestionGenerator {
        let records = try world.plainRecords(place).records
        let times = records.flatMap { [$0.created, $0.modified] }.map { Double($0) / 1_000_000 - 978_307_200 }
        return QuestionGenerator(
            random: SeededGenerator(seed: world.random.next()), times: Array(Set(times)).sorted(),
            zones: world.zones(place), userRecordNames: ["anna", "ben", "carl"].map { world.store.recordName(of: $0) },
            isPlain: isPlain)
    }

    private func same(_ found: [RecordID], _ expected: [RecordID], _ query: Query) -> Bool {
        if !query.order.isEmpty { return found == expected }
        return found.count == expected.count && Set(found) == Set(expected)
    }

    /// - Returns: what went wrong, in words.
    private func check(
        _ world: QueryWorld, queries: Int, _ seen: Seen,
        expecting answer: (PlainRecords, Query) -> [RecordID] = { $0.answer($1) }
    ) throws -> [String] {
        var mistakes: [String] = []
        for place in world.clients.indices {
            let records = try world.plainRecords(place)
            var questions = try generator(world, place)
            for _ in 0..<queries {
                let query = questions.query()
                let limits = (0..<3).map { _ in 1 + world.random.next(below: world.random.next(below: 3) == 0 ? 40 : 4)
                }
                var plans: [String] = []
                do {
                    let found = try world.answer(
                        query, place, limits: limits,
                        plan: { plan in
                            seen.add(plan)
                            plans.append(plan.text)
                        })
                    let expected = answer(records, query)
                    if same(found, expected, query) { continue }
                    mistakes.append("\(describe(query)) by \(limits)\nfound \(names(found))\nnot   \(names(expected))")
                } catch { mistakes.append("\(describe(query)) by \(limits)\nthrew \(error)") }
                mistakes[mistakes.count - 1] += "\n\(plans.prefix(2).joined(separator: "\n"))\n"
            }
        }
        return mistakes
    }

    private func describe(_ query: Query) -> String {
        "\(query.recordType) in \(query.zone?.name ?? "all zones"), \(query.order) where "
            + PredicateWriter.text(of: query.predicate)
    }

    private func names(_ ids: [RecordID]) -> String {
        ids.map { $0.zone.name.prefix(2) + "/" + $0.name.prefix(4) }.joined(separator: " ")
    }

    @Test("With any indexes, right after changes, the same records in the same order")
    func randomQueries() throws {
        let seen = Seen()
        var mistakes: [String] = []
        for seed in seeds(12) {
            let world = try QueryWorld(seed: seed)
            mistakes += try check(world, queries: 6, seen).map { "seed \(seed): \($0)" }
            for percent in [40, 100] {
                try world.declareIndexes(percent)
                for _ in 0..<2 {
                    for place in world.clients.indices { try world.change(place, count: 6) }
                    mistakes += try check(world, queries: 12, seen).map { "seed \(seed): \($0)" }
                }
            }
        }
        #expect(mistakes.isEmpty, "\(mistakes.count):\n\(mistakes.prefix(8).joined(separator: "\n"))")
        // Otherwise the test compares nothing with nothing.
        #expect(seen.matches > 1_000, "\(seen.matches)")
        for source in ["index", "any of", "records by name", "all records", "backwards", "nearest"] {
            #expect(seen.sources[source] ?? 0 > 0, "no plan was: \(source), of \(seen.sources)")
        }
    }

    @Test("A wrong order of ties is noticed")
    func canary() throws {
        let world = try QueryWorld(seed: 1)
        let mistakes = try check(world, queries: 20, Seen()) { records, query in
            var wrong = query
            wrong.order.removeAll()
            let places = Dictionary(uniqueKeysWithValues: records.records.map { ($0.id, $0.zone) })
            let found = records.answer(query)
            // By zone before name, where no key tells them apart: the key itself is right.
            return query.order.isEmpty ? found : records.answer(wrong).sorted { places[$0] ?? 0 < places[$1] ?? 0 }
        }
        #expect(!mistakes.isEmpty)
    }

    @Test("What others do between pages: what stays comes once, in order (B144)")
    func changesBetweenPages() throws {
        var (mistakes, compared) = ([String](), 0)
        for seed in seeds(8) {
            let world = try QueryWorld(seed: seed)
            try world.declareIndexes(seed % 2 == 0 ? 60 : 0)
            for place in world.clients.indices {
                for _ in 0..<5 {
                    var questions = try generator(world, place)
                    let query = questions.query()
                    let before = try world.plainRecords(place).answer(query)
                    var touched: Set<RecordID> = []
                    var changes = 0
                    let found = try world.answer(
                        query, place, limits: [1 + world.random.next(below: 4)],
                        between: {
                            if changes < 3 { touched.formUnion(try world.change(place, count: 3)) }
                            changes += 1
                            if changes == 2 { try world.declareIndexes(30) }
                        })
                    let stayed = Set(before).intersection(try world.plainRecords(place).answer(query))
                        .subtracting(touched)
                    compared += stayed.count
                    let (seen, expected) = (found.filter(stayed.contains), before.filter(stayed.contains))
                    if same(seen, expected, query) { continue }
                    mistakes.append(
                        "seed \(seed): \(describe(query))\nfound \(names(seen))\nnot   \(names(expected))\n")
                }
            }
        }
        #expect(mistakes.isEmpty, "\(mistakes.count):\n\(mistakes.prefix(6).joined(separator: "\n"))")
        #expect(compared > 100)
    }

    @Test("The service's dialect answers alike, or refuses with invalidArguments")
    func serviceDialect() throws {
        var (mistakes, answered, refused) = ([String](), 0, 0)
        for seed in seeds(4) {
            let world = try QueryWorld(seed: seed, .service)
            try world.declareIndexes(seed % 2 == 0 ? 70 : 0)
            for place in world.clients.indices {
                let records = try world.plainRecords(place)
                var questions = try generator(world, place, isPlain: true)
                for _ in 0..<20 {
                    let query = questions.query()
                    do {
                        try PredicateCheck(.cloudKit).check(query.predicate)
                        let found = try world.answer(query, place, limits: [1 + world.random.next(below: 9)])
                        answered += 1
                        let expected = records.answer(query)
                        if same(found, expected, query) { continue }
                        mistakes.append("\(describe(query))\nfound \(names(found))\nnot   \(names(expected))\n")
                    } catch let refusal as Refusal where refusal.code == .invalidArguments {
                        refused += 1
                    } catch let error as StrataError where error.code == .invalidArgument {
                        refused += 1
                    }
                }
            }
        }
        #expect(mistakes.isEmpty, "\(mistakes.count):\n\(mistakes.prefix(6).joined(separator: "\n"))")
        #expect(answered > 50 && refused > 5, "\(answered) answered, \(refused) refused")
    }

    @Test("Thousands of records: intersections, groups and cells of which many are full")
    func manyRecords() throws {
        let seen = Seen()
        let client = try Client(.embedded)
        let world = try ManyNotes(client, count: 2_600)
        let records = try world.plain()
        let questions = try ManyNotes.questions.map { format, order in
            let query = Query("Note", where: try PredicateParser.parse(format), order: order)
            return (format: format, query: query, expected: records.answer(query))
        }
        for fields in [["kind", "rank"], ["place", "kind"], ["title"], ["___recordID"]] {
            for field in fields {
                let isSortable = !["place", "___recordID"].contains(field)
                try client.store.declareIndexes(
                    type: "Note", fields: [(field, isSortable ? [.queryable, .sortable] : [.queryable])])
            }
            client.store.awaitIndexes()
            for (format, query, expected) in questions {
                for (limit, pages) in [(7, 4), (100, 2)] {
                    var ids: [RecordID] = []
                    var question = Question.new(query)
                    for _ in 0..<pages {
                        let page = try client.store.query(question, in: client.database, limit: limit, as: client.actor)
                        seen.add(page.plan)
                        ids += page.matches.map(\.id)
                        guard let cursor = page.cursor else { break }
                        question = .continued(cursor)
                    }
                    #expect(ids.count == min(expected.count, pages * limit), "\(format)")
                    if query.order.isEmpty {
                        #expect(Set(ids).isSubset(of: expected) && Set(ids).count == ids.count, "\(format)")
                    } else {
                        #expect(ids == Array(expected.prefix(pages * limit)), "\(format) by \(query.order)")
                    }
                }
            }
        }
        for source in ["both of", "nearest", "backwards"] { #expect(seen.sources[source] ?? 0 > 0, "\(source)") }
    }
}
