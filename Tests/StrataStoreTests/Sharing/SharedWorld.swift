import StrataLog
import StrataModel
import StrataSystem
import StrataViews
import Testing

@testable import StrataStore

/// A zone of anna's with her shares, written as events, and beside it a plain model of who sees what.
final class SharedWorld {
    struct PlainShare {
        /// Nil for a share of the whole zone.
        var root: String?
        var record: String
        var version = Version(offset: 0, eventIndex: 0)
        var isEnded = false
        var publicPermission = SharePermission.none
        var participants = [ShareParticipant(id: "anna", user: "anna", role: .owner, permission: .readWrite)]
    }

    static let users = ["anna", "ben", "cleo", "dora", "erik", "fred"]
    private static let (note, shareType): (UInt64, UInt64) = (1, 2)
    private static let (number, state): (UInt32, UInt32) = (1, 2)
    static let zoneName = "Notes"

    private let log = MemoryLog()
    private var opened: Store?
    private var time: Int64 = 1_700_000_000_000_000
    private var commit = CommitBuilder()
    private var saved: Set<String> = []
    /// The user who wrote the last commit.
    private(set) var writer = "anna"

    /// The records of the zone, without shares: the parent, the version, and the share that has them.
    private(set) var records: [String: (parent: String?, version: Version)] = [:]
    private(set) var shares: [UInt64: PlainShare] = [:]
    /// The memberships of users, by share.
    private(set) var members: [String: [UInt64: (permission: SharePermission, joined: Version, ended: Version?)]] = [:]
    /// What each user ever saw.
    private(set) var everSeen: [String: Set<String>] = [:]

    init() throws {
        var ordinals: [Namespace: UInt64] = [:]
        let names: [InternedName.Name] =
            Self.users.map { .user($0) } + Self.users.indices.map { .device(user: UInt64($0) + 1, "phone") } + [
                .database(.private, owner: 1), .zone(database: 1, owner: 1, Self.zoneName), .recordType("Note"),
                .recordType(ShareState.recordType), .field("n"), .field(ShareState.key),
            ]
        for name in names {
            ordinals[name.namespace, default: 0] += 1
            try commit.append(InternedName(ordinal: ordinals[name.namespace] ?? 0, name: name))
        }
        try commit.append(UserRecordNamedEvent(user: 1, recordName: Self.owner))
        try commit.append(
            SchemaChangedEvent(type: Self.note, fields: [SchemaField(Self.number, .int64)]))
        for ordinal in 1...UInt64(Self.users.count) { try commit.append(DeviceSeenEvent(device: ordinal)) }
        try commit.append(
            ZoneSavedEvent(zone: 1, database: 1, capabilities: [.fetchChanges, .atomic, .sharing, .zoneWideSharing]))
        try finish(by: "anna")
    }

    deinit { try? opened?.close() }

    // MARK: Reading

    static var owner: String { SharedDoor.zone.owner }
    var zone: ZoneID { ZoneID(Self.zoneName, owner: Self.owner) }
    let shared = DatabaseID(.shared)

    func actor(_ user: String) -> Actor { Actor(user: user, device: "phone") }

    /// The store with everything so far.
    var store: Store {
        get throws {
            if let opened { return opened }
            log.reopen()
            let platform = Platform(time: ManualTime(microseconds: time), random: SeededRandom(seed: 1))
            let store = try Store(on: log, platform: platform)
            opened = store
            return store
        }
    }

    // MARK: The model

    /// The share that has a record: that of the nearest root above it.
    func share(of name: String) -> UInt64? {
        var name: String? = name
        var seen: Set<String> = []
        while let one = name, let record = records[one], seen.insert(one).inserted {
            if let share = shares.first(where: { !$0.value.isEnded && $0.value.root == one }) { return share.key }
            name = record.parent
        }
        return nil
    }

    func sees(_ user: String, _ share: UInt64) -> Bool {
        shares[share]?.isEnded == false && members[user]?[share].map { $0.permission != .none } ?? false
    }

    /// The records that a user sees in the shared database, with their versions.
    func visible(to user: String) -> [String: Version] {
        var visible: [String: Version] = [:]
        for (number, share) in shares where sees(user, number) {
            visible[share.record] = share.version
            for (name, record) in records where share.root == nil || self.share(of: name) == number {
                visible[name] = record.version
            }
        }
        return visible
    }

    // MARK: Writing

    /// Writes one commit with all that `body` does.
    func write(by user: String = "anna", _ body: () throws -> Void) throws {
        let before = Dictionary(uniqueKeysWithValues: records.keys.map { ($0, share(of: $0)) })
        saved = []
        writer = user
        // The store may write notes of its own while it is closed.
        try opened?.close()
        opened = nil
        log.reopen()
        try body()
        for name in Set(before.keys).union(records.keys).sorted() {
            let (old, new) = (before[name] ?? nil, share(of: name))
            let record = RecordKey(zone: 1, name: name)
            if let old, old != new {
                try commit.append(SharedRecordEvent(record, type: Self.note, share: old, isGone: true))
            }
            if let new, old != new || saved.contains(name) {
                try commit.append(SharedRecordEvent(record, type: Self.note, share: new))
            }
        }
        try finish(by: user)
    }

    private func finish(by user: String) throws {
        guard commit.count > 0 else { return }
        let ordinal = UInt64(Self.users.firstIndex(of: user) ?? 0) + 1
        var header = EnvelopeHeader(user: ordinal)
        header.device = ordinal
        time += 1_000_000
        let payload = commit.payload(header)
        let id = Identifier(high: 1, low: log.end.offset)
        _ = try log.append([NewCommit(id: id, time: time, payload: payload[...])], expecting: log.end)
        commit.removeAll()
        for user in Self.users { everSeen[user, default: []].formUnion(visible(to: user).keys) }
    }

    private func version(_ index: UInt32) -> Version { Version(offset: log.end.offset + 1, eventIndex: index) }

    /// Saves a record; a nil parent removes it.
    func save(_ name: String, parent: String? = nil, n: Int64 = 0) throws {
        let known = records[name]
        var event = RecordSavedEvent(
            known == nil ? .create : .update, RecordKey(zone: 1, name: name), type: Self.note,
            previous: known?.version, fields: [FieldChange(Self.number, .int64(n))])
        event.parent = parent.map { .set(RecordKey(zone: 1, name: $0)) } ?? .kept
        complete(&event)
        records[name] = (parent, version(try commit.append(event)))
        saved.insert(name)
    }

    /// Makes a save complete, since only few in a row may be changes.
    private func complete(_ event: inout RecordSavedEvent) {
        guard event.change != .create else { return }
        (event.isFull, event.created, event.createdBy) = (true, 1_700_000_000_000_000, 1)
    }

    func delete(_ name: String) throws {
        guard let known = records.removeValue(forKey: name) else { return }
        try commit.append(
            RecordDeletedEvent(RecordKey(zone: 1, name: name), type: Self.note, previous: known.version))
    }

    @discardableResult
    func share(root: String?, publicPermission: SharePermission = .none, record: String? = nil) throws -> UInt64 {
        let number = UInt64(shares.count) + 1
        let name = root == nil ? ShareState.zoneWideName : record ?? "Share-\(number)"
        var share = PlainShare(root: root, record: name)
        share.publicPermission = publicPermission
        shares[number] = share
        try saveShare(number, isNew: true)
        return number
    }

    /// Saves the record of a share, and what finds the share.
    func saveShare(_ number: UInt64, isNew: Bool = false) throws {
        guard let share = shares[number] else { return }
        var state = ShareState(number: number, root: share.root, urlToken: "token\(number)")
        state.publicPermission = share.publicPermission
        state.participants = share.participants
        let key = RecordKey(zone: 1, name: share.record)
        var event = RecordSavedEvent(
            isNew ? .create : .update, key, type: Self.shareType, previous: isNew ? nil : share.version,
            fields: [FieldChange(Self.number, .int64(7)), FieldChange(Self.state, .data(try state.encoded()))])
        complete(&event)
        shares[number]?.version = version(try commit.append(event))
        let once = share.participants.filter { !$0.oneTimeToken.isEmpty }
        try commit.append(
            ShareSavedEvent(
                share: number, record: key, root: share.root, publicPermission: share.publicPermission,
                urlToken: state.urlToken, oneTimeTokens: once.map { .init($0.oneTimeToken, of: $0.id) }))
    }

    func invite(_ participant: ShareParticipant, to number: UInt64) throws {
        shares[number]?.participants.append(participant)
        try saveShare(number)
    }

    func set(publicPermission: SharePermission, of number: UInt64) throws {
        shares[number]?.publicPermission = publicPermission
        try saveShare(number)
    }

    /// Adds a user to a share, or changes the user's permission.
    func set(_ permission: SharePermission, of user: String, in number: UInt64, role: ShareRole = .privateUser) throws {
        var known = members[user]?[number]
        if known?.permission == SharePermission.none, permission != .none { known = nil }
        shares[number]?.participants.removeAll { $0.user == user }
        shares[number]?.participants.append(
            ShareParticipant(id: user, user: user, role: role, permission: permission, hasAccepted: true))
        try saveShare(number)
        let ended = permission == .none ? known?.ended : nil
        let index = try commit.append(event(user, number, permission, role, joined: known?.joined, ended: ended))
        members[user, default: [:]][number] = (
            permission, known?.joined ?? version(index), permission == .none ? ended ?? version(index) : nil
        )
    }

    func leave(_ user: String, _ number: UInt64) throws {
        guard let known = members[user]?.removeValue(forKey: number) else { return }
        shares[number]?.participants.removeAll { $0.user == user }
        if shares[number]?.isEnded == false { try saveShare(number) }
        var event = event(user, number, known.permission, .privateUser, joined: known.joined, ended: known.ended)
        event.isGone = true
        try commit.append(event)
    }

    private func event(
        _ user: String, _ number: UInt64, _ permission: SharePermission, _ role: ShareRole, joined: Version?,
        ended: Version?
    ) -> MemberChangedEvent {
        let ordinal = UInt64(Self.users.firstIndex(of: user) ?? 0) + 1
        return MemberChangedEvent(
            user: ordinal, share: number, zone: 1, permission: permission, role: role, joined: joined,
            ended: ended)
    }

    /// Ends a share for everybody.
    func end(_ number: UInt64) throws {
        guard let share = shares[number], !share.isEnded else { return }
        shares[number]?.isEnded = true
        let key = RecordKey(zone: 1, name: share.record)
        try commit.append(RecordDeletedEvent(key, type: Self.shareType, previous: share.version))
        try commit.append(
            ShareSavedEvent(
                share: number, record: key, root: share.root, urlToken: "token\(number)", isEnded: true))
        for user in Self.users { try leave(user, number) }
    }
}
