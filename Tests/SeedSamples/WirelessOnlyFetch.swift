import CloudKit

/// Reads records unless the only network is one that is paid for, and tells a handler.
public func wirelessOnlyFetch(
    of recordIDs: [CKRecord.ID], from container: CKContainer = .default(),
    completionHandler: @escaping (Result<[CKRecord.ID: Result<CKRecord, Error>], Error>) -> Void
) {
    let records = container.privateCloudDatabase

    let frugal = CKOperation.Configuration()
    frugal.allowsCellularAccess = false

    records.configuredWith(configuration: frugal) { database in
        database.fetch(withRecordIDs: recordIDs, completionHandler: completionHandler)
    }
}
