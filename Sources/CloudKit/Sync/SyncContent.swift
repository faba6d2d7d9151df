import Foundation
import StrataModel

/// Everything that an engine remembers (B444).
struct SyncContent: Sendable {
    /// The store; nil if it could not be opened.
    var store: Identifier?
    var scope: CKDatabase.Scope
    /// The record name of the last known user; nil if no one is signed in.
    var user: String?
    /// The subscription in use; nil before the first sync.
    var subscriptionID: CKSubscription.ID?
    var databaseToken: CKServerChangeToken?
    var zoneTokens: [CKRecordZone.ID: CKServerChangeToken] = [:]
    var unfetchedZones: [CKRecordZone.ID] = []
    var recordChanges = PendingList<CKSyncEngine.PendingRecordZoneChange>()
    var databaseChanges = PendingList<CKSyncEngine.PendingDatabaseChange>()
    var hasUntrackedChanges = false
    var lastFetch: Date?
    var lastPush: Date?

    var hasChangesToSend: Bool { !recordChanges.isEmpty || !databaseChanges.isEmpty || hasUntrackedChanges }

    /// Notes that the feed of the database named a zone.
    mutating func auditFeedRead(of zone: CKRecordZone.ID) {
        if !unfetchedZones.contains(zone) { unfetchedZones.append(zone) }
    }

    /// Forgets a zone that no longer exists; pending changes stay (B435).
    mutating func forget(_ zone: CKRecordZone.ID) {
        zoneTokens[zone] = nil
        unfetchedZones.removeAll { $0 == zone }
    }

    /// Forgets everything that belongs to a user (B452).
    mutating func clear() { self = SyncContent(store: store, scope: scope) }
}
