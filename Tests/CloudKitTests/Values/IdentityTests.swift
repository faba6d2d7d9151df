import CloudKit
import Testing

@Suite("Identity and naming")
struct IdentityTests {
    @Test("B1: a record without an ID gets a UUID for a name in the default zone of the current user")
    func madeName() throws {
        let record = CKRecord(recordType: "Note")
        #expect(UUID(uuidString: record.recordID.recordName) != nil)
        #expect(record.recordID.zoneID == .default)
        #expect(record.recordID.zoneID.zoneName == "_defaultZone")
        #expect(record.recordID.zoneID.ownerName == CKCurrentUserDefaultName)
        #expect(CKRecord(recordType: "Note").recordID != record.recordID)
        #expect(record.recordID === record.recordID)
    }

    @Test("B2, B5: IDs and references are equal and hash by their names, as written")
    func equalByValue() {
        let zone = CKRecordZone.ID(zoneName: "Notes", ownerName: "anna")
        #expect(zone == CKRecordZone.ID(zoneName: "Notes", ownerName: "anna"))
        #expect(zone != CKRecordZone.ID(zoneName: "Notes"))
        #expect(zone != CKRecordZone.ID(zoneName: "notes", ownerName: "anna"))
        let id = CKRecord.ID(recordName: "1", zoneID: zone)
        #expect(id == CKRecord.ID(recordName: "1", zoneID: CKRecordZone.ID(zoneName: "Notes", ownerName: "anna")))
        #expect(id.hash == CKRecord.ID(recordName: "1", zoneID: zone).hash)
        #expect(Set([id, CKRecord.ID(recordName: "1", zoneID: zone), CKRecord.ID(recordName: "1")]).count == 2)
        // The same letter, written in two ways.
        #expect(CKRecord.ID(recordName: "\u{E9}") != CKRecord.ID(recordName: "e\u{301}"))
        let link = CKRecord.Reference(recordID: id, action: .deleteSelf)
        #expect(link == CKRecord.Reference(recordID: id, action: .deleteSelf))
        #expect(link != CKRecord.Reference(recordID: id, action: .none))
        #expect([id: 1][CKRecord.ID(recordName: "1", zoneID: zone)] == 1)
    }

    @Test("B2: records and zones are equal if they are the same object")
    func equalByIdentity() {
        let id = CKRecord.ID(recordName: "1")
        #expect(CKRecord(recordType: "Note", recordID: id) != CKRecord(recordType: "Note", recordID: id))
        #expect(CKRecordZone(zoneName: "Notes") != CKRecordZone(zoneName: "Notes"))
        let record = CKRecord(recordType: "Note", recordID: id)
        #expect(record == record)
    }

    @Test("B5: leaving the owner out, naming the stand-in and the deprecated nil mean the current user")
    func owner() {
        let zone = CKRecordZone.ID(zoneName: "Notes")
        #expect(zone.ownerName == "__defaultOwner__")
        #expect(zone == CKRecordZone.ID(zoneName: "Notes", ownerName: "__defaultOwner__"))
        #expect(CKRecordZone.default().zoneID == CKRecordZone.ID.default)
        #expect(CKRecordZone(zoneName: "Notes").zoneID == zone)
    }

    @Test("B33: a zone made here has no capabilities; their numbers are Apple's")
    func capabilities() {
        let zone = CKRecordZone(zoneName: "Notes")
        #expect(zone.capabilities == [])
        #expect(zone.share == nil)
        let all: CKRecordZone.Capabilities = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
        #expect(all.rawValue == 15)
        #expect(zone.encryptionScope == .perRecord)
        zone.encryptionScope = .perZone
        #expect(zone.encryptionScope == .perZone)
    }

    @Test("Copies of IDs are equal; a copy of a record is another with the same fields")
    func copies() throws {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "1"))
        record["title"] = "Groceries"
        let copy = try #require(record.copy() as? CKRecord)
        #expect(copy !== record && copy.recordID == record.recordID && copy.recordType == "Note")
        copy["title"] = "Other"
        #expect(record["title"] as? String == "Groceries")
        #expect(record.recordID.copy() as? CKRecord.ID == record.recordID)
        let zone = CKRecordZone(zoneName: "Notes")
        zone.encryptionScope = .perZone
        let zoneCopy = try #require(zone.copy() as? CKRecordZone)
        #expect(zoneCopy.zoneID == zone.zoneID && zoneCopy.encryptionScope == .perZone && zoneCopy !== zone)
    }

    @Test("B270: names that cannot be do not trap")
    func impossibleNames() {
        let zone = CKRecordZone.ID(zoneName: "")
        let record = CKRecord(recordType: "", recordID: CKRecord.ID(recordName: "", zoneID: zone))
        record["\u{0}"] = 1
        record[""] = 2
        #expect(record.recordID.recordName.isEmpty)
        #expect("\(record)".contains("CKRecord"))
    }
}
