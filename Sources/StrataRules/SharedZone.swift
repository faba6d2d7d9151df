import StrataModel
import StrataTree
import StrataViews

/// Another user's zone as a member of its shares finds it in the shared database.
package struct SharedZone: Sendable {
    /// The ordinal of the member; 0 for a user whom the state does not know.
    package let member: UInt64
    /// The ordinals of the zone's owner, of the owner's private database, and of the zone.
    package let owner: UInt64
    package let database: UInt64
    package let zone: UInt64
    /// The user's memberships in the zone, including those that have ended.
    package let memberships: [Membership]
    /// The permission of the share that covers the whole zone; nil without membership in such a share.
    package let zonePermission: SharePermission?
    /// The permissions in hierarchical shares, by the numbers of the shares.
    package let hierarchies: [UInt64: SharePermission]
    /// The memberships that give the user access, in the order of their shares.
    package let current: [Membership]

    /// Finds the zone of an ID whose owner is the record name of another user. Rules and readers use the same method.
    ///
    /// - Parameters:
    ///   - user: the ordinal of the member; 0 if the state has none.
    ///   - recordName: the name of the member's own record.
    ///   - ordinal: looks up a name.
    /// - Throws: ``Refusal`` for a zone that does not belong to the user's shared database (B30, B358).
    package init(
        _ id: ZoneID, of user: UInt64, recordName: @autoclosure () throws -> String, in trees: some TreeReading,
        ordinal: (InternedName.Name) throws -> UInt64?
    ) throws {
        if id.isDefault { throw Refusal.missingZone(id.name) }
        guard try !ZoneLookup.isOwner(id.owner, recordName: recordName()),
            let owner = try trees.user(at: UserAddress(.recordName, id.owner)),
            let database = try ordinal(.database(.private, owner: owner)),
            let zone = try ordinal(.zone(database: database, owner: owner, id.name))
        else { throw Refusal.zoneNotShared }
        (member, self.owner, self.database, self.zone) = (user, owner, database, zone)
        memberships = try trees.memberships(of: user, in: zone)
        if memberships.isEmpty { throw Refusal.zoneNotShared }
        current = memberships.filter(\.givesAccess)
        guard let first = current.first, try trees.zoneStatus(database, zone) == .alive else {
            throw Refusal.missingZone(id.name, rule: .zonesOfMembers)
        }
        // A zone has either one share as a whole or shares of hierarchies (B310, B311), so one of them tells.
        if try trees.share(first.share)?.root == nil {
            (zonePermission, hierarchies) = (first.permission, [:])
        } else {
            zonePermission = nil
            hierarchies = Dictionary(current.map { ($0.share, $0.permission) }) { $1 }
        }
    }

    /// Returns the shares that give the user access, in the order of their numbers.
    package func shares(in trees: some TreeReading) throws -> [ShareSavedEvent] {
        try current.compactMap { try trees.share($0.share) }
    }

    /// Returns the permission for a record of the zone; nil if the user does not see the record.
    ///
    /// - Parameter share: the share that the record belongs to, looked up only if a share of the whole zone does not
    ///   decide; nil for none. For the record of a share, the share itself.
    package func permission(ofRecordIn share: @autoclosure () throws -> UInt64?) rethrows -> SharePermission? {
        if let zonePermission { return zonePermission }
        return try share().flatMap { hierarchies[$0] }
    }
}

extension Refusal {
    /// The refusal for a zone of the user's own, or one that was never shared with the user, in the shared database.
    static let zoneNotShared = Refusal(
        .invalidArguments, "Only shared zones can be accessed in the shared DB", rule: .zonesOfMembers)
}
