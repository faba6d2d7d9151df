import StrataModel
import StrataRules
import StrataSystem
import StrataTree
import StrataViews

/// The zones of shared databases that readers have looked up, for one state of all shares and memberships.
///
/// A zone holds only for the state in which it was looked up. After a member left or a permission changed, and in
/// branches and the past, the trees of shares and memberships are others, so that nothing is found here.
final class MemberZoneDirectory: Sendable {
    private struct Source: Equatable {
        let shares: TreeIdentity
        let memberships: TreeIdentity
    }

    private struct Key: Hashable {
        let user: UInt64
        let zone: ZoneID
    }

    private struct State {
        var source: Source?
        var zones: [Key: MemberZone] = [:]
    }

    /// The number of zones above which everything is forgotten and read again.
    private static let maximumCount = 1 << 12

    private let state = Lock(State())

    /// Returns a zone of the shared database of a user.
    ///
    /// - Parameters:
    ///   - user: the ordinal of the member; 0 if the state has none.
    ///   - find: reads the zone from the state; no error is kept.
    func zone(
        _ id: ZoneID, of user: UInt64, in trees: Snapshot, _ find: () throws -> MemberZone
    ) throws -> MemberZone {
        let source = Source(
            shares: try trees.identity(of: ViewTree.shares), memberships: try trees.identity(of: ViewTree.memberships))
        let key = Key(user: user, zone: id)
        if let known = state.withLock({ $0.source == source ? $0.zones[key] : nil }) {
            // Zones are in another tree, which every commit changes.
            guard try trees.zoneStatus(known.zone.database, known.zone.zone) == .alive else {
                throw Refusal.missingZone(id.name)
            }
            return known
        }
        let found = try find()
        state.withLock { state in
            if state.source != source || state.zones.count >= Self.maximumCount { state = State(source: source) }
            state.zones[key] = found
        }
        return found
    }
}
