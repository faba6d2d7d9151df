import CloudKit
import StrataSystem
import Testing

@testable import CloudKit

/// What an engine fetches and reports: B232, B402 to B404, B426 to B436.
@Suite("Sync: fetching", .timeLimit(.minutes(10)))
struct SyncFetchingTests {
    private let world: SyncStore
    private let tablet = SyncDevice()
    private let engine: CKSyncEngine
    private let phone: CKDatabase

    init() async throws {
        world = try SyncStore()
        engine = world.engine(tablet, "tablet")
        phone = world.database("phone")
        try await phone.save(CKRecordZone(zoneID: world.zone))
    }

    private func fetchAll() async throws {
        try await engine.fetchChanges()
        tablet.forgetEvents()
    }

    @Test("B232 B428 no changes: will and did alone")
    func nothing() async throws {
        try await fetchAll()
        try await engine.fetchChanges()
        #expect(tablet.journal == ["will fetch", "did fetch"])
    }

    @Test("B402 records of the default zone are sent, but not fetched")
    func defaultZone() async throws {
        try await fetchAll()
        let id = CKRecord.ID(recordName: "a")
        tablet.set("text", id)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        try await engine.sendChanges()
        #expect(tablet.journal == ["will send", "sent 1/0-0/0", "did send"])
        try await phone.save(CKRecord(recordType: "Note", recordID: .init(recordName: "b")))
        try await engine.fetchChanges()
        #expect(tablet.texts.count == 1)
    }

    @Test("B403 the engine uses a database subscription, or saves one; failing that, it still fetches")
    func subscription() async throws {
        try world.store.console.failNext(of: .fetchSubscriptions, with: .serviceUnavailable)
        try await engine.fetchChanges()
        #expect(try await phone.allSubscriptions().isEmpty)
        try await engine.fetchChanges()
        #expect(try await phone.allSubscriptions().map(\.subscriptionID) == ["cksyncengine.private"])
        let third = SyncDevice()
        try await world.engine(third, "third").fetchChanges()
        #expect(try await phone.allSubscriptions().count == 1)
        var configuration = CKSyncEngine.Configuration(
            database: world.database("fourth"), stateSerialization: nil, delegate: tablet)
        configuration.automaticallySync = false
        configuration.subscriptionID = "mine"
        // The store has at most one such subscription (B185).
        try await CKSyncEngine(configuration).fetchChanges()
        #expect(try await phone.allSubscriptions().map(\.subscriptionID) == ["cksyncengine.private"])
        let ofNotes = CKDatabaseSubscription(subscriptionID: "notes")
        ofNotes.recordType = "Note"
        try await phone.save(ofNotes)
        try await phone.deleteSubscription(withID: "cksyncengine.private")
        try await CKSyncEngine(configuration).fetchChanges()
        #expect(Set(try await phone.allSubscriptions().map(\.subscriptionID)) == ["mine", "notes"])
    }

    @Test("B426 B427 B429 B430 scopes, priorities and chosen options; what is left out comes later")
    func scopes() async throws {
        let zones = ["A", "B", "C"].map { CKRecordZone.ID(zoneName: $0) }
        for zone in zones {
            try await phone.save(CKRecordZone(zoneID: zone))
            try await phone.save(CKRecord(recordType: "Note", recordID: .init(recordName: "r", zoneID: zone)))
        }
        try await engine.fetchChanges(.init(scope: .allExcluding([zones[0], world.zone])))
        #expect(tablet.journal.filter { $0.hasPrefix("will fetch ") } == ["will fetch B", "will fetch C"])
        #expect(engine.state.zoneIDsWithUnfetchedServerChanges == [world.zone, zones[0]])
        tablet.forgetEvents()
        tablet.chooseOptions(.init(scope: .zoneIDs([world.zone])))
        try await engine.fetchChanges()
        #expect(engine.state.zoneIDsWithUnfetchedServerChanges == [zones[0]])
        tablet.chooseOptions(nil)
        tablet.forgetEvents()
        for zone in zones {
            try await phone.save(CKRecord(recordType: "Note", recordID: .init(recordName: "s", zoneID: zone)))
        }
        var options = CKSyncEngine.FetchChangesOptions()
        options.prioritizedZoneIDs = [zones[2], zones[1]]
        try await engine.fetchChanges(options)
        #expect(
            tablet.journal.filter { $0.hasPrefix("will fetch ") } == ["will fetch C", "will fetch B", "will fetch A"])
        #expect(engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
        #expect(tablet.content.withLock { $0.known.count } == 6)
    }

    @Test("B430 B431 a zone that does not exist: its own error, and the call throws")
    func missingZone() async throws {
        try await fetchAll()
        let error = await failure { try await engine.fetchChanges(.init(scope: .zoneIDs([.init(zoneName: "None")]))) }
        #expect(error?.code == .zoneNotFound)
        #expect(tablet.journal == ["will fetch", "will fetch None", "did fetch None zoneNotFound", "did fetch"])
    }

    @Test("B431 a zone's error does not stop the others; the zone stays unfetched")
    func zoneError() async throws {
        try await phone.save(CKRecordZone(zoneName: "Other"))
        try world.store.console.failNext(of: .fetchRecordZoneChanges, with: .zoneBusy, scope: .item)
        #expect(await failure { try await engine.fetchChanges() }?.code == .zoneBusy)
        #expect(tablet.journal.contains("did fetch Notes zoneBusy") && tablet.journal.contains("did fetch Other"))
        #expect(engine.state.zoneIDsWithUnfetchedServerChanges == [world.zone])
        try await engine.fetchChanges()
        #expect(engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty)
    }

    @Test("B432 a call during a fetch joins it")
    func join() async throws {
        try world.store.console.setNetwork(.slow(.milliseconds(50)))
        async let first: Void = engine.fetchChanges()
        #expect(await soon { tablet.journal.contains("will fetch") })
        try await engine.fetchChanges(.init(scope: .zoneIDs([world.zone])))
        try await first
        #expect(tablet.journal.filter { $0 == "will fetch" }.count == 1)
    }

    @Test("B433 own writes come back with the same tag")
    func ownWrites() async throws {
        try await fetchAll()
        world.add("a", to: tablet, engine)
        try await engine.sendChanges()
        let tag = tablet.content.withLock { $0.known[world.id("a")]?.recordChangeTag }
        try await engine.fetchChanges()
        #expect(tablet.journal.contains("records 1-0"))
        #expect(tablet.content.withLock { $0.known[world.id("a")]?.recordChangeTag } == tag && tag != nil)
    }

    @Test("B434 expired tokens are handled inside: everything again, no error, no deletions")
    func expired() async throws {
        try await phone.save(world.note("a"))
        try await phone.save(world.note("b"))
        try await fetchAll()
        try await phone.deleteRecord(withID: world.id("b"))
        try world.store.console.expireTokens(before: world.store.offset + 1)
        try await engine.fetchChanges()
        #expect(
            tablet.journal == [
                "will fetch", "database 1-0", "will fetch Notes", "records 1-0", "did fetch Notes", "did fetch",
            ])
        tablet.forgetEvents()
        try await engine.fetchChanges()
        #expect(tablet.journal == ["will fetch", "did fetch"])
    }

    @Test("B435 B436 a purged zone takes its token with it, pending changes stay, and it comes back from the beginning")
    func purged() async throws {
        try await phone.save(world.note("a"))
        try await fetchAll()
        world.add("b", to: tablet, engine)
        try world.store.console.purgeZone(world.zone, of: "anna")
        try await engine.fetchChanges()
        #expect(tablet.journal == ["will fetch", "database 0-1", "did fetch"])
        guard
            case .fetchedDatabaseChanges(let changes)? = tablet.events.first(where: { $0.shortName == "database 0-1" })
        else { return #expect(Bool(false)) }
        #expect(changes.deletions.first?.reason == .purged)
        #expect(engine.state.pendingRecordZoneChanges.count == 1)
        #expect(engine.state.content.withLock { $0.zoneTokens.isEmpty })
        let error = await failure { try await engine.sendChanges() }
        #expect((error?.partialErrorsByItemID?[world.id("b")] as? CKError)?.code == .userDeletedZone)
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        try await phone.save(CKRecordZone(zoneID: world.zone))
        try await phone.save(world.note("c"))
        tablet.forgetEvents()
        try await engine.fetchChanges()
        #expect(tablet.journal.contains("records 1-0"))
    }

    @Test("B400 an engine for the public database throws badDatabase, and posts nothing")
    func publicDatabase() async throws {
        let device = SyncDevice()
        let database = world.store.container(user: "anna").publicCloudDatabase
        let engine = CKSyncEngine(.init(database: database, stateSerialization: nil, delegate: device))
        #expect(await failure { try await engine.fetchChanges() }?.code == .badDatabase)
        #expect(await failure { try await engine.sendChanges() }?.code == .badDatabase)
        _ = await world.advance(until: { world.clock.now.timeIntervalSinceReferenceDate > 3 })
        #expect(device.events.isEmpty)
    }

    @Test("B436 the store refuses a token that was kept after a purge: the zone is fetched from the beginning")
    func keptToken() async throws {
        try await phone.save(world.note("a"))
        try await fetchAll()
        let kept = CKSyncEngine.State.Serialization(engine.state.content.withLock { $0 })
        try world.store.console.purgeZone(world.zone, of: "anna")
        try await phone.save(CKRecordZone(zoneID: world.zone))
        try await phone.save(world.note("b"))
        let device = SyncDevice()
        let next = world.engine(device, "tablet", state: kept)
        try await next.fetchChanges()
        #expect(device.texts.keys.map(\.recordName) == ["b"])
        let tokens = next.state.content.withLock { $0.zoneTokens }
        #expect(tokens.count == 1 && tokens[world.zone] != kept.content.zoneTokens[world.zone])
    }

    @Test("B434 what another device deletes from a zone that this one created is reported, also by its first fetch")
    func ownZone() async throws {
        let zone = CKRecordZone.ID(zoneName: "Own")
        let ids = ["a", "b"].map { CKRecord.ID(recordName: $0, zoneID: zone) }
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zone))])
        for id in ids { tablet.set("text", id) }
        engine.state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
        try await engine.sendChanges()
        try await phone.deleteRecord(withID: ids[0])
        try await engine.fetchChanges(.init(scope: .zoneIDs([zone])))
        #expect(tablet.journal.contains("records 1-1") && Set(tablet.texts.keys) == [ids[1]])
        // The token is in the first state that is reported before records are sent, for a process that ends early.
        #expect(tablet.states.first { $0.content.zoneTokens[zone] != nil }?.content.recordChanges.count == 2)
    }

    @Test("B404 requests run at utility, in the operation group of the options")
    func group() async throws {
        let group = CKOperationGroup()
        group.name = "first"
        world.add("a", to: tablet, engine)
        try await engine.sendChanges(.init(operationGroup: group))
        let call = engine.core.call(in: group)
        #expect(call.settings.operation.groupName == "first" && call.settings.qualityOfService == .utility)
    }

    @Test(
        "B235 every error of a fetch is thrown, and the next fetch gets everything",
        arguments: CKError.Code.allSyncCodes)
    func table(code: CKError.Code) async throws {
        try await phone.save(world.note("a"))
        try world.store.console.failNext(of: .fetchDatabaseChanges, with: code)
        #expect(await failure { try await engine.fetchChanges() }?.code == code)
        #expect(tablet.journal.suffix(2) == ["will fetch", "did fetch"])
        try world.store.console.failNext(of: .fetchRecordZoneChanges, with: code)
        #expect(await failure { try await engine.fetchChanges() }?.code == code)
        #expect(tablet.journal.last == "did fetch")
        try await engine.fetchChanges(.init(scope: .zoneIDs([world.zone])))
        #expect(tablet.texts.count == 1)
    }
}
