import StrataLog
import StrataModel
import StrataReplay
import StrataStore
import StrataTree
import StrataViews

/// Finds subscriptions that fired although no device of their user could be notified: the user has none, or none has
/// ever been notified.
struct SubscriptionScan {
    /// The number of subscriptions that are read, and of those with a predicate that are examined. Each of the latter
    /// takes a state of the past.
    private static let mostRead = 10_000
    private static let mostExamined = 20

    /// The newest change of a zone by each of two devices.
    private struct Changes {
        var newest: ScannedCommit
        var other: ScannedCommit?
    }

    private var zones: [UInt64: Changes] = [:]

    mutating func addChange(of zone: UInt64, by commit: ScannedCommit) {
        guard let changes = zones[zone] else { return zones[zone] = Changes(newest: commit) }
        let other = changes.newest.author == commit.author ? changes.other : changes.newest
        zones[zone] = Changes(newest: commit, other: other)
    }

    func findings(in store: Store, _ names: KnownNames) throws -> [Finding] {
        let snapshot = store.snapshot()
        var findings: [Finding] = []
        var rows: [(row: SubscriptionRow, database: UInt64)] = []
        for database in Set(zones.keys.compactMap { names.database(ofZone: $0) }).sorted() {
            try snapshot.trees.forEachSubscription(of: database) { row in
                rows.append((row, database))
                return rows.count < Self.mostRead
            }
        }
        var examined = 0
        for (row, database) in rows {
            guard let (last, devices) = try unheard(row, database, snapshot.trees, names) else { continue }
            if row.subscription.kind == .query || row.subscription.recordType != 0 {
                examined += 1
                guard try examined <= Self.mostExamined && fires(row, for: last, in: store, names) else { continue }
            }
            findings.append(Self.finding(row, last, hasDevices: !devices.isEmpty, names))
        }
        return findings
    }

    /// Returns the last change that a subscription may report, and the devices of its user, none of which was ever
    /// notified; nil if one was, or if there is no change.
    private func unheard(
        _ row: SubscriptionRow, _ database: UInt64, _ trees: Snapshot, _ names: KnownNames
    ) throws -> (last: ScannedCommit, devices: [UInt64])? {
        var devices: [UInt64] = []
        var isHeard = false
        try trees.forEachDevice(of: row.event.user) { device in
            if try trees.firstSight(of: device) != nil { devices.append(device) }
            if try trees.delivery(to: device) != nil { isHeard = true }
            return true
        }
        if isHeard { return nil }
        let wanted = row.subscription.zone
        let last = zones.filter { wanted == 0 ? names.database(ofZone: $0.key) == database : $0.key == wanted }
            .values.flatMap { [$0.newest, $0.other].compactMap(\.self) }
            .filter { change in
                // The device that made a change is not notified.
                change.offset > row.version.offset && !(devices.count == 1 && devices[0] == change.author.device)
            }
            .max { $0.offset < $1.offset }
        return last.map { ($0, devices) }
    }

    private func fires(
        _ row: SubscriptionRow, for change: ScannedCommit, in store: Store, _ names: KnownNames
    ) throws -> Bool {
        let why = try NotificationExplanation.of(change.offset, in: store, user: names.user(row.event.user))
        return why.subscriptions.contains { $0.fires && isSameText($0.subscription.id, row.subscription.id) }
    }

    private static func finding(
        _ row: SubscriptionRow, _ last: ScannedCommit, hasDevices: Bool, _ names: KnownNames
    ) -> Finding {
        let user = names.name(.user, row.event.user) ?? ""
        let reason =
            hasDevices
            ? "none of the devices of \(Printable.escaped(user)) has ever been notified"
            : "\(Printable.escaped(user)) has no device"
        return Finding(
            .push, last, people: [user],
            "the subscription \(Printable.escaped(row.subscription.id)) fires, but \(reason)",
            next: ["explain", "\(last.offset)", "--notifications", "--user", user], names)
    }
}
