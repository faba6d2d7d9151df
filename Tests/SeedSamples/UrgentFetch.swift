import CloudKit

/// Reads records with a quality of service above the usual one, for the length of one body.
public func urgentFetch(
    of recordIDs: [CKRecord.ID], from container: CKContainer = .default()
) async throws -> [CKRecord.ID: Result<CKRecord, Error>] {
    let records = container.privateCloudDatabase

    let urgent = CKOperation.Configuration()
    urgent.qualityOfService = .userInitiated

    return try await records.configuredWith(configuration: urgent) { database in
        try await database.records(for: recordIDs)
    }
}
