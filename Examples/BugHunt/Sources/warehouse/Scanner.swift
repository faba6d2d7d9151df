import CloudKit

/// A scanner that counts incoming pallets in one hall. An article has the count of each hall, and the total stock.
final class Scanner {
    private let database: CKDatabase
    private let hall: String
    private var articles: [CKRecord.ID: CKRecord] = [:]

    init(_ store: CloudStore, hall: String) {
        database = store.container(user: "anna", device: "scanner-\(hall)").privateCloudDatabase
        self.hall = hall
    }

    func refresh(_ id: CKRecord.ID) async throws { articles[id] = try await database.record(for: id) }

    func count(_ pallets: Int, of id: CKRecord.ID) async throws {
        guard let article = articles[id] else { return }
        article[hall] = (article[hall] ?? 0) + pallets
        article["stock"] = (article["stock"] ?? 0) + pallets
        do { articles[id] = try await database.save(article) } catch CKError.serverRecordChanged {
            // The error. It does get the count through, with the stock from before another one.
            let results = try await database.modifyRecords(saving: [article], deleting: [], savePolicy: .changedKeys)
            articles[id] = try results.saveResults[id]?.get()
        }
    }
}
