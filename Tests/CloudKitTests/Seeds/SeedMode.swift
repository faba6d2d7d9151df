import CloudKit
import SeedSamples
import SeedSamplesSwift5

/// The documents' scenarios as the compiler of one language mode made them.
enum SeedMode: CaseIterable {
    case swift5, swift6

    /// Keeps a record's metadata beside a model, and makes the record again from it.
    func cached(_ record: CKRecord) throws -> CKRecord? {
        switch self {
        case .swift5:
            let product = SeedSamplesSwift5.CachedProduct()
            SeedSamplesSwift5.keepMetadata(of: record, on: product)
            return try SeedSamplesSwift5.recordFromMetadata(of: product)
        case .swift6:
            let product = SeedSamples.CachedProduct()
            SeedSamples.keepMetadata(of: record, on: product)
            return try SeedSamples.recordFromMetadata(of: product)
        }
    }

    func saveHierarchy(
        _ invoice: CKRecord, _ line: CKRecord, deleting old: [CKRecord.ID], in database: CKDatabase,
        each: @escaping (CKRecord.ID, Error?) -> Void, finished: @escaping (Error?) -> Void
    ) {
        switch self {
        case .swift5:
            SeedSamplesSwift5.saveHierarchy(
                invoice, line, deleting: old, in: database, each: each, finished: finished)
        case .swift6:
            SeedSamples.saveHierarchy(invoice, line, deleting: old, in: database, each: each, finished: finished)
        }
    }

    func urgentFetch(
        of ids: [CKRecord.ID], from container: CKContainer
    ) async throws -> [CKRecord.ID: Result<CKRecord, Error>] {
        switch self {
        case .swift5: try await SeedSamplesSwift5.urgentFetch(of: ids, from: container)
        case .swift6: try await SeedSamples.urgentFetch(of: ids, from: container)
        }
    }

    func wirelessOnlyFetch(
        of ids: [CKRecord.ID], from container: CKContainer
    ) async throws -> [CKRecord.ID: Result<CKRecord, Error>] {
        try await withCheckedThrowingContinuation { continuation in
            switch self {
            case .swift5:
                SeedSamplesSwift5.wirelessOnlyFetch(of: ids, from: container) { continuation.resume(with: $0) }
            case .swift6:
                SeedSamples.wirelessOnlyFetch(of: ids, from: container) { continuation.resume(with: $0) }
            }
        }
    }

    @available(*, deprecated)
    func changedZones(
        since token: CKServerChangeToken?, of container: CKContainer,
        tokenHandler: @escaping (CKServerChangeToken) -> Void,
        zonesHandler: @escaping ([CKRecordZone.ID], Error?) -> Void
    ) {
        switch self {
        case .swift5:
            SeedSamplesSwift5.changedZones(
                since: token, of: container, tokenHandler: tokenHandler, zonesHandler: zonesHandler)
        case .swift6:
            SeedSamples.changedZones(
                since: token, of: container, tokenHandler: tokenHandler, zonesHandler: zonesHandler)
        }
    }

    func propertySearch(in zone: CKRecordZone) -> CKQueryOperation {
        switch self {
        case .swift5: SeedSamplesSwift5.propertySearch(in: zone)
        case .swift6: SeedSamples.propertySearch(in: zone)
        }
    }
}
