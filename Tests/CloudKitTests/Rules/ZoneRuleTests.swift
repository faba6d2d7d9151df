import CloudKit
import StrataModel
import StrataRules
import StrataStore
import Testing

@testable import CloudKit

@Suite("Zones and their lives")
struct ZoneRuleTests {
    /// What a user can do in Settings; there is no public call for it yet.
    private func purge(_ notes: NotesStore) throws {
        var names = RequestNames()
        let body = AdministerRequest.purgeZone(names.ordinal(of: ZoneID("Notes")))
        let request = Request(database: DatabaseID(.private, owner: "anna"), names: names, .administer(body))
        try notes.store.store.modify(request, as: .service)
    }

    @Test("No record without its zone (B32)")
    func missing() async throws {
        let notes = try await NotesStore()
        let id = CKRecord.ID(recordName: "a", zoneID: .init(zoneName: "Later"))
        let note = CKRecord(recordType: "Note", recordID: id)
        #expect(await code { try await notes.database.save(note) } == .zoneNotFound)
        #expect(await code { try await notes.database.record(for: id) } == .zoneNotFound)
        try await notes.database.save(CKRecordZone(zoneID: id.zoneID))
        #expect(await code { try await notes.database.record(for: id) } == .unknownItem)
        #expect(await code { try await notes.database.save(note) } == nil)
    }

    @Test("A zone's capabilities are the store's to say; saving it again leaves its records alone (B33, B34)")
    func capabilities() async throws {
        let notes = try await NotesStore()
        #expect(CKRecordZone(zoneID: notes.zone).capabilities.isEmpty)
        let saved = try await notes.database.recordZone(for: notes.zone)
        #expect(saved.capabilities == [.fetchChanges, .atomic, .sharing, .zoneWideSharing])
        #expect(try await notes.database.recordZone(for: .default).capabilities.isEmpty)
        let note = try await notes.database.save(notes.note("a"))
        let offset = notes.store.offset
        try await notes.database.save(CKRecordZone(zoneID: notes.zone))
        #expect(notes.store.offset == offset)
        #expect(try await notes.database.record(for: notes.id("a")).recordChangeTag == note.recordChangeTag)
    }

    @Test("Zones are modified each for itself; the same one twice fails the whole (B36)")
    func each() async throws {
        let notes = try await NotesStore()
        let database = notes.database
        let new = CKRecordZone(zoneName: "New")
        #expect(
            await code { try await database.modifyRecordZones(saving: [new, new], deleting: []) } == .invalidArguments)
        #expect(
            await code { try await database.modifyRecordZones(saving: [new], deleting: [new.zoneID]) }
                == .invalidArguments)
        #expect(await code { try await database.recordZone(for: new.zoneID) } == .zoneNotFound)
        let results = try await database.modifyRecordZones(
            saving: [CKRecordZone(zoneName: "_bad"), new, .default()],
            deleting: [.init(zoneName: "Nowhere"), notes.zone])
        #expect(results.saveResults[.init(zoneName: "_bad")]?.code == .invalidArguments)
        #expect(results.saveResults[new.zoneID]?.code == nil && results.saveResults[.default]?.code == nil)
        #expect(results.deleteResults[.init(zoneName: "Nowhere")]?.code == .zoneNotFound)
        #expect(results.deleteResults[notes.zone]?.code == nil)
        #expect(await code { try await database.deleteRecordZone(withID: .default) } == .invalidArguments)
    }

    @Test("A deleted zone's records are gone, and stay so when it is made again (B35)")
    func deleted() async throws {
        let notes = try await NotesStore()
        try await notes.database.save(notes.note("a"))
        try await notes.database.deleteRecordZone(withID: notes.zone)
        #expect(await code { try await notes.database.record(for: notes.id("a")) } == .zoneNotFound)
        #expect(await code { try await notes.database.deleteRecordZone(withID: notes.zone) } == .zoneNotFound)
        try await notes.database.save(CKRecordZone(zoneID: notes.zone))
        #expect(await code { try await notes.database.record(for: notes.id("a")) } == .unknownItem)
    }

    @Test("The default zone is always listed (B37); private and public have it without a save (B30)")
    func listed() async throws {
        let store = try CloudStore.inMemory()
        let container = store.container(user: "anna")
        for database in [container.privateCloudDatabase, container.publicCloudDatabase] {
            #expect(try await database.allRecordZones().map(\.zoneID) == [.default])
            #expect(try await database.recordZone(for: .default).zoneID == .default)
        }
        #expect(store.offset == 0)
        try await container.privateCloudDatabase.save(CKRecordZone(zoneName: "B"))
        try await container.privateCloudDatabase.save(CKRecordZone(zoneName: "A"))
        #expect(
            try await container.privateCloudDatabase.allRecordZones().map(\.zoneID.zoneName)
                == ["_defaultZone", "B", "A"])
    }

    @Test("A zone that its user deleted says so until it is made again, to fetches of it too (B38, B257)")
    func purged() async throws {
        let notes = try await NotesStore()
        let note = try await notes.database.save(notes.note("a"))
        try purge(notes)
        for _ in 0..<2 {
            #expect(await code { try await notes.database.recordZone(for: notes.zone) } == .userDeletedZone)
            #expect(await code { try await notes.database.record(for: note.recordID) } == .userDeletedZone)
            #expect(await code { try await notes.database.save(note) } == .userDeletedZone)
            #expect(await code { try await notes.database.deleteRecord(withID: note.recordID) } == .userDeletedZone)
            #expect(await code { try await notes.database.deleteRecordZone(withID: notes.zone) } == .userDeletedZone)
        }
        #expect(try await notes.database.allRecordZones().map(\.zoneID) == [.default])
        try await notes.database.save(CKRecordZone(zoneID: notes.zone))
        #expect(await code { try await notes.database.record(for: note.recordID) } == .unknownItem)
    }

    @Test("How a zone is encrypted is settled when it is made (B39)")
    func encryption() async throws {
        let notes = try await NotesStore()
        let vault = CKRecordZone(zoneName: "Vault")
        vault.encryptionScope = .perZone
        #expect(try await notes.database.save(vault).encryptionScope == .perZone)
        #expect(try await notes.database.recordZone(for: vault.zoneID).encryptionScope == .perZone)
        let other = CKRecordZone(zoneID: vault.zoneID)
        #expect(await code { try await notes.database.save(other) } == .invalidArguments)
        try await notes.database.deleteRecordZone(withID: vault.zoneID)
        #expect(try await notes.database.save(other).encryptionScope == .perRecord)
    }

    @Test("Zones are made in private databases only (B31); a zone that was never shared cannot be deleted (B358)")
    func databases() async throws {
        let phone = try await NotesStore().phone
        for database in [phone.publicCloudDatabase, phone.sharedCloudDatabase] {
            let zone = CKRecordZone(zoneName: "New")
            #expect(await code { try await database.save(zone) } == .badDatabase)
            let isShared = database.databaseScope == .shared
            #expect(
                await code { try await database.deleteRecordZone(withID: zone.zoneID) }
                    == (isShared ? .invalidArguments : .badDatabase))
        }
    }
}
