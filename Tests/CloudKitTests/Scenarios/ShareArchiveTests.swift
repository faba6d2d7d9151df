import CloudKit
import Testing

/// Archives of shares, participants and metadata.
@Suite("Archives of shares")
struct ShareArchiveTests {
    private let store: CloudStore
    private let share: CKShare

    init() async throws {
        store = try CloudStore.inMemory()
        try store.console.addUser("bert", emails: ["bert@example.com"])
        let anna = store.container(user: "anna")
        let zone = CKRecordZone(zoneName: "Notes")
        try await anna.privateCloudDatabase.save(zone)
        let root = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "root", zoneID: zone.zoneID))
        share = CKShare(rootRecord: root)
        share[CKShare.SystemFieldKey.title] = "Shopping list"
        let bert = try await anna.shareParticipant(forEmailAddress: "bert@example.com")
        bert.permission = .readWrite
        share.addParticipant(bert)
        _ = try await anna.privateCloudDatabase.modifyRecords(saving: [root, share], deleting: [])
    }

    private func archive(_ object: some NSObject & NSSecureCoding) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }

    @Test("System fields keep URL, tag, permissions and participants, and can be saved")
    func systemFields() async throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        share.encodeSystemFields(with: archiver)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        let again = try #require(CKShare(coder: unarchiver))
        #expect(again.recordChangeTag == share.recordChangeTag && again.recordChangeTag != nil)
        #expect(again.participants == share.participants && again.participants[1].permission == .readWrite)
        #expect(again.oneTimeURL(for: "nobody") == nil && again.publicPermission == .none)
        let url = try #require(share.url?.absoluteString)
        #expect(again.url?.absoluteString == url.split(separator: "#").first.map(String.init))
        again.participants[1].permission = .readOnly
        let saved = try await store.container(user: "anna").privateCloudDatabase.save(again)
        #expect((saved as? CKShare)?.participants[1].permission == .readOnly)
    }

    @Test("A whole share, its metadata and participants survive a secure round trip")
    func wholeObjects() async throws {
        let again = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: archive(share)))
        #expect(again.url == share.url && again.participants == share.participants)
        let record = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: archive(share))
        #expect(record is CKShare)
        let participant = share.participants[1]
        #expect(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.Participant.self, from: archive(participant))
                == participant)
        let metadata = try await store.console.open(#require(share.url), as: "bert")
        let kept = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.Metadata.self, from: archive(metadata)))
        #expect(kept == metadata && kept.hash == metadata.hash && kept.share.url == share.url)
        #expect(kept.participantStatus == .pending && kept.hierarchicalRootRecordID?.recordName == "root")
        try await store.container(user: "bert").accept(kept)
    }

    @Test("Every flipped byte of an archive gives an object, nil or an error, never a trap")
    func damage() throws {
        let data = try archive(share)
        var refused = 0
        for place in data.indices {
            var damaged = data
            damaged[place] ^= 0x41
            guard let read = try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: damaged) else {
                refused += 1
                continue
            }
            // What is read is whole: it can be archived again.
            #expect(try !archive(read).isEmpty)
        }
        #expect(refused > data.count / 4, "\(refused) of \(data.count) changes were noticed")
    }
}
