import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// A subscription that a commit might have made fire, and the verdict on each of the commit's events.
///
/// ```swift
/// for one in try past.consideredSubscriptions(for: commit, knownTo: store) where !one.fires {
///     print(one.subscription.id, one.findings.map(\.verdict))
/// }
/// ```
package struct SubscriptionEvaluation: Sendable {
    /// A change that subscriptions may report.
    package struct Change: Sendable, Hashable {
        package var version: Version
        package var database: DatabaseID
        package var zone: ZoneID
        /// Nil if a zone changed, or a record only got a new tag.
        package var record: String?
        package var reason: Push.Reason?
        package var type: String?
        package var isOfZone = false
    }

    package struct Finding: Sendable {
        /// The index of the change in the list of changes.
        package var change: Int
        package var verdict: SubscriptionVerdict
        /// True if the predicate held before the change, and if it holds after it; nil if it was not evaluated, or if
        /// the state does not exist or is no longer known.
        package var heldBefore: Bool?
        package var holdsAfter: Bool?
    }

    package var user: String
    package var database: DatabaseID
    package var subscription: NamedSubscription
    /// The event that had last saved it by then; nil for a subscription that has ended.
    package var saved: Version?
    /// The event for which it fired, if it fires once.
    package var firedBy: Version?
    package var findings: [Finding]

    package var fires: Bool { findings.contains { $0.verdict == .fires } }
}

extension Store {
    /// Returns the changes of a commit, and the subscriptions that existed at the commit, that had ended, and that were
    /// saved later, with the notifier's decision on each.
    ///
    /// - Parameters:
    ///   - commit: the last commit of this store, which shows the past.
    ///   - newest: the same store in its current state.
    ///   - user: the user whose subscriptions are returned; nil for all.
    package func consideredSubscriptions(
        for commit: Commit, knownTo newest: Store, of user: String? = nil
    ) throws -> (changes: [SubscriptionEvaluation.Change], subscriptions: [SubscriptionEvaluation]) {
        let (snapshot, later) = (snapshot(), newest.snapshot())
        return try later.reading { laterTrees in
            try snapshot.reading { trees in
                let happenings = try SubscriptionTrigger.all(in: commit).filter { $0.zone != 0 }
                let people = try user.map { try laterTrees.ordinal(of: .user($0)).map { [$0] } ?? [] }
                let candidates = try SubscriptionCandidates(commit, trees, laterTrees, users: people)
                let matching = Matching(snapshot, trees, options.queryRules)
                for one in candidates.all where one.isUsedUp(before: commit.offset) { matching.setFired(one.entry) }
                let previous = try Self.previousVersions(in: commit)
                var findings: [[SubscriptionEvaluation.Finding]] = candidates.all.map { _ in [] }
                for (index, happening) in happenings.enumerated() {
                    let verdicts = try matching.verdicts(on: happening, for: candidates.all.map(\.entry))
                    for (place, one) in verdicts.enumerated() {
                        var finding = SubscriptionEvaluation.Finding(change: index, verdict: one.verdict)
                        if case .record(_, _, .deleted, _) = happening.subject {
                            finding.heldBefore = one.holds
                        } else if one.holds != nil {
                            finding.holdsAfter = one.holds
                            let version = previous[happening.version]
                            finding.heldBefore = try version.flatMap {
                                try matching.holds(candidates.all[place].entry, happening, at: $0)
                            }
                        }
                        findings[place].append(finding)
                    }
                }
                let names = later.names.resolver(in: laterTrees)
                return (
                    try happenings.map { try SubscriptionEvaluation.Change($0, names) },
                    try zip(candidates.all, findings).map { try SubscriptionEvaluation($0, $1, names) }
                )
            }
        }
    }

    /// Returns the previous versions of the records that a commit saved, by their new versions.
    private static func previousVersions(in commit: Commit) throws -> [Version: Version] {
        var versions: [Version: Version] = [:]
        for (index, event) in try Envelope(decoding: commit.payload).events.enumerated()
        where event.kind == .recordSaved {
            let saved = try RecordSavedEvent(decoding: event.body)
            let version = Version(offset: commit.offset, eventIndex: UInt32(index))
            if saved.change != .create { versions[version] = saved.previous?.resolved(in: commit.offset) }
        }
        return versions
    }
}

/// The subscriptions to consider for a commit, in the order of databases and users.
private struct SubscriptionCandidates {
    struct One {
        let entry: SubscriptionIndex.Entry
        let event: SubscriptionSavedEvent
        var firedBy: Version?

        /// Returns true if it fired before the offset. A subscription that was saved again since is a new one.
        func isUsedUp(before offset: UInt64) -> Bool {
            firedBy.map { $0.offset < offset && entry.version < $0 } ?? false
        }
    }

    private(set) var all: [One] = []
    private var places: [SubscriptionIndex.Key: Int] = [:]

    init(_ commit: Commit, _ trees: Snapshot, _ later: Snapshot, users: [UInt64]?) throws {
        for database in try Self.ordinals(.database, in: later) {
            for (snapshot, isLater) in [(trees, false), (later, true)] {
                for user in users.map({ $0.map(Optional.some) }) ?? [nil] {
                    try snapshot.forEachSubscription(of: database, user: user) { row in
                        if !isLater || row.version.offset > commit.offset { add(row.event, row.version) }
                        return true
                    }
                }
            }
        }
        for user in try users ?? Array(Self.ordinals(.user, in: later)) {
            try later.forEachFiredSubscription(of: user) { fired in
                // A subscription that has ended existed before the event that made it fire.
                let index = add(fired.event, Version(offset: 0, eventIndex: 0))
                if all[index].entry.version < fired.by { all[index].firedBy = fired.by }
                return true
            }
        }
    }

    @discardableResult
    private mutating func add(_ event: SubscriptionSavedEvent, _ version: Version) -> Int {
        let entry = SubscriptionIndex.Entry(event, version)
        if let known = places[entry.key] { return known }
        places[entry.key] = all.count
        all.append(One(entry: entry, event: event))
        return all.count - 1
    }

    private static func ordinals(_ namespace: Namespace, in trees: Snapshot) throws -> Range<UInt64> {
        1..<(try trees.nameCount(namespace)) + 1
    }
}

extension SubscriptionEvaluation {
    fileprivate init(_ one: SubscriptionCandidates.One, _ findings: [Finding], _ names: SnapshotNames) throws {
        user = try names.text(.user, one.event.user)
        database = try names.requiredDatabase(one.event.database)
        subscription = try NamedSubscription(one.event.subscription, names)
        saved = one.entry.version.offset == 0 ? nil : one.entry.version
        firedBy = one.firedBy
        self.findings = findings
    }
}

extension SubscriptionEvaluation.Change {
    fileprivate init(_ happening: SubscriptionTrigger, _ names: SnapshotNames) throws {
        let (database, zone) = try names.requiredZone(happening.zone)
        self.init(version: happening.version, database: database, zone: ZoneID(zone))
        switch happening.subject {
        case .record(let key, let type, let reason, _):
            (record, self.reason, self.type) = (key.name, reason, try names.text(.recordType, type))
        case .touch(let type), .sharedRecord(_, let type): self.type = try names.text(.recordType, type)
        case .zone, .member: isOfZone = true
        case .subscriptionSaved, .subscriptionDeleted: break
        }
    }
}
