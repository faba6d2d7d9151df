import StrataLog
import StrataModel
import StrataQuery
import StrataTree
import StrataViews

/// Finds the pushes that a device missed while it did not listen, in the change lists of the zones that have changed.
struct MissedPushes {
    /// The maximum number of commits examined; if there are more, the device is notified of the latest (B188).
    private static let maximumCommits = 20_000

    /// The number on the device's badge when it last listened.
    let badge: UInt64
    /// True if nothing was noted about the device before.
    let isFirst: Bool
    private let log: any EventLog
    private let queryRules: QueryRules
    private let snapshot: StoreSnapshot
    private let trees: Snapshot
    private let actor: Actor
    private let user: UInt64
    /// The offset up to which the device was notified, or did not need to be.
    let start: UInt64

    /// - Parameters:
    ///   - delivery: what is noted about the device.
    ///   - offset: the start for a device that was never seen.
    init(
        of actor: Actor, in snapshot: StoreSnapshot, _ trees: Snapshot, _ log: any EventLog,
        queryRules: QueryRules, delivery: PlayedDeliveries.Mark?, arrivedAt offset: UInt64
    ) throws {
        (self.log, self.snapshot, self.trees, self.actor) = (log, snapshot, trees, actor)
        self.queryRules = queryRules
        user = try snapshot.names.ordinal(of: .user(actor.user), in: trees) ?? 0
        isFirst = delivery == nil
        badge = delivery?.badge ?? 0
        let sight = try trees.device(actor).flatMap { try trees.firstSight(of: $0)?.offset }
        start = max(log.floor.offset, delivery?.through ?? sight ?? offset)
    }

    func forEach(through end: UInt64, _ body: (Push) throws -> Void) throws {
        guard user != 0, start < end else { return }
        let matching = Matching(snapshot, trees, queryRules)
        var index = SubscriptionIndex()
        var zones: Set<UInt64> = []
        for database in try databases() {
            var hasAny = false
            try trees.forEachSubscription(of: database, user: user) { row in
                try index.insert(.init(row.event, row.version), in: trees)
                hasAny = true
                return true
            }
            guard hasAny else { continue }
            if case .database(.shared, _)? = try trees.name(.database, database) {
                let changes = try trees.sharedZoneChanges(of: user)
                zones.formUnion(changes.lazy.filter { $0.offset > start }.map(\.zone))
            }
            try trees.forEachZoneChange(of: database, after: start, zone: .max) { _, zone in
                zones.insert(zone)
                return true
            }
        }
        let fired = try firedSince()
        var offsets = Set(fired.keys)
        for zone in zones {
            var touched = TouchedCommits(.zones([zone]), of: log, after: start, through: end)
            while let commit = try touched.next() { offsets.insert(commit.offset) }
        }
        for offset in offsets.sorted().suffix(Self.maximumCommits) {
            guard let commit = try log.commit(at: offset) else { continue }
            for happening in try SubscriptionTrigger.all(in: commit) where happening.zone != 0 {
                var asked = zones.contains(happening.zone) ? index : SubscriptionIndex()
                for one in fired[offset] ?? [] where one.by == happening.version {
                    try asked.insert(.init(one.event, Version(offset: 0, eventIndex: 0)), in: trees)
                }
                try matching.forEachPush(for: happening, in: asked) { push, origin in
                    if origin != actor { try body(push) }
                }
            }
        }
    }

    /// Returns the databases that the user may have subscribed to.
    private func databases() throws -> [UInt64] {
        try [
            InternedName.Name.database(.private, owner: user), .database(.shared, owner: user),
            .database(.public, owner: 0),
        ].compactMap { try snapshot.names.ordinal(of: $0, in: trees) }
    }

    /// Returns the subscriptions that have fired and ended since the start, by the commits that made them fire.
    private func firedSince() throws -> [UInt64: [FiredSubscription]] {
        var fired: [UInt64: [FiredSubscription]] = [:]
        try trees.forEachFiredSubscription(of: user) { one in
            if one.by.offset > start { fired[one.by.offset, default: []].append(one) }
            return true
        }
        return fired
    }
}
