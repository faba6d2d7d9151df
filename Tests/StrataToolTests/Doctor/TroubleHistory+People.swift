import StrataModel

@testable import StrataStore
@testable import StrataTool

/// Shares, devices, refusals, clocks and names: planted, and nearly so.
extension TroubleHistory {
    // MARK: Shares

    private struct Shared {
        let zone: ZoneID
        let root: String
        let child: String
        let share: String
    }

    /// A root record with a child and a share, to which guests are invited.
    private func share(with guests: [String], accepting: [String]) throws -> Shared {
        let shared = Shared(zone: try zone(), root: fresh("root"), child: fresh("child"), share: fresh("share"))
        var names = RequestNames()
        let place = names.ordinal(of: shared.zone)
        func key(_ name: String) -> RecordKey { RecordKey(zone: place, name: name) }
        let participants = guests.map { guest in
            ShareChange.Participant(
                "id-\(guest)", .user(recordName: store.recordName(of: guest)), role: .privateUser,
                permission: .readWrite)
        }
        let type = names.ordinal(ofType: "Item")
        var (root, child) = (
            ModifyRecordsRequest.Save(key(shared.root), type: type),
            ModifyRecordsRequest.Save(key(shared.child), type: type)
        )
        (root.share, child.parent) = (.set(key(shared.share)), .set(key(shared.root)))
        let share = ModifyRecordsRequest.Save(
            key(shared.share), type: names.ordinal(ofType: ShareState.recordType),
            sharing: ShareChange(root: shared.root, participants: participants))
        let body = ModifyRecordsRequest(saves: [root, share, child])
        try modify(Request(database: home, names: names, .modifyRecords(body)), as: phone)
        for guest in accepting { try join(shared, guest) }
        return shared
    }

    private func join(_ shared: Shared, _ guest: String) throws {
        let record = try store.snapshot().record(RecordID(shared.share, zone: shared.zone), in: home, as: phone)
        let token = try record.shareState?.urlToken ?? ""
        let request = Request(database: DatabaseID(.shared), .joinShares(JoinSharesRequest(.accept, tokens: [token])))
        try modify(request, as: Actor(user: guest, device: "\(guest)-phone"))
    }

    func endedShare() throws {
        let shared = try share(with: ["ben"], accepting: ["ben"])
        expect(.lostShare, shared.root, at: try delete([shared.share], in: shared.zone))
    }

    func removedMember() throws {
        let shared = try share(with: ["ben", "cleo"], accepting: ["ben", "cleo"])
        let id = RecordID(shared.share, zone: shared.zone)
        let base = try store.snapshot().record(id, in: home, as: phone).version
        var names = RequestNames()
        let place = names.ordinal(of: shared.zone)
        let cleo = ShareChange.Participant(
            "id-cleo", .user(recordName: store.recordName(of: "cleo")), role: .privateUser, permission: .readWrite)
        let save = ModifyRecordsRequest.Save(
            RecordKey(zone: place, name: shared.share), type: names.ordinal(ofType: ShareState.recordType), base: base,
            sharing: ShareChange(participants: [cleo]))
        let body = ModifyRecordsRequest(saves: [save])
        let offset = try modify(Request(database: home, names: names, .modifyRecords(body)), as: phone)
        expect(.lostShare, shared.root, at: offset)
    }

    func leavingMember() throws {
        let shared = try share(with: ["ben"], accepting: ["ben"])
        var builder = RequestBuilder(DatabaseID(.shared))
        builder.delete(RecordID(shared.share, zone: ZoneID(shared.zone.name, owner: store.recordName(of: "anna"))))
        try modify(builder.request, as: Actor(user: "ben", device: "ben-phone"))
    }

    func unsharedChild() throws {
        let shared = try share(with: ["ben"], accepting: ["ben"])
        try save(shared.child, [:], in: shared.zone, parent: .removed)
        expect(.leftShare, shared.child, at: store.offset)
    }

    func deletedChild() throws {
        let shared = try share(with: ["ben"], accepting: ["ben"])
        try delete([shared.child], in: shared.zone)
    }

    func shareWithoutMembers() throws {
        let shared = try share(with: [], accepting: [])
        try save(shared.child, [:], in: shared.zone, parent: .removed)
        try delete([shared.share], in: shared.zone)
    }

    func ignoredInvitation() throws {
        let shared = try share(with: ["cleo"], accepting: [])
        expect(.invitation, shared.root)
    }

    func acceptedInvitation() throws { _ = try share(with: ["ben"], accepting: ["ben"]) }

    // MARK: Refusals, devices and subscriptions

    func conflict() throws {
        let (zone, name) = (try zone(), fresh("conflict"))
        let base = try save(name, ["n": .int64(1)], in: zone)
        try save(name, ["n": .int64(2)], in: zone, base: base)
        var builder = RequestBuilder(home)
        builder.save(RecordID(name, zone: zone), type: "Item", base: base, fields: ["n": .int64(3)])
        pass()
        _ = try store.modify(builder.request, as: tablet)
        // One cause, however often it comes.
        if !expected.contains(where: { $0.kind == .refusals }) { expect(.refusals, "server record changed") }
    }

    /// A user with a device and a zone of their own.
    private func newcomer() throws -> (actor: StrataModel.Actor, zone: ZoneID) {
        let actor = Actor(user: fresh("user"), device: fresh("device"))
        return (actor, try zone(as: actor))
    }

    private func fetch(_ zone: ZoneID, as actor: StrataModel.Actor) throws {
        pass()
        _ = try store.zoneChanges(of: zone, in: home, since: nil, as: actor)
    }

    func expiredToken() throws {
        let (actor, zone) = try newcomer()
        try fetch(zone, as: actor)
        try save(fresh("late"), [:], in: zone, as: actor)
        pass()
        try store.expireTokens(before: store.offset, in: DatabaseID(.private, owner: actor.user))
        expect(.deadToken, actor.user)
    }

    func refreshedToken() throws {
        let (actor, zone) = try newcomer()
        try fetch(zone, as: actor)
        try save(fresh("late"), [:], in: zone, as: actor)
        pass()
        try store.expireTokens(before: store.offset, in: DatabaseID(.private, owner: actor.user))
        try fetch(zone, as: actor)
    }

    func forgottenDevice() throws {
        let (actor, zone) = try newcomer()
        try fetch(zone, as: actor)
        if random.next(below: 2) == 0 { return }
        try save(fresh("late"), [:], in: zone, as: Actor(user: actor.user, device: fresh("device")))
        expect(.behind, actor.user)
    }

    /// - Parameter zone: the zone to subscribe to as a whole; nil to subscribe to the records of a predicate.
    private func subscribe(
        _ predicate: String, to zone: ZoneID? = nil, as actor: StrataModel.Actor
    ) throws -> String {
        let id = fresh("watch")
        var names = RequestNames()
        let ofZone = zone.map { Subscription(id, .recordZone, zone: names.ordinal(of: $0)) }
        let subscription =
            ofZone
            ?? Subscription(
                id, .query, zone: 0, recordType: names.ordinal(ofType: "Item"), predicate: predicate,
                options: [.creation, .update], notification: nil)
        try modify(
            Request(database: home, names: names, .modifySubscriptions(.init(saves: [subscription]))), as: actor)
        return id
    }

    func unheardSubscription() throws {
        let (actor, zone) = try newcomer()
        let id = try subscribe("n > 3", to: random.next(below: 2) == 0 ? zone : nil, as: actor)
        try save(fresh("match"), ["n": .int64(5)], in: zone, as: Actor(user: actor.user, device: fresh("device")))
        expect(.push, id, at: store.offset)
    }

    /// Only the device itself changed something that matches.
    func unmatchedSubscription() throws {
        let (actor, zone) = try newcomer()
        _ = try subscribe("n > 3", as: actor)
        try save(fresh("match"), ["n": .int64(5)], in: zone, as: actor)
        if random.next(below: 2) == 0 { return }
        try save(fresh("match"), ["n": .int64(2)], in: zone, as: Actor(user: actor.user, device: fresh("device")))
    }

    // MARK: Clocks and names

    private func stand(_ count: Int) throws -> UInt64 {
        let zone = try zone()
        pass()
        var first: UInt64 = 0
        for index in 0..<count {
            var builder = RequestBuilder(home)
            builder.save(RecordID(fresh("still"), zone: zone), type: "Item")
            _ = try store.modify(builder.request, as: phone)
            if index == 0 { first = store.offset }
        }
        return first
    }

    func standingClock() throws {
        pass()
        expect(.clock, "consecutive commits", at: try stand(25))
    }

    func restingClock() throws { _ = try stand(15) }

    func lookAlikes() throws {
        let (zone, name) = (try zone(), fresh("menu"))
        try save(name, [:], in: zone)
        // The Cyrillic letter.
        try save(name.replacing("e", with: "\u{0435}"), [:], in: zone)
        expect(.lookAlike, name, at: store.offset)
    }

    func mixedWord() throws {
        let (zone, field) = (try zone(), fresh("title").replacing("-", with: "_"))
        try save(fresh("mixed"), [field: .string("Sh\u{043E}p list")], in: zone)
        expect(.lookAlike, field, at: store.offset)
    }

    func cyrillicWord() throws {
        let (zone, name) = (try zone(), fresh("\u{0441}\u{043E}\u{043A}"))
        try save(name, ["title": .string("\u{0441}\u{043E}\u{043A} juice")], in: zone)
    }

    /// What would be trouble if it were older.
    func nearlyForgotten() throws {
        _ = try share(with: ["cleo"], accepting: [])
        let (actor, zone) = try newcomer()
        try fetch(zone, as: actor)
        try save(fresh("late"), [:], in: zone, as: Actor(user: actor.user, device: fresh("device")))
        time.advance(byMicroseconds: 2 * Self.day)
    }
}
