import CloudKit
import ExampleArguments

// Makes a store to look into with the `strata` tool: two users with two devices each, zones, queries, subscriptions, a
// conflict and its resolution, refusals, an encrypted value, an asset, and a sale that got lost. Clock and random
// numbers are its own, so that every run makes the same commits; commands.txt names them by their offsets.

/// Two users' devices, a minute apart from one step to the next.
@MainActor
final class Demo {
    private let clock = CloudStore.ManualClock(Date(timeIntervalSince1970: 1_795_240_000))
    private let url: URL
    private var options = CloudStore.Options.service
    private var store: CloudStore
    private let notes = CKRecordZone(zoneName: "Notes")
    private let season = CKRecordZone(zoneName: "Season")

    init(at path: String) throws {
        options.clock = clock
        options.random = CloudStore.SeededRandomNumbers(seed: 7)
        options.recordFetches = true
        url = URL(fileURLWithPath: path)
        store = try CloudStore(at: url, options: options)
    }

    /// Closes the store and opens it again. What nobody waits for, such as a refusal, is in the log then; else it would
    /// come with the next commit, or a second later.
    private func reopen() throws {
        try store.close()
        store = try CloudStore(at: url, options: options)
    }

    /// The container of a device, at the next minute.
    private func device(_ user: String, _ name: String) -> CKContainer {
        clock.advance(by: .seconds(60))
        return store.container(user: user, device: name)
    }

    func run() async throws {
        try await subscribe()
        try await loseTicket()
        try await mergeLists()
        try await keepRecipes()
        try await postNews()
        try reopen()
        print("made \(store.offset) commits of anna and bert")
        try store.close()
    }

    /// Anna wants to know of whatever changes in her notes.
    private func subscribe() async throws {
        let phone = device("anna", "phone").privateCloudDatabase
        try await phone.modifyRecordZones(saving: [notes, season], deleting: [])
        let changes = CKRecordZoneSubscription(zoneID: notes.zoneID, subscriptionID: "notes")
        changes.notificationInfo = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
        try await phone.save(changes)
    }

    /// Both devices of anna add to a list; the tablet is late, and merges.
    private func mergeLists() async throws {
        let id = CKRecord.ID(recordName: "shopping", zoneID: notes.zoneID)
        let list = CKRecord(recordType: "Note", recordID: id)
        list["items"] = ["Milk", "Bread"]
        try await device("anna", "phone").privateCloudDatabase.save(list)
        let tablet = device("anna", "tablet").privateCloudDatabase
        let late = try await tablet.record(for: id)
        let onPhone = try await device("anna", "phone").privateCloudDatabase.record(for: id)
        onPhone["items"] = ["Milk", "Bread", "Butter"]
        try await device("anna", "phone").privateCloudDatabase.save(onPhone)
        late["items"] = ["Milk", "Bread", "Jam"]
        do {
            try await device("anna", "tablet").privateCloudDatabase.save(late)
        } catch let error as CKError where error.code == .serverRecordChanged {
            guard let server = error.serverRecord else { throw error }
            try reopen()
            server["items"] = ["Milk", "Bread", "Butter", "Jam"]
            try await device("anna", "tablet").privateCloudDatabase.save(server)
        }
        let changes = try await device("anna", "phone").privateCloudDatabase
            .recordZoneChanges(inZoneWith: notes.zoneID, since: nil)
        print("anna's phone fetches \(changes.modificationResultsByID.count) note")
    }

    /// Recipes of bert, one with a photo and a secret; when he deletes one, its steps go with it.
    private func keepRecipes() async throws {
        let zone = CKRecordZone(zoneName: "Recipes")
        try await device("bert", "laptop").privateCloudDatabase.save(zone)
        let photo = FileManager.default.temporaryDirectory.appending(path: "demo-store-\(UUID().uuidString)")
        try Data("not much of a photo".utf8).write(to: photo)
        defer { try? FileManager.default.removeItem(at: photo) }
        let names = ["waffles", "pancakes"]
        let recipes = names.map { name in
            let recipe = CKRecord(
                recordType: "Recipe", recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
            (recipe["title"], recipe["minutes"]) = (name.capitalized, name.count * 5)
            return recipe
        }
        recipes[0]["photo"] = CKAsset(fileURL: photo)
        recipes[0].encryptedValues["secret"] = "cardamom"
        let step = CKRecord(recordType: "Step", recordID: CKRecord.ID(recordName: "stir", zoneID: zone.zoneID))
        step["recipe"] = CKRecord.Reference(recordID: recipes[1].recordID, action: .deleteSelf)
        try await device("bert", "laptop").privateCloudDatabase.modifyRecords(saving: recipes + [step], deleting: [])
        let query = CKQuery(recordType: "Recipe", predicate: NSPredicate(format: "minutes < 60"))
        query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let found = try await device("bert", "phone").privateCloudDatabase.records(matching: query)
        print("bert finds \(found.matchResults.count) recipes")
        try await device("bert", "phone").privateCloudDatabase.deleteRecord(withID: recipes[1].recordID)
    }

    /// Anna sells tickets on both devices, once from a record that is out of date, in a way that nobody notices.
    private func loseTicket() async throws {
        let id = CKRecord.ID(recordName: "hamlet", zoneID: season.zoneID)
        let show = CKRecord(recordType: "Show", recordID: id)
        (show["seats"], show["free"], show["phone"], show["tablet"]) = (40, 40, 0, 0)
        try await device("anna", "phone").privateCloudDatabase.save(show)
        var kept: [String: CKRecord] = [:]
        let sales = [
            ("phone", 2, true), ("tablet", 4, true), ("phone", 3, true), ("tablet", 1, false), ("phone", 1, true),
        ]
        for (name, count, looks) in sales {
            let database = device("anna", name).privateCloudDatabase
            if looks { kept[name] = try await database.record(for: id) }
            guard let show = kept[name] else { continue }
            show["free"] = (show["free"] as? Int ?? 0) - count
            show[name] = (show[name] as? Int ?? 0) + count
            let results = try await database.modifyRecords(saving: [show], deleting: [], savePolicy: .changedKeys)
            kept[name] = try results.saveResults[id]?.get()
        }
    }

    /// Anna posts something for all; bert is told of it, and likes it, but it is not his to change.
    private func postNews() async throws {
        try await post("rehearsal", "Rehearsals have begun", likes: 1)
        let news = CKQuerySubscription(
            recordType: "Post", predicate: NSPredicate(format: "likes > 2"), subscriptionID: "liked posts",
            options: [.firesOnRecordCreation, .firesOnRecordUpdate])
        news.notificationInfo = CKSubscription.NotificationInfo(alertBody: "A post that many like")
        try await device("bert", "laptop").publicCloudDatabase.save(news)
        let id = try await post("opening", "The season opens on Friday", likes: 3)
        let read = try await device("bert", "phone").publicCloudDatabase.record(for: id)
        read["likes"] = 4
        do {
            try await device("bert", "phone").publicCloudDatabase.save(read)
        } catch let error as CKError where error.code == .permissionFailure {
            print("bert may not change anna's post")
        }
    }

    @discardableResult
    private func post(_ name: String, _ text: String, likes: Int) async throws -> CKRecord.ID {
        let post = CKRecord(recordType: "Post", recordID: CKRecord.ID(recordName: name))
        (post["text"], post["likes"]) = (text, likes)
        return try await device("anna", "tablet").publicCloudDatabase.save(post).recordID
    }
}

let directory = ExampleArguments.newDirectory(
    usage: """
        usage: demo-store DIRECTORY

        Makes a store in DIRECTORY to try the strata tool on: users anna and bert, with conflicts, refusals,
        subscriptions and a lost update.

        example: demo-store Demo.strata
        """)
do { try await Demo(at: directory).run() } catch { ExampleArguments.end("demo-store: \(error)", code: 1) }
