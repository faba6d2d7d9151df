import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// The description of a share for a user who has its URL, before and after joining.
package struct ShareMetadata: Sendable {
    /// The share's record.
    package var record: Record
    /// The state of the share as the user gets it.
    package var state: ShareState
    package var zone: ZoneID
    /// The name of the user who owns the share.
    package var owner: String
    /// The root of the hierarchy; nil if the share covers its whole zone.
    package var root: RecordID?
    /// The root's record, if it was requested.
    package var rootRecord: Record?
    /// The role of the user who asks, whether that user has accepted, and the permission.
    package var role: ShareRole
    package var hasAccepted: Bool
    package var permission: SharePermission
}

extension StoreSnapshot {
    /// Returns the description of the share whose URL has a token (B343).
    ///
    /// ```swift
    /// let metadata = try store.snapshot().shareMetadata(ofToken: token, as: ben)
    /// if !metadata.hasAccepted { join(token) }
    /// ```
    ///
    /// - Parameters:
    ///   - desiredKeys: the keys of the root's record; nil for all.
    ///   - includesRoot: true if the root's record is requested. Ignored for a share of a whole zone.
    /// - Throws: ``Refusal`` if there is no such share, or none for this user (B346).
    package func shareMetadata(
        ofToken token: String, desiredKeys: [String]? = nil, includesRoot: Bool = false, as actor: Actor
    ) throws -> ShareMetadata {
        try actor.requireSignedIn()
        return try reading { trees in
            try names.requireAvailable(actor, in: trees)
            guard let (number, oneTimeID) = try trees.share(ofToken: token), let share = try trees.share(number),
                let bytes = try trees.withRecord(share.record, { [UInt8]($0) })
            else { throw Refusal.missingShare }
            let (home, name) = try names.resolver(in: trees).requiredZone(share.record.zone)
            let isOwner = isSameText(home.owner, actor.user)
            let zone = try isOwner ? ZoneID(name) : names.sharedZone(share.record.zone, in: trees)
            let database = DatabaseID(isOwner ? .private : .shared, owner: actor.user)
            func origin(_ keys: [String]?) throws -> RecordOrigin {
                try RecordOrigin(database, zone, trees, context, desiredKeys: desired(keys, trees))
            }
            let record = try Record(share.record.name, bytes, try origin(nil))
            guard let state = try record.shareState, let full = try record.unfilteredShareState else {
                throw Refusal.missingShare
            }
            let standing = try isOwner ? nil : full.standing(of: actor.user, person(of: actor, trees), oneTimeID)
            var metadata = ShareMetadata(
                record: record, state: state, zone: zone, owner: home.owner,
                root: share.root.map { RecordID($0, zone: zone) }, role: standing?.role ?? .owner,
                hasAccepted: standing?.hasAccepted ?? true, permission: standing?.permission ?? .readWrite)
            // A participant without permission sees nothing of what is shared (B340).
            guard includesRoot, metadata.permission != .none, let root = share.root else { return metadata }
            let key = RecordKey(zone: share.record.zone, name: root)
            metadata.rootRecord = try trees.withRecord(key) { try Record(root, [UInt8]($0), try origin(desiredKeys)) }
            return metadata
        }
    }

    private func person(of actor: Actor, _ trees: Snapshot) throws -> Person {
        guard let user = try names.ordinal(of: .user(actor.user), in: trees) else { return Person() }
        return try trees.account(of: user).person
    }
}

extension ShareState {
    /// Returns the standing in the share of a user who is not its owner (B344).
    ///
    /// - Throws: ``Refusal`` if the user cannot join the share (B346).
    fileprivate func standing(
        of user: String, _ person: Person, _ oneTimeID: String
    ) throws -> (role: ShareRole, hasAccepted: Bool, permission: SharePermission) {
        if blockedUsers.contains(where: { isSameText($0, user) }) { throw Refusal.missingShare }
        if let own = participant(ofUser: user, addresses: person.addresses, oneTimeID: oneTimeID) {
            return (own.role, own.hasAccepted, own.role == .publicUser ? publicPermission : own.permission)
        }
        if publicPermission != .none { return (.publicUser, false, publicPermission) }
        // The user may have an address that the service does not know yet.
        guard participants.contains(where: { $0.user.isEmpty && $0.address != nil && !$0.hasAccepted }) else {
            throw Refusal.missingShare
        }
        throw Refusal(
            .participantMayNeedVerification,
            "The share was sent to an address that is not yet known to belong to this user.", rule: .existingShareOfURL)
    }
}

extension Refusal {
    /// The refusal for a URL that belongs to no share, or to one hidden from the user.
    fileprivate static let missingShare = Refusal(.unknownItem, "No share has this URL.", rule: .existingShareOfURL)
}
