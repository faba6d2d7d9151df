import StrataModel
import StrataRules
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplay

/// What a device knew of a store.
@Suite struct DeviceViewTests {
    private static let (phone, tablet) = (RefusingStore.phone, RefusingStore.tablet)
    private static let home = DatabaseID(.private)

    private static var options: StoreOptions {
        var options = StoreOptions.service
        options.recordsFetches = true
        return options
    }

    private func view(
        _ world: RefusingStore, _ actor: Actor = tablet, record: String? = nil, in zone: ZoneID = RefusingStore.notes
    ) throws -> DeviceView {
        // Fetches that wait are written behind a commit.
        try world.flush()
        return try DeviceView.of(
            actor, in: world.store, record: record.map { (RecordID($0, zone: zone), Self.home) })
    }

    private func verdict(_ world: RefusingStore, _ name: String) throws -> DeviceView.RecordKnowledge.Verdict? {
        try view(world, record: name).record?.verdict
    }

    private func fetch(_ world: RefusingStore, since token: FeedToken? = nil) throws -> FeedToken {
        try world.store.zoneChanges(
            of: RefusingStore.notes, in: Self.home, since: token, as: Self.tablet
        ).token
    }

    @Test("A record is not known until the device fetches it, and again when it changes")
    func fetching() throws {
        let world = try RefusingStore(Self.options)
        try world.save("own", as: Self.tablet)
        let milk = try world.save("milk", ["n": .int64(1)])
        #expect(try verdict(world, "milk") == .noFetchNoted && verdict(world, "own") == .madeIt)
        let token = try fetch(world)
        let first = try view(world, record: "milk")
        let given = try #require(first.zones.first { $0.zone == RefusingStore.notes }?.given)
        #expect(first.record?.verdict == .given && first.record?.audit == given.audit)
        #expect(given.offset == token.position.offset && given.isWhole && given.refusal == nil && !given.moreComing)
        #expect(first.zones.first { $0.zone == RefusingStore.notes }?.changesBehind == 0)
        #expect(first.fetchCount == 1 && first.allFetchCount == 1 && first.notes.isEmpty)
        let changed = try world.save("milk", ["n": .int64(2)], base: milk)
        let second = try view(world, record: "milk")
        #expect(second.record?.verdict == .notFetchedSince && second.record?.version == changed)
        #expect(second.record?.madeBy == Self.phone && second.record?.audit == given.audit)
        #expect(second.zones.first { $0.zone == RefusingStore.notes }?.changesBehind == 1)
        _ = try fetch(world, since: token)
        #expect(try verdict(world, "milk") == .given)
        try world.delete("milk")
        let gone = try view(world, record: "milk")
        #expect(gone.record?.verdict == .notFetchedSince && gone.record?.isDeleted == true)
        #expect(try verdict(world, "never") == .neverThere)
    }

    @Test("A fetch by name gives the record too, and its last save says what it had")
    func byName() throws {
        let world = try RefusingStore(Self.options)
        let first = try world.save("milk", ["n": .int64(1)])
        let second = try world.save("milk", ["n": .int64(2)], base: first, as: Self.tablet)
        let third = try world.save("milk", ["n": .int64(3)], base: second)
        let before = try view(world, record: "milk")
        #expect(before.record?.verdict == .noFetchNoted && before.lastCommit == second.offset)
        #expect(before.record?.lastSave == second && before.record?.lastSaveBase == first)
        #expect(before.record?.version == third)
        _ = try world.store.fetch([world.id("milk")], in: Self.home, as: Self.tablet)
        #expect(try verdict(world, "milk") == .given)
        _ = try world.store.fetch([world.id("other")], in: Self.home, as: Self.tablet)
        try world.save("milk", ["n": .int64(4)], base: third)
        #expect(try verdict(world, "milk") == .notFetchedSince)
        try world.save("other")
        try world.modify(.zones(saving: [ZoneID("More")]))
        try world.save("far", in: ZoneID("More"))
        #expect(try view(world, record: "far", in: ZoneID("More")).record?.verdict == .fetchedElsewhere)
    }

    @Test("A token that expired and an account that is not available are told")
    func refused() throws {
        let world = try RefusingStore(Self.options)
        try world.save("seed", as: Self.tablet)
        _ = try fetch(world)
        _ = try world.store.databaseChanges(in: Self.home, as: Self.tablet)
        try world.save("milk")
        let feed = try view(world).databases
        #expect(feed.count == 1 && feed[0].zonesBehind == 1 && feed[0].given.refusal == nil)
        try world.store.expireTokens(before: world.store.offset, in: DatabaseID(.private, owner: "anna"))
        let expired = try view(world, record: "milk")
        #expect(expired.record?.verdict == .tokenRefused && expired.record?.refusal?.code == .changeTokenExpired)
        try world.store.setAccountStatus(.restricted, of: "anna")
        let restricted = try view(world, record: "milk")
        #expect(restricted.account == .restricted && restricted.record?.verdict == .accountUnavailable)
    }

    @Test("Without audits only what it wrote is known, and that is said")
    func withoutAudits() throws {
        let world = try RefusingStore()
        let seed = try world.save("seed", as: Self.tablet)
        try world.save("milk")
        _ = try fetch(world)
        let view = try view(world, record: "milk")
        #expect(view.fetchCount == 0 && view.allFetchCount == 0 && view.notes.count == 1)
        #expect(view.record?.verdict == .noFetchNoted && view.firstSeen == seed.offset)
        #expect(view.zones.allSatisfy { $0.given == nil && $0.changesBehind == nil })
    }

    @Test("An earlier state has what the device knew then")
    func earlier() throws {
        let world = try RefusingStore(Self.options)
        try world.save("seed", as: Self.tablet)
        try world.save("milk")
        try world.flush()
        let offset = world.store.offset
        _ = try fetch(world)
        #expect(try verdict(world, "milk") == .given)
        let past = try world.store.asOf(offset)
        defer { try? past.close() }
        let view = try DeviceView.of(Self.tablet, in: past, record: (world.id("milk"), Self.home))
        #expect(view.record?.verdict == .noFetchNoted && view.offset == offset)
    }

    @Test("A user or a device that there is not is an error")
    func nobody() throws {
        let world = try RefusingStore()
        for actor in [Actor(user: "carl"), Actor(user: "anna", device: "tv")] {
            #expect { try DeviceView.of(actor, in: world.store) } throws: { ($0 as? Refusal)?.code == .unknownItem }
        }
    }
}
