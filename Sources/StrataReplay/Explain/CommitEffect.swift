import StrataLog
import StrataModel
import StrataStore
import StrataTree
import StrataViews

/// An effect of a commit besides the saves and deletions of records: the records that a zone took along, or an account,
/// the change tokens of a database, or a share before and after.
///
/// ```swift
/// for effect in try CommitEffect.all(of: envelope, at: 12, before: past.snapshot().trees, in: store) { print(effect) }
/// ```
package enum CommitEffect: Sendable {
    case account(user: String, [Change])
    /// The first offset whose tokens are valid, in a database, or in all.
    case tokens(DatabaseID?, before: UInt64, after: UInt64)
    /// The deletion of a zone with its records, of which the first ones are named.
    case zone(String, records: [String], count: Int)
    /// The erasure of records, of which the first ones are named.
    case erasure(records: [String], count: Int)
    case share(String, before: ShareState?, after: ShareState?)

    /// A changed part of an account in words, which have no addresses.
    package struct Change: Sendable {
        package let name: String
        /// Nil if there was none.
        package let old: String?
        package let new: String?
    }

    /// Returns true if a commit may have effects, other than on shares, for which the state before it is needed.
    package static func needState(_ envelope: Envelope) -> Bool {
        envelope.events.contains { [.userChanged, .tokensExpired, .zoneDeleted].contains($0.kind) }
    }

    /// Returns the effects of a commit, in the order of its events. Those on shares come from the log.
    ///
    /// - Parameter trees: the state before the commit.
    package static func all(
        of envelope: Envelope, at offset: UInt64, before trees: Snapshot, in store: Store
    ) throws -> [CommitEffect] {
        let newest = store.snapshot().trees
        var effects = try others(of: envelope, before: trees, newest)
        let share = try newest.ordinal(of: .recordType(ShareState.recordType))
        for (index, event) in envelope.events.enumerated() where share != nil && event.kind.isOfRecord {
            let found = try TimelineEvent(event, at: index, in: (offset, 0), by: envelope.header)
            guard let found, found.type == share else { continue }
            let before = try state(of: found.record, at: found.previous, in: store)
            let after = try found.isSave ? state(of: found.record, at: found.version, in: store) : nil
            if before != after { effects.append(.share(found.record.name, before: before, after: after)) }
        }
        return effects
    }

    /// Returns the effects on anything but shares.
    ///
    /// - Parameter names: a state that has the names of the commit.
    package static func others(
        of envelope: Envelope, before trees: Snapshot, _ names: Snapshot
    ) throws -> [CommitEffect] {
        var effects: [CommitEffect] = []
        var erased: [String] = []
        for event in envelope.events {
            switch event.kind {
            case .userChanged:
                let changed = try UserChangedEvent(decoding: event.body)
                let changes = Self.changes(from: try trees.account(of: changed.user), to: Account(changed))
                effects.append(.account(user: try names.text(.user, changed.user), changes))
            case .tokensExpired:
                let expired = try TokensExpiredEvent(decoding: event.body)
                let database = try expired.database == 0 ? nil : names.requiredDatabase(expired.database)
                effects.append(
                    .tokens(database, before: try trees.tokenExpiry(of: expired.database), after: expired.offset))
            case .zoneDeleted:
                let deleted = try ZoneDeletedEvent(decoding: event.body)
                effects.append(try end(of: deleted, in: trees, names))
            case .recordErased: erased.append(try RecordErasedEvent(decoding: event.body).record.name)
            default: break
            }
        }
        if !erased.isEmpty {
            effects.append(.erasure(records: Array(erased.prefix(NameList.maximumCount)), count: erased.count))
        }
        return effects
    }

    private static func changes(from old: Account, to new: Account) -> [Change] {
        zip(parts(of: old), parts(of: new)).filter { $0.values != $1.values }.map { old, new in
            Change(name: old.name, old: text(old), new: text(new))
        }
    }

    /// Returns all parts in a fixed order.
    private static func parts(of account: Account) -> [(name: String, values: [String])] {
        let person = account.person
        return [
            ("status", [account.status.name]), ("quota", [account.quota == 0 ? "none" : "\(account.quota) bytes"]),
            ("name", person.fullName.isEmpty ? [] : [person.fullName]),
            ("nickname", person.nickname.isEmpty ? [] : [person.nickname]), ("e-mail", person.emails),
            ("phone", person.phones), ("role", person.roles), ("found", ["\(person.discoverability)"]),
        ]
    }

    private static func text(_ part: (name: String, values: [String])) -> String? {
        if part.values.isEmpty { return nil }
        guard part.name == "e-mail" || part.name == "phone" else { return part.values.joined(separator: ", ") }
        return part.values.count == 1 ? "1 address" : "\(part.values.count) addresses"
    }

    private static func end(
        of deleted: ZoneDeletedEvent, in trees: Snapshot, _ names: Snapshot
    ) throws -> CommitEffect {
        var records: [String] = []
        try trees.forEachRecord(of: deleted.zone) { name, _ in
            records.append(String(decoding: name, as: UTF8.self))
            return records.count < NameList.maximumCount
        }
        let count = try trees.zoneRow(deleted.database, deleted.zone)?.recordCount ?? 0
        return .zone(try names.text(.zone, deleted.zone), records: records, count: Int(clamping: count))
    }

    /// Returns nil for a version that the log no longer has, and for none.
    private static func state(of share: RecordKey, at version: Version?, in store: Store) throws -> ShareState? {
        guard let version, let bytes = try store.past.record(share, at: version) else { return nil }
        return try store.past.decoded(bytes, of: share).shareState
    }
}
