import CloudKit
import Foundation
import Testing

@Suite("Queries, rule by rule", .timeLimit(.minutes(2)))
struct QueryRuleTests {
    private typealias Cursor = CKQueryOperation.Cursor

    private func notes(_ options: CloudStore.Options = .service, count: Int = 5) async throws -> NotesStore {
        let notes = try await NotesStore(options)
        let records = (0..<count).map { number in
            let note = notes.note("n\(number)", "note \(number)")
            note["rank"] = number
            note["tags"] = ["all", number % 2 == 0 ? "even" : "odd"]
            note["data"] = Data([UInt8(number % 256)])
            note["place"] = CLLocation(latitude: Double(number), longitude: 0)
            return note
        }
        for start in stride(from: 0, to: count, by: 400) {
            _ = try await notes.database.modifyRecords(
                saving: Array(records[start..<min(start + 400, count)]), deleting: [])
        }
        return notes
    }

    private func query(_ predicate: NSPredicate, by key: String? = "rank", ascending: Bool = true) -> CKQuery {
        let query = CKQuery(recordType: "Note", predicate: predicate)
        if let key { query.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)] }
        return query
    }

    private func query(_ format: String, by key: String? = "rank", ascending: Bool = true) -> CKQuery {
        query(NSPredicate(format: format), by: key, ascending: ascending)
    }

    /// Names of the first page.
    private func names(_ query: CKQuery, _ notes: NotesStore) async throws -> [String] {
        try await notes.database.records(matching: query).matchResults.map(\.0.recordName)
    }

    private func names(_ format: String, _ notes: NotesStore) async throws -> [String] {
        try await names(query(format), notes)
    }

    private func error(_ body: () async throws -> Void) async -> CKError? {
        do { try await body() } catch { return error as? CKError }
        return nil
    }

    private func refusal(_ query: CKQuery, _ notes: NotesStore) async -> CKError? {
        await error { _ = try await notes.database.records(matching: query) }
    }

    @Test("B120: a query finds the records of its type for which the predicate holds, in order, again and again")
    func parts() async throws {
        let notes = try await notes()
        let other = CKRecord(recordType: "Other", recordID: notes.id("other"))
        other["rank"] = 2
        try await notes.database.save(other)
        let query = query("rank >= 2", ascending: false)
        for _ in 0..<2 { #expect(try await names(query, notes) == ["n4", "n3", "n2"]) }
    }

    @Test("B121: user records are not queried")
    func users() async throws {
        let notes = try await notes()
        let error = await refusal(CKQuery(recordType: "Users", predicate: NSPredicate(value: true)), notes)
        #expect(error?.code == .invalidArguments && error?.detail.contains("User records") == true)
    }

    @Test("B122: constants are predicates")
    func constants() async throws {
        let notes = try await notes()
        #expect(try await names(query(NSPredicate(value: true)), notes).count == 5)
        #expect(try await names(query(NSPredicate(value: false)), notes).isEmpty)
        let block = await refusal(query(NSPredicate { _, _ in true }), notes)
        #expect(block?.code == .invalidArguments)
    }

    @Test(
        "B123, B131, B134, B136: what is allowed",
        arguments: [
            ("rank = 2", "n2"), ("rank != 2 AND rank < 2", "n0 n1"), ("rank BETWEEN {1, 2}", "n1 n2"),
            ("rank IN {0, 4, 9}", "n0 n4"), ("text BEGINSWITH 'note 3'", "n3"), ("text BEGINSWITH 'Note'", ""),
            ("tags CONTAINS 'even' AND rank > 0", "n2 n4"), ("'odd' IN tags", "n1 n3"), ("ANY tags = 'odd'", "n1 n3"),
            ("SOME tags = 'odd'", "n1 n3"), ("ANY {0, 1} = rank", "n0 n1"), ("NOT rank < 3", "n3 n4"),
            ("text CONTAINS '4'", "n4"), ("text CONTAINS[c] 'NOTE 1'", "n1"), ("text CONTAINS 'NOTE 1'", ""),
            ("TRUEPREDICATE AND rank = 0", "n0"), ("NOT TRUEPREDICATE", ""), ("creationDate < now()", "n0 n1 n2 n3 n4"),
            ("text = 'NOTE 1'", ""), ("text ==[c] 'NOTE 1'", "n1"),
        ])
    func allowed(format: String, expected: String) async throws {
        #expect(try await names(format, notes()).joined(separator: " ") == expected)
        #expect(try await names(format, notes(.embedded)).joined(separator: " ") == expected)
    }

    @Test(
        "B124, B125: what the service refuses, with what to do instead; the other preset answers",
        arguments: [
            ("rank = 1 OR rank = 2", "OR", "n1 n2"), ("ALL tags = 'all'", "ALL", ""),
            ("NONE tags = 'odd'", "NONE", "n0 n2 n4"),
            ("text ENDSWITH '3'", "ENDSWITH", "n3"), ("text LIKE '*2'", "LIKE", "n2"),
            ("text MATCHES 'note [01]'", "MATCHES", "n0 n1"), ("tags.@count = 3", "@count", ""),
            ("NOT (rank = 1 AND rank = 1)", "NOT of an AND", "n0 n2 n3 n4"),
            ("NOT rank BETWEEN {0, 3}", "NOT of BETWEEN", "n4"),
            ("NOT self CONTAINS '3'", "word search", "n0 n1 n2 n4"),
            (
                "NOT distanceToLocation:fromLocation:(place, CAST({0, 0}, 'CLLocation')) < 300000", "NOT of a distance",
                "n3 n4"
            ),
            ("rank = nil", "nil", ""), ("rank = rank", "two keys", "n0 n1 n2 n3 n4"),
        ])
    func refused(format: String, part: String, expected: String) async throws {
        let error = await refusal(query(format), try await notes())
        #expect(error?.code == .invalidArguments)
        #expect(error?.detail.contains(part) == true, "\(String(describing: error))")
        #expect(try await names(format, notes(.embedded)).joined(separator: " ") == expected)
    }

    @Test("B124: a regular expression that cannot be read is refused; a query ends with its task")
    func expressions() async throws {
        let embedded = try await notes(.embedded)
        let error = await refusal(query("text MATCHES '('"), embedded)
        #expect(error?.code == .invalidArguments)
        let found = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await refusal(query("text MATCHES 'note 1'"), embedded)
        }.value
        #expect(found?.code == .operationCancelled)
    }

    @Test("B126: unknown keys and operands of another type: refused, or missing and never equal")
    func keys() async throws {
        for (format, part) in [
            ("nobody = 1", "nobody"), ("rank = 'x'", "rank"), ("text > 3", "text"), ("rank IN {1, 'x'}", "rank"),
        ] {
            let error = await refusal(query(format), try await notes())
            #expect(error?.code == .invalidArguments)
            #expect(error?.detail.contains(part) == true, "\(String(describing: error))")
        }
        let embedded = try await notes(.embedded)
        #expect(try await names("nobody = 1", embedded).isEmpty)
        #expect(try await names("rank = 'x'", embedded).isEmpty)
        #expect(try await names("nobody = nil", embedded).count == 5)
        #expect(try await names("rank IN {1, 'x'}", embedded) == ["n1"])
    }

    @Test("B127, B128: arguments of every class")
    func arguments() async throws {
        let notes = try await notes()
        let link = notes.note("link")
        link["to"] = CKRecord.Reference(recordID: notes.id("n1"), action: .none)
        link["due"] = Date(timeIntervalSinceReferenceDate: 100)
        try await notes.database.save(link)
        let target = try await notes.database.record(for: notes.id("n1"))
        // B138: the action does not count.
        let owning = CKRecord.Reference(recordID: notes.id("n1"), action: .deleteSelf)
        for predicate in [
            NSPredicate(format: "to = %@", owning), NSPredicate(format: "to = %@", target),
            NSPredicate(format: "to = %@", target.recordID),
            NSPredicate(format: "due = %@", Date(timeIntervalSinceReferenceDate: 100)),
            NSPredicate(format: "to IN %@", [owning]),
        ] {
            #expect(try await names(query(predicate), notes) == ["link"])
        }
        #expect(try await names(query(NSPredicate(format: "data = %@", Data([3]))), notes) == ["n3"])
        #expect(try await names(query(NSPredicate(format: "rank IN %@", [1, 2] as NSArray)), notes) == ["n1", "n2"])
        #expect(try await names(query(NSPredicate(format: "%K = %@", "text", "note 0")), notes) == ["n0"])
    }

    @Test("B129: system properties under both names, and what is missing")
    func systemKeys() async throws {
        let notes = try await notes(.embedded)
        let me = try await notes.phone.userRecordID()
        let start = Date(timeIntervalSince1970: 0)
        for predicate in [
            NSPredicate(format: "creationDate > %@", start), NSPredicate(format: "___modTime > %@", start),
            NSPredicate(format: "creatorUserRecordID = %@", me), NSPredicate(format: "___modifiedBy = %@", me),
        ] {
            #expect(try await names(query(predicate), notes).count == 5)
        }
        #expect(try await names(query(NSPredicate(format: "recordID = %@", notes.id("n2"))), notes) == ["n2"])
        let child = notes.note("child")
        child.parent = CKRecord.Reference(recordID: notes.id("n1"), action: .none)
        try await notes.database.save(child)
        #expect(try await names(query(NSPredicate(format: "parent = %@", notes.id("n1"))), notes) == ["child"])
        // The child has no rank.
        #expect(try await names("rank != 1", notes) == ["n0", "n2", "n3", "n4"])
        #expect(try await names("NOT (rank = 1)", notes) == ["child", "n0", "n2", "n3", "n4"])
    }

    @Test("B132, B133: words, any of them, without case, accents and stop words")
    func words() async throws {
        let notes = try await notes()
        try await notes.database.save(notes.note("fox", "The quick Füchse"))
        #expect(try await names("self CONTAINS 'fuchse cat'", notes) == ["fox"])
        #expect(try await names("self CONTAINS 'the'", notes).isEmpty)
        #expect(try await names("self CONTAINS 'quick' AND self CONTAINS 'cat'", notes).isEmpty)
        #expect(try await names("self CONTAINS 'quick' AND self CONTAINS 'FÜCHSE'", notes) == ["fox"])
    }

    @Test("B137, B140: metres, and the nearest first")
    func distances() async throws {
        let notes = try await notes()
        let here = CLLocation(latitude: 2, longitude: 0)
        let call = "distanceToLocation:fromLocation:(place, %@)"
        #expect(try await names(query(NSPredicate(format: call + " < %f", here, 111_000.0)), notes) == ["n2"])
        #expect(
            try await names(query(NSPredicate(format: "%f > " + call, 112_000.0, here)), notes) == ["n1", "n2", "n3"])
        let nearest = query("rank < 4", by: nil)
        nearest.sortDescriptors = [CKLocationSortDescriptor(key: "place", relativeLocation: here)]
        #expect(try await names(nearest, notes) == ["n2", "n1", "n3", "n0"])
    }

    @Test("B139: missing first when ascending, texts by scalars, ties by name and zone; unknown sort keys")
    func order() async throws {
        let notes = try await notes()
        let other = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n1"))
        other["rank"] = 1
        for record in [notes.note("none"), other] { try await notes.database.save(record) }
        #expect(try await names(query("TRUEPREDICATE"), notes).prefix(2) == ["none", "n0"])
        #expect(try await names(query("TRUEPREDICATE", ascending: false), notes).suffix(2) == ["n0", "none"])
        let tied = try await notes.database.records(matching: query("rank = 1"))
        #expect(tied.matchResults.map(\.0.zoneID.zoneName) == ["_defaultZone", "Notes"])
        #expect(await refusal(query("rank = 1", by: "nobody"), notes)?.code == .invalidArguments)
        #expect(await refusal(query("rank = 1", by: "tags"), notes)?.code == .invalidArguments)
        #expect(try await names(query("rank = 1", by: "nobody"), try await self.notes(.embedded)) == ["n1"])
    }

    @Test("B141, B142: zones, missing zones, and types that nobody saved")
    func places() async throws {
        let notes = try await notes()
        let all = query("TRUEPREDICATE")
        let found = try await notes.database.records(matching: all, inZoneWith: notes.zone)
        #expect(found.matchResults.count == 5)
        let home = CKRecordZone.default().zoneID
        #expect(try await notes.database.records(matching: all, inZoneWith: home).matchResults.isEmpty)
        let missing = CKRecordZone.ID(zoneName: "Missing")
        let lost = await error { _ = try await notes.database.records(matching: all, inZoneWith: missing) }
        #expect(lost?.code == .zoneNotFound)
        let shared = await error { _ = try await notes.phone.sharedCloudDatabase.records(matching: all) }
        #expect(shared?.code == .invalidArguments)
        #expect(shared?.detail.contains("SharedDB does not support Zone Wide queries") == true)
        let unknown = CKQuery(recordType: "Unknown", predicate: NSPredicate(value: true))
        let error = await refusal(unknown, notes)
        #expect(error?.code == .unknownItem)
        #expect(error?.detail.contains("Did not find record type: Unknown") == true)
        #expect(try await names(unknown, try await self.notes(.embedded)).isEmpty)
    }

    @Test("B143: a full page without more has no cursor, one more record makes one; pages have a maximum")
    func limits() async throws {
        let notes = try await notes(count: 401)
        func page(_ format: String, _ limit: Int) async throws -> (count: Int, cursor: CKQueryOperation.Cursor?) {
            let page = try await notes.database.records(matching: query(format), resultsLimit: limit)
            return (page.matchResults.count, page.queryCursor)
        }
        let exact = try await page("rank < 5", 5)
        #expect(exact.count == 5 && exact.cursor == nil)
        let more = try await page("rank < 6", 5)
        #expect(more.count == 5)
        let last = try await notes.database.records(continuingMatchFrom: #require(more.cursor), resultsLimit: 5)
        #expect(last.matchResults.map(\.0.recordName) == ["n5"] && last.queryCursor == nil)
        #expect(try await page("TRUEPREDICATE", 0).count == 200)
        #expect(try await page("TRUEPREDICATE", 1_000).count == 400)
        #expect(try await page("TRUEPREDICATE", 1_000).cursor != nil)
        #expect(await error { _ = try await page("TRUEPREDICATE", -1) }?.code == .invalidArguments)
    }

    @Test("B144: what is saved between pages makes nothing come twice or be missed")
    func savesBetweenPages() async throws {
        let notes = try await notes()
        let first = try await notes.database.records(matching: query("rank >= 0"), resultsLimit: 2)
        let early = notes.note("early")
        early["rank"] = 0
        try await notes.database.save(early)
        try await notes.database.deleteRecord(withID: notes.id("n1"))
        let rest = try await notes.database.records(continuingMatchFrom: #require(first.queryCursor))
        #expect(rest.matchResults.map(\.0.recordName) == ["n2", "n3", "n4"])
    }

    @Test("B145: each match once, in order, before the result; keys that are not desired can be asked for")
    func operation() async throws {
        let notes = try await notes()
        let operation = CKQueryOperation(query: query("rank >= 2", ascending: false))
        operation.desiredKeys = ["text"]
        let journal = Journal()
        operation.recordMatchedBlock = { id, result in
            let record = try? result.get()
            journal.add("\(id.recordName) \(record?.allKeys().sorted() ?? [])", result)
        }
        operation.queryResultBlock = { journal.add("result", $0.map { $0 != nil }) }
        await operation.finish { notes.database.add($0) }
        #expect(journal.entries.map { $0.prefix(2) } == ["n4", "n3", "n2", "re"])
        #expect(journal.entries.first?.contains("[\"text\"]") == true, "\(journal.entries)")
        #expect(journal.entries.first?.contains("rank") == false)
    }

    @Test("B146: the public database is queried by whoever is not signed in")
    func signedOut() async throws {
        let store = try CloudStore.inMemory()
        let database = store.container(user: "anna").publicCloudDatabase
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "public"))
        note["rank"] = 1
        try await database.save(note)
        let nobody = store.container(user: nil)
        let found = try await nobody.publicCloudDatabase.records(matching: query("rank = 1"))
        #expect(found.matchResults.map(\.0.recordName) == ["public"])
        let error = await error { _ = try await nobody.privateCloudDatabase.records(matching: query("rank = 1")) }
        #expect(error?.code == .notAuthenticated)
    }

    @Test("B264: the calls of the first generation give the first page, in order")
    @available(*, deprecated)
    func firstGeneration() async throws {
        let notes = try await notes(count: 201)
        let all = query("rank >= 0", ascending: false)
        let found = try await notes.database.perform(all, inZoneWith: nil)
        #expect(found.count == 200 && found.first?.recordID.recordName == "n200")
        #expect(try await notes.database.perform(all, inZoneWith: notes.zone).count == 200)
    }

    @Test("A cancelled operation ends with operationCancelled")
    func cancelled() async throws {
        let notes = try await notes(count: 2_000)
        let operation = CKQueryOperation(query: query("text CONTAINS[cd] 'é'"))
        let journal = Journal()
        operation.queryResultBlock = { journal.add("result", $0.map { $0 != nil }) }
        operation.cancel()
        await operation.finish { notes.database.add($0) }
        #expect(journal.entries.allSatisfy { $0.contains("operationCancelled") }, "\(journal.entries)")
    }

    // MARK: Cursors

    private func coded(_ cursor: CKQueryCursor) throws -> CKQueryCursor {
        let data = try NSKeyedArchiver.archivedData(withRootObject: cursor, requiringSecureCoding: true)
        return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQueryCursor.self, from: data))
    }

    @Test("B144: a cursor survives coding, and another life of the store")
    func lasting() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("query-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var cursor: CKQueryCursor?
        do {
            let store = try CloudStore(at: folder)
            let database = store.container(user: "anna").privateCloudDatabase
            let records = (0..<4).map { number in
                let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n\(number)"))
                record["rank"] = number
                return record
            }
            _ = try await database.modifyRecords(saving: records, deleting: [])
            cursor = try await database.records(matching: query("rank > 0"), resultsLimit: 1).queryCursor
            try store.close()
        }
        let store = try CloudStore(at: folder)
        defer { try? store.close() }
        let database = store.container(user: "anna").privateCloudDatabase
        let rest = try await database.records(continuingMatchFrom: coded(#require(cursor)))
        #expect(rest.matchResults.map(\.0.recordName) == ["n2", "n3"])
    }

    @Test("B144: a cursor of another store or database, or that is damaged, is refused")
    func foreign() async throws {
        let notes = try await notes()
        let cursor = try await #require(
            notes.database.records(matching: query("rank > 0"), resultsLimit: 1).queryCursor)
        let others = [
            try await self.notes().database, notes.store.container(user: "ben").privateCloudDatabase,
            notes.phone.publicCloudDatabase,
        ]
        for database in others {
            let error = await error { _ = try await database.records(continuingMatchFrom: cursor) }
            #expect(error?.code == .invalidArguments, "\(String(describing: error))")
        }
        let whole = try NSKeyedArchiver.archivedData(withRootObject: cursor, requiringSecureCoding: true)
        let bytes = try #require(Self.bytes(of: cursor))
        let place = try #require(whole.range(of: bytes))
        for index in bytes.indices {
            var damaged = whole
            damaged[place.lowerBound + index] ^= 0x41
            let wrong = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQueryCursor.self, from: damaged))
            let error = await error { _ = try await notes.database.records(continuingMatchFrom: wrong) }
            #expect(error?.code == .invalidArguments)
        }
    }

    /// A description has them, as base 64.
    private static func bytes(of cursor: CKQueryCursor) -> Data? {
        Data(base64Encoded: String(cursor.description.dropFirst("<CKQueryCursor: ".count).dropLast()))
    }

    @Test("A query of many or of long constants goes on like any other")
    func longQueries() async throws {
        let notes = try await notes(.embedded)
        let values = (0..<12_000).map { "no note \($0)" } + ["note 1", "note 3"]
        let many = query(NSPredicate(format: "text IN %@", values))
        let first = try await notes.database.records(matching: many, resultsLimit: 1)
        #expect(first.matchResults.map(\.0.recordName) == ["n1"])
        let rest = try await notes.database.records(continuingMatchFrom: #require(first.queryCursor))
        #expect(rest.matchResults.map(\.0.recordName) == ["n3"])
        for name in ["long1", "long2"] {
            try await notes.database.save(notes.note(name, String(repeating: "z", count: 1_500_000)))
        }
        let long = query("text BEGINSWITH 'z'", by: "text")
        let page = try await notes.database.records(matching: long, resultsLimit: 1)
        let last = try await notes.database.records(continuingMatchFrom: #require(page.queryCursor))
        #expect(last.matchResults.map(\.0.recordName) == ["long2"])
    }
}
