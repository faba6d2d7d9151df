import StrataModel
import StrataTree

extension ViewTree {
    package static let memberships = TreeID(rawValue: 23)
}

/// The shares in which each user is or was a member: user, zone, number of the share → membership. Memberships that
/// have ended stay, because feeds report their end.
enum MembershipsMaintainer: EventRowMaintainer {
    typealias Body = MemberChangedEvent

    static let tree = ViewTree.memberships
    static let name = "memberships"

    static func key(of event: Body) -> [UInt8] { ViewKeys.numbers(event.user, event.zone, event.share) }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        let seed = seed(
            try fold.records.names.hash(.user, event.user, in: fold.fork),
            try fold.records.names.hash(.zone, event.zone, in: fold.fork))
        return DigestHash.hash(
            seed,
            words: [
                event.share, UInt64(event.permission.rawValue), UInt64(event.role.rawValue), event.isGone ? 1 : 0,
            ])
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        let user = words.name(.user, try reader.readNumber())
        _ = try reader.readNumber()
        return "membership of user \(user) in share \(try reader.readNumber())"
    }
}

/// A user's membership in a share, now or once.
package struct Membership: Sendable, Hashable {
    package let share: UInt64
    package let zone: UInt64
    package let permission: SharePermission
    package let role: ShareRole
    /// The version of the event by which the user joined, or got access back after none.
    package let joined: Version
    /// The version of the last change: of the permission, or the end.
    package let changed: Version
    /// The version of the event by which the access ended; nil while there is access.
    package let ended: Version?
    package let isGone: Bool

    /// True if the user sees what is shared: the permission may be none.
    package var givesAccess: Bool { !isGone && permission != .none }

    /// Returns true if the member saw what is shared when an event happened, in the last life of the membership.
    package func gaveAccess(at version: Version) -> Bool {
        joined <= version && (ended.map { version < $0 } ?? true)
    }

    init(_ row: UnsafeRawBufferPointer) throws {
        self.init(try RowLayout.event(in: row), at: try RowLayout.version(of: row))
    }

    /// Creates the membership as an event leaves it.
    package init(_ event: MemberChangedEvent, at version: Version) {
        changed = version
        share = event.share
        zone = event.zone
        permission = event.permission
        role = event.role
        joined = event.joined ?? version
        isGone = event.isGone
        ended = event.isGone || event.permission == .none ? event.ended ?? version : nil
    }
}

extension TreeReading {
    /// Returns the memberships of a user, including those that have ended, in the order of zones and shares.
    package func memberships(of user: UInt64) throws -> [Membership] {
        if user == 0 { return [] }
        return try ViewKeys.withBounds(ofNumber: user) { try memberships(from: $0, to: $1) }
    }

    /// Returns the memberships of a user in the shares of one zone, including those that have ended.
    package func memberships(of user: UInt64, in zone: UInt64) throws -> [Membership] {
        if user == 0 { return [] }
        return try ViewKeys.numbers(user, zone, 0).withUnsafeBytes { lower in
            try ViewKeys.numbers(user, zone, .max).withUnsafeBytes { try memberships(from: lower, to: $0) }
        }
    }

    private func memberships(
        from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer
    ) throws -> [Membership] {
        var found: [Membership] = []
        try scan(ViewTree.memberships, from: lower, to: upper) { _, row in
            found.append(try Membership(row))
            return true
        }
        return found
    }
}
