import CloudKit
import Testing

/// The classes of sharing, without a store.
@Suite("Shares as objects")
struct ShareTests {
    private let zone = CKRecordZone.ID(zoneName: "Notes")

    private func root() -> CKRecord {
        CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "root", zoneID: zone))
    }

    @Test("B301, B303: a share's name tells its kind; a root names its share at once")
    func names() {
        let root = root()
        let share = CKShare(rootRecord: root)
        #expect(share.recordID.recordName.hasPrefix("Share-") && share.recordID.zoneID == zone)
        #expect(root.share == CKRecord.Reference(recordID: share.recordID, action: .none))
        #expect(share.recordType == "cloudkit.share" && share.url == nil && share.publicPermission == .none)
        let whole = CKShare(recordZoneID: zone)
        #expect(whole.recordID.recordName == "cloudkit.zoneshare" && whole.recordID.zoneID == zone)
    }

    @Test("B316: a new share has its owner, who is the current user")
    func owner() throws {
        let share = CKShare(rootRecord: root())
        #expect(share.participants.count == 1 && share.owner == share.currentUserParticipant)
        #expect(share.owner.role == .owner && share.owner.permission == .readWrite)
        #expect(share.owner.acceptanceStatus == .accepted && share.requesters.isEmpty && !share.allowsAccessRequests)
    }

    @Test("B328, B330: a participant is added once, and added again changes role and permission")
    func adding() {
        let share = CKShare(rootRecord: root())
        let guest = CKShare.Participant.oneTimeURLParticipant()
        #expect(guest.role == .privateUser && guest.permission == .readOnly && guest.acceptanceStatus == .pending)
        share.addParticipant(guest)
        let copy = guest.copy() as? CKShare.Participant
        copy?.permission = .readWrite
        if let copy { share.addParticipant(copy) }
        #expect(share.participants.count == 2 && guest.permission == .readWrite && copy == guest)
        #expect(share.oneTimeURL(for: guest.participantID) == nil)
        #expect(CKShare.Participant.oneTimeURLParticipant() != guest)
        share.removeParticipant(guest)
        #expect(share.participants.count == 1)
    }

    @Test(
        "B334, B335: making a share public, and private again, removes participants at once", arguments: [true, false])
    func publicPermission(isPublicFirst: Bool) {
        let share = CKShare(rootRecord: root())
        if isPublicFirst { share.publicPermission = .readOnly }
        if !isPublicFirst { share.addParticipant(.oneTimeURLParticipant()) }
        share.publicPermission = isPublicFirst ? .none : .readWrite
        #expect(share.participants.map(\.role) == [.owner])
        if isPublicFirst { share.addParticipant(.oneTimeURLParticipant()) }
        #expect(share.participants.count == (isPublicFirst ? 2 : 1))
    }

    @Test("A copy of a share has participants of its own")
    func copies() throws {
        let share = CKShare(rootRecord: root())
        let guest = CKShare.Participant.oneTimeURLParticipant()
        share.addParticipant(guest)
        let copy = try #require(share.copy() as? CKShare)
        copy.participants[1].permission = .readWrite
        #expect(guest.permission == .readOnly && copy.recordID == share.recordID)
    }

    @Test("Keys and numbers are Apple's")
    func constants() {
        #expect(CKShare.SystemFieldKey.title == "cloudkit.title")
        #expect(CKShare.SystemFieldKey.thumbnailImageData == "cloudkit.thumbnailImageData")
        #expect(CKShare.SystemFieldKey.shareType == "cloudkit.type")
        #expect(CKShare.ParticipantRole.publicUser.rawValue == 4 && CKShare.ParticipantRole.administrator.rawValue == 2)
        #expect(CKShare.ParticipantPermission.readWrite.rawValue == 3)
        #expect(CKShare.ParticipantAcceptanceStatus.removed.rawValue == 3)
    }
}
