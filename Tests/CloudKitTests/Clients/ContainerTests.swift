import CloudKit
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import CloudKit

/// As a program refers to a database of a container that it holds.
private struct Weakly {
    weak var database: CKDatabase?
}

@Suite("Containers")
struct ContainerTests {
    @Test("The same user and device are the same container and databases (B223)")
    func identity() throws {
        let store = try CloudStore.inMemory()
        let phone = store.container(user: "anna", device: "phone")
        #expect(store.container(user: "anna", device: "phone") === phone)
        #expect(store.container(user: "anna", device: "tablet") !== phone)
        #expect(phone.database(with: .private) === phone.privateCloudDatabase)
        #expect(phone.database(with: .public) === phone.publicCloudDatabase)
        #expect(phone.database(with: .shared) === phone.sharedCloudDatabase)
        #expect(phone.privateCloudDatabase !== phone.publicCloudDatabase)
        let database = store.container(user: "bert").privateCloudDatabase
        #expect(store.container(user: "bert").privateCloudDatabase === database)
    }

    @Test("A container holds its databases: a program may refer to them weakly")
    func weakDatabases() throws {
        let container = try CloudStore.inMemory().container(user: "anna")
        let database = Weakly(database: container.privateCloudDatabase)
        #expect(database.database != nil && database.database === container.database(with: .private))
        container.configuredWith { configured in
            let database = Weakly(database: configured.publicCloudDatabase)
            #expect(database.database != nil && database.database !== container.publicCloudDatabase)
        }
        let directory = try TestDirectory()
        let named = NamedContainers(["STRATA_HOME": directory.path, "STRATA_USER": "anna"])
        let own = Weakly(database: named.container("iCloud.test").privateCloudDatabase)
        #expect(own.database != nil && own.database === named.container("iCloud.test").privateCloudDatabase)
        // One whose store cannot be opened gives its error with each call, and so must be there.
        let broken = Weakly(database: named.container("a/b").privateCloudDatabase)
        #expect(broken.database != nil)
    }

    @Test("Container, databases and store go when nobody holds them")
    func released() throws {
        weak var container: CKContainer?
        weak var database: CKDatabase?
        weak var client: Client?
        weak var store: CloudStore?
        weak var engine: Store?
        do {
            let held = try CloudStore.inMemory()
            let phone = held.container(user: "anna")
            (container, database, client) = (phone, phone.privateCloudDatabase, phone.client)
            (store, engine) = (held, held.store)
            #expect(phone.publicCloudDatabase.description.contains("anna"))
            phone.configuredWith { _ = $0.privateCloudDatabase.description }
            let operation = CKFetchRecordsOperation()
            operation.database = phone.privateCloudDatabase
            try held.close()
        }
        #expect(container == nil && database == nil && client == nil)
        #expect(store == nil && engine == nil)
        // Who holds a database alone holds the store, and reaches the same database through a new container.
        let kept = try CloudStore.inMemory()
        let only = kept.container(user: "anna").privateCloudDatabase
        #expect(kept.container(user: "anna").privateCloudDatabase === only)
        #expect(kept.container(user: "anna", device: "tablet").privateCloudDatabase !== only)
    }

    @Test("The account of somebody who is signed in, and of nobody (B220, B221)")
    func account() async throws {
        let store = try CloudStore.inMemory()
        let phone = store.container(user: "anna")
        #expect(try await phone.accountStatus() == .available)
        let id = try await phone.userRecordID()
        #expect(try await store.container(user: "anna", device: "tablet").userRecordID() == id)
        #expect(try await store.container(user: "bert").userRecordID() != id)
        let guest = store.container(user: nil)
        #expect(try await guest.accountStatus() == .noAccount)
        #expect(await code { try await guest.userRecordID() } == .notAuthenticated)
    }

    @Test("Without an account the public database can be read, and nothing else be done (B220)")
    func signedOut() async throws {
        let store = try CloudStore.inMemory()
        let news = CKRecord(recordType: "News", recordID: CKRecord.ID(recordName: "news"))
        try await store.container(user: "anna").publicCloudDatabase.save(news)
        let guest = store.container(user: nil)
        let read = try await guest.publicCloudDatabase.record(for: news.recordID)
        #expect(read.recordType == "News")
        #expect(try await guest.publicCloudDatabase.allRecordZones().count == 1)
        let publicCode = await code { try await guest.publicCloudDatabase.save(CKRecord(recordType: "News")) }
        #expect(publicCode == .notAuthenticated)
        let privateDatabase = guest.privateCloudDatabase
        #expect(await code { try await privateDatabase.record(for: news.recordID) } == .notAuthenticated)
        #expect(await code { try await privateDatabase.allRecordZones() } == .notAuthenticated)
        #expect(await code { try await privateDatabase.save(CKRecordZone(zoneName: "Notes")) } == .notAuthenticated)
        #expect(await code { try await guest.sharedCloudDatabase.allRecordZones() } == .notAuthenticated)
    }

    @Test("An account that cannot be used, and the notification of its change (B221, B268)")
    func accountChanges() async throws {
        let store = try CloudStore.inMemory()
        let phone = store.container(user: "anna")
        let id = CKRecord.ID(recordName: "note")
        let (tablet, others) = (store.container(user: "anna", device: "tablet"), store.container(user: "ben"))
        let containers: [CKContainer] = [phone, tablet, others]
        let posted = containers.map { _ in Lock(0) }
        let observers = zip(containers, posted).map { container, count in
            NotificationCenter.default.addObserver(forName: .CKAccountChanged, object: container, queue: nil) { _ in
                count.withLock { $0 += 1 }
            }
        }
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        for _ in 0..<2 { try store.console.setAccountStatus(.temporarilyUnavailable, of: "anna") }
        #expect(posted.map { $0.withLock { $0 } } == [1, 1, 0])
        #expect(try await phone.accountStatus() == .temporarilyUnavailable)
        #expect(await code { try await phone.privateCloudDatabase.record(for: id) } == .accountTemporarilyUnavailable)
        #expect(await code { try await phone.publicCloudDatabase.record(for: id) } == .unknownItem)
        for status in [CKAccountStatus.restricted, .noAccount, .couldNotDetermine] {
            try store.console.setAccountStatus(status, of: "anna")
            #expect(try await phone.accountStatus() == status)
            #expect(await code { try await phone.privateCloudDatabase.record(for: id) } == .notAuthenticated)
            #expect(
                await code { try await phone.publicCloudDatabase.save(CKRecord(recordType: "News")) }
                    == .notAuthenticated)
            #expect(await code { try await phone.userRecordID() } == .notAuthenticated)
        }
        try store.console.setAccountStatus(.available, of: "anna")
        #expect(await code { try await phone.privateCloudDatabase.record(for: id) } == .unknownItem)
    }

    @Test("Public records: everybody reads, their creator writes (B222)")
    func publicRecords() async throws {
        let store = try CloudStore.inMemory()
        let (anna, bert) = (store.container(user: "anna"), store.container(user: "bert"))
        let saved = try await anna.publicCloudDatabase.save(CKRecord(recordType: "News"))
        let read = try await bert.publicCloudDatabase.record(for: saved.recordID)
        read["text"] = "mine now"
        #expect(await code { try await bert.publicCloudDatabase.save(read) } == .permissionFailure)
        #expect(
            await code { try await bert.publicCloudDatabase.deleteRecord(withID: saved.recordID) }
                == .permissionFailure)
    }

    @Test("The shared database is real and empty (B30, B31)")
    func shared() async throws {
        let shared = try CloudStore.inMemory().container(user: "anna").sharedCloudDatabase
        #expect(try await shared.allRecordZones().isEmpty)
        #expect(await code { try await shared.recordZone(for: .default) } == .zoneNotFound)
        #expect(await code { try await shared.save(CKRecordZone(zoneName: "Notes")) } == .badDatabase)
        #expect(await code { try await shared.save(CKRecord(recordType: "Note")) } == .zoneNotFound)
        #expect(await code { try await shared.record(for: CKRecord.ID(recordName: "x")) } == .zoneNotFound)
    }

    @Test("A configuration and a group hold for the passed object, while the body runs (B207)")
    func configured() async throws {
        let notes = try await NotesStore()
        let configuration = CKOperation.Configuration()
        configuration.qualityOfService = .userInitiated
        let group = CKOperationGroup()
        group.name = "first sync"
        let (outer, inner, later) = notes.database.configuredWith(configuration: configuration, group: group) {
            configured in
            let kept = configured
            return (notes.database.call.settings, configured.call.settings, { kept.call.settings })
        }
        #expect(outer.qualityOfService == .utility)
        #expect(outer.operation.groupName.isEmpty)
        #expect(inner.qualityOfService == .userInitiated)
        #expect(inner.operation.groupName == "first sync")
        #expect(inner.operation.groupID == group.operationGroupID)
        #expect(later().qualityOfService == .utility)
        let id = notes.id("a")
        try await notes.database.save(notes.note("a"))
        let record = try await notes.database.configuredWith(configuration: configuration) { database in
            try await database.record(for: id)
        }
        #expect(record["text"] as? String == "text")
    }

    @Test("Handlers are called once, never on the main thread (B200)")
    func handlers() async throws {
        let notes = try await NotesStore()
        let (record, onMain) = await withCheckedContinuation { continuation in
            notes.database.save(notes.note("a")) { record, error in
                continuation.resume(returning: (record, Thread.isMainThread || error != nil))
            }
        }
        #expect(record?.recordChangeTag != nil)
        #expect(!onMain)
        let missing = await withCheckedContinuation { continuation in
            notes.database.fetch(withRecordID: notes.id("b")) { record, error in
                continuation.resume(returning: record == nil ? (error as? CKError)?.code : nil)
            }
        }
        #expect(missing == .unknownItem)
        let zones = await withCheckedContinuation { continuation in
            notes.database.fetchAllRecordZones { zones, _ in continuation.resume(returning: zones ?? []) }
        }
        #expect(zones.map(\.zoneID.zoneName) == ["_defaultZone", "Notes"])
        let status = await withCheckedContinuation { continuation in
            notes.phone.accountStatus { status, _ in continuation.resume(returning: status) }
        }
        #expect(status == .available)
    }
}
