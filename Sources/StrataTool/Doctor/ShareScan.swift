import StrataModel

/// Follows shares and their members: records that left a share, access that others took away, and invitations that
/// were not accepted.
struct ShareScan {
    /// The age from which an invitation counts as forgotten.
    static let invitationDays: Int64 = 7

    private struct Share {
        var record: RecordKey
        var root: String?
        var isEnded = false
        var members: Set<UInt64> = []
        /// The state with the participants; nil until its record was read.
        var state: ShareState?
        var invited: UInt64 = 0
    }

    /// The events of shares in the commit that is being read.
    private struct Events {
        var gone: [(share: UInt64, record: RecordKey)] = []
        var ended: [UInt64] = []
        var left: [(share: UInt64, user: UInt64)] = []
    }

    private var shares: [UInt64: Share] = [:]
    private var current = Events()
    private(set) var findings = LastItems<Finding>(Finding.mostKept)

    mutating func add(_ event: SharedRecordEvent) {
        if event.isGone { current.gone.append((event.share, event.record)) }
    }

    mutating func add(_ event: ShareSavedEvent) {
        var share = shares[event.share] ?? Share(record: event.record)
        (share.record, share.root, share.isEnded) = (event.record, event.root, event.isEnded)
        shares[event.share] = share
        if event.isEnded { current.ended.append(event.share) }
    }

    mutating func add(_ event: MemberChangedEvent) {
        if event.isGone {
            current.left.append((event.share, event.user))
        } else {
            let unknown = Share(record: RecordKey(zone: event.zone, name: ""))
            shares[event.share, default: unknown].members.insert(event.user)
        }
    }

    /// Adds the state of a share, as a save of its record has it.
    mutating func add(_ state: ShareState, of record: RecordKey, at offset: UInt64) {
        var share = shares[state.number] ?? Share(record: record)
        let known = Set(share.state?.participants.map(\.id) ?? [])
        if state.participants.contains(where: { !known.contains($0.id) && !$0.hasAccepted }) { share.invited = offset }
        share.state = state
        shares[state.number] = share
    }

    /// Drops the events of a commit.
    mutating func forget() { current = Events() }

    /// - Parameter deletions: those of the commit.
    mutating func end(_ commit: ScannedCommit, _ deletions: DeletionScan, _ names: KnownNames) {
        defer { current = Events() }
        for number in Set(current.ended) {
            guard let share = shares[number], !deletions.deletes(zone: share.record.zone) else { continue }
            addEnd(of: share, by: commit, names)
        }
        for (number, user) in current.left { addLeaving(user, number, by: commit, names) }
        addGone(by: commit, deletions, names)
        for number in current.ended { shares[number]?.members = [] }
        for (number, user) in current.left { shares[number]?.members.remove(user) }
    }

    /// Returns the members who lose access by the act of another user.
    private func losers(_ share: Share, _ commit: ScannedCommit) -> [UInt64] {
        share.members.filter { $0 != commit.author.user }.sorted()
    }

    private func text(_ share: Share, _ names: KnownNames) -> String {
        let place = names.shownPlace(ofZone: share.record.zone)
        return share.root.map { "\(Printable.escaped($0)) in \(place)" } ?? "the zone \(place)"
    }

    private mutating func addEnd(of share: Share, by commit: ScannedCommit, _ names: KnownNames) {
        let users = losers(share, commit)
        guard !users.isEmpty else { return }
        let people = users.flatMap { names.people($0) }
        findings.append(
            Finding(
                .lostShare, commit, zone: share.record.zone, record: share.record.name, people: people,
                "\(names.text(of: commit.author)) ended the share of \(text(share, names)); "
                    + "\(users.map { names.shownUser($0) }.joined(separator: ", ")) lost access",
                count: UInt64(users.count), next: ["show", "\(commit.offset)"], names))
    }

    private mutating func addLeaving(
        _ user: UInt64, _ number: UInt64, by commit: ScannedCommit, _ names: KnownNames
    ) {
        guard user != commit.author.user, let share = shares[number], !share.isEnded, share.members.contains(user)
        else { return }
        findings.append(
            Finding(
                .lostShare, commit, zone: share.record.zone, record: share.record.name, people: names.people(user),
                "\(names.text(of: commit.author)) took \(names.shownUser(user)) out of the share of "
                    + text(share, names),
                next: ["show", "\(commit.offset)"], names))
    }

    private mutating func addGone(by commit: ScannedCommit, _ deletions: DeletionScan, _ names: KnownNames) {
        var byShare: [UInt64: [RecordKey]] = [:]
        for (number, record) in current.gone where !deletions.deletes(record) && !deletions.deletes(zone: record.zone) {
            byShare[number, default: []].append(record)
        }
        for (number, records) in byShare.sorted(by: { $0.key < $1.key }) {
            guard let share = shares[number], !share.isEnded else { continue }
            let users = losers(share, commit)
            guard let first = records.first, !users.isEmpty else { continue }
            findings.append(
                Finding(
                    .leftShare, commit, zone: first.zone, record: first.name,
                    people: users.flatMap { names.people($0) },
                    "\(NameList.text(of: records)) left the share of \(text(share, names)) by a change of "
                        + "\(names.text(of: commit.author)); "
                        + "\(users.map { names.shownUser($0) }.joined(separator: ", ")) no longer "
                        + (users.count == 1 ? "sees" : "see") + (records.count == 1 ? " it" : " them"),
                    count: UInt64(records.count), next: ["explain", "\(commit.offset)"], names))
        }
    }

    // MARK: Invitations

    /// Returns a finding for each share with invitations that are older than a week and open.
    ///
    /// - Parameter now: the time of the last commit.
    func invitations(at now: Int64, _ names: KnownNames) -> [Finding] {
        shares.values.filter { !$0.isEnded }.sorted { $0.invited < $1.invited }.compactMap { share in
            let oldest = now - Self.invitationDays * Timestamp.microsecondsPerDay
            let open = (share.state?.participants ?? []).filter { person in
                person.role != .owner && !person.hasAccepted && person.added > 0 && person.added <= oldest
            }
            guard let first = open.map(\.added).min() else { return nil }
            let people = open.map { person in
                person.user.isEmpty ? person.address?.text ?? person.id : person.user
            }
            var finding = Finding(
                kind: .invitation,
                text: "\(people.map { Printable.escaped($0) }.joined(separator: ", ")) "
                    + (people.count == 1 ? "has" : "have") + " not accepted the invitation to "
                    + "\(text(share, names)) since \(Timestamp(microseconds: first))",
                next: ["shares"])
            (finding.offset, finding.record) = (share.invited, share.record.name)
            finding.people = people
            finding.count = UInt64(people.count)
            finding.zone = names.zone(share.record.zone)
            finding.database = names.databaseID(ofZone: share.record.zone)
            return finding
        }
    }
}
