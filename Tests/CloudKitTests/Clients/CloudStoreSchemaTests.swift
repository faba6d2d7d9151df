import CloudKit
import Testing

/// What a store's operator does with its schema.
@Suite("A store's schema")
struct CloudStoreSchemaTests {
    private static let text = """
        DEFINE SCHEMA
            RECORD TYPE Note (
                title STRING QUERYABLE,
                count INT64
            );
        """

    private func store(_ mode: CloudStore.SchemaMode = .open) throws -> CloudStore {
        var options = CloudStore.Options.service
        options.schema = mode
        return try CloudStore.inMemory(options: options)
    }

    private func error(_ body: () throws -> Void) -> CKError? {
        do { try body() } catch { return error as? CKError }
        return nil
    }

    private func save(_ type: String, _ fields: [String: any CKRecordValueProtocol], in store: CloudStore) async throws
    {
        let record = CKRecord(recordType: type)
        for (key, value) in fields { record[key] = value }
        _ = try await store.container(user: "anna").privateCloudDatabase.save(record)
    }

    @Test("What is imported is exported, and importing the export changes nothing")
    func roundTrip() async throws {
        let store = try store()
        try store.importSchema(Self.text)
        try await save("Task", ["due": Date()], in: store)
        let exported = try store.exportSchema()
        #expect(exported.contains("title           STRING QUERYABLE"))
        #expect(exported.contains("RECORD TYPE Task (") && exported.contains("due             TIMESTAMP"))
        let offset = store.offset
        try store.importSchema(exported)
        #expect(try store.offset == offset && store.exportSchema() == exported)
    }

    @Test("A mistake is invalidArguments with its line and column")
    func mistakes() throws {
        let store = try store()
        for body in [store.importSchema, store.validateSchema] {
            let error = try #require(error { try body("DEFINE SCHEMA\n  RECORD TYPE Note (title TEXT);") })
            #expect(error.code == .invalidArguments)
            let start = "The schema has a mistake in line 2, column 27: expected a type: STRING, "
            #expect(error.detail.hasPrefix(start), "\(error)")
            #expect(error.detail.hasSuffix(", found 'TEXT'."), "\(error)")
        }
    }

    @Test("Validating judges against the store, and changes nothing")
    func validating() async throws {
        let store = try store()
        try store.validateSchema(Self.text)
        #expect(try store.exportSchema() == "DEFINE SCHEMA\n")
        try await save("Note", ["title": 1], in: store)
        let error = try #require(error { try store.validateSchema(Self.text) })
        #expect(error.code == .invalidArguments)
        #expect(
            error.detail == "Field 'title' of type Note is INT64, and cannot become STRING.")
        #expect(self.error { try store.importSchema(Self.text) }?.code == .invalidArguments)
    }

    @Test("B24 an enforced schema refuses what was not imported, in the service's words")
    func enforced() async throws {
        let store = try store(.enforced)
        try store.importSchema(Self.text)
        try await save("Note", ["title": "x", "count": 1], in: store)
        let type = await #expect(throws: CKError.self) { try await save("Task", [:], in: store) }
        #expect(type?.code == .invalidArguments)
        #expect(type?.detail.hasSuffix("> to server: Cannot create new type Task in production schema") == true)
        let field = await #expect(throws: CKError.self) { try await save("Note", ["other": 1], in: store) }
        #expect(field?.code == .invalidArguments)
        #expect(
            field?.detail.hasSuffix(
                "> to server: Cannot create or modify field 'other' in record 'Note' in production schema") == true)
    }

    @Test("A store that is closed says so")
    func closed() throws {
        let store = try store()
        try store.close()
        #expect(error { _ = try store.exportSchema() }?.code == .serviceUnavailable)
        #expect(error { try store.importSchema(Self.text) }?.code == .serviceUnavailable)
        #expect(error { try store.validateSchema(Self.text) }?.code == .serviceUnavailable)
    }
}
