import CloudKit
import TestSupport
import Testing

@testable import CloudKit

@Suite("Subscriptions, as clients save, fetch and delete them", .timeLimit(.minutes(2)))
struct SubscriptionRuleTests {
    private func query(
        _ id: String, _ predicate: NSPredicate = NSPredicate(value: true),
        options: CKQuerySubscription.Options = .firesOnRecordCreation
    ) -> CKQuerySubscription {
        CKQuerySubscription(recordType: "Note", predicate: predicate, subscriptionID: id, options: options)
    }

    private func all(_ id: String = "all") -> CKDatabaseSubscription { CKDatabaseSubscription(subscriptionID: id) }

    private func withNote(_ options: CloudStore.Options = .service) async throws -> NotesStore {
        let notes = try await NotesStore(options)
        try await notes.database.save(notes.note("a"))
        return notes
    }

    /// One of each kind, with all that can be set.
    private func everyKind(_ notes: NotesStore) -> [CKSubscription] {
        let query = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(format: "text BEGINSWITH %@ AND text != 'ä\"'", "b"),
            subscriptionID: "query", options: [.firesOnRecordUpdate, .firesOnRecordDeletion, .firesOnce])
        query.zoneID = notes.zone
        query.notificationInfo = CKSubscription.NotificationInfo(
            alertBody: "body", alertLocalizationKey: "key", alertLocalizationArgs: ["text"], title: "title",
            titleLocalizationKey: "t", titleLocalizationArgs: ["text", "x"], subtitle: "sub",
            subtitleLocalizationKey: "s", subtitleLocalizationArgs: ["text"], alertActionLocalizationKey: "action",
            alertLaunchImage: "image", soundName: "default", desiredKeys: ["text", "x", "y"], shouldBadge: true,
            shouldSendContentAvailable: true, shouldSendMutableContent: true, category: "c", collapseIDKey: "i")
        let zone = CKRecordZoneSubscription(zoneID: notes.zone, subscriptionID: "zone")
        zone.recordType = "Note"
        zone.notificationInfo = CKSubscription.NotificationInfo()
        let database = all("database")
        database.recordType = "Note"
        return [database, query, zone]
    }

    @Test("Every kind comes back with all that was set, from the save, alone, by IDs and among all (B180)")
    func everything() async throws {
        let notes = try await withNote()
        let saved = everyKind(notes)
        let results = try await notes.database.modifySubscriptions(saving: saved, deleting: [])
        #expect(results.saveResults.count == 3 && results.deleteResults.isEmpty)
        let listed = try await notes.database.allSubscriptions()
        #expect(listed == saved)
        let byID = try await notes.database.subscriptions(for: saved.map(\.subscriptionID) + ["none"])
        for subscription in saved {
            let id = subscription.subscriptionID
            let answer = try #require(try results.saveResults[id]?.get())
            for found in [answer, try await notes.database.subscription(for: id), try #require(try byID[id]?.get())] {
                #expect(found == subscription && found !== subscription)
                #expect(
                    type(of: found) == type(of: subscription) && found.subscriptionType == subscription.subscriptionType
                )
                #expect(found.notificationInfo == subscription.notificationInfo)
            }
        }
        #expect(byID["none"]?.code == .unknownItem && byID.count == 4)
        let found = try #require(listed[1] as? CKQuerySubscription)
        #expect(found.predicate == (saved[1] as? CKQuerySubscription)?.predicate && found.zoneID == notes.zone)
        #expect(found.querySubscriptionOptions == [.firesOnRecordUpdate, .firesOnRecordDeletion, .firesOnce])
    }

    @Test("They survive a restart, a copy through an archive included")
    func restart() async throws {
        let directory = try TestDirectory()
        let url = URL(fileURLWithPath: directory.path("Notes.strata"))
        func open() throws -> CloudStore { try CloudStore(at: url) }
        var store = try open()
        var database = store.container(user: "anna").privateCloudDatabase
        try await database.save(CKRecordZone(zoneName: "Notes"))
        let zone = CKRecordZoneSubscription(zoneID: .init(zoneName: "Notes"), subscriptionID: "zone")
        let data = try NSKeyedArchiver.archivedData(withRootObject: zone, requiringSecureCoding: true)
        let decoded = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecordZoneSubscription.self, from: data))
        try await database.save(decoded)
        try await database.save(all())
        try await database.deleteSubscription(withID: "all")
        try await database.save(all("again"))
        try store.close()
        store = try open()
        database = store.container(user: "anna").privateCloudDatabase
        #expect(try await database.allSubscriptions() == [all("again"), zone])
        #expect(await code { try await database.save(all("other")) } == .serverRejectedRequest)
        try store.close()
    }

    @Test("Saving an ID again changes the subscription; unchanged it writes nothing (B180)")
    func again() async throws {
        let notes = try await withNote()
        try await notes.database.save(query("q"))
        let offset = notes.store.offset
        try await notes.database.save(query("q"))
        #expect(notes.store.offset == offset)
        let changed = query("q", NSPredicate(format: "text = 'x'"), options: [.firesOnRecordUpdate, .firesOnce])
        try await notes.database.save(changed)
        #expect(try await notes.database.allSubscriptions() == [changed])
    }

    @Test("Each kind has its databases (B181)")
    func databases() async throws {
        let notes = try await withNote()
        let (phone, zone) = (notes.phone, CKRecordZoneSubscription(zoneID: notes.zone, subscriptionID: "z"))
        let (everybody, shared) = (phone.publicCloudDatabase, phone.sharedCloudDatabase)
        #expect(await code { try await shared.save(query("q")) } == .badDatabase)
        #expect(await code { try await everybody.save(zone) } == .badDatabase)
        #expect(await code { try await shared.save(zone) } == .badDatabase)
        #expect(await code { try await everybody.save(all()) } == .badDatabase)
        for database in [notes.database, everybody] {
            #expect(await code { try await database.save(query("q")) } == nil)
        }
        for database in [notes.database, shared] { #expect(await code { try await database.save(all()) } == nil) }
        #expect(await code { try await notes.database.save(zone) } == nil)
        #expect(try await shared.allSubscriptions() == [all()])
    }

    @Test("A zone subscription needs a zone of one's own that keeps changes (B121, B182)")
    func zones() async throws {
        let notes = try await withNote()
        func saving(_ zone: CKRecordZone.ID) async -> CKError.Code? {
            await code {
                try await notes.database.save(CKRecordZoneSubscription(zoneID: zone, subscriptionID: "z"))
            }
        }
        #expect(await saving(.init(zoneName: "Nowhere")) == .zoneNotFound)
        #expect(await saving(.default) == .invalidArguments)
        #expect(await saving(.init(zoneName: "Notes", ownerName: "_somebody")) == .zoneNotFound)
        let me = try await notes.phone.userRecordID().recordName
        #expect(await saving(.init(zoneName: "Notes", ownerName: me)) == nil)
        let found = try await notes.database.subscription(for: "z") as? CKRecordZoneSubscription
        #expect(found?.zoneID == notes.zone)
        let users = CKQuerySubscription(
            recordType: "Users", predicate: NSPredicate(value: true), subscriptionID: "u",
            options: .firesOnRecordUpdate)
        #expect(await code { try await notes.phone.publicCloudDatabase.save(users) } == .invalidArguments)
    }

    @Test("What Apple's classes would raise an exception for is refused, alone (B183, B190, B270)")
    func mistakes() async throws {
        // What is refused leaves nothing in the log.
        var options = CloudStore.Options.service
        options.recordRefusals = false
        let notes = try await withNote(options)
        let greedy = query("greedy")
        greedy.notificationInfo = CKSubscription.NotificationInfo(desiredKeys: ["a", "b", "c", "d"])
        let typeless = CKQuerySubscription(
            recordType: "", predicate: NSPredicate(value: true), subscriptionID: "typeless",
            options: .firesOnRecordCreation)
        let wrong: [CKSubscription] = [
            all(""), query("still", options: []), query("once", options: .firesOnce), greedy, typeless,
            query("block", NSPredicate { _, _ in true }), query("broken", NSPredicate(format: "text =")),
            query("or", NSPredicate(format: "text = 'a' OR text = 'b'")),
            query("unknown", NSPredicate(format: "never = 1")), query("kind", NSPredicate(format: "text > 3")),
        ]
        let offset = notes.store.offset
        for subscription in wrong {
            #expect(
                await code { try await notes.database.save(subscription) } == .invalidArguments,
                "\(subscription.subscriptionID)")
        }
        #expect(notes.store.offset == offset)
        let right = query("right")
        let results = try await notes.database.modifySubscriptions(
            saving: wrong + [right], deleting: ["none"])
        #expect(results.saveResults.values.count { $0.code == .invalidArguments } == wrong.count)
        #expect(results.saveResults["right"]?.code == nil && results.deleteResults["none"]?.code == .unknownItem)
        #expect(try await notes.database.allSubscriptions() == [right])
    }

    @Test("A type that nobody has saved is unknown, unless the store is to take it (B142)")
    func unknownType() async throws {
        let notes = try await NotesStore()
        #expect(await code { try await notes.database.save(query("q")) } == .unknownItem)
        var options = CloudStore.Options.service
        options.predicates = .extended
        let open = try await NotesStore(options)
        try await open.database.save(query("q", NSPredicate(format: "text = 'x'")))
        try await open.database.save(query("r", NSPredicate(format: "other = 3")))
        let asked = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text = 'x'"))
        #expect(try await open.database.records(matching: asked).matchResults.isEmpty)
        try await open.database.save(open.note("a", "x"))
        #expect(try await open.database.records(matching: asked).matchResults.count == 1)
    }

    @Test("Deleting or fetching what is not there says so (B184)")
    func missing() async throws {
        let notes = try await withNote()
        let database = notes.database
        #expect(await code { try await database.subscription(for: "x") } == .unknownItem)
        #expect(await code { try await database.deleteSubscription(withID: "x") } == .unknownItem)
        try await database.save(all())
        #expect(try await database.deleteSubscription(withID: "all") == "all")
        #expect(await code { try await database.deleteSubscription(withID: "all") } == .unknownItem)
        #expect(try await database.allSubscriptions().isEmpty)
    }

    @Test("Nobody subscribes to the same twice (B185)")
    func duplicates() async throws {
        let notes = try await withNote()
        try await notes.database.modifySubscriptions(saving: everyKind(notes), deleting: [])
        let zone = CKRecordZoneSubscription(zoneID: notes.zone, subscriptionID: "zone2")
        zone.recordType = "Note"
        let database = all("database2")
        database.recordType = "Note"
        database.notificationInfo = CKSubscription.NotificationInfo(alertBody: "another")
        for other in [zone, database] {
            do {
                try await notes.database.save(other)
                Issue.record("\(other) was saved")
            } catch let error as CKError {
                #expect(error.code == .serverRejectedRequest)
                let id = other.subscriptionID.dropLast()
                #expect(error.detail == "subscription is duplicate of '\(id)'")
            }
        }
        let tablet = notes.store.container(user: "anna", device: "tablet").privateCloudDatabase
        #expect(await code { try await tablet.save(zone) } == .serverRejectedRequest)
        let results = try await tablet.modifySubscriptions(saving: [zone], deleting: ["zone"])
        #expect(results.saveResults["zone2"]?.code == nil && results.deleteResults["zone"]?.code == nil)
        #expect(try await tablet.allSubscriptions().map(\.subscriptionID) == ["database", "query", "zone2"])
    }

    @Test("The same one twice in a request fails the whole (B36); so do too many (B67)")
    func twice() async throws {
        let notes = try await withNote()
        let database = notes.database
        func saving(_ saves: [CKSubscription], _ deletes: [String]) async -> CKError.Code? {
            await code { try await database.modifySubscriptions(saving: saves, deleting: deletes) }
        }
        #expect(await saving([all(), all()], []) == .invalidArguments)
        #expect(await saving([all()], ["all"]) == .invalidArguments)
        #expect(await saving([query("q", options: []), query("q")], []) == .invalidArguments)
        #expect(await saving([], (0...400).map { "\($0)" }) == .limitExceeded)
        #expect(await saving([all("")], (0..<400).map { "\($0)" }) == .limitExceeded)
        #expect(await code { try await database.subscriptions(for: (0...400).map { "\($0)" }) } == .limitExceeded)
        #expect(await saving([], []) == nil)
        #expect(try await database.subscriptions(for: []).isEmpty)
        #expect(try await database.allSubscriptions().isEmpty)
    }

    @Test("Another user's subscriptions are not to be seen (B186); without an account there are none (B220)")
    func users() async throws {
        let notes = try await withNote()
        let everybody = notes.phone.publicCloudDatabase
        try await everybody.save(query("q"))
        let ben = notes.store.container(user: "ben").publicCloudDatabase
        #expect(try await ben.allSubscriptions().isEmpty)
        #expect(await code { try await ben.subscription(for: "q") } == .unknownItem)
        #expect(await code { try await ben.deleteSubscription(withID: "q") } == .unknownItem)
        #expect(await code { try await ben.save(query("mine")) } == nil)
        #expect(try await everybody.allSubscriptions() == [query("q")])
        let nobody = notes.store.container(user: "").publicCloudDatabase
        #expect(await code { try await nobody.allSubscriptions() } == .notAuthenticated)
        #expect(await code { try await nobody.subscription(for: "q") } == .notAuthenticated)
        #expect(await code { try await nobody.save(query("q")) } == .notAuthenticated)
        #expect(await code { try await nobody.modifySubscriptions(saving: [], deleting: []) } == .notAuthenticated)
    }

    @Test("What is changed after a save was asked for is not sent (B201)")
    func later() async throws {
        let notes = try await withNote()
        let subscription = all()
        let operation = CKModifySubscriptionsOperation(subscriptionsToSave: [subscription])
        let queue = OperationQueue()
        operation.database = notes.database
        await operation.finish { queue.addOperation($0) }
        subscription.recordType = "Later"
        #expect(try await notes.database.subscription(for: "all") == all())
    }

    // MARK: Blocks

    @Test("Handlers get what the asynchronous methods give")
    func handlers() async throws {
        let notes = try await withNote()
        let database = notes.database
        let saved = await withCheckedContinuation { done in
            database.save(all()) { done.resume(returning: ($0?.subscriptionID, $1 == nil)) }
        }
        #expect(saved == ("all", true))
        let fetched = await withCheckedContinuation { done in
            database.fetch(withSubscriptionID: "all") { done.resume(returning: ($0?.subscriptionID, $1 == nil)) }
        }
        #expect(fetched == ("all", true))
        let some = await withCheckedContinuation { done in
            database.fetch(withSubscriptionIDs: ["all", "x"]) { done.resume(returning: try? $0.get()) }
        }
        #expect(some?["all"]?.code == nil && some?["x"]?.code == .unknownItem)
        let modified = await withCheckedContinuation { done in
            database.modifySubscriptions(saving: [all("b")], deleting: ["x"]) { done.resume(returning: try? $0.get()) }
        }
        #expect(modified?.saveResults["b"]?.code == .serverRejectedRequest)
        #expect(modified?.deleteResults["x"]?.code == .unknownItem)
        let everything = await withCheckedContinuation { done in
            database.fetchAllSubscriptions { done.resume(returning: ($0?.count, $1 == nil)) }
        }
        #expect(everything == (1, true))
        for expected in [nil, CKError.Code.unknownItem] {
            let deleted = await withCheckedContinuation { done in
                database.delete(withSubscriptionID: "all") { done.resume(returning: ($0, ($1 as? CKError)?.code)) }
            }
            #expect(deleted == (expected == nil ? "all" : nil, expected))
        }
    }

    @Test("Operations tell of each subscription, then of the whole, which succeeds")
    func operations() async throws {
        let notes = try await withNote()
        let journal = Journal()
        let modify = CKModifySubscriptionsOperation(
            subscriptionsToSave: [all(), all("again"), query("q", options: [])],
            subscriptionIDsToDelete: ["none"])
        modify.perSubscriptionSaveBlock = { journal.add("save \($0)", $1) }
        modify.perSubscriptionDeleteBlock = { journal.add("delete \($0)", $1) }
        modify.modifySubscriptionsResultBlock = { journal.add("result", $0) }
        await modify.finish { notes.database.add($0) }
        let fetch = CKFetchSubscriptionsOperation(subscriptionIDs: ["none", "all", "all"])
        fetch.perSubscriptionResultBlock = { journal.add("fetch \($0)", $1) }
        fetch.fetchSubscriptionsResultBlock = { journal.add("result", $0) }
        await fetch.finish { notes.database.add($0) }
        let every = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
        every.perSubscriptionResultBlock = { journal.add("all \($0)", $1) }
        every.fetchSubscriptionsResultBlock = { journal.add("result", $0) }
        await every.finish { notes.database.add($0) }
        #expect(
            journal.entries == [
                "save all success", "save again serverRejectedRequest", "save q invalidArguments",
                "delete none unknownItem", "result success", "fetch none unknownItem", "fetch all success",
                "result success", "all all success", "result success",
            ])
    }

    @Test("The older blocks get what was done, and a partial failure by IDs")
    @available(*, deprecated)
    func olderBlocks() async throws {
        let notes = try await withNote()
        let journal = Journal()
        func report(_ error: Error?) {
            let error = error as? CKError
            journal.add("error", error)
            let parts = error?.partialErrorsByItemID ?? [:]
            for (id, part) in parts.sorted(by: { "\($0.key)" < "\($1.key)" }) { journal.add("\(id)", part) }
        }
        let modify = CKModifySubscriptionsOperation(
            subscriptionsToSave: [all(), all("again")], subscriptionIDsToDelete: ["none"])
        modify.modifySubscriptionsCompletionBlock = { saved, deleted, error in
            journal.add("saved \(saved?.map(\.subscriptionID) ?? []) deleted \(deleted ?? [])")
            report(error)
        }
        await modify.finish { notes.database.add($0) }
        let fetch = CKFetchSubscriptionsOperation(subscriptionIDs: ["all", "none"])
        fetch.fetchSubscriptionCompletionBlock = { found, error in
            journal.add("found \(found.map { Array($0.keys) } ?? [])")
            report(error)
        }
        await fetch.finish { notes.database.add($0) }
        let nothing = CKFetchSubscriptionsOperation()
        nothing.fetchSubscriptionCompletionBlock = { found, error in
            journal.add("found \(found?.count ?? -1)")
            report(error)
        }
        await nothing.finish { notes.database.add($0) }
        #expect(
            journal.entries == [
                "saved [\"all\"] deleted []", "error partialFailure", "again serverRejectedRequest",
                "none unknownItem", "found [\"all\"]", "error partialFailure", "none unknownItem", "found 0",
                "error success",
            ])
    }
}
