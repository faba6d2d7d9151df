import CloudKit
import Foundation
import Testing

/// What grants and roles let clients do in the public database (B391 to B397).
@Suite(.timeLimit(.minutes(1)))
struct PublicRoleTests {
    private let store: CloudStore

    init() throws { store = try CloudStore.inMemory() }

    private func database(_ user: String?) -> CKDatabase { store.container(user: user).publicCloudDatabase }

    private func declare(_ grants: String) throws {
        try store.importSchema(
            "DEFINE SCHEMA CREATE ROLE Editors; RECORD TYPE Article (title STRING QUERYABLE, \(grants));")
    }

    private func article(_ name: String, _ title: String = "title") -> CKRecord {
        let record = CKRecord(recordType: "Article", recordID: CKRecord.ID(recordName: name))
        record["title"] = title
        return record
    }

    private func error(_ body: () async throws -> some Any) async -> CKError? {
        do { _ = try await body() } catch { return error as? CKError }
        return nil
    }

    private let all = CKQuery(recordType: "Article", predicate: NSPredicate(value: true))

    @Test func `Scenario 20 public roles`() async throws {
        try declare("GRANT READ TO \"_icloud\", GRANT CREATE TO Editors, GRANT WRITE TO \"_creator\"")
        try store.console.setRole("Editors", of: ["ed", "eve"])
        let (guest, user, editor) = (database(nil), database("ursula"), database("ed"))
        let refused = await error { try await user.save(article("a")) }
        #expect(refused?.code == .permissionFailure)
        #expect(
            refused?.detail.hasPrefix(
                """
                Error saving record <CKRecordID: a:(_defaultZone:__defaultOwner__)> to server: CREATE operation not \
                permitted
                """) == true)
        try await editor.save(article("a"))
        let id = CKRecord.ID(recordName: "a")
        #expect(try await user.record(for: id)["title"] == "title")
        #expect(await error { try await guest.record(for: id) }?.code == .permissionFailure)
        #expect(await error { try await guest.records(matching: all) }?.code == .permissionFailure)
        #expect(try await user.records(matching: all).matchResults.count == 1)
        // An editor creates, but changes only what is his own.
        try await database("eve").save(article("b"))
        let other = try await editor.record(for: CKRecord.ID(recordName: "b"))
        other["title"] = "changed"
        let unchanged = await error { try await editor.save(other) }
        #expect(unchanged?.code == .permissionFailure)
        #expect(unchanged?.detail.contains("> to server: WRITE operation not permitted") == true)
        try declare("GRANT READ TO \"_icloud\", GRANT CREATE, WRITE TO Editors")
        #expect(try await editor.save(other)["title"] == "changed")
        // A role that is taken away is gone at once.
        try store.console.setRole("Editors", of: ["eve"])
        other["title"] = "again"
        #expect(await error { try await editor.save(other) }?.code == .permissionFailure)
    }

    @Test func `B393 without an account nothing is written, whatever everybody is granted`() async throws {
        try declare("GRANT READ, CREATE, WRITE TO \"_world\"")
        try await database("anna").save(article("a"))
        let guest = database(nil)
        let record = try await guest.record(for: CKRecord.ID(recordName: "a"))
        record["title"] = "mine"
        #expect(await error { try await guest.save(record) }?.code == .notAuthenticated)
        #expect(await error { try await guest.save(article("b")) }?.code == .notAuthenticated)
        #expect(await error { try await guest.deleteRecord(withID: record.recordID) }?.code == .notAuthenticated)
        #expect(try await guest.records(matching: all).matchResults.count == 1)
    }

    @Test func `B395 a record that may not be read is refused alone, and comes with no query`() async throws {
        try declare("GRANT READ TO \"_creator\", GRANT CREATE TO \"_icloud\"")
        for number in 0..<6 { try await database(number % 2 == 0 ? "anna" : "ben").save(article("\(number)")) }
        let anna = database("anna")
        let ids = (0..<7).map { CKRecord.ID(recordName: "\($0)") }
        let results = try await anna.records(for: ids)
        let codes = ids.map { id -> CKError.Code? in
            if case .failure(let error)? = results[id] { (error as? CKError)?.code } else { nil }
        }
        let no = CKError.Code.permissionFailure
        #expect(codes == [nil, no, nil, no, nil, no, .unknownItem])
        let message = await error { try await anna.record(for: ids[1]) }?.detail
        #expect(message?.contains("> from server: Access failure") == true)
        var (page, cursor) = try await anna.records(matching: all, resultsLimit: 2)
        #expect(page.count == 2)
        while let next = cursor {
            let more = try await anna.records(continuingMatchFrom: next, resultsLimit: 2)
            (page, cursor) = (page + more.matchResults, more.queryCursor)
        }
        #expect(Set(page.map(\.0.recordName)) == ["0", "2", "4"])
        // The past shows what it showed then.
        try declare("GRANT READ TO \"_icloud\"")
        let past = try store.asOf(store.offset - 1)
        let then = past.container(user: "anna").publicCloudDatabase
        #expect(await error { try await then.record(for: ids[1]) }?.code == no)
        #expect(await error { try await anna.record(for: ids[1]) } == nil)
    }

    @Test func `B395 nobody reads everything by calling themselves the service`() async throws {
        try declare("GRANT READ, WRITE TO \"_creator\", GRANT CREATE TO \"_icloud\"")
        try await database("anna").save(article("a"))
        let impostor = store.container(user: "_service", device: "").publicCloudDatabase
        let refused = await error { try await impostor.record(for: CKRecord.ID(recordName: "a")) }
        #expect(refused?.code == .permissionFailure)
        #expect(try await impostor.records(matching: all).matchResults.isEmpty)
    }

    @Test func `B395 a plan does not count records that may not be read`() async throws {
        try declare("GRANT READ, WRITE TO \"_creator\", GRANT CREATE TO \"_icloud\"")
        try await database("anna").save(article("a", "secret"))
        let mallory = database("mallory")
        try await mallory.save(article("m", "own"))
        let query = CKQuery(recordType: "Article", predicate: NSPredicate(format: "title BEGINSWITH 's'"))
        #expect(try await mallory.records(matching: query).matchResults.isEmpty)
        for carryingOut in [false, true] {
            let refused = await error { try await mallory.queryPlan(for: query, carryingOut: carryingOut) }
            #expect(refused?.code == .permissionFailure, "\(carryingOut)")
        }
        try declare("GRANT READ TO \"_world\", GRANT CREATE TO \"_icloud\"")
        #expect(try await mallory.queryPlan(for: query, carryingOut: true).actual?.matches == 1)
    }

    @Test func `B395 an asset comes with its record, or not at all`() async throws {
        try declare("photo ASSET, GRANT READ TO \"_creator\", GRANT CREATE TO \"_icloud\"")
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("photo".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let record = article("a")
        record["photo"] = CKAsset(fileURL: url)
        try await database("anna").save(record)
        let asset: CKAsset? = try await database("anna").record(for: record.recordID)["photo"]
        #expect(asset?.fileURL.flatMap { try? Data(contentsOf: $0) } == Data("photo".utf8))
        let keys = try await database("ben").records(for: [record.recordID], desiredKeys: ["photo"])
        #expect(throws: CKError.self) { try keys[record.recordID]?.get() }
    }

    @Test func `B396 who may write and not read is shown no fields`() async throws {
        try await database("anna").save(article("a", "secret"))
        try declare("GRANT READ TO \"_creator\", GRANT WRITE TO Editors")
        try store.console.setRole("Editors", of: ["ed"])
        let editor = database("ed")
        let change = CKRecord(recordType: "Article", recordID: CKRecord.ID(recordName: "a"))
        change["note"] = "seen"
        let saved = try await editor.modifyRecords(saving: [change], deleting: [], savePolicy: .changedKeys)
        let returned = try #require(try saved.saveResults[change.recordID]?.get())
        #expect(returned.allKeys().isEmpty && returned["title"] == nil && returned["note"] == nil)
        #expect(returned.recordChangeTag != nil)
        let record = try await database("anna").record(for: change.recordID)
        #expect(record["title"] == "secret" && record["note"] == "seen")
        // What was returned can be saved again, and removes nothing.
        returned["note"] = "again"
        let again = try await editor.modifyRecords(saving: [returned], deleting: [], savePolicy: .allKeys)
        let second = try #require(try again.saveResults[change.recordID]?.get())
        let whole = try await database("anna").record(for: change.recordID)
        #expect(whole["title"] == "secret" && whole["note"] == "again")
        // A conflict shows what the client sent, and nothing else.
        let newer = try await database("ed").modifyRecords(saving: [second], deleting: [], savePolicy: .changedKeys)
        #expect(try newer.saveResults[change.recordID]?.get() != nil)
        returned["note"] = "stale"
        let conflict = await error { try await editor.save(returned) }
        #expect(conflict?.code == .serverRecordChanged)
        #expect(conflict?.clientRecord?["note"] == "stale")
        #expect(conflict?.serverRecord?.allKeys() == [] && conflict?.serverRecord?["title"] == nil)
        #expect(conflict?.ancestorRecord?.allKeys() == [] && conflict?.ancestorRecord?["title"] == nil)
        #expect(conflict?.serverRecord?.recordChangeTag == whole.recordChangeTag || conflict?.serverRecord != nil)
    }

    @Test func `B391 grants and roles survive the schema language`() throws {
        let text = """
            DEFINE SCHEMA

                CREATE ROLE Editors;

                CREATE ROLE Readers;

                RECORD TYPE Article (
                    title           STRING QUERYABLE,
                    GRANT READ, CREATE, WRITE TO Editors,
                    GRANT READ TO Readers,
                    GRANT WRITE TO "_creator",
                    GRANT CREATE TO "_icloud",
                    GRANT READ TO "_world"
                );

            """
        try store.importSchema(text)
        let exported = try store.exportSchema()
        for line in text.split(separator: "\n") { #expect(exported.contains(line.drop { $0 == " " }), "\(exported)") }
        let offset = store.offset
        try store.importSchema(exported)
        #expect(store.offset == offset)
        #expect(throws: CKError.self) { try store.console.setRole("_icloud", of: ["anna"]) }
    }
}
