import StrataModel
import StrataQuery
import Testing

@testable import StrataStore

/// What is asked at the edges of what can be: a clear refusal, or the right answer.
@Suite struct QueryMistakeTests {
    private let client: Client
    private let embedded: Client
    private typealias Field = SchemaDefinition.Field

    init() throws {
        (client, embedded) = (try Client(), try Client(.embedded))
        for client in [client, embedded] {
            try client.declare("Note", [Field("photo", .asset)])
            try client.saveNotes(20)
        }
    }

    @Test func `B143 a limit below 0 is refused`() throws {
        let refusal = try #require(try client.refusalOfFinding(limit: -1))
        #expect(refusal.code == .invalidArguments && refusal.rule == .pageLimit)
        #expect(throws: Refusal.self) {
            try client.store.plan(Query("Note"), in: client.database, limit: .min, as: client.actor)
        }
    }

    @Test func `an asset has no order: the service's dialect refuses to sort by it, the other leaves it to the names`()
        throws
    {
        let order = [SortKey.key("photo", isAscending: false)]
        let refusal = try #require(try client.refusalOfFinding(order: order))
        #expect(refusal.code == .invalidArguments && refusal.message.contains("“photo”"))
        #expect(try embedded.find("rank < 3", order: order).names == ["note-0", "note-1", "note-2"])
    }

    @Test(arguments: [0, 1, 10_000]) func `IN takes any number of values`(_ count: Int) throws {
        let values = (0..<count).map { "\(15 + $0)" }.joined(separator: ", ")
        let expected = (0..<20).filter { (15..<15 + count).contains($0) }
        for client in [client, embedded] {
            let page = try client.find("rank IN {\(values)}", order: [.key("rank", isAscending: true)])
            #expect(page.names == expected.map { "note-\($0)" })
            #expect(page.cursor == nil)
        }
    }

    @Test func `a cursor holds as many values as its query`() throws {
        let values = ["t1", "t2"] + (0..<10_000).map { "t\($0) and a text that makes this long, longer, longest" }
        let predicate = try PredicateParser.parse(
            "title IN %@", [.value(.list(values.map(PredicateValue.string)))])
        let query = Query("Note", where: predicate, order: [.key("rank", isAscending: true)])
        let first = try client.store.query(.new(query), in: client.database, limit: 2, as: client.actor)
        #expect(first.names == ["note-1", "note-2"])
        let cursor = try client.store.cursor(from: client.store.bytes(of: try #require(first.cursor)))
        let next = try client.store.query(.continued(cursor), in: client.database, limit: 2, as: client.actor)
        #expect(next.names == ["note-11", "note-12"])
        #expect(next.cursor == nil)
    }

    @Test func `predicates are 64 levels deep and no deeper`() throws {
        func nested(_ depth: Int) throws -> PredicateTree {
            // A comparison has two levels: itself and its operands.
            var tree = try PredicateParser.parse("rank = 3")
            for _ in 2..<depth { tree = .not(tree) }
            return tree
        }
        func ask(_ depth: Int) throws -> [String] {
            let query = Query("Note", where: try nested(depth))
            return try embedded.store.query(.new(query), in: embedded.database, as: embedded.actor).names
        }
        #expect(try nested(PredicateTree.maximumDepth).depth == PredicateTree.maximumDepth, "canary")
        #expect(try ask(PredicateTree.maximumDepth) == ["note-3"])
        #expect(try ask(PredicateTree.maximumDepth - 1).count == 19)
        #expect { try ask(PredicateTree.maximumDepth + 1) } throws: { error in
            (error as? Refusal)?.code == .invalidArguments && "\(error)".contains("nested too deeply")
        }
    }

    @Test func `B136 a substring of a field comes with a note that the service refuses it`() throws {
        for client in [client, embedded] {
            let page = try client.find("title CONTAINS[c] 'T1' AND title CONTAINS '1'")
            #expect(page.names == ["note-1", "note-11"])
            #expect(page.plan.notes.count == 1)
            #expect(page.plan.notes.first?.contains("CONTAINS on the string field 'title'") == true)
            #expect(page.plan.text.contains("\nnote: CloudKit rejects"))
            #expect(try client.find("title BEGINSWITH 't1'").plan.notes.isEmpty)
            #expect(try client.find("self CONTAINS 't1'").plan.notes.isEmpty)
        }
    }
}
