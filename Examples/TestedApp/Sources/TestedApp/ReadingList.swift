import CloudKit

/// The page up to which a user has read each book, by ISBN, on all devices. Of two pages the higher one counts.
public actor ReadingList {
    private let database: CKDatabase
    private let wait: @Sendable (TimeInterval) async throws -> Void
    private let zoneID = CKRecordZone.ID(zoneName: "Books")
    private var token: CKServerChangeToken?
    /// The records as the cloud last had them.
    private var records: [String: CKRecord] = [:]
    private var unsent: [String: Int] = [:]

    /// - Parameter wait: Waits for a number of seconds; called before a request is repeated.
    public init(_ database: CKDatabase, wait: @escaping @Sendable (TimeInterval) async throws -> Void) {
        (self.database, self.wait) = (database, wait)
    }

    public var pages: [String: Int] { records.mapValues { $0["page"] ?? 0 }.merging(unsent, uniquingKeysWith: max) }

    public func read(_ isbn: String, to page: Int) { unsent[isbn] = max(page, unsent[isbn] ?? 0) }

    /// Takes over the changes of other devices.
    public func fetch() async throws {
        do {
            let changes = try await repeating { try await database.recordZoneChanges(inZoneWith: zoneID, since: token) }
            if token == nil { records = [:] }  // A fetch from the beginning does not report what was deleted.
            for (id, change) in changes.modificationResultsByID { records[id.recordName] = try change.get().record }
            for deletion in changes.deletions { records[deletion.recordID.recordName] = nil }
            token = changes.changeToken
            if changes.moreComing { try await fetch() }
        } catch CKError.changeTokenExpired {
            token = nil
            try await fetch()
        } catch CKError.zoneNotFound {}  // No device has sent anything yet.
    }

    /// Sends the changes of this device.
    public func send() async throws {
        while !unsent.isEmpty {
            let saves = unsent.map { isbn, page in
                let id = CKRecord.ID(recordName: isbn, zoneID: zoneID)
                let record = records[isbn]?.copy() as? CKRecord ?? CKRecord(recordType: "Book", recordID: id)
                record["page"] = max(page, record["page"] ?? 0)
                return record
            }
            let results = try await repeating {
                try await database.modifyRecords(
                    saving: saves, deleting: [], savePolicy: .ifServerRecordUnchanged, atomically: false)
            }
            for (id, result) in results.saveResults {
                switch result {
                case .success(let record): records[id.recordName] = record
                case .failure(let error as CKError) where error.code == .serverRecordChanged:
                    records[id.recordName] = error.serverRecord
                case .failure(CKError.unknownItem): records[id.recordName] = nil
                case .failure(CKError.zoneNotFound): try await database.save(CKRecordZone(zoneID: zoneID))
                case .failure(let error): throw error
                }
            }
            unsent = unsent.filter { isbn, page in page > records[isbn]?["page"] ?? 0 }
        }
    }

    /// Makes a request, and once more after the time that the service asks for.
    private func repeating<Value>(_ request: () async throws -> Value) async throws -> Value {
        do { return try await request() } catch let error as CKError where error.retryAfterSeconds != nil {
            try await wait(error.retryAfterSeconds ?? 0)
            return try await request()
        }
    }
}
