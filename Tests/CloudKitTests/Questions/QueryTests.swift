import CloudKit
import Testing

@Suite("Queries and their order")
struct QueryTests {
    private func record(_ name: String, _ rank: Int?) -> CKRecord {
        let record = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: name))
        record["rank"] = rank
        return record
    }

    @Test("B139: records without the key come first when ascending")
    func order() {
        let records = [record("b", 2), record("none", nil), record("a", 1)]
        let ascending = NSSortDescriptor(key: "rank", ascending: true)
        let sorted = records.sorted { ascending.compare($0, to: $1) == .orderedAscending }
        #expect(sorted.map(\.recordID.recordName) == ["none", "a", "b"])
        let descending = ascending.reversedSortDescriptor as? NSSortDescriptor
        #expect(descending?.compare(records[0], to: records[2]) == .orderedAscending)
        #expect(ascending == NSSortDescriptor(key: "rank", ascending: true))
        #expect(ascending != descending)
        #expect(ascending.key == "rank" && ascending.ascending)
    }

    @Test("B139: texts are sorted by their Unicode scalars")
    func textOrder() {
        let ascending = NSSortDescriptor(key: "name", ascending: true)
        let names = ["ä", "Z", "a", "é", "e\u{301}"]
        let records = names.map { name in
            let record = record(name, nil)
            record["name"] = name
            return record
        }
        let sorted = records.sorted { ascending.compare($0, to: $1) == .orderedAscending }
        #expect(sorted.map(\.recordID.recordName) == ["Z", "a", "e\u{301}", "ä", "é"])
    }

    @Test("B140: the nearest first, whatever is asked for")
    func distance() {
        let here = CLLocation(latitude: 0, longitude: 0)
        let nearest = CKLocationSortDescriptor(key: "place", relativeLocation: here)
        let (near, far) = (record("near", nil), record("far", nil))
        near["place"] = CLLocation(latitude: 1, longitude: 1)
        far["place"] = CLLocation(latitude: 2, longitude: 2)
        #expect(nearest.compare(near, to: far) == .orderedAscending)
        let reversed = nearest.reversedSortDescriptor as? NSSortDescriptor
        #expect(reversed?.compare(near, to: far) == .orderedAscending)
        #expect(nearest.relativeLocation == here && nearest.key == "place")
    }

    @Test("B120, B253: type and predicate stay, and a query keeps no alias of what it was made from")
    func values() {
        let query = CKQuery(recordType: "T", predicate: NSPredicate(format: "a = 1"))
        #expect(query.recordType == "T")
        #expect(query.predicate == NSPredicate(format: "a == 1"))
        #expect(query == CKQuery(recordType: "T", predicate: NSPredicate(format: "a == 1")))
        #expect(query != CKQuery(recordType: "U", predicate: NSPredicate(format: "a == 1")))
        #expect("\(query)".contains("a == 1"))
    }

    /// Runs an operation to its end, and says what its block was told.
    private func error(of operation: CKQueryOperation) async throws -> CKError? {
        let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
        let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Bool, Error>, Never>) in
            operation.queryResultBlock = { done.resume(returning: $0.map { $0 != nil }) }
            database.add(operation)
        }
        guard case .failure(let error) = result else { return nil }
        return error as? CKError
    }

    @Test("B121, B122, B124, B126, B270: a query that cannot be asked fails when it is run, and says why")
    func mistakes() async throws {
        let block = NSPredicate { _, _ in true }
        let unsorted = CKQuery(recordType: "T", predicate: NSPredicate(value: true))
        unsorted.sortDescriptors = [NSSortDescriptor(keyPath: \CKRecord.recordType, ascending: true)]
        let table: [(CKQuery, String)] = [
            (CKQuery(recordType: "", predicate: NSPredicate(value: true)), "record type is empty"),
            (CKQuery(recordType: "Users", predicate: NSPredicate(value: true)), "User records"),
            (CKQuery(recordType: "T", predicate: NSPredicate(format: "a ==")), "position 5"),
            (CKQuery(recordType: "T", predicate: NSPredicate(format: "a = %@")), "too few arguments"),
            (CKQuery(recordType: "T", predicate: block), "block"),
            (CKQuery(recordType: "T", predicate: NSPredicate(format: "a = 1 OR b = 2")), "OR"),
            (unsorted, "sort descriptor"),
        ]
        for (query, reason) in table {
            let error = try await error(of: CKQueryOperation(query: query))
            #expect(error?.code == .invalidArguments)
            #expect(error?.detail.contains(reason) == true, "\(String(describing: error))")
        }
        #expect(try await error(of: CKQueryOperation())?.code == .invalidArguments)
        let negative = CKQueryOperation(query: CKQuery(recordType: "T", predicate: NSPredicate(value: true)))
        negative.resultsLimit = -1
        #expect(try await error(of: negative)?.code == .invalidArguments)
    }
}
