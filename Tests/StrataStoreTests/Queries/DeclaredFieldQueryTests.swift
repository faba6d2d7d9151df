import StrataModel
import StrataQuery
import Testing

@testable import StrataStore

/// B24: an enforced schema is asked only for what it says can be asked for, and the service's words say what it lacks.
@Suite struct DeclaredFieldQueryTests {
    private let client: Client
    private typealias Field = SchemaDefinition.Field

    private struct Case: CustomStringConvertible {
        let predicate: String
        var order: [SortKey] = []
        let message: String
        /// What makes it allowed.
        let field: Field

        var description: String { "\(predicate) \(order)" }
    }

    private static let cases = [
        Case(
            predicate: "rank = 1", message: "Field 'rank' is not marked queryable",
            field: Field("rank", .int64, indexes: .queryable)),
        Case(
            predicate: "title = 'x' AND NOT rank IN {1, 2}", message: "Field 'rank' is not marked queryable",
            field: Field("rank", .int64, indexes: .queryable)),
        Case(
            predicate: "title = 'x'", order: [.key("title", isAscending: true), .key("rank", isAscending: false)],
            message: "Field 'rank' is not marked sortable", field: Field("rank", .int64, indexes: .sortable)),
        Case(
            predicate: "title = 'x'", order: [.distance(key: "place", latitude: 1, longitude: 1)],
            message: "Field 'place' is not marked sortable", field: Field("place", .location, indexes: .sortable)),
        Case(
            predicate: "creationDate > CAST(0, 'NSDate')", message: "Field '___createTime' is not marked queryable",
            field: Field("___createTime", .date, indexes: .queryable)),
        Case(
            predicate: "title = 'x'", order: [.key("modificationDate", isAscending: true)],
            message: "Field '___modTime' is not marked sortable",
            field: Field("___modTime", .date, indexes: .sortable)),
        Case(
            predicate: "TRUEPREDICATE", message: "Field 'recordName' is not marked queryable",
            field: Field("___recordID", .reference, indexes: .queryable)),
        Case(
            predicate: "self CONTAINS 'x'", message: "Type 'Note' is not marked searchable",
            field: Field("body", .string, indexes: .searchable)),
    ]

    init() throws {
        var options = StoreOptions.service
        options.schema = .enforced
        client = try Client(options)
        try client.declare(
            "Note",
            [
                Field("title", .string, indexes: [.queryable, .sortable]), Field("rank", .int64),
                Field("body", .string), Field("place", .location),
            ])
        try client.save("a", ["title": .string("x"), "rank": .int64(1), "body": .string("x")])
    }

    @Test(arguments: cases.indices) func `B24 what is not declared so is refused, what is then declared is answered`(
        _ number: Int
    ) throws {
        let one = Self.cases[number]
        let refusal = try #require(try client.refusalOfFinding(one.predicate, order: one.order), "\(one)")
        #expect(refusal.code == .invalidArguments && refusal.message == one.message && refusal.rule == .enforcedSchema)
        let query = Query("Note", where: try PredicateParser.parse(one.predicate), order: one.order)
        #expect(throws: Refusal.self) { try client.store.plan(query, in: client.database, as: client.actor) }
        try client.declare("Note", [one.field])
        #expect(try client.refusalOfFinding(one.predicate, order: one.order) == nil, "\(one)")
    }

    @Test func `B24 what is declared is answered, and what can match nothing is asked of no field`() throws {
        #expect(try client.find("title = 'x'", order: [.key("title", isAscending: true)]).names == ["a"])
        #expect(try client.find("FALSEPREDICATE").names.isEmpty)
    }

    @Test func `B24 the extended dialect's keys need their indexes too`() throws {
        var options = StoreOptions.embedded
        options.schema = .enforced
        let client = try Client(options)
        try client.declare(
            "Note", [Field("title", .string, indexes: .queryable), Field("link", .reference), Field("rank", .int64)])
        #expect(
            try client.refusalOfFinding("title = 'x' OR rank = 1")?.message == "Field 'rank' is not marked queryable")
        #expect(try client.refusalOfFinding("link.title = 'x'")?.message == "Field 'link' is not marked queryable")
        #expect(try client.refusalOfFinding("other = 1")?.message == "Field 'other' is not marked queryable")
        let words = try client.refusalOfFinding("title TOKENMATCHES 'x'")
        #expect(words?.message == "Field 'title' is not marked searchable")
    }

    @Test func `an open schema is asked for anything`() throws {
        let open = try Client()
        try open.save("a", ["rank": .int64(1)])
        #expect(try open.find("rank = 1", order: [.key("rank", isAscending: true)]).names == ["a"])
        #expect(try open.find().names == ["a"])
    }
}
