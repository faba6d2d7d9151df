import CloudKit
import StrataSystem
import TestSupport
import Testing

@testable import CloudKit

/// What the console has go wrong, and for whom.
@Suite("Faults", .timeLimit(.minutes(1)))
struct FaultTests {
    private let notes: NotesStore
    private var store: CloudStore { notes.store }
    private let phone: CKDatabase
    private let tablet: CKDatabase

    init() async throws {
        notes = try await NotesStore()
        phone = notes.phone.privateCloudDatabase
        tablet = notes.store.container(user: "anna", device: "tablet").privateCloudDatabase
        try await phone.save(note("known"))
    }

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: notes.zone) }
    private func note(_ name: String) -> CKRecord { CKRecord(recordType: "Note", recordID: id(name)) }

    // MARK: Requests

    /// A request of each kind, by a method and where there is one by an operation.
    private var requests: [(CloudStore.RequestKind, (CKDatabase) async throws -> Void)] {
        let (zone, known, saved) = (notes.zone, id("known"), note("other"))
        return [
            (.fetchRecords, { _ = try await $0.record(for: known) }),
            (.fetchRecords, { _ = try await $0.records(for: [known]) }),
            (.modifyRecords, { _ = try await $0.modifyRecords(saving: [saved], deleting: [], savePolicy: .allKeys) }),
            (.modifyRecords, { _ = try await $0.deleteRecord(withID: CKRecord.ID(recordName: "none")) }),
            (
                .query,
                { _ = try await $0.records(matching: CKQuery(recordType: "Note", predicate: .init(value: true))) }
            ),
            (.modifyRecordZones, { _ = try await $0.save(CKRecordZone(zoneID: zone)) }),
            (.fetchRecordZones, { _ = try await $0.recordZone(for: zone) }),
            (.fetchRecordZones, { _ = try await $0.allRecordZones() }),
            (.fetchDatabaseChanges, { _ = try await $0.databaseChanges(since: nil) }),
            (.fetchRecordZoneChanges, { _ = try await $0.recordZoneChanges(inZoneWith: zone, since: nil) }),
            (.modifySubscriptions, { _ = try await $0.save(CKDatabaseSubscription(subscriptionID: "all")) }),
            (.fetchSubscriptions, { _ = try await $0.allSubscriptions() }),
            (.fetchUserIdentities, { _ = try await $0.call.identities([]) }),
            (.requestPermission, { _ = try await $0.call.requestDiscoverability() }),
            (.fetchShares, { _ = try await $0.call.shareParticipants([]) }),
            (.joinShares, { _ = try await $0.call.requestAccess([]) }),
            (.fetchSubscriptions, { _ = try await $0.subscriptions(for: ["all"]) }),
        ]
    }

    @Test("The next requests of a kind fail as told, those of other kinds and devices do not, and then none does")
    func failNext() async throws {
        #expect(Set(requests.map(\.0)) == Set(CloudStore.RequestKind.allCases))
        for (kind, request) in requests {
            try store.console.failNext(2, of: kind, with: .requestRateLimited, retryAfter: 3, on: "phone")
            for (other, harmless) in requests where other != kind { try await harmless(phone) }
            try await request(tablet)
            for _ in 0..<2 {
                do {
                    try await request(phone)
                    Issue.record("\(kind) did not fail")
                } catch let error as CKError {
                    #expect(error.code == .requestRateLimited && error.retryAfterSeconds == 3, "\(kind)")
                    #expect((error.userInfo[CKErrorRetryAfterKey] as? Double) == 3)
                }
            }
            try await request(phone)
        }
    }

    @Test("Any code can be asked for, of any kind and device, or of one user's")
    func codes() async throws {
        let bob = store.container(user: "bob").publicCloudDatabase
        for number in 1...37 {
            guard let code = CKError.Code(rawValue: number), code != .partialFailure else { continue }
            try store.console.failNext(with: code, user: "bob")
            #expect(await CloudKitTests.code { try await phone.record(for: id("known")) } == nil)
            #expect(await CloudKitTests.code { try await bob.record(for: id("known")) } == code)
        }
        try store.console.failNext(with: .internalError)
        #expect(await code { try await phone.record(for: id("known")) } == .internalError)
        #expect(await code { try await phone.record(for: id("known")) } == nil)
    }

    @Test("What was told to fail was not applied, and an operation says so in its result block")
    func requestIsNotApplied() async throws {
        try store.console.failNext(of: .modifyRecords, with: .zoneBusy, retryAfter: 0.5)
        let operation = CKModifyRecordsOperation(recordsToSave: [note("new")])
        let journal = Journal()
        operation.perRecordSaveBlock = { _, result in journal.add("save", result) }
        operation.modifyRecordsResultBlock = { journal.add("all", $0) }
        await operation.finish { phone.add($0) }
        #expect(journal.entries == ["all zoneBusy"])
        #expect(await code { try await phone.record(for: id("new")) } == .unknownItem)
    }

    @Test("A lost answer: applied, and the client does not know")
    func lostResponse() async throws {
        try store.console.loseNextResponse(on: "phone")
        _ = try await phone.record(for: id("known"))
        try await tablet.save(note("of tablet"))
        #expect(await code { try await phone.save(note("new")) } == .serverResponseLost)
        #expect(try await phone.record(for: id("new")).recordChangeTag != nil)
        #expect(await code { try await phone.save(note("new")) } == .serverRecordChanged)
        try await phone.save(note("third"))
        try store.console.loseNextResponse(2, on: "phone")
        let zone = CKRecordZone(zoneName: "More")
        #expect(await code { try await phone.save(zone) } == .serverResponseLost)
        #expect(await code { try await phone.save(CKDatabaseSubscription(subscriptionID: "a")) } == .serverResponseLost)
        #expect(try await phone.recordZone(for: zone.zoneID).zoneID == zone.zoneID)
        #expect(try await phone.allSubscriptions().count == 1)
    }

    // MARK: Items

    @Test("Items of a save fail alone in a zone that is not atomic, and with all others in one that is")
    func savedItems() async throws {
        try store.console.failNext(2, of: .modifyRecords, with: .zoneBusy, scope: .item)
        let loose = try await phone.modifyRecords(
            saving: ["a", "b", "c"].map { note($0) }, deleting: [id("known")], atomically: false)
        #expect(loose.saveResults[id("a")]?.code == .zoneBusy && loose.saveResults[id("b")]?.code == .zoneBusy)
        #expect(try loose.saveResults[id("c")]?.get().recordChangeTag != nil)
        #expect(loose.deleteResults[id("known")]?.code == nil)
        try store.console.failNext(of: .modifyRecords, with: .zoneBusy, scope: .item)
        do {
            _ = try await phone.modifyRecords(saving: [note("x"), note("y")], deleting: [id("c")])
            Issue.record("nothing failed")
        } catch let error as CKError {
            let errors = error.partialErrorsByItemID
            #expect((errors?[id("x")] as? CKError)?.code == .zoneBusy)
            #expect((errors?[id("y")] as? CKError)?.code == .batchRequestFailed)
            #expect((errors?[id("c")] as? CKError)?.code == .batchRequestFailed)
        }
        _ = try await phone.record(for: id("c"))
    }

    @Test("A delete can be the item that fails; a conflict that was asked for has its records")
    func deletesAndConflicts() async throws {
        try store.console.failNext(of: .modifyRecords, with: .networkFailure, scope: .item)
        #expect(await code { try await phone.deleteRecord(withID: id("known")) } == .networkFailure)
        let known = try await phone.record(for: id("known"))
        try store.console.failNext(of: .modifyRecords, with: .serverRecordChanged, scope: .item)
        do {
            try await phone.save(known)
            Issue.record("the save did not fail")
        } catch let error as CKError {
            #expect(error.code == .serverRecordChanged && error.clientRecord === known)
            #expect(error.serverRecord?.recordChangeTag == known.recordChangeTag)
        }
        try await phone.save(known)
    }

    @Test("Items of fetches, zones and subscriptions fail alone too")
    func otherItems() async throws {
        let console = store.console
        try await phone.save(note("second"))
        try console.failNext(of: .fetchRecords, with: .assetNotAvailable, scope: .item)
        let fetched = try await phone.records(for: [id("known"), id("second")])
        #expect(fetched[id("known")]?.code == .assetNotAvailable)
        #expect(try fetched[id("second")]?.get() != nil)
        try console.failNext(of: .query, with: .zoneBusy, scope: .item)
        let (matches, _) = try await phone.records(matching: CKQuery(recordType: "Note", predicate: .init(value: true)))
        #expect(matches.map { $0.1.code } == [.zoneBusy, nil])
        try console.failNext(of: .modifyRecordZones, with: .quotaExceeded, scope: .item)
        let zones = ["A", "B"].map { CKRecordZone(zoneName: $0) }
        let saved = try await phone.modifyRecordZones(saving: zones, deleting: [])
        #expect(zones.map { saved.saveResults[$0.zoneID]?.code } == [.quotaExceeded, nil])
        try console.failNext(of: .fetchRecordZones, with: .zoneBusy, scope: .item)
        let found = try await phone.recordZones(for: [zones[1].zoneID, notes.zone])
        #expect(found[zones[1].zoneID]?.code == .zoneBusy && found[notes.zone]?.code == nil)
        try console.failNext(of: .modifySubscriptions, with: .zoneBusy, scope: .item)
        let all = CKDatabaseSubscription(subscriptionID: "all")
        let one = CKRecordZoneSubscription(zoneID: notes.zone, subscriptionID: "one")
        let subscribed = try await phone.modifySubscriptions(saving: [all, one], deleting: [])
        #expect(subscribed.saveResults["all"]?.code == .zoneBusy && subscribed.saveResults["one"]?.code == nil)
        try console.failNext(of: .fetchSubscriptions, with: .zoneBusy, scope: .item)
        #expect(await code { try await phone.subscription(for: "one") } == .zoneBusy)
    }

    @Test("A zone that fails is told to its own block, a request that fails to the operation's")
    func zoneChanges() async throws {
        let other = CKRecordZone(zoneName: "Other")
        try await phone.save(other)
        for (scope, expected) in [
            (CloudStore.FaultScope.item, ["Notes zoneBusy", "Other success", "all success"]),
            (.request, ["all zoneBusy"]),
        ] {
            try store.console.failNext(of: .fetchRecordZoneChanges, with: .zoneBusy, scope: scope)
            let operation = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: [notes.zone, other.zoneID], configurationsByRecordZoneID: nil)
            let journal = Journal()
            operation.recordZoneFetchResultBlock = { zone, result in
                journal.add(zone.zoneName, result.map { _ in () })
            }
            operation.fetchRecordZoneChangesResultBlock = { journal.add("all", $0) }
            await operation.finish { phone.add($0) }
            #expect(journal.entries == expected)
        }
    }

    // MARK: Networks

    @Test("Without a network nothing reaches the store, and notifications wait for it")
    func network() async throws {
        let container = store.container(user: "anna", device: "phone")
        try await phone.save(CKDatabaseSubscription(subscriptionID: "all"))
        try store.console.setNetwork(.unavailable, on: "phone")
        for (kind, request) in requests {
            #expect(await code { try await request(phone) } == .networkUnavailable, "\(kind)")
        }
        for (_, request) in requests { try await request(tablet) }
        let got = Lock(0)
        let listening = Task {
            for await _ in container.remoteNotifications {
                got.withLock { $0 += 1 }
                return
            }
        }
        try await tablet.save(note("news"))
        try await Task.sleep(for: .milliseconds(100))
        #expect(got.withLock { $0 } == 0)
        try store.console.setNetwork(.normal, on: "phone")
        await listening.value
        #expect(got.withLock { $0 } == 1)
        for (_, request) in requests { try await request(phone) }
    }

    @Test("A stream that waits for a network ends with its task, and with the store")
    func waitingStreams() async throws {
        let container = store.container(user: "anna", device: "phone")
        try await phone.save(CKDatabaseSubscription(subscriptionID: "all"))
        try store.console.setNetwork(.unavailable)
        for closes in [false, true] {
            let stream = container.remoteNotifications
            let listening = Task { for await _ in stream {} }
            try store.console.setNetwork(.normal, on: "tablet")
            try await tablet.save(note("news \(closes)"))
            try await Task.sleep(for: .milliseconds(50))
            if closes { try store.close() } else { listening.cancel() }
            await listening.value
        }
    }

    @Test("A cellular network serves what allows it; a slow one serves later")
    func cellularAndSlow() async throws {
        try store.console.setNetwork(.cellularOnly)
        _ = try await phone.record(for: id("known"))
        let configuration = CKOperation.Configuration()
        configuration.allowsCellularAccess = false
        await phone.configuredWith(configuration: configuration) { wireless in
            #expect(await code { try await wireless.record(for: id("known")) } == .networkUnavailable)
        }
        let clock = ContinuousClock()
        try store.console.setNetwork(.slow(.milliseconds(80)))
        #expect(try await clock.measure { _ = try await phone.record(for: id("known")) } >= .milliseconds(80))
        // By more than a busy machine may hold up what is asked without it.
        try store.console.setNetwork(.slow(.seconds(60)))
        let operation = CKFetchRecordsOperation(recordIDs: [id("known")])
        operation.configuration.timeoutIntervalForRequest = 0.02
        let journal = Journal()
        operation.fetchRecordsResultBlock = { journal.add("all", $0) }
        await operation.finish { phone.add($0) }
        #expect(journal.entries == ["all networkFailure"])
        try store.console.setNetwork(.normal)
        // On a busy machine one of them may be held up, not all.
        let isFast = try await awaited {
            try await clock.measure { _ = try await phone.record(for: id("known")) } < .milliseconds(80)
        }
        #expect(isFast)
    }

    @Test("A network for all is replaced for one device, and one for a device by what holds for all")
    func networksOverlap() async throws {
        try store.console.setNetwork(.unavailable)
        try store.console.setNetwork(.normal, on: "phone")
        #expect(await code { try await phone.record(for: id("known")) } == nil)
        #expect(await code { try await tablet.record(for: id("known")) } == .networkUnavailable)
        try store.console.setNetwork(.unavailable, on: "phone")
        #expect(await code { try await phone.record(for: id("known")) } == .networkUnavailable)
        try store.console.setNetwork(.normal)
        #expect(await code { try await phone.record(for: id("known")) } == nil)
        #expect(await code { try await tablet.record(for: id("known")) } == nil)
    }

    // MARK: Plans

    @Test("A plan of certainties strikes always, one of impossibilities never; its description has its seed")
    func plans() async throws {
        var plan = CloudStore.FaultPlan(seed: 9)
        #expect(plan.description == "FaultPlan(seed: 9)")
        plan.requestFailure = 1
        plan.codes = [.zoneBusy]
        plan.retryAfter = 2
        #expect(plan.description == "FaultPlan(seed: 9, requestFailure: 1.0, codes: [.zoneBusy], retryAfter: 2.0)")
        try store.console.setFaultPlan(plan)
        for (_, request) in requests { #expect(await code { try await request(phone) } == .zoneBusy) }
        plan.requestFailure = 0
        plan.itemFailure = 0
        plan.lostResponse = 0
        plan.expiredToken = 1
        plan.delay = 1
        plan.longestDelay = .milliseconds(2)
        try store.console.setFaultPlan(plan)
        for (_, request) in requests { try await request(phone) }
        let token = try await phone.databaseChanges(since: nil).changeToken
        #expect(await code { try await phone.databaseChanges(since: token) } == .changeTokenExpired)
        try store.console.setFaultPlan(nil)
        _ = try await phone.databaseChanges(since: token)
        plan.lostResponse = 1
        try store.console.setFaultPlan(plan, on: "phone")
        #expect(await code { try await phone.save(note("lost")) } == .serverResponseLost)
        try await tablet.save(note("kept"))
        try store.console.clearFaults()
        try await phone.save(note("another"))
    }

    @Test("A plan can end for one device, and begins anew for that one alone")
    func plansOverlap() async throws {
        var plan = CloudStore.FaultPlan(seed: 4)
        (plan.requestFailure, plan.itemFailure, plan.lostResponse, plan.expiredToken) = (0.5, 0, 0, 0)
        func luck(_ database: CKDatabase) async -> [Bool] {
            var luck: [Bool] = []
            for _ in 0..<24 { luck.append(await code { try await database.allRecordZones() } == nil) }
            return luck
        }
        try store.console.setFaultPlan(plan)
        let (first, ofTablet) = (await luck(phone), await luck(tablet))
        #expect(Set(first).count == 2 && first != ofTablet)
        try store.console.setFaultPlan(nil, on: "phone")
        #expect(await luck(phone) == Array(repeating: true, count: 24))
        #expect(await luck(tablet).contains(false))
        try store.console.setFaultPlan(plan, on: "phone")
        #expect(await luck(phone) == first)
        // Failures that are asked for and items do not shift a plan's luck.
        try store.console.setFaultPlan(plan)
        try store.console.failNext(with: .zoneBusy, on: "phone")
        _ = await code { try await phone.allRecordZones() }
        #expect(Array((await luck(phone)).prefix(23)) == Array(first.dropFirst()))
    }

    @Test("What is pushed waits while the account cannot be used")
    func unusableAccount() async throws {
        try await phone.save(CKDatabaseSubscription(subscriptionID: "all"))
        let pushes = store.container(user: "anna", device: "phone").remoteNotifications
        try await tablet.save(note("news"))
        try store.console.setAccountStatus(.restricted, of: "anna")
        let got = Lock(0)
        let listening = Task {
            for await _ in pushes {
                got.withLock { $0 += 1 }
                return
            }
        }
        try await Task.sleep(for: .milliseconds(60))
        #expect(got.withLock { $0 } == 0)
        try store.console.setAccountStatus(.available, of: "anna")
        await listening.value
        #expect(got.withLock { $0 } == 1)
    }

    @Test("All handles of a store have the same console")
    func shared() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (first, second) = (try CloudStore(at: directory), try CloudStore(at: directory))
        try first.console.failNext(with: .zoneBusy)
        let database = second.container(user: "anna").privateCloudDatabase
        #expect(await code { try await database.allRecordZones() } == .zoneBusy)
        try first.close()
        try second.close()
    }

    @Test("What nobody can mean is refused")
    func mistakes() async throws {
        let console = store.console
        #expect(await code { try console.failNext(0, with: .zoneBusy) } == .invalidArguments)
        #expect(await code { try console.failNext(with: .partialFailure) } == .invalidArguments)
        #expect(await code { try console.failNext(with: .zoneBusy, retryAfter: -1) } == .invalidArguments)
        #expect(await code { try console.failNext(with: .zoneBusy, retryAfter: .nan) } == .invalidArguments)
        #expect(await code { try console.loseNextResponse(-1) } == .invalidArguments)
        for delay in [Duration.seconds(-1), .seconds(86_401), .seconds(Int64.max)] {
            #expect(await code { try console.setNetwork(.slow(delay)) } == .invalidArguments)
            var plan = CloudStore.FaultPlan(seed: 1)
            plan.longestDelay = delay
            #expect(await code { try console.setFaultPlan(plan) } == .invalidArguments)
        }
        for retryAfter in [-1, Double.nan, .infinity] {
            var plan = CloudStore.FaultPlan(seed: 1)
            plan.retryAfter = retryAfter
            #expect(await code { try console.setFaultPlan(plan) } == .invalidArguments)
        }
        var partial = CloudStore.FaultPlan(seed: 1)
        partial.codes = [.partialFailure]
        #expect(await code { try console.setFaultPlan(partial) } == .invalidArguments)
        #expect(await code { try console.setQuota(bytes: 0, of: "anna") } == .invalidArguments)
        var plan = CloudStore.FaultPlan(seed: 1)
        for path in [\CloudStore.FaultPlan.requestFailure, \.itemFailure, \.lostResponse, \.expiredToken, \.delay] {
            for wrong in [-0.1, 1.1, Double.nan] {
                plan = CloudStore.FaultPlan(seed: 1)
                plan[keyPath: path] = wrong
                #expect(await code { try console.setFaultPlan(plan) } == .invalidArguments)
            }
        }
    }
}
