import CloudKit
import TestSupport
import Testing

@testable import CloudKit

/// The names of users' own records, as clients see them.
@Suite("Names of users' records", .timeLimit(.minutes(1)))
struct RecordNameTests {
    private func note(_ name: String = "note") -> CKRecord {
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
    }

    @Test("All containers of a user have the same ID, before and after the first write, and asking writes nothing")
    func sameUser() async throws {
        let store = try CloudStore.inMemory()
        let (phone, tablet) = (store.container(user: "anna", device: "phone"), store.container(user: "anna"))
        let (id, other) = (try await phone.userRecordID(), try await store.container(user: "bert").userRecordID())
        #expect(try await tablet.userRecordID() == id && id != other && store.offset == 0)
        for database in [phone.privateCloudDatabase, phone.publicCloudDatabase] {
            #expect(await code { try await database.record(for: id) } == .unknownItem)
        }
        #expect(store.offset == 0)
        try await phone.privateCloudDatabase.save(note())
        for container in [phone, tablet, store.container(user: "anna", device: "watch")] {
            #expect(try await container.userRecordID() == id)
            for database in [container.privateCloudDatabase, container.publicCloudDatabase] {
                let own = try await database.record(for: id)
                #expect(own.recordType == "Users" && own.recordID.recordName == id.recordName)
                #expect(own.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
            }
        }
        #expect(try await store.container(user: "bert").userRecordID() == other)
    }

    @Test("Another store gives the user another name, and no name tells the user")
    func otherStore() async throws {
        let stores = try [CloudStore.inMemory(), CloudStore.inMemory()]
        var names: Set<String> = []
        for store in stores {
            for user in ["anna", "bert"] {
                let name = try await store.container(user: user).userRecordID().recordName
                #expect(name.hasPrefix("_") && name.utf8.count == 33 && !name.contains(user), "\(name)")
                names.insert(name)
            }
        }
        #expect(names.count == 4)
    }

    @Test("It is the same once the store was closed and opened again")
    func reopened() async throws {
        let directory = try TestDirectory()
        let url = URL(fileURLWithPath: directory.path("Notes.strata"))
        let store = try CloudStore(at: url)
        try store.console.addUser("bert", recordName: "_bert")
        let anna = store.container(user: "anna", device: "phone")
        try await anna.privateCloudDatabase.save(note())
        let id = try await anna.userRecordID()
        try store.close()
        let again = try CloudStore(at: url)
        #expect(try await again.container(user: "anna", device: "phone").userRecordID() == id)
        #expect(try await again.container(user: "bert").userRecordID().recordName == "_bert")
        try again.close()
    }

    @Test("The console chooses the name of a user whom the store has not met, also after it was asked for")
    func chosen() async throws {
        let store = try CloudStore.inMemory()
        let (anna, bert) = (store.container(user: "anna", device: "phone"), store.container(user: "bert"))
        let derived = try await anna.userRecordID()
        try store.console.addUser("anna", emails: ["anna@example.com"], recordName: "_anna")
        let id = try await anna.userRecordID()
        #expect(id.recordName == "_anna" && id.zoneID == .default && id != derived)
        #expect(try await store.container(user: "anna", device: "tablet").userRecordID() == id)
        let saved = try await anna.publicCloudDatabase.save(note())
        for database in [anna.privateCloudDatabase, anna.publicCloudDatabase] {
            #expect(try await database.record(for: id).recordType == "Users")
            #expect(await code { try await database.record(for: derived) } == .unknownItem)
        }
        // Others see it as that of who created and changed a record.
        let seen = try await bert.publicCloudDatabase.record(for: saved.recordID)
        #expect(seen.creatorUserRecordID == id && seen.lastModifiedUserRecordID == id)
        let query = CKQuery(
            recordType: "Note", predicate: NSPredicate(format: "creatorUserRecordID = %@", id))
        let answer = try await bert.publicCloudDatabase.records(matching: query)
        #expect(answer.matchResults.map(\.0.recordName) == ["note"])
    }

    @Test("A participant is looked up by the chosen name, and members name the owner's zone by it")
    func shared() async throws {
        let store = try CloudStore.inMemory()
        for user in ["anna", "bert"] { try store.console.addUser(user, recordName: "_\(user)") }
        let (anna, bert) = (store.container(user: "anna", device: "phone"), store.container(user: "bert"))
        let zone = CKRecordZone(zoneName: "Notes")
        try await anna.privateCloudDatabase.save(zone)
        let root = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "root", zoneID: zone.zoneID))
        let share = CKShare(rootRecord: root)
        let guest = try await anna.shareParticipant(forUserRecordID: CKRecord.ID(recordName: "_bert"))
        guest.permission = .readWrite
        share.addParticipant(guest)
        _ = try await anna.privateCloudDatabase.modifyRecords(saving: [root, share], deleting: [])
        let kept = try #require(try await anna.privateCloudDatabase.record(for: share.recordID) as? CKShare)
        let names = kept.participants.map { $0.userIdentity.userRecordID?.recordName }
        #expect(names.contains("_bert"))
        let metadata = try await store.console.open(try #require(kept.url), as: "bert")
        try await bert.accept(metadata)
        let place = CKRecordZone.ID(zoneName: "Notes", ownerName: "_anna")
        let read = try await bert.sharedCloudDatabase.record(for: CKRecord.ID(recordName: "root", zoneID: place))
        #expect(read.recordType == "Note" && read.recordID.zoneID.ownerName == "_anna")
        #expect(read.creatorUserRecordID?.recordName == "_anna")
    }

    @Test("A known user keeps the name, another user's name is not free, and no other record's name is taken")
    func refused() async throws {
        // What is refused leaves nothing in the log.
        var options = CloudStore.Options.service
        options.recordRefusals = false
        let store = try CloudStore.inMemory(options: options)
        let anna = store.container(user: "anna", device: "phone")
        try await anna.privateCloudDatabase.save(note())
        let id = try await anna.userRecordID()
        let offset = store.offset
        let console = store.console
        for (user, name) in [
            ("anna", "_other"), ("bert", id.recordName), ("bert", ""), ("bert", "bert"), ("bert", "__bert"),
            ("bert", "_b\u{7}"), ("bert", "_" + String(repeating: "b", count: 255)),
        ] {
            #expect(await code { try console.addUser(user, recordName: name) } == .invalidArguments, "\(name)")
        }
        #expect(store.offset == offset)
        try console.addUser("anna", recordName: id.recordName)
        try console.addUser("anna")
        #expect(try await anna.userRecordID() == id && store.offset == offset)
        try console.addUser("bert", recordName: "_" + String(repeating: "b", count: 254))
        #expect(try await store.container(user: "bert").userRecordID().recordName.utf8.count == 255)
    }

    @Test("References to a user's own record lead there")
    func references() async throws {
        let store = try CloudStore.inMemory()
        let anna = store.container(user: "anna", device: "phone")
        let id = try await anna.userRecordID()
        let own = CKRecord(recordType: "Users", recordID: id)
        own["nick"] = "Ann"
        let note = note()
        note["author"] = CKRecord.Reference(recordID: id, action: .none)
        let database = anna.privateCloudDatabase
        _ = try await database.modifyRecords(saving: [own, note], deleting: [], savePolicy: .changedKeys)
        let read = try await database.record(for: note.recordID)
        let author = try #require(read["author"] as? CKRecord.Reference)
        #expect(author.recordID == id)
        #expect(try await database.record(for: author.recordID)["nick"] == "Ann")
    }
}
