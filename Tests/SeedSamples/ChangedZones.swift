import CloudKit

/// Asks the shared database which zones changed since a token. The document's own block is deprecated by now.
@available(*, deprecated)
public func changedZones(
    since token: CKServerChangeToken?, of container: CKContainer = .default(),
    tokenHandler: @escaping (CKServerChangeToken) -> Void, zonesHandler: @escaping ([CKRecordZone.ID], Error?) -> Void
) {
    let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)

    var changed: [CKRecordZone.ID] = []
    operation.recordZoneWithIDChangedBlock = { zoneID in changed.append(zoneID) }
    operation.changeTokenUpdatedBlock = { newToken in tokenHandler(newToken) }
    operation.fetchDatabaseChangesCompletionBlock = { newToken, _, error in
        if let newToken, error == nil { tokenHandler(newToken) }
        zonesHandler(changed, error)
    }

    operation.qualityOfService = .utility
    container.sharedCloudDatabase.add(operation)
}
