import CloudKit
import StrataSystem
import TestSupport

/// Where a client learns what others have done: the feed of a zone, through all doors that it has.
///
/// - Throws: `changeTokenExpired` for a token that is of no use any more.
final class ChangeSource: Sendable {
    private let database: CKDatabase
    private let random: Lock<SeededGenerator>

    init(_ database: CKDatabase, seed: UInt64) {
        self.database = database
        random = Lock(SeededGenerator(seed: seed))
    }

    /// What has become of a zone's records since a token; from nil, what is there.
    func changes(in zone: CKRecordZone.ID, since token: CKServerChangeToken?) async throws -> ZoneChanges {
        let (door, limit) = random.withLock { ($0.next(below: 3), [0, 1, 2, 5][$0.next(below: 4)]) }
        return switch door {
        case 0: try await pages(zone, token, limit)
        case 1: try await operation(zone, token, limit, fetchesAll: true)
        default: try await operation(zone, token, limit, fetchesAll: false)
        }
    }

    private func pages(
        _ zone: CKRecordZone.ID, _ token: CKServerChangeToken?, _ limit: Int
    ) async throws -> ZoneChanges {
        var token = token
        var changes = ZoneChanges()
        while true {
            let page = try await database.recordZoneChanges(inZoneWith: zone, since: token, resultsLimit: limit)
            for (_, result) in page.modificationResultsByID { changes.events.append(.changed(try result.get().record)) }
            changes.events += page.deletions.map { .deleted($0.recordID) }
            changes.token = page.changeToken
            token = page.changeToken
            if !page.moreComing { return changes }
        }
    }

    private func operation(
        _ zone: CKRecordZone.ID, _ token: CKServerChangeToken?, _ limit: Int, fetchesAll: Bool
    ) async throws -> ZoneChanges {
        var token = token
        let changes = Lock(ZoneChanges())
        while true {
            let since = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
                previousServerChangeToken: token, resultsLimit: limit)
            let operation = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: [zone], configurationsByRecordZoneID: [zone: since])
            operation.fetchAllChanges = fetchesAll
            let outcome = Lock<Result<Bool, Error>?>(nil)
            operation.recordWasChangedBlock = { _, result in
                if let record = try? result.get() { changes.withLock { $0.events.append(.changed(record)) } }
            }
            operation.recordWithIDWasDeletedBlock = { id, _ in changes.withLock { $0.events.append(.deleted(id)) } }
            operation.recordZoneFetchResultBlock = { _, result in
                if let token = try? result.get().serverChangeToken { changes.withLock { $0.token = token } }
                outcome.withLock { $0 = result.map(\.moreComing) }
            }
            await operation.finish { database.add($0) }
            let moreComing = try outcome.withLock { $0 }?.get() ?? false
            token = changes.withLock { $0.token }
            if !moreComing { return changes.withLock { $0 } }
        }
    }
}

/// What a feed told, in its order.
struct ZoneChanges {
    enum Event {
        case changed(CKRecord)
        case deleted(CKRecord.ID)
    }

    var events: [Event] = []
    var token: CKServerChangeToken?

    var changed: [CKRecord] {
        events.compactMap { event in
            if case .changed(let record) = event { record } else { nil }
        }
    }
}
