import CloudKit
import Foundation
import TestSupport
import Testing

@Suite("Encrypted values that were saved and fetched", .timeLimit(.minutes(1)))
struct EncryptedValueTests {
    @Test("B21: an encrypted value comes back, also from a store that is opened again")
    func saved() async throws {
        let directory = try TestDirectory()
        let url = URL(fileURLWithPath: directory.path("Notes.strata"))
        let zone = CKRecordZone.ID(zoneName: "Notes")
        let id = CKRecord.ID(recordName: "a", zoneID: zone)
        do {
            let store = try CloudStore(at: url)
            let database = store.container(user: "anna").privateCloudDatabase
            try await database.save(CKRecordZone(zoneID: zone))
            let note = CKRecord(recordType: "Note", recordID: id)
            note["title"] = "open"
            note.encryptedValues["secret"] = "hidden"
            let saved = try await database.save(note)
            #expect(saved.encryptedValues["secret"] as? String == "hidden" && saved.allKeys() == ["title"])
            try store.close()
        }
        let store = try CloudStore(at: url)
        let database = store.container(user: "anna", device: "tablet").privateCloudDatabase
        let fetched = try await database.record(for: id)
        #expect(fetched.encryptedValues["secret"] as? String == "hidden")
        #expect(fetched.encryptedValues.allKeys() == ["secret"] && fetched.encryptedValues.changedKeys().isEmpty)
        #expect(fetched["secret"] as? String == nil && fetched.allKeys() == ["title"])
        try store.close()
    }
}
