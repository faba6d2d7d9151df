import Foundation
import StrataModel
import StrataStore

extension SyncContent {
    func encoded() -> Data {
        var state = SyncState(store: store, scope: scope.engine)
        state.user = user
        state.subscriptionID = subscriptionID
        state.hasUntrackedChanges = hasUntrackedChanges
        state.lastFetch = lastFetch?.timeIntervalSinceReferenceDate
        state.lastPush = lastPush?.timeIntervalSinceReferenceDate
        state.databaseToken = databaseToken?.bytes
        state.zoneTokens = zoneTokens.map { ($0.model, $1.bytes) }
        state.unfetchedZones = unfetchedZones.map(\.model)
        state.zoneChanges = databaseChanges.changes.map { change in
            switch change {
            case .deleteZone(let id): (id.model, .delete)
            case .saveZone(let zone): (zone.zoneID.model, zone.encryptionScope == .perZone ? .saveWithOwnKey : .save)
            }
        }
        state.recordChanges = recordChanges.changes.map { ($0.itemID.model, $0.isSave) }
        return Data(state.encoded())
    }

    /// - Throws: `StrataError` if the bytes are damaged or of another version.
    init(decoding data: Data) throws {
        let state = try SyncState(decoding: [UInt8](data))
        self.init(store: state.store, scope: CKDatabase.Scope(state.scope))
        user = state.user
        subscriptionID = state.subscriptionID
        hasUntrackedChanges = state.hasUntrackedChanges
        lastFetch = state.lastFetch.map { Date(timeIntervalSinceReferenceDate: $0) }
        lastPush = state.lastPush.map { Date(timeIntervalSinceReferenceDate: $0) }
        databaseToken = state.databaseToken.map { CKServerChangeToken(bytes: $0) }
        // One object for all records of a zone.
        var zones: [ZoneID: CKRecordZone.ID] = [:]
        func id(_ zone: ZoneID) -> CKRecordZone.ID {
            if let id = zones[zone] { return id }
            let id = CKRecordZone.ID(zone)
            zones[zone] = id
            return id
        }
        for (zone, token) in state.zoneTokens { zoneTokens[id(zone)] = CKServerChangeToken(bytes: token) }
        unfetchedZones = state.unfetchedZones.map(id)
        for (zone, change) in state.zoneChanges {
            let saved = CKRecordZone(zoneID: id(zone))
            if change == .saveWithOwnKey { saved.encryptionScope = .perZone }
            _ = databaseChanges.add(change == .delete ? .deleteZone(id(zone)) : .saveZone(saved))
        }
        for (record, isSave) in state.recordChanges {
            let id = CKRecord.ID(recordName: record.name, zoneID: id(record.zone))
            _ = recordChanges.add(isSave ? .saveRecord(id) : .deleteRecord(id))
        }
    }
}
