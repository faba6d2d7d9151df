import StrataModel
import StrataQuery
import StrataRules
import StrataTree
import StrataViews

/// Another user's zone as a member of its shares reads it.
final class MemberZone: Sendable {
    /// The ID of the zone in the shared databases of its members.
    let id: ZoneID
    let zone: SharedZone
    /// The shares that give the member access, in the order of their numbers.
    let shares: [ShareSavedEvent]
    let visible: VisibleRecords

    /// - Parameter shareType: the record type of shares.
    init(_ id: ZoneID, _ zone: SharedZone, shareType: UInt64?, in trees: Snapshot) throws {
        self.id = id
        self.zone = zone
        shares = try zone.shares(in: trees)
        visible = VisibleRecords(
            ofZone: zone.zone, shares: zone.zonePermission == nil ? shares : nil, shareType: shareType)
    }
}
