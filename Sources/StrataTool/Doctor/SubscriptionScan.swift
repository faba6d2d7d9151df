import StrataLog
import StrataModel
import StrataReplay
import StrataStore
import StrataTree
import StrataViews

/// Finds subscriptions that fired although no device of their user could be notified: the user has none, or none has
/// ever been notified.
struct SubscriptionScan {
    /// The number of subscriptions that are examined. Each takes a state of the past.
    private static let mostExamined = 500

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
                return rows.count < Self.mostExamined
            }
        }
        for (row, database) in rows {
            if let finding = try finding(row, database, in: store, snapshot.trees, names) { findings.append(finding) }
        }
        return findings
    }

    private func finding(
        _ row: SubscriptionRow, _ database: UInt64, in store: Store, _ trees: Snapshot, _ names: KnownNames
    ) throws -> Finding? {
        var devices: [UInt64] = []
        var isHeard = false
        try trees.forEachDevice(of: row.event.user) { device in
            if try trees.firstSight(of: device) != nil { devices.append(device) }
            if try trees.delivery(to: device) != nil { isHeard = true }
            return true
        }
        guard !isHeard, let user = names.user(row.event.user) else { return nil }
        let wanted = row.subscription.zone
        let last = zones.filter { wanted == 0 ? names.database(ofZone: $0.key) == database : $0.key == wanted }
            .values.flatMap { [$0.newest, $0.other].compactMap(\.self) }
            .filter { change in
                // The device that made a change is not notified.
                change.offset > row.version.offset && !(devices.count == 1 && devices[0] == change.author.device)
            }
            .max { $0.offset < $1.offset }
        guard let last else { return nil }
        let why = try NotificationExplanation.of(last.offset, in: store, user: user)
        let fires = why.subscriptions.contains { $0.fires && isSameText($0.subscription.id, row.subscription.id) }
        guard fires else { return nil }
        let reason =
            devices.isEmpty
            ? "\(Printable.escaped(user)) has no device"
            : "none of the devices of \(Printable.escaped(user)) has ever been notified"
        return Finding(
            .push, last, people: [user],
            "the subscription \(Printable.escaped(row.subscription.id)) fires, but \(reason)",
            next: ["explain", "\(last.offset)", "--notifications", "--user", user], names)
    }
}
