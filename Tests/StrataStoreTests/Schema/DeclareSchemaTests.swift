import StrataLog
import StrataModel
import StrataRules
import StrataViews
import Testing

@testable import StrataStore

/// docs/rules.md §10: what becomes of a schema that is declared.
@Suite struct DeclareSchemaTests {
    private let client: Client
    private typealias Save = Client.Save
    private typealias Field = SchemaDefinition.Field

    init() throws { client = try Client() }

    @Test func `what is declared is there with its indexes, and binds what is saved`() throws {
        try client.declare(
            "Note",
            [
                Field("title", .string, indexes: [.queryable, .sortable, .searchable]),
                Field("tags", FieldKind.string.list, indexes: .queryable), Field("secret", .int64, isEncrypted: true),
                Field("___createTime", .date, indexes: .sortable),
            ])
        let fields = try client.recordType("Note").fields
        #expect(
            fields.map(\.name) == [
                "___createTime", "___createdBy", "___etag", "___modTime", "___modifiedBy", "___recordID", "secret",
                "tags", "title",
            ])
        #expect(try client.field("title")?.indexes == [.queryable, .sortable, .searchable])
        #expect(try client.field("secret") == Field("secret", .int64, isEncrypted: true))
        #expect(try client.field("___createTime")?.indexes == .sortable)
        #expect(client.codes([Save("a", ["title": .int64(1)])]) == [.invalidArguments])
        #expect(client.codes([Save("a", ["secret": .int64(1)])]) == [.invalidArguments])
        #expect(client.codes([Save("a", ["title": .string("x"), "secret": encrypted])]) == [nil])
    }

    @Test func `the commit is the service's, and has the names and one event for each type that changed`() throws {
        try client.declare("Note", [Field("title", .string)])
        try client.store.declareSchema(
            SchemaDefinition(recordTypes: [
                .init("Note", fields: [Field("title", .string)]), .init("Task", fields: [Field("title", .int64)]),
                .init("Empty"),
            ]))
        let envelope = try client.envelope(client.store.offset)
        #expect(envelope.header.user == 0 && envelope.header.operationKind == .schema)
        #expect(try client.lastKinds() == [.schemaChanged, .schemaChanged])
        #expect(envelope.events.map(\.kind).filter { $0 == .nameInterned }.count == 2)
        #expect(try client.store.schema().recordTypes.map(\.name) == ["Empty", "Note", "Task"])
    }

    @Test func `fields and types that are not named stay, a named field's indexes become what is declared`() throws {
        try client.declare("Note", [Field("a", .string, indexes: .queryable), Field("b", .int64, indexes: .sortable)])
        try client.declare("Note", [Field("a", .string, indexes: .searchable)])
        #expect(try client.field("a")?.indexes == .searchable)
        #expect(try client.field("b")?.indexes == .sortable)
        try client.declare("Task", [Field("a", .date)])
        #expect(try client.field("a")?.kind == .string)
        try client.declare("Note", [Field("a", .string)])
        #expect(try client.field("a")?.indexes == [])
    }

    @Test func `a schema that changes nothing makes no commit`() throws {
        try client.save("a", ["title": .string("x")])
        try client.declare(
            "Note", [Field("title", .string, indexes: .queryable), Field("___recordID", .reference)],
            grants: [SchemaGrant("_world", .read), SchemaGrant("Editors", .write), SchemaGrant("Editors", .create)])
        let offset = client.store.offset
        try client.store.declareSchema(try client.store.schema())
        try client.store.declareSchema(SchemaDefinition())
        try client.declare(
            "Note", [Field("title", .string, indexes: .queryable)],
            grants: [
                SchemaGrant("Editors", [.create, .write]), SchemaGrant("_world", .read), SchemaGrant("_icloud", []),
            ])
        #expect(client.store.offset == offset)
        try client.declare("Note", [Field("title", .string)])
        #expect(client.store.offset == offset + 1, "canary: a change is one")
    }

    @Test func `B23 a kind that is bound does not change, and the refusal names type, field and both kinds`() throws {
        try client.save("a", ["title": .string("x")])
        let refusal = try #require(client.refusalOfDeclaring("Note", [Field("title", FieldKind.int64.list)]))
        #expect(refusal.code == .invalidArguments && refusal.rule == .boundKinds)
        #expect(refusal.message == "Field 'title' of type Note is STRING, and cannot become LIST<INT64>.")
        let sealed = client.refusalOfDeclaring("Note", [Field("title", .string, isEncrypted: true)])
        #expect(sealed?.message.hasSuffix("cannot become ENCRYPTED STRING.") == true)
        let system = client.refusalOfDeclaring("Note", [Field("___createTime", .string)])
        #expect(system?.message == "Field '___createTime' of type Note is TIMESTAMP, and cannot become STRING.")
        let encryptedSystem = client.refusalOfDeclaring("Note", [Field("___etag", .string, isEncrypted: true)])
        #expect(encryptedSystem?.code == .invalidArguments)
    }

    @Test func `a schema says what is inside a seal, once`() throws {
        #expect(client.codes([Save("a", ["secret": encrypted])]) == [nil])
        #expect(try client.field("secret") == Field("secret", .data, isEncrypted: true))
        try client.declare("Note", [Field("secret", .string, isEncrypted: true)])
        #expect(try client.field("secret")?.kind == .string)
        #expect(client.codes([Save("b", ["secret": encrypted])]) == [nil])
        #expect(client.refusalOfDeclaring("Note", [Field("secret", .date, isEncrypted: true)])?.rule == .boundKinds)
        #expect(client.refusalOfDeclaring("Note", [Field("secret", .string)])?.rule == .boundKinds)
    }

    @Test func `indexes that a kind cannot have are refused, all others are not`() throws {
        let scalars: [FieldKind] = [.string, .int64, .double, .date, .data, .location, .reference, .asset]
        let possible: [FieldKind: String] = [
            .string: "QUERYABLE SEARCHABLE SORTABLE", .int64: "QUERYABLE SORTABLE", .double: "QUERYABLE SORTABLE",
            .date: "QUERYABLE SORTABLE", .location: "QUERYABLE SORTABLE", .data: "QUERYABLE", .reference: "QUERYABLE",
            .asset: "", FieldKind.asset.list: "", FieldKind.string.list: "QUERYABLE SEARCHABLE",
        ]
        var number = 0
        for kind in scalars + scalars.map(\.list) {
            let allowed = possible[kind] ?? "QUERYABLE"
            for index in [SchemaField.Indexes.queryable, .sortable, .searchable] {
                number += 1
                let refusal = client.refusalOfDeclaring("Note", [Field("f\(number)", kind, indexes: index)])
                #expect((refusal == nil) == allowed.contains(index.schemaNames), "\(kind.schemaName) \(index)")
                if let refusal {
                    #expect(refusal.message.hasSuffix("is \(kind.schemaName), which cannot be \(index.schemaNames)."))
                }
                guard kind.element != .reference, kind.element != .asset else { continue }
                let sealed = Field("e\(number)", kind, isEncrypted: true, indexes: index)
                #expect(client.refusalOfDeclaring("Note", [sealed])?.rule == .declaredIndexes)
            }
        }
        #expect(
            client.refusalOfDeclaring("Note", [Field("x", .string, indexes: .init(rawValue: 8))])?.rule
                == .declaredIndexes)
    }

    @Test func `references, assets, and what is no kind cannot be encrypted or declared`() throws {
        for kind in [FieldKind.reference, .asset, FieldKind.asset.list] {
            #expect(client.refusalOfDeclaring("Note", [Field("x", kind, isEncrypted: true)])?.rule == .declaredKinds)
        }
        for number: UInt8 in [0, 9, 0x40, 0x41 + 8, 0x7F] {
            let refusal = client.refusalOfDeclaring("Note", [Field("x", FieldKind(rawValue: number))])
            #expect(refusal?.rule == .declaredKinds, "\(number)")
        }
        #expect(client.store.offset == 0)
    }

    @Test func `names are those of saves, and of system fields`() throws {
        let longest = String(repeating: "n", count: 255)
        try client.declare(longest, [Field(longest, .string)], grants: [SchemaGrant(longest, .read)])
        for name in ["", "_a", "1a", "ä", "a-b", "a b", longest + "n", "___createtime"] {
            #expect(client.refusalOfDeclaring(name, [])?.rule == .recordTypes, "\(name)")
            #expect(client.refusalOfDeclaring("Note", [Field(name, .string)])?.rule == .keys, "\(name)")
            #expect(client.refusalOfDeclaring("Note", [], grants: [SchemaGrant(name, .read)])?.rule == .declaredRoles)
        }
        #expect(client.refusalOfDeclaring("___recordID", [])?.rule == .recordTypes)
    }

    @Test func `B7 no record is saved with the key of a system field`() throws {
        try client.declare("Note", SchemaName.systemFields.map { Field($0.name, $0.kind) })
        try client.declare("Note", [Field("___recordID", .reference, indexes: .queryable)])
        for field in SchemaName.systemFields {
            var save = Save("a")
            save.fields = [(field.name, .string("x"))]
            #expect(client.codes([save]) == [.invalidArguments], "\(field.name)")
        }
    }

    @Test func `a type or a field that comes twice is refused`() throws {
        let twice = SchemaDefinition(recordTypes: [.init("Note"), .init("Note")])
        #expect(throws: Refusal.self) { try client.store.declareSchema(twice) }
        #expect(client.refusalOfDeclaring("Note", [Field("a", .string), Field("a", .string)])?.rule == .declaredFields)
    }

    @Test func `one mistake refuses all`() throws {
        let schema = SchemaDefinition(recordTypes: [
            .init("Note", fields: [Field("a", .string)]),
            .init("Task", fields: [Field("a", .asset, indexes: .queryable)]),
        ])
        #expect(throws: Refusal.self) { try client.store.declareSchema(schema) }
        #expect(try client.store.offset == 0 && client.store.schema().recordTypes.isEmpty)
    }

    @Test func `grants are kept until others are declared, and are those of CloudKit before`() throws {
        try client.declare("Note", [Field("a", .string)])
        #expect(try client.recordType("Note").grants == SchemaGrant.standard)
        let grants = [SchemaGrant("Editors", .all), SchemaGrant("_world", .read)]
        try client.declare("Note", [], grants: grants)
        try client.declare("Note", [Field("b", .string)])
        try client.save("x", ["c": .int64(1)])
        #expect(try client.recordType("Note").grants == grants)
        #expect(try client.store.schema().roles == ["Editors"])
        try client.declare("Note", [], grants: SchemaGrant.standard)
        #expect(try client.recordType("Note").grants == SchemaGrant.standard)
    }

    @Test func `grants are in the digests`() throws {
        let other = try Client()
        try client.declare("Note", [], grants: [SchemaGrant("Editors", .read)])
        try other.declare("Note", [], grants: [SchemaGrant("Editors", .write)])
        #expect(try client.store.snapshot().digests() != other.store.snapshot().digests())
        try other.declare("Note", [], grants: [SchemaGrant("Editors", .read)])
        let digests = (try client.store.snapshot().digests(), try other.store.snapshot().digests())
        #expect(digests.0.content == digests.1.content)
    }

    @Test func `nobody but the service declares, and the service does nothing else than its own`() throws {
        let request = SchemaDefinition(recordTypes: [.init("Note")]).request
        for actor in [Actor(user: "anna"), Actor(user: "_service"), Actor(user: "")] {
            let refusal = #expect(throws: Refusal.self) { try client.store.modify(request, as: actor) }
            #expect(refusal?.code == (actor.user.isEmpty ? .notAuthenticated : .permissionFailure))
        }
        let service = client.with { ($0.user, $0.device) = (Actor.service.user, Actor.service.device) }
        #expect(service.codes([Save("a")]) == [.permissionFailure])
    }

    @Test func `validating says the same and writes nothing`() throws {
        let schema = SchemaDefinition(recordTypes: [.init("Note", fields: [Field("a", .string, indexes: .sortable)])])
        try client.store.validateSchema(schema)
        #expect(client.store.offset == 0)
        try client.save("a", ["a": .int64(1)])
        let offset = client.store.offset
        let refusal = #expect(throws: Refusal.self) { try client.store.validateSchema(schema) }
        #expect(refusal?.rule == .boundKinds && client.store.offset == offset)
        try client.save("b")
    }

    @Test func `the request is made again from its commit, and judged again comes to the same`() throws {
        try client.save("a", ["z": .string("x"), "a": .int64(1)])
        try client.declare("Note", [Field("a", .int64, indexes: .queryable), Field("new", .date, indexes: .sortable)])
        try client.store.declareIndexes(type: "Note", fields: [("z", .searchable), ("___modTime", .queryable)])
        try client.store.declareSchema(
            SchemaDefinition(recordTypes: [
                .init("Empty"),
                .init(
                    "Task", fields: [Field("b", .string), Field("a", .date)],
                    grants: [
                        SchemaGrant("Editors", .all)
                    ]),
            ]))
        let requests = try RequestRebuilder.requests(of: client.store.log)
        #expect(requests.count == 4 && requests.dropFirst().allSatisfy { $0.actor == .service })
        let second = try SecondLife(.service, secret: client.store.engine.secret())
        defer { try? second.store.close() }
        try second.live(requests)
        #expect(try second.store.schema() == client.store.schema())
        #expect(try second.store.snapshot().digests() == client.store.snapshot().digests())
    }
}

/// What the planner of queries asks for.
@Suite struct DeclareIndexesTests {
    private let client: Client

    init() throws {
        client = try Client()
        try client.save("a", ["title": .string("x"), "count": .int64(1)])
    }

    @Test func `indexes are added to those that are there`() throws {
        try client.store.declareIndexes(type: "Note", fields: [("title", .queryable)])
        try client.store.declareIndexes(type: "Note", fields: [("title", .sortable), ("count", .sortable)])
        #expect(try client.field("title")?.indexes == [.queryable, .sortable])
        #expect(try client.field("count")?.indexes == .sortable)
        #expect(try client.field("title")?.kind == .string)
    }

    @Test func `what is there already makes no commit`() async throws {
        try await client.store.declareIndexes(type: "Note", fields: [("title", [.queryable, .sortable])])
        let offset = client.store.offset
        try await client.store.declareIndexes(type: "Note", fields: [("title", .queryable)])
        try await client.store.declareIndexes(type: "Note", fields: [("title", .sortable), ("___etag", [])])
        #expect(client.store.offset == offset)
    }

    @Test func `system fields are indexed like others`() throws {
        let fields = SchemaName.systemFields.map { (name: $0.name, indexes: SchemaField.Indexes.queryable) }
        try client.store.declareIndexes(type: "Note", fields: fields)
        for field in fields { #expect(try client.field(field.name)?.indexes == .queryable) }
    }

    @Test func `what nobody knows, and what a kind cannot have, is refused`() throws {
        func refusal(_ type: String, _ field: String, _ indexes: SchemaField.Indexes) -> Refusal? {
            do { try client.store.declareIndexes(type: type, fields: [(field, indexes)]) } catch {
                return error as? Refusal
            }
            return nil
        }
        #expect(refusal("Nothing", "title", .queryable)?.code == .unknownItem)
        #expect(refusal("Nothing", "___recordID", .queryable)?.code == .unknownItem)
        #expect(refusal("Note", "nothing", .queryable)?.rule == .declaredFields)
        #expect(refusal("Note", "count", .searchable)?.rule == .declaredIndexes)
        #expect(refusal("Note", "___recordID", .sortable)?.rule == .declaredIndexes)
    }

    @Test func `an enforced schema gets no index from a query`() throws {
        var options = StoreOptions.service
        options.schema = .enforced
        let strict = try Client(options)
        try strict.declare("Note", [SchemaDefinition.Field("title", .string)])
        #expect(throws: Refusal.self) {
            try strict.store.declareIndexes(type: "Note", fields: [("title", .queryable)])
        }
        #expect(try strict.field("title")?.indexes == [])
    }
}

/// B222: what grants let whom do in the public database.
@Suite struct GrantTests {
    private let client: Client
    private typealias Save = Client.Save

    init() throws { client = try Client().with { $0.scope = .public } }

    private var other: Client { client.with { $0.user = "ben" } }

    private func grant(_ grants: SchemaGrant...) throws { try client.declare("Note", [], grants: grants) }

    @Test func `B222 WRITE to all that are signed in lets others change and delete`() throws {
        try client.save("a", ["n": .int64(1)])
        #expect(other.with { $0.policy = .allKeys }.codes([Save("a")]) == [.permissionFailure])
        for role in ["_icloud", "_world"] {
            try grant(SchemaGrant(role, .write), SchemaGrant("_icloud", .create))
            #expect(other.with { $0.policy = .allKeys }.codes([Save("a")]) == [nil], "\(role)")
        }
        #expect(other.codes(deletes: ["a"]) == [nil])
    }

    @Test func `B222 WRITE to nobody keeps the creator out, too`() throws {
        try client.save("a")
        try grant(SchemaGrant("_icloud", [.create, .read]), SchemaGrant("Editors", .all))
        #expect(client.with { $0.policy = .allKeys }.codes([Save("a")]) == [.permissionFailure])
        #expect(client.codes(deletes: ["a"]) == [.permissionFailure])
        try grant(SchemaGrant("_creator", .write))
        #expect(other.codes(deletes: ["a"]) == [.permissionFailure])
        #expect(client.codes(deletes: ["a"]) == [nil])
    }

    @Test func `B222 CREATE to nobody refuses new records, and only those`() throws {
        try client.save("a")
        try grant(SchemaGrant("_creator", .write), SchemaGrant("Editors", .create))
        let refusal = try client.refusal(Save("b"))
        #expect(refusal.code == .permissionFailure && refusal.message.hasPrefix("CREATE operation not permitted"))
        #expect(client.with { $0.policy = .allKeys }.codes([Save("a")]) == [nil])
        try grant(SchemaGrant("_creator", [.write, .create]))
        #expect(client.codes([Save("b")]) == [nil])
    }

    @Test func `B222 grants say nothing of private databases, of other types and of user records`() throws {
        try grant(SchemaGrant("Editors", .all))
        try client.declare("Users", [], grants: [SchemaGrant("_world", .all)])
        #expect(client.codes([Save("a", type: "Task")]) == [nil])
        #expect(client.codes([Save("b")]) == [.permissionFailure])
        #expect(client.with { $0.scope = .private }.codes([Save("b")]) == [nil])
        let own = client.store.recordName(of: "anna")
        #expect(other.with { $0.policy = .allKeys }.codes([Save(own, type: "Users")]) == [.permissionFailure])
        #expect(client.codes(deletes: [.init(own)]) == [.permissionFailure])
    }
}
