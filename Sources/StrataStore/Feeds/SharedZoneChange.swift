import StrataModel
import StrataTree
import StrataViews

/// The last change of a zone that a member of its shares sees, by its memberships and shares (docs/feeds.md §5).
struct SharedZoneChange {
    let zone: UInt64
    /// The offset of the last change of something visible, of the access or of the permission.
    private(set) var offset: UInt64 = 0
    /// True if the member sees anything in the zone.
    private(set) var isVisible = false

    fileprivate init(of zone: UInt64, _ memberships: some Sequence<Membership>, in trees: Snapshot) throws {
        self.zone = zone
        let database = try trees.databaseOrdinal(ofZone: zone) ?? 0
        let row = try trees.zoneRow(database, zone)
        for member in memberships {
            // What changes after the end of the access, such as a role, does not concern the member.
            offset = max(offset, (member.ended ?? member.changed).offset)
            guard member.givesAccess, let row, let share = try trees.share(member.share), !share.isEnded else {
                continue
            }
            guard row.status == .alive else {
                offset = max(offset, row.version.offset)
                continue
            }
            isVisible = true
            guard share.root != nil else {
                offset = max(offset, row.lastChanged)
                continue
            }
            let record = try trees.withRecord(share.record) { try RecordStateView($0, in: 0..<$0.count).version }
            offset = max(offset, record?.offset ?? 0, try trees.lastChange(ofShare: member.share)?.offset ?? 0)
        }
    }
}

extension Snapshot {
    /// Returns the zones in which a user has or had a share, in the order of their last visible changes.
    func sharedZoneChanges(of user: UInt64) throws -> [SharedZoneChange] {
        try Dictionary(grouping: memberships(of: user), by: \.zone)
            .map { try SharedZoneChange(of: $0, $1, in: self) }
            .sorted { ($0.offset, $0.zone) < ($1.offset, $1.zone) }
    }

    func sharedZoneChange(of user: UInt64, in zone: UInt64) throws -> SharedZoneChange {
        try SharedZoneChange(of: zone, memberships(of: user, in: zone), in: self)
    }
}
