import StrataModel
import StrataRules
import StrataViews
import Testing

@testable import StrataStore

/// B24: what an enforced schema does not have is refused, in the words of the service.
@Suite struct EnforcedSchemaTests {
    private let client: Client
    private typealias Save = Client.Save
    private typealias Field = SchemaDefinition.Field

    init() throws {
        var options = StoreOptions.service
        options.schema = .enforced
        client = try Client(options)
        try client.declare("Note", [Field("title", .string), Field("tags", FieldKind.string.list)])
    }

    @Test func `B24 a type that was not declared is refused`() throws {
        let refusal = try client.refusal(Save("a", type: "Task"))
        #expect(refusal.code == .invalidArguments && refusal.rule == .enforcedSchema)
        #expect(refusal.message == "Cannot create new type Task in production schema")
        #expect(client.codes([Save("a", ["title": .string("x")])]) == [nil])
    }

    @Test func `B24 a key that was not declared is refused, and its removal does nothing`() throws {
        let refusal = try client.refusal(Save("a", ["title": .string("x"), "other": .int64(1)]))
        #expect(refusal.code == .invalidArguments && refusal.rule == .enforcedSchema)
        #expect(refusal.message == "Cannot create or modify field 'other' in record 'Note' in production schema")
        #expect(try client.refusal(Save("a", ["other": .list(.empty)])).rule == .enforcedSchema)
        #expect(client.codes([Save("a", ["title": .string("x"), "other": nil, "tags": .list(.empty)])]) == [nil])
        #expect(try client.recordType("Note").fields.count == 2 + SchemaName.exportedSystemFields.count)
    }

    @Test func `B24 declared kinds hold as in an open schema`() throws {
        #expect(try client.refusal(Save("a", ["title": .int64(1)])).rule == .boundKinds)
    }

    @Test func `B24 the user's own record needs its fields declared, not its type`() throws {
        let own = client.store.recordName(of: "anna")
        let sent = Save(own, ["nickname": .string("A")], type: "Users")
        #expect(try client.refusal(sent).rule == .enforcedSchema)
        try client.declare("Users", [Field("nickname", .string)])
        #expect(client.codes([sent]) == [nil])
    }

    @Test func `what is declared later can be saved at once`() throws {
        try client.declare("Task", [Field("due", .date)])
        #expect(client.codes([Save("a", ["due": .date(1)], type: "Task")]) == [nil])
    }

    @Test func `an open schema is extended by saves`() throws {
        let open = try Client()
        #expect(open.codes([Save("a", ["other": .int64(1)], type: "Task")]) == [nil])
        #expect(try open.field("other", of: "Task") == Field("other", .int64))
    }
}
