import TestSupport
import Testing

@testable import CloudKit

/// Code under test that makes its container itself.
private struct App {
    let container = CKContainer(identifier: "iCloud.chosen")

    func save(_ name: String) async throws {
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
        try await container.privateCloudDatabase.save(note)
    }

    func has(_ name: String) async throws -> Bool {
        let id = CKRecord.ID(recordName: name)
        return try await container.privateCloudDatabase.records(for: [id])[id].map { (try? $0.get()) != nil } ?? false
    }
}

@Suite("Containers of a store that the program chose", .timeLimit(.minutes(2)))
struct ChosenStoreTests {
    private func message(_ body: () throws -> Void) -> (code: CKError.Code?, text: String) {
        do { try body() } catch let error as CKError { return (error.code, error.detail) } catch {}
        return (nil, "")
    }

    @Test("Two devices, another user and nobody, in code that makes its container itself")
    func devices() async throws {
        let store = try CloudStore.inMemory()
        func app<R>(_ user: String?, _ device: String, _ body: (App) async throws -> R) async throws -> R {
            try await CloudStore.with(store, forContainer: "iCloud.chosen", user: user, device: device) {
                try await body(App())
            }
        }
        try await app("anna", "phone") { try await $0.save("a") }
        #expect(try await app("anna", "tablet") { try await $0.has("a") })
        #expect(try await app("ben", "phone") { try await !$0.has("a") })
        #expect(try await app(nil, "phone") { try await $0.container.accountStatus() } == .noAccount)
        // The container, its name included, is the one that the store itself hands out.
        let phone = store.container(user: "anna", device: "phone")
        #expect(try await app("anna", "phone") { $0.container === phone })
        #expect(phone.containerIdentifier == "iCloud.chosen")
    }

    @Test("Parallel tasks with a store each for one name; their child tasks and operations see the same one")
    func tasks() async throws {
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<16 {
                group.addTask {
                    let store = try CloudStore.inMemory()
                    return try await CloudStore.with(store, user: "anna", device: "phone") {
                        async let saved = Task {
                            let record = CKRecord(recordType: "N\(number)")
                            return try await CKContainer.default().privateCloudDatabase.save(record)
                        }.value
                        _ = try await saved
                        // An operation of a queue of its own has no container but the default one.
                        let operation = CKModifyRecordsOperation(recordsToSave: [CKRecord(recordType: "N\(number)")])
                        let queue = OperationQueue()
                        await operation.finish { queue.addOperation($0) }
                        let query = CKQuery(recordType: "N\(number)", predicate: NSPredicate(value: true))
                        let database = store.container(user: "anna", device: "tablet").privateCloudDatabase
                        return try await database.records(matching: query).matchResults.count
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(count == 32)
    }

    @Test("The innermost choice counts, and ends with its closure; the container goes on with its store")
    func nesting() async throws {
        let (first, second) = (try CloudStore.inMemory(), try CloudStore.inMemory())
        let kept = try CloudStore.with(first, forContainer: "iCloud.chosen", user: "anna") {
            let outer = App().container
            try CloudStore.with(second, forContainer: "iCloud.chosen", user: "anna") {
                #expect(App().container !== outer)
                #expect(App().container === second.container(user: "anna"))
            }
            #expect(App().container === outer)
            return outer
        }
        try await kept.privateCloudDatabase.save(CKRecord(recordType: "Note"))
        #expect(first.offset > 0 && second.offset == 0)
    }

    @Test("For the whole process, until another store or nil; a container that was made before keeps its store")
    func process() async throws {
        let name = "iCloud.process-\(UUID().uuidString)"
        let named = NamedContainers(["STRATA_HOME": ":memory:", "STRATA_USER": "login", "STRATA_DEVICE": "pad"])
        let before = named.container(name)
        let store = try CloudStore.inMemory()
        try CloudStore.use(store, forContainer: name, user: "anna", device: "phone")
        defer { try? CloudStore.use(nil, forContainer: name) }
        let chosen = CKContainer(identifier: name)
        #expect(chosen === store.container(user: "anna", device: "phone") && chosen !== before)
        #expect(chosen.containerIdentifier == name)
        // Other threads see it too, and the task's own choice takes precedence.
        #expect(await Task.detached { CKContainer(identifier: name) === chosen }.value)
        let other = try CloudStore.inMemory()
        try CloudStore.with(other, forContainer: name, user: "anna") {
            #expect(CKContainer(identifier: name) !== chosen)
        }
        try CloudStore.use(other, forContainer: name, user: "ben")
        #expect(CKContainer(identifier: name) === other.container(user: "ben"))
        try await chosen.privateCloudDatabase.save(CKRecord(recordType: "Note"))
        #expect(store.offset > 0)
        // Undone, the name is opened as before; the same object as long as the process runs.
        #expect(named.container(name) === before)
        #expect(before.description == "<CKContainer \(name): login on pad>")
    }

    @Test("The pattern of apps: the container that metadata of a share names")
    func sharing() async throws {
        let store = try CloudStore.inMemory()
        try store.console.addUser("ben", emails: ["ben@example.com"])
        let zone = CKRecordZone(zoneName: "Lists")
        let url = try await CloudStore.with(store, forContainer: "iCloud.chosen", user: "anna") {
            let database = App().container.privateCloudDatabase
            try await database.save(zone)
            let root = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "root", zoneID: zone.zoneID))
            let share = CKShare(rootRecord: root)
            share.publicPermission = .readWrite
            _ = try await database.modifyRecords(saving: [root, share], deleting: [])
            return try #require(share.url)
        }
        let metadata = try await store.console.open(url, as: "ben")
        #expect(metadata.containerIdentifier == "iCloud.chosen")
        try await CloudStore.with(store, forContainer: "iCloud.chosen", user: "ben") {
            let share = try await CKContainer(identifier: metadata.containerIdentifier).accept(metadata)
            #expect(share.currentUserParticipant?.acceptanceStatus == .accepted)
        }
    }

    @Test("A closed store and a wrong identifier are errors of the call that chooses them")
    func mistakes() throws {
        let store = try CloudStore.inMemory()
        for name in ["", "a/b", ".hidden"] {
            #expect(message { try CloudStore.use(store, forContainer: name, user: "anna") }.code == .badContainer)
            #expect(message { try CloudStore.use(nil, forContainer: name) }.code == .badContainer)
            #expect(message { try CloudStore.with(store, forContainer: name, user: "anna") {} }.code == .badContainer)
        }
        try store.close()
        let closed = message { try CloudStore.use(store, forContainer: "iCloud.chosen", user: "anna") }
        #expect(closed.code != nil && closed.text.contains("iCloud.chosen") && closed.text.contains("closed"))
        #expect(message { try CloudStore.with(store, user: nil) {} }.code == closed.code)
    }

    // MARK: The environment

    @Test("STRATA_HOME=:memory: leaves no file, and each name has a store of its own")
    func memory() async throws {
        let directory = try TestDirectory()
        let named = NamedContainers(["STRATA_HOME": ":memory:", "STRATA_USER": "anna", "HOME": directory.path])
        let container = named.container("iCloud.one")
        #expect(named.container("iCloud.one") === container)
        let record = try await container.privateCloudDatabase.save(CKRecord(recordType: "Note"))
        let other = named.container("iCloud.two").privateCloudDatabase
        #expect(await code { try await other.record(for: record.recordID) } == .unknownItem)
        #expect(container.description == "<CKContainer iCloud.one: anna on default>")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        let mistyped = NamedContainers(["STRATA_HOME": ":memory", "HOME": directory.path]).container("iCloud.one")
        #expect(await code { try await mistyped.accountStatus() } == .invalidArguments)
        #expect(!FileManager.default.fileExists(atPath: ":memory"))
    }

    @Test("STRATA_OPTIONS: the options of stores that containers open themselves")
    func options() async throws {
        let text = "embedded, limits=service schema=enforced durability=50ms,parentTouch=true historyDays=30"
        let options = try CloudStore.Options(text)
        #expect(options.predicates == .extended && options.limits == .service && options.schema == .enforced)
        #expect(options.durability == .interval(.milliseconds(50)) && options.parentTouch)
        #expect(options.history.days == 30 && options.history.bytes == nil)
        let plain = try CloudStore.Options("")
        #expect(plain.predicates == .cloudKit && plain.durability == .commit)
        let all = try CloudStore.Options(
            "atomicFailures=perItem historyBytes=7 predicates=extended recordFetches=true recordRefusals=false "
                + "shareURLBase=https://example.com/s/ durability=system")
        #expect(all.atomicFailures == .perItem && all.history.bytes == 7 && all.predicates == .extended)
        #expect(all.recordFetches && !all.recordRefusals && all.shareURLBase == "https://example.com/s/")
        let environment = ["STRATA_HOME": ":memory:", "STRATA_OPTIONS": "schema=enforced"]
        let database = NamedContainers(environment).container("iCloud.one").privateCloudDatabase
        #expect(await code { try await database.save(CKRecord(recordType: "Note")) } != nil)
    }

    @Test(
        "A mistyped option says what exists",
        arguments: [
            ("schemas=open", "schema=…"), ("embeded", "embedded"), ("schema", "schema=…"),
            ("schema=strict", "enforced"),
            ("durability=50", "50ms"), ("durability=-1ms", "50ms"), ("historyDays=x", "number"),
            ("schema=open embedded", "limits=…"),
        ])
    func mistypedOption(_ text: String, _ advice: String) async throws {
        let found = message { _ = try CloudStore.Options(text) }
        #expect(found.code == .invalidArguments && found.text.contains(advice), "\(found.text)")
        let container = NamedContainers(["STRATA_HOME": ":memory:", "STRATA_OPTIONS": text]).container("iCloud.one")
        let failure = await #expect(throws: CKError.self) { try await container.accountStatus() }
        #expect(failure?.code == .invalidArguments && failure?.detail.contains(advice) == true)
    }
}
