import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import StrataTree
import TestSupport
import Testing

@testable import StrataStore
@testable import StrataViews

/// Which indexes there are follows from the schema, which is in the log.
@Suite struct SchemaIndexTests {
    private static let path = "/Schema.strata"
    private let anna = Actor(user: "anna")
    private let disk = SimulatedDisk()

    private func open() throws -> Store {
        try Store.open(at: Self.path, options: .embedded, platform: Platform(files: disk))
    }

    /// A store with a record that has a value of each kind.
    private func filled() throws -> Store {
        let store = try open()
        try store.modify(NoteRequest.makingZones(), as: anna)
        let fields: [(String, FieldValue)] = [
            ("title", .string("milk bread")), ("rank", .int64(3)),
            ("place", .location(.init(latitude: 1, longitude: 2))),
            ("tags", .list(try FieldList([.string("x")]))),
        ]
        try store.modify(NoteRequest.saving(["n1", "n2"], fields), as: anna)
        return store
    }

    private func catalog(_ store: Store) throws -> IndexCatalog { try IndexCatalog(store.snapshot().trees) }

    private func field(_ name: String, _ store: Store) throws -> IndexID.Subject {
        .field(UInt32(try #require(try store.snapshot().trees.ordinal(of: .field(name)))))
    }

    private func type(_ store: Store) throws -> UInt64 {
        try #require(try store.snapshot().trees.ordinal(of: .recordType("Note")))
    }

    private func declareAll(_ store: Store) throws {
        for field in ["rank", "place", "___recordID", "___createTime", "___modifiedBy", "___parent"] {
            try store.declareIndex(type: "Note", field: field)
        }
        try store.declareIndexes(type: "Note", fields: [("title", .searchable), ("tags", .searchable)])
    }

    private func expected(_ store: Store) throws -> Set<IndexID> {
        let type = try type(store)
        return [
            IndexID(type: type, try field("rank", store)), IndexID(type: type, try field("place", store), .cells),
            IndexID(type: type, .membership), IndexID(type: type, .created), IndexID(type: type, .modifiedBy),
            IndexID(type: type, .parent), IndexID(type: type, try field("title", store), .words),
            IndexID(type: type, try field("tags", store), .words),
        ]
    }

    @Test func `each flag that fits a field's kind has its index, also after the views are gone`() throws {
        var store = try filled()
        try declareAll(store)
        let expected = try expected(store)
        store.awaitIndexes()
        let found = try catalog(store)
        #expect(Set(found.ready) == expected)
        try IndexAudit(store).check()
        try store.close()
        for isKept in [true, false] {
            if !isKept { try disk.removeFiles(in: Self.path + "/views") }
            store = try open()
            #expect(try Set(catalog(store).declared) == expected)
            store.awaitIndexes()
            #expect(try Set(catalog(store).ready) == expected)
            try IndexAudit(store).check()
            // What comes later is indexed too.
            try store.modify(NoteRequest.saving(["later \(isKept)"], [("rank", .int64(9))]), as: anna)
            store.awaitIndexes()
            try IndexAudit(store).check()
            try store.close()
        }
    }

    @Test func `a flag that goes takes the index with its rows`() throws {
        let store = try filled()
        try declareAll(store)
        store.awaitIndexes()
        let rows = try store.views.trees.snapshot().entryCount(ViewTree.index)
        let fields = [SchemaDefinition.Field("rank", .int64), SchemaDefinition.Field("title", .string)]
        try store.declareSchema(SchemaDefinition(recordTypes: [.init("Note", fields: fields)]))
        store.awaitIndexes()
        let rank = IndexID(type: try type(store), try field("rank", store))
        let title = IndexID(type: rank.type, try field("title", store), .words)
        #expect(try catalog(store)[rank] == nil && catalog(store)[title] == nil)
        // Two records, a number and two words each.
        #expect(try store.views.trees.snapshot().entryCount(ViewTree.index) == rows - 2 - 4)
        try IndexAudit(store).check()
        // And it can come again.
        try store.declareIndex(type: "Note", field: "rank")
        store.awaitIndexes()
        #expect(try catalog(store)[rank] == .ready)
        try IndexAudit(store).check()
        try store.close()
    }

    @Test func `declaring what there is, or what nobody has had, writes nothing`() throws {
        let store = try filled()
        try store.declareIndex(type: "Note", field: "title")
        let offset = store.offset
        try store.declareIndex(type: "Note", field: "title")
        #expect(throws: Refusal.self) { try store.declareIndex(type: "Note", field: "nothing") }
        #expect(throws: Refusal.self) { try store.declareIndex(type: "Nothing", field: "___recordID") }
        #expect(store.offset == offset)
        try store.close()
    }

    @Test func `encrypted fields and assets have no index, whatever they are declared as`() {
        let all: SchemaField.Indexes = [.queryable, .sortable, .searchable]
        func asked(_ kind: FieldKind, isEncrypted: Bool = false, named name: String = "f") -> [IndexID] {
            IndexID.asked(by: SchemaField(3, kind, isEncrypted: isEncrypted, indexes: all), named: name, of: 7)
        }
        #expect(asked(.asset).isEmpty && asked(.asset.list).isEmpty && asked(.string, isEncrypted: true).isEmpty)
        #expect(asked(.string) == [IndexID(type: 7, .field(3)), IndexID(type: 7, .field(3), .words)])
        #expect(asked(.int64) == [IndexID(type: 7, .field(3))])
        #expect(asked(.location.list) == [IndexID(type: 7, .field(3), .cells)])
        #expect(asked(.date, named: "___modTime") == [IndexID(type: 7, .modified)])
        #expect(asked(.string, named: "___etag").isEmpty)
    }

    @Test func `each field that all records have is found by its name, and no other`() {
        let subjects: [IndexID.Subject] = [.membership, .created, .modified, .createdBy, .modifiedBy, .parent]
        for subject in subjects {
            #expect(subject.systemFieldName.flatMap { IndexID.Subject(systemFieldName: $0) } == subject)
            #expect(subject.systemFieldName.flatMap { SchemaName.systemKind(of: $0) } != nil)
        }
        #expect(IndexID.Subject(systemFieldName: "___etag") == nil && IndexID.Subject.field(1).systemFieldName == nil)
    }
}
