import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// A zone as clients see it.
public struct Zone: Sendable, Hashable {
    /// The ID of the zone. Its owner is empty, for the owner of the database, however the zone was requested; in the
    /// shared database, the owner is the name of the owner's record.
    public let id: ZoneID
    public let version: Version
    public let capabilities: ZoneCapabilities
    public let encryptionScope: EncryptionScope
    /// The number of records; 0 in the shared database, which does not disclose how many others there are.
    public let recordCount: UInt64
    /// The name of the record of the share that covers the whole zone.
    package let share: String?

    init(_ id: ZoneID, _ row: ZoneRow, share: String?) {
        self.id = id
        self.share = share
        version = row.version
        capabilities = row.capabilities
        encryptionScope = row.encryptionScope
        recordCount = row.recordCount
    }

    /// Creates the zone as a member gets it, whom it offers neither kind of sharing (B359).
    init(_ member: MemberZone, _ trees: Snapshot) throws {
        let (id, shared) = (member.id, member.zone)
        guard let row = try trees.zoneRow(shared.database, shared.zone) else { throw Refusal.missingZone(id.name) }
        self.id = id
        version = row.version
        capabilities = [.fetchChanges, .atomic]
        encryptionScope = row.encryptionScope
        recordCount = 0
        share = shared.zonePermission == nil ? nil : ShareState.zoneWideName
    }

    /// The default zone before it is first written to (B30).
    static let unwrittenDefault = Zone()

    private init() {
        id = .default
        version = Version(offset: 0, eventIndex: 0)
        capabilities = []
        encryptionScope = .record
        recordCount = 0
        share = nil
    }
}

extension TreeReading {
    /// Returns the name of the share that covers a whole zone; nil if there is none.
    func zoneWideShare(of zone: UInt64) throws -> String? {
        try withRecord(RecordKey(zone: zone, name: ShareState.zoneWideName)) { _ in ShareState.zoneWideName }
    }
}
