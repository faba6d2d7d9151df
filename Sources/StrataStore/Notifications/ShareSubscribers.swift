import StrataModel
import StrataTree
import StrataViews

/// The subscriptions to shared databases, by the shares of their users, so that an event finds the members whom it
/// concerns without a look at any other.
struct ShareSubscribers {
    typealias Entry = IndexedSubscription

    private var entries: [UInt64: [IndexedSubscription.Key: Entry]] = [:]
    /// The memberships of these users, by share and user.
    private var members: [UInt64: [UInt64: Membership]] = [:]
    /// The shares whose record has a key; a later share may have the same.
    private var ofRecords: [RecordKey: Set<UInt64>] = [:]
    /// The shares of whole zones.
    private var ofZones: [UInt64: Set<UInt64>] = [:]

    mutating func insert(_ entry: Entry, in trees: Snapshot) throws {
        let user = entry.key.user
        if entries[user, default: [:]].updateValue(entry, forKey: entry.key) == nil, entries[user]?.count == 1 {
            for member in try trees.memberships(of: user) { try take(member, of: user, in: trees) }
        }
    }

    mutating func remove(_ key: IndexedSubscription.Key) {
        entries[key.user]?[key] = nil
        guard entries[key.user]?.isEmpty == true else { return }
        entries[key.user] = nil
        for share in members.keys { members[share]?[key.user] = nil }
    }

    /// Takes a change of a membership.
    mutating func take(_ event: MemberChangedEvent, at version: Version, in trees: Snapshot) throws {
        guard entries[event.user] != nil else { return }
        try take(Membership(event, at: version), of: event.user, in: trees)
    }

    private mutating func take(_ member: Membership, of user: UInt64, in trees: Snapshot) throws {
        members[member.share, default: [:]][user] = member
        guard let share = try trees.share(member.share) else { return }
        ofRecords[share.record, default: []].insert(member.share)
        if share.root == nil { ofZones[share.record.zone, default: []].insert(member.share) }
    }

    /// Returns the subscriptions of the members who see what an event changed.
    func concerned(by happening: SubscriptionTrigger) -> [Entry] {
        if entries.isEmpty { return [] }
        switch happening.subject {
        case .member(let event):
            // A member without permission sees nothing: neither the beginning nor the end.
            let isVisible = event.permission != .none || event.joined != nil && !event.isGone
            return isVisible && event.ended == nil ? Array((entries[event.user] ?? [:]).values) : []
        case .sharedRecord(let share, _): return members(of: [share], at: happening.version)
        case .record(let record, _, _, _):
            let shares = (ofRecords[record] ?? []).union(ofZones[happening.zone] ?? [])
            return members(of: shares, at: happening.version)
        case .touch, .zone: return members(of: ofZones[happening.zone] ?? [], at: happening.version)
        case .subscriptionSaved, .subscriptionDeleted: return []
        }
    }

    private func members(of shares: Set<UInt64>, at version: Version) -> [Entry] {
        var users: Set<UInt64> = []
        for share in shares {
            for (user, member) in members[share] ?? [:] where member.gaveAccess(at: version) { users.insert(user) }
        }
        return users.flatMap { Array((entries[$0] ?? [:]).values) }
    }
}
