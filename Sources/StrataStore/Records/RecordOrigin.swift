import StrataModel
import StrataTree
import StrataViews

/// The common properties of the records of a state in one zone.
final class RecordOrigin: Sendable {
    let database: DatabaseID
    let zone: ZoneID
    let snapshot: Snapshot
    let context: SnapshotContext
    /// Nil for all keys.
    let desiredKeys: FieldSet?
    /// The names that had been looked up before.
    let known: KnownTexts
    /// The key of the states of shares, which readers never see; nil if the store has no shares.
    let shareStateField: UInt32?

    init(
        _ database: DatabaseID, _ zone: ZoneID, _ snapshot: Snapshot, _ context: SnapshotContext,
        desiredKeys: FieldSet?
    ) throws {
        self.database = database
        self.zone = zone
        self.snapshot = snapshot
        self.context = context
        self.desiredKeys = desiredKeys
        known = context.names.knownTexts
        shareStateField =
            try snapshot.isUnused(ViewTree.shares)
            ? nil : context.names.ordinal(of: .field(ShareState.key), in: snapshot).map { UInt32($0) }
    }

    private init(_ origin: RecordOrigin, desiredKeys: FieldSet) {
        database = origin.database
        zone = origin.zone
        snapshot = origin.snapshot
        context = origin.context
        self.desiredKeys = desiredKeys
        known = origin.known
        shareStateField = origin.shareStateField
    }

    func isDesired(_ field: UInt32) -> Bool { field != shareStateField && desiredKeys?.contains(field) ?? true }

    /// Returns the same origin for records of which only some keys are desired.
    func desiring(_ keys: FieldSet) -> RecordOrigin { RecordOrigin(self, desiredKeys: keys) }

    /// Returns the same origin for another zone.
    func inZone(_ other: ZoneID) throws -> RecordOrigin {
        zone == other ? self : try RecordOrigin(database, other, snapshot, context, desiredKeys: desiredKeys)
    }

    /// The database that has the records, whose owner's key seals encrypted values.
    var home: DatabaseID {
        get throws {
            guard database.scope == .shared,
                let owner = try snapshot.user(at: UserAddress(.recordName, zone.owner))
            else { return database }
            return DatabaseID(.private, owner: try context.names.user(owner, in: snapshot))
        }
    }
}
