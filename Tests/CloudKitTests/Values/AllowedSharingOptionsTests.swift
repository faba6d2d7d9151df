import CloudKit
import Testing

@Suite("The choices of a sharing interface")
struct AllowedSharingOptionsTests {
    @Test("Raw values, and what is standard")
    func values() {
        #expect(CKSharingParticipantAccessOption.anyoneWithLink.rawValue == 1)
        #expect(CKSharingParticipantAccessOption.specifiedRecipientsOnly.rawValue == 2)
        #expect(CKSharingParticipantAccessOption.any.rawValue == 3)
        #expect(CKSharingParticipantPermissionOption.readOnly.rawValue == 1)
        #expect(CKSharingParticipantPermissionOption.readWrite.rawValue == 2)
        #expect(CKSharingParticipantPermissionOption.any.rawValue == 3)
        let standard = CKAllowedSharingOptions.standard
        #expect(standard.allowedParticipantAccessOptions == .any && !standard.allowsAccessRequests)
        #expect(standard.allowedParticipantPermissionOptions == .any && !standard.allowsParticipantsToInviteOthers)
        // Each is an object of its own.
        standard.allowsAccessRequests = true
        #expect(!CKAllowedSharingOptions.standard.allowsAccessRequests)
    }

    @Test("Copies and archives keep every choice; a damaged archive is an error")
    func archives() throws {
        let options = CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: .readOnly,
            allowedParticipantAccessOptions: .specifiedRecipientsOnly)
        options.allowsParticipantsToInviteOthers = true
        let copy = try #require(options.copy() as? CKAllowedSharingOptions)
        let data = try NSKeyedArchiver.archivedData(withRootObject: options, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKAllowedSharingOptions.self, from: data))
        options.allowsAccessRequests = true
        for one in [copy, read] {
            #expect(one.allowedParticipantPermissionOptions == .readOnly && !one.allowsAccessRequests)
            #expect(one.allowedParticipantAccessOptions == .specifiedRecipientsOnly)
            #expect(one.allowsParticipantsToInviteOthers)
        }
        let half = data.prefix(data.count / 2)
        #expect(throws: (any Error).self) {
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKAllowedSharingOptions.self, from: half)
        }
    }
}
