import StrataModel
import StrataQuery
import TestSupport
import Testing

@testable import StrataStore

/// A query that looked at many records for few matches has an index declared; nobody else writes.
@Suite struct WantedIndexTests {
    private typealias Field = SchemaDefinition.Field
    private static let many = Store.tolerableRecordsRead + 200

    @Test func `a query over many records declares its index, in the log`() throws {
        let client = try Client()
        try client.saveNotes(Self.many)
        let offset = client.store.offset
        let first = try client.find("rank = 7")
        #expect(first.names == ["note-7"])
        #expect(first.plan.missingIndexes.map(\.key) == ["rank"])
        #expect(first.plan.missingIndexes.map(\.indexes) == [.queryable])
        #expect(client.store.offset == offset + 1)
        #expect(try client.lastKinds() == [.schemaChanged])
        #expect(try client.field("rank")?.indexes == .queryable)
        client.store.awaitIndexes()
        let second = try client.find("rank = 7")
        #expect(second.names == ["note-7"])
        #expect(second.plan.missingIndexes.isEmpty && second.plan.actual?.recordsRead == 1)
        #expect(client.store.offset == offset + 1, "an index that is there is not declared again")
    }

    @Test func `an order declares its index`() throws {
        let client = try Client()
        try client.saveNotes(Self.many)
        let order = [SortKey.key("rank", isAscending: false)]
        #expect(try client.find(order: order, limit: 2).names == ["note-\(Self.many - 1)", "note-\(Self.many - 2)"])
        #expect(try client.field("rank")?.indexes == .sortable)
    }

    @Test func `who asks for all records of a rare type does not look at those of the others for ever`() throws {
        let client = try Client(.embedded)
        #expect(client.codes((0..<5).map { Client.Save("rare-\($0)", type: "Rare") }).allSatisfy { $0 == nil })
        try client.saveNotes(Self.many)
        let first = try client.find(type: "Rare")
        #expect(first.matches.count == 5)
        #expect(first.plan.missingIndexes.map(\.key) == ["___recordID"])
        client.store.awaitIndexes()
        let second = try client.find(type: "Rare")
        #expect(second.names == first.names && second.plan.actual?.recordsRead == 5)
        let offset = client.store.offset
        #expect(try client.find(limit: 50).plan.missingIndexes.isEmpty)
        #expect(try client.find("title = 't1'").plan.missingIndexes.map(\.key) == ["title"])
        #expect(client.store.offset == offset + 1, "a type that most records are of needs none")
    }

    @Test func `of an OR that a scan answers anyway no part is declared`() throws {
        let client = try Client(.embedded)
        try client.saveNotes(Self.many)
        let offset = client.store.offset
        let page = try client.find("rank = 7 OR title LIKE '*x'")
        #expect(page.names == ["note-7"] && page.plan.missingIndexes.isEmpty)
        #expect(client.store.offset == offset)
        let other = try client.find("rank = 7 OR rank = 9 OR title = 'x'")
        #expect(other.names.sorted() == ["note-7", "note-9"])
        #expect(other.plan.missingIndexes.map(\.key) == ["rank", "title"])
        #expect(client.store.offset == offset + 1)
    }

    @Test func `an index that a field cannot have does not keep the others from being declared`() throws {
        let client = try Client(.embedded)
        try client.declare("Note", [Field("photo", .asset), Field("link", .reference)])
        try client.saveNotes(Self.many)
        let page = try client.find("photo = nil AND rank = 7")
        #expect(page.names == ["note-7"])
        #expect(page.plan.missingIndexes.map(\.key) == ["rank"])
        #expect(try client.field("rank")?.indexes == .queryable)
        #expect(try client.field("photo")?.indexes == [])
    }

    @Test func `a small store is never written to`() throws {
        let client = try Client()
        // The user's own record is looked at too.
        try client.saveNotes(Store.tolerableRecordsRead - 1)
        let offset = client.store.offset
        let page = try client.find("rank = 7", order: [.key("title", isAscending: true)])
        #expect(!page.plan.missingIndexes.isEmpty, "canary: there was something to declare")
        #expect(client.store.offset == offset)
    }

    @Test func `neither is a store whose schema is enforced`() throws {
        var options = StoreOptions.service
        options.schema = .enforced
        let client = try Client(options)
        try client.declare("Note", [Field("rank", .int64, indexes: .queryable), Field("title", .string)])
        try client.saveNotes(Self.many)
        let offset = client.store.offset
        #expect(try client.find("rank = 7").names == ["note-7"])
        #expect(try client.refusalOfFinding("title = 't1'") != nil)
        #expect(client.store.offset == offset)
    }

    @Test func `nor one that was opened for reading`() throws {
        let directory = try TestDirectory()
        let path = directory.path("Notes.strata")
        let writer = try Store.open(at: path)
        try writer.modify(NoteRequest.makingZones(), as: Actor(user: "anna"))
        for first in stride(from: 0, to: Self.many, by: 400) {
            let names = (first..<first + 400).map { "note-\($0)" }
            try writer.modify(NoteRequest.saving(names), as: Actor(user: "anna"))
        }
        let offset = writer.offset
        let query = Query("Note", where: try PredicateParser.parse("title = 'y'"))
        let reader = try Store.open(at: path, access: .readOnly)
        let page = try reader.query(.new(query), in: NoteRequest.database, as: Actor(user: "anna"))
        #expect(page.plan.actual?.recordsRead ?? 0 > Store.tolerableRecordsRead, "canary")
        #expect(page.plan.missingIndexes.count == 1)
        #expect(writer.offset == offset)
        _ = try writer.query(.new(query), in: NoteRequest.database, as: Actor(user: "anna"))
        #expect(writer.offset == offset + 1, "canary: the writer declares it")
        try reader.close()
        try writer.close()
    }
}
