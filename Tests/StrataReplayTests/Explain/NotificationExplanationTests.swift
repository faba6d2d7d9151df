import StrataModel
import StrataRules
import TestSupport
import Testing

@testable import StrataReplay
@testable import StrataStore

/// Which subscriptions were asked for a commit, and why they did not fire.
@Suite struct NotificationExplanationTests {
    private static let (phone, tablet, bert) = (RefusingStore.phone, RefusingStore.tablet, RefusingStore.bert)

    private func query(
        _ id: String, _ predicate: String = "TRUEPREDICATE", type: String = "Note", zone: ZoneID? = nil,
        _ options: Subscription.Options = [.creation, .update, .deletion]
    ) -> NamedSubscription {
        NamedSubscription(id, .query, zone: zone, recordType: type, predicate: predicate, options: options)
    }

    private func verdicts(
        _ offset: UInt64, _ world: RefusingStore, user: String? = "anna"
    ) throws -> [String: [SubscriptionVerdict]] {
        let why = try NotificationExplanation.of(offset, in: world.store, user: user)
        return Dictionary(
            uniqueKeysWithValues: why.subscriptions.map { ($0.subscription.id, $0.findings.map(\.verdict)) })
    }

    @Test("The first commit that notes a delivery of the commit or of a later one is named")
    func notedBy() throws {
        let world = try RefusingStore()
        let before = try world.save("before", as: Self.tablet)
        let saved = try world.save("milk", as: Self.tablet)
        func note(through offset: UInt64) throws -> UInt64? {
            let told = NotifyRequest(user: "anna", deliveries: [.init(device: "phone", through: offset)])
            return try world.modify(Request(database: DatabaseID(.private), .notify(told)), as: .service).offset
        }
        func noted() throws -> UInt64? {
            let why = try NotificationExplanation.of(saved.offset, in: world.store, user: "anna", device: "phone")
            return try #require(why.devices.first).notedBy
        }
        #expect(try noted() == nil)
        try #require(try note(through: before.offset) != nil)
        #expect(try noted() == nil)
        let later = try world.save("later", as: Self.tablet)
        let first = try #require(try note(through: later.offset))
        #expect(try noted() == first)
        let again = try world.save("again", as: Self.tablet)
        try #require(try note(through: again.offset) != nil)
        #expect(try noted() == first)
        let origin = try NotificationExplanation.of(saved.offset, in: world.store, user: "anna", device: "tablet")
        #expect(origin.devices.first?.isOrigin == true && origin.devices.first?.notedBy == nil)
    }

    @Test("Each reason is told")
    func reasons() throws {
        let world = try RefusingStore()
        try world.modify(.zones(saving: [ZoneID("Other")]))
        try world.save("seed", in: ZoneID("Other"))
        try world.modify(
            .subscriptions(saving: [
                NamedSubscription("all", .database), NamedSubscription("lists", .database, recordType: "List"),
                NamedSubscription("zone", .recordZone, zone: RefusingStore.notes),
                NamedSubscription("other", .recordZone, zone: ZoneID("Other")),
                query("fits", "rank > 1"), query("fails", "rank > 9"), query("misfit", "rank BEGINSWITH 'x'"),
                query("list", type: "List"),
                query("deleted", "TRUEPREDICATE", [.deletion]), query("elsewhere", zone: ZoneID("Other")),
            ]))
        try world.modify(.subscriptions(saving: [query("public")], in: DatabaseID(.public)))
        let saved = try world.save("milk", ["rank": .int64(2)], as: Self.tablet)
        try world.modify(.subscriptions(saving: [query("later", "rank > 0")]))
        #expect(
            try verdicts(saved.offset, world) == [
                "all": [.fires], "lists": [.otherType], "zone": [.fires], "other": [.otherZone], "fits": [.fires],
                "fails": [.predicateFails], "misfit": [.predicateDoesNotFit], "list": [.otherType],
                "deleted": [.notAsked], "elsewhere": [.otherZone],
                "public": [.otherDatabase], "later": [.savedLater],
            ])
        let why = try NotificationExplanation.of(saved.offset, in: world.store, user: "anna")
        #expect(why.actor == Self.tablet && why.changes.count == 1 && why.changes[0].record == "milk")
        #expect(why.changes[0].reason == .created && why.changes[0].version == saved && why.notes.isEmpty)
        #expect(why.devices.map(\.name).sorted() == ["phone", "tablet"])
        #expect(why.devices.filter(\.isOrigin).map(\.name) == ["tablet"])
        let only = try NotificationExplanation.of(saved.offset, in: world.store, user: "anna", device: "phone")
        #expect(only.devices.map(\.name) == ["phone"] && only.devices[0].isKnown)
    }

    @Test("A predicate is asked of what the record was and of what it became")
    func beforeAndAfter() throws {
        let world = try RefusingStore()
        try world.modify(.subscriptions(saving: [query("high", "rank > 5")]))
        let first = try world.save("milk", ["rank": .int64(9)])
        let second = try world.save("milk", ["rank": .int64(1)], base: first)
        try world.delete("milk")
        func finding(_ offset: UInt64) throws -> SubscriptionEvaluation.Finding {
            try #require(try NotificationExplanation.of(offset, in: world.store).subscriptions.first?.findings.first)
        }
        let (made, changed, gone) = (
            try finding(first.offset), try finding(second.offset), try finding(world.store.offset)
        )
        #expect(made.verdict == .fires && made.heldBefore == nil && made.holdsAfter == true)
        #expect(changed.verdict == .predicateFails && changed.heldBefore == true && changed.holdsAfter == false)
        #expect(gone.verdict == .predicateFails && gone.heldBefore == false && gone.holdsAfter == nil)
    }

    @Test("Default zones, zones that change, tags and the second event of a commit have reasons of their own")
    func otherEvents() throws {
        let world = try RefusingStore()
        try world.save("list")
        try world.modify(
            .subscriptions(saving: [
                NamedSubscription("all", .database), NamedSubscription("notes", .database, recordType: "Note"),
                NamedSubscription("zone", .recordZone, zone: RefusingStore.notes), query("query"),
            ]))
        let home = try world.save("a", in: ZoneID("_defaultZone"))
        let atHome = try verdicts(home.offset, world)
        #expect(atHome["all"] == [.defaultZone] && atHome["query"] == [.fires])
        try world.modify(.zones(saving: [ZoneID("More")]))
        let zones = try verdicts(world.store.offset, world)
        #expect(zones["all"] == [.fires] && zones["notes"] == [.zoneItself] && zones["query"] == [.noRecord])
        let child = try world.save("child", parent: .set("list"))
        let touched = try verdicts(child.offset, world)
        #expect(touched["all"] == [.fires, .toldAlready] && touched["query"] == [.fires, .noRecord])
        try world.modify(.zones(deleting: [RefusingStore.notes]))
        let deleted = try verdicts(world.store.offset, world)
        #expect(deleted["zone"]?.contains(.zoneItself) == true && deleted["all"]?.first == .fires)
    }

    @Test("One that fires once is used up, and does not fire for the only device")
    func once() async throws {
        let world = try RefusingStore()
        try world.modify(.subscriptions(saving: [query("once", "TRUEPREDICATE", [.creation, .once])]))
        let own = try world.save("a")
        #expect(try verdicts(own.offset, world) == ["once": [.nobodyElse]])
        // Who is there is asked when somebody is to be told, and the tablet is there as soon as it saves.
        let notifier = world.store.engine.notifier
        _ = try await awaited { notifier.hasSeen(through: own.offset) }
        let fires = try world.save("b", as: Self.tablet)
        // The service ends it by a commit of its own.
        _ = try await awaited { world.store.offset != fires.offset }
        let after = try world.save("c", as: Self.tablet)
        #expect(try verdicts(fires.offset, world) == ["once": [.fires]])
        #expect(try verdicts(after.offset, world) == ["once": [.usedUp]])
        let why = try NotificationExplanation.of(after.offset, in: world.store)
        #expect(why.subscriptions[0].firedBy == fires && why.subscriptions[0].saved == nil)
    }

    @Test("What was erased cannot be asked any more")
    func erased() throws {
        let directory = try TestDirectory()
        let world = try RefusingStore(at: directory.path("Notes.strata"))
        try world.modify(.subscriptions(saving: [query("high", "rank > 5")]))
        try world.save("milk", ["rank": .int64(9)])
        try world.delete("milk")
        let deletion = world.store.offset
        try world.store.erase([world.id("milk")], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
        #expect(try verdicts(deletion, world) == ["high": [.stateIsGone]])
    }

    @Test("Who is not there is an error, and a commit without changes has nothing to tell")
    func nothing() throws {
        let world = try RefusingStore()
        try world.store.noteConsole(ConsoleNote("x"))
        let why = try NotificationExplanation.of(world.store.offset, in: world.store)
        #expect(why.changes.isEmpty && why.subscriptions.isEmpty && why.notes.count == 2)
        #expect(why.actor == Actor(user: "", device: ""))
        #expect { try NotificationExplanation.of(1, in: world.store, user: "carl") } throws: { $0 is Refusal }
        #expect { try NotificationExplanation.of(1, in: world.store, user: "anna", device: "tv") } throws: {
            $0 is Refusal
        }
        #expect { try NotificationExplanation.of(99, in: world.store) } throws: {
            ($0 as? StrataError)?.code == .outOfRange
        }
    }
}
