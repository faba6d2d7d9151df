import CloudKit
import TestSupport
import Testing

@Suite("Plans of queries, and schemas that are enforced")
struct QueryPlanTests {
    private func database(_ store: CloudStore) -> CKDatabase { store.container(user: "anna").privateCloudDatabase }

    private func save(_ names: [String], _ text: String, to database: CKDatabase) async throws {
        let records = names.map { name in
            let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
            record["text"] = text
            return record
        }
        _ = try await database.modifyRecords(saving: records, deleting: [])
    }

    private func query(_ format: String) -> CKQuery {
        CKQuery(recordType: "Note", predicate: NSPredicate(format: format))
    }

    @Test("a plan tells how, and with numbers once it is carried out")
    func plans() async throws {
        let database = database(try CloudStore.inMemory())
        try await save(["a", "b"], "Buy milk", to: database)
        let plan = try await database.queryPlan(for: query("text = 'Buy milk'"))
        #expect(plan.text.contains("text ==") && plan.description == plan.text)
        // The user's own record is in the zone as well.
        #expect(plan.estimatedRows == 3)
        #expect(plan.actual == nil && plan.notes.isEmpty)
        #expect(plan.missingIndexes.map(\.key) == ["text"])
        #expect(plan.missingIndexes.map(\.indexes) == ["QUERYABLE"])
        let carriedOut = try await database.queryPlan(
            for: query("text = 'Buy milk'"), inZoneWith: CKRecordZone.default().zoneID, resultsLimit: 1,
            carryingOut: true)
        #expect(carriedOut.actual?.matches == 1)
        #expect((1...3).contains(carriedOut.actual?.recordsRead ?? 0))
        #expect(carriedOut.text.contains("stop after 1"))
    }

    @Test("a declared index is there, and is what the plan uses")
    func indexes() async throws {
        let store = try CloudStore.inMemory()
        try store.importSchema("DEFINE SCHEMA RECORD TYPE Note (text STRING QUERYABLE SEARCHABLE);")
        let database = database(store)
        try await save(["a"], "Buy milk", to: database)
        let indexes = try store.indexes.filter { $0.key == "text" }
        #expect(Set(indexes.map(\.form)) == ["ordered", "words"])
        #expect(indexes.allSatisfy { $0.recordType == "Note" })
        #expect(try await awaited { try store.indexes.allSatisfy(\.isReady) })
        let plan = try await database.queryPlan(for: query("text = 'Buy milk'"))
        #expect(plan.text.contains("index Note.text") && plan.missingIndexes.isEmpty)
    }

    @Test("B136: a plan says what the service would refuse")
    func notes() async throws {
        for options in [CloudStore.Options.service, .embedded] {
            let database = database(try CloudStore.inMemory(options: options))
            try await save(["a"], "Buy milk", to: database)
            let plan = try await database.queryPlan(for: query("text CONTAINS[cd] 'MILK'"), carryingOut: true)
            #expect(plan.notes.count == 1 && plan.notes[0].contains("CONTAINS"))
            #expect(plan.text.contains("note: \(plan.notes[0])"))
            #expect(plan.actual?.matches == 1)
        }
    }

    @Test("a query that cannot be asked has no plan")
    func mistakes() async throws {
        let store = try CloudStore.inMemory()
        let database = database(store)
        try await save(["a"], "Buy milk", to: database)
        for carryingOut in [false, true] {
            for (query, limit, code) in [
                (query("text = 'a' OR text = 'b'"), 0, CKError.Code.invalidArguments),
                (query("text = 'a'"), -1, .invalidArguments),
                (CKQuery(recordType: "Task", predicate: NSPredicate(value: true)), 0, .unknownItem),
            ] {
                let error = await #expect(throws: CKError.self) {
                    try await database.queryPlan(for: query, resultsLimit: limit, carryingOut: carryingOut)
                }
                #expect(error?.code == code)
            }
        }
        try store.close()
        #expect(throws: CKError.self) { try store.indexes }
    }

    @Test("B24: an enforced schema refuses what it does not say can be asked for, in the service's words")
    func enforced() async throws {
        var options = CloudStore.Options.service
        options.schema = .enforced
        let store = try CloudStore.inMemory(options: options)
        try store.importSchema("DEFINE SCHEMA RECORD TYPE Note (text STRING QUERYABLE);")
        let database = database(store)
        try await save(["a"], "Buy milk", to: database)
        #expect(try await database.records(matching: query("text = 'Buy milk'")).matchResults.count == 1)
        let sorted = query("text = 'Buy milk'")
        sorted.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
        for (query, message) in [
            (query("TRUEPREDICATE"), "Field 'recordName' is not marked queryable"),
            (sorted, "Field '___createTime' is not marked sortable"),
        ] {
            let error = await #expect(throws: CKError.self) { try await database.records(matching: query) }
            #expect(error?.code == .invalidArguments && error?.detail == message)
        }
        try store.importSchema(
            """
            DEFINE SCHEMA RECORD TYPE Note (
                "___recordID" REFERENCE QUERYABLE, "___createTime" TIMESTAMP SORTABLE, text STRING QUERYABLE);
            """)
        #expect(try await database.records(matching: query("TRUEPREDICATE")).matchResults.count == 1)
        #expect(try await database.records(matching: sorted).matchResults.count == 1)
    }
}
