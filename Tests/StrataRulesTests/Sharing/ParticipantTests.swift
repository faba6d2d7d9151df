import StrataModel
import StrataViews
import Testing

@testable import StrataRules

@Suite("Participants of shares")
struct ParticipantTests {
    private let store: ShareFixture

    init() throws {
        store = try ShareFixture()
        try store.administer(.setPerson(store.person("ben@example.com", "b@example.com"), user: "ben"))
        try store.shareList()
    }

    private func invite(_ participants: ShareChange.Participant...) throws -> Refusal.Code? {
        try store.edit(ShareChange(participants: participants))
    }

    @Test("B326, B327 A participant is found by a user record or an address, with an account or without")
    func subjects() throws {
        #expect(try invite(.user("cleo"), .email("BEN@example.com", .readWrite), .email("new@example.com")) == nil)
        let participants = try store.state().participants
        #expect(participants.map(\.user) == ["anna", "cleo", "ben", ""])
        #expect(participants[2].address == .email("BEN@example.com") && participants[1].address == nil)
        #expect(participants.map(\.hasAccepted) == [true, false, false, false])
        #expect(participants[2].permission == .readWrite && participants[3].added == participants[1].added)
        #expect(participants[1].added > 0)
        let unknown = ShareChange.Participant("x", .user(recordName: "_0"), role: .privateUser, permission: .readOnly)
        #expect(try invite(unknown) == .unknownItem)
        #expect(try invite(.email("")) == .invalidArguments)
        #expect(try invite(.email(String(repeating: "a", count: 255))) == .invalidArguments)
        #expect(try store.memberships(of: "cleo").isEmpty)
    }

    @Test("B328 A one-time URL belongs to its participant, and stays the same")
    func oneTime() throws {
        #expect(try invite(.oneTime("p"), .oneTime("q")) == nil)
        let tokens = try store.state().participants.map(\.oneTimeToken)
        #expect(tokens[0].isEmpty && tokens[1].utf8.count == 25 && tokens[1] != tokens[2])
        #expect(try store.view.fold.fork.share(ofToken: tokens[1])?.participant == "p")
        #expect(try invite(.oneTime("q"), .oneTime("p")) == nil)
        #expect(try store.state().participants.map(\.oneTimeToken) == tokens)
        #expect(try invite(.oneTime("q")) == nil)
        #expect(try store.view.fold.fork.share(ofToken: tokens[1]) == nil)
    }

    @Test("B330 Adding an equal participant changes the one who is there")
    func equal() throws {
        #expect(try invite(.email("ben@example.com")) == nil)
        let first = try store.state().participants[1]
        for same in [
            ShareChange.Participant.email("ben@example.com", .readWrite, id: first.id),
            .email("Ben@Example.com", .readOnly, id: "new"),
        ] {
            #expect(try invite(same) == nil)
            let participants = try store.state().participants
            #expect(participants.count == 2 && participants[1].id == first.id)
            #expect(participants[1].permission == same.permission)
        }
        #expect(try invite(.user("ben", id: "a"), .user("ben", .readWrite, id: "b")) == nil)
        #expect(try store.state().participants.count == 2 && store.state().participants[1].permission == .readWrite)
    }

    @Test("B331 Roles, the owner and public shares limit what can be added")
    func invalid() throws {
        for role in [ShareRole.owner, .publicUser] {
            #expect(try invite(.user("ben", role: role)) == .invalidArguments)
        }
        #expect(try invite(.user("anna")) == .invalidArguments)
        #expect(try invite(.user("ben", id: "")) == .invalidArguments)
        #expect(try invite(.user("ben", role: .administrator)) == nil)
        #expect(try store.edit(ShareChange(publicPermission: .readOnly)) == nil)
        #expect(try invite(.user("cleo")) == .invalidArguments)
    }

    @Test("B334 A share that becomes public loses its invitations, and keeps its members")
    func becomesPublic() throws {
        #expect(try invite(.user("ben"), .user("cleo")) == nil)
        try store.join([store.state().urlToken], as: "ben")
        let list = [ShareChange.Participant.user("ben"), .user("cleo")]
        #expect(try store.edit(ShareChange(participants: list, publicPermission: .readOnly)) == nil)
        #expect(try store.state().participants.map(\.user) == ["anna", "ben"])
        #expect(try store.memberships(of: "ben").map(\.isGone) == [false])
    }

    @Test("B329, B334 An entry is dropped with the invitation that it means, also by its address or user")
    func droppedUnderAnotherID() throws {
        #expect(try invite(.email("new@example.com", id: "a"), .user("cleo", id: "b")) == nil)
        let list = [ShareChange.Participant.email("NEW@example.com", id: "c"), .user("cleo", id: "d")]
        #expect(try store.edit(ShareChange(participants: list, publicPermission: .readOnly)) == nil)
        #expect(try store.state().participants.map(\.user) == ["anna"])
    }

    @Test("B335 A share that is no longer public has nobody but its owner and those who are added again")
    func becomesPrivate() throws {
        #expect(try store.edit(ShareChange(publicPermission: .readWrite)) == nil)
        try store.join([store.state().urlToken], as: "ben")
        #expect(
            try store.edit(ShareChange(participants: [.user("cleo")], publicPermission: SharePermission.none)) == nil)
        #expect(try store.state().participants.map(\.user) == ["anna", "cleo"])
        #expect(try store.memberships(of: "ben").map(\.isGone) == [true])
        #expect(try store.join([store.state().urlToken], as: "ben") == [.permissionFailure])
    }

    @Test("B336 Users of a public share have its permission as it is now")
    func publicPermission() throws {
        #expect(try store.edit(ShareChange(publicPermission: .readOnly)) == nil)
        try store.join([store.state().urlToken], as: "ben")
        let joined = try #require(try store.memberships(of: "ben").first)
        #expect(joined.permission == .readOnly && joined.role == .publicUser)
        #expect(try store.edit(ShareChange(publicPermission: .readWrite)) == nil)
        let now = try #require(try store.memberships(of: "ben").first)
        #expect(now.permission == .readWrite && now.joined == joined.joined && now.changed > joined.changed)
    }

    @Test("B339, B340 A participant loses the access with the permission, or with the place in the list")
    func removed() throws {
        #expect(try invite(.user("ben"), .user("cleo")) == nil)
        for user in ["ben", "cleo"] { try store.join([store.state().urlToken], as: user) }
        #expect(try invite(.user("ben", .none), .user("cleo")) == nil)
        #expect(try store.memberships(of: "ben").map(\.givesAccess) == [false])
        #expect(try store.memberships(of: "ben").map(\.isGone) == [false])
        #expect(try invite(.user("ben", .readOnly)) == nil)
        #expect(try store.memberships(of: "ben").map(\.givesAccess) == [true])
        #expect(try store.memberships(of: "cleo").map(\.isGone) == [true])
        let joined = try store.memberships(of: "cleo")[0].joined
        #expect(try invite(.user("ben", .readOnly), .user("cleo")) == nil)
        #expect(try store.join([store.state().urlToken], as: "cleo") == [nil])
        #expect(try store.memberships(of: "cleo")[0].joined > joined)
    }

    @Test("B363 Access that comes back after none begins a new life, and its end stays when the member leaves later")
    func lives() throws {
        func ben() throws -> Membership { try #require(try store.memberships(of: "ben").first) }
        #expect(try invite(.user("ben")) == nil)
        try store.join([store.state().urlToken], as: "ben")
        let first = try ben()
        #expect(first.ended == nil)
        #expect(try invite(.user("ben", .none)) == nil)
        let none = try ben()
        #expect(none.joined == first.joined && none.ended == none.changed)
        #expect(try invite(.user("ben", .readOnly)) == nil)
        let back = try ben()
        #expect(back.joined == back.changed && back.joined > none.changed && back.ended == nil)
        #expect(try invite(.user("ben")) == nil)
        #expect(try ben().joined == back.joined)
        #expect(try invite(.user("ben", .none)) == nil)
        let end = try ben().changed
        #expect(try invite() == nil)
        let gone = try ben()
        #expect(gone.isGone && gone.ended == end && gone.changed > end && gone.joined == back.joined)
        #expect(gone.gaveAccess(at: back.joined) && !gone.gaveAccess(at: end) && !gone.gaveAccess(at: first.joined))
    }

    @Test("B341 A share has 100 participants, and nobody twice")
    func limits() throws {
        let many = (1...99).map { ShareChange.Participant.email("user\($0)@example.com") }
        #expect(try store.edit(ShareChange(participants: many + [.email("one@example.com")])) == .tooManyParticipants)
        #expect(try store.state().participants.count == 1)
        #expect(try store.edit(ShareChange(participants: many)) == nil)
        #expect(try store.state().participants.count == 100)
        #expect(try invite(.email("ben@example.com"), .email("b@example.com")) == .participantAlreadyInvited)
    }

    @Test("B379 Participants need the current tag whatever the policy, and fields follow it")
    func tags() throws {
        let old = try store.version(of: "Share-1")
        #expect(try invite(.user("ben")) == nil)
        let title = (key: "cloudkit.title", value: FieldValue.string("List") as FieldValue?)
        for policy in [SavePolicy.allKeys, .changedKeys] {
            let change = ShareChange(participants: [.user("cleo")])
            let stale = try store.save([.share("Share-1", change, base: old)], policy: policy)
            #expect(stale.saves[0].code == .serverRecordChanged)
            let untagged = try store.save([.share("Share-1", nil, fields: [title])], policy: policy)
            #expect(untagged.saves[0].code == .serverRecordChanged)
            #expect(
                try store.save([.share("Share-1", nil, base: old, fields: [title])], policy: policy).saves[0].code
                    == nil)
        }
        #expect(
            try store.save([.share("Share-1", nil, base: old, fields: [title])]).saves[0].code == .serverRecordChanged)
        #expect(try store.state().participants.map(\.user) == ["anna", "ben"])
    }

    @Test("B398 The owner denies, blocks and unblocks users who ask for access")
    func requesters() throws {
        let token = try store.state().urlToken
        let version = try store.version(of: "Share-1")
        #expect(try store.join(.requestAccess, [token], as: "ben") == [nil])
        #expect(try store.version(of: "Share-1") == version)
        #expect(try store.edit(ShareChange(allowsAccessRequests: true)) == nil)
        let modifier = try store.record("Share-1").header.modifiedBy
        for user in ["ben", "cleo", "ben"] { #expect(try store.join(.requestAccess, [token], as: user) == [nil]) }
        #expect(try store.state().requesters == ["ben", "cleo"])
        #expect(try store.record("Share-1").header.modifiedBy == modifier)
        var answer = ShareChange()
        answer.denied = [UserRecord.earlierName(of: "ben")]
        answer.blocked = [UserRecord.earlierName(of: "cleo")]
        #expect(try store.edit(answer) == nil)
        #expect(try store.state().requesters.isEmpty && store.state().blockedUsers == ["cleo"])
        #expect(try store.join(.requestAccess, [token, "nothing"], as: "cleo") == [nil, nil])
        #expect(try store.state().requesters.isEmpty)
        answer = ShareChange()
        answer.unblocked = [UserRecord.earlierName(of: "cleo")]
        #expect(try store.edit(answer) == nil)
        #expect(try store.join(.requestAccess, [token], as: "cleo") == [nil])
        #expect(try invite(.user("cleo"), .user("ben")) == nil)
        #expect(try store.state().participants.map(\.isApprovedRequester) == [false, true, false])
        #expect(try store.state().requesters.isEmpty)
        answer = ShareChange()
        answer.blocked = [UserRecord.earlierName(of: "anna")]
        #expect(try store.edit(answer) == .invalidArguments)
        answer.blocked = ["_0"]
        #expect(try store.edit(answer) == .unknownItem)
    }

    @Test("B398 Blocking ends a membership, and a blocked user cannot join a public share")
    func blocked() throws {
        #expect(try store.edit(ShareChange(publicPermission: .readOnly)) == nil)
        let token = try store.state().urlToken
        try store.join([token], as: "ben")
        var change = ShareChange()
        change.blocked = [UserRecord.earlierName(of: "ben")]
        #expect(try store.edit(change) == nil)
        #expect(try store.memberships(of: "ben").map(\.isGone) == [true])
        #expect(try store.join([token], as: "ben") == [.permissionFailure])
    }

    @Test("B398 At most 100 users wait for an answer")
    func manyRequesters() throws {
        #expect(try store.edit(ShareChange(allowsAccessRequests: true)) == nil)
        let token = try store.state().urlToken
        for index in 0...100 { #expect(try store.join(.requestAccess, [token], as: "user\(index)") == [nil]) }
        #expect(try store.state().requesters.count == 100 && store.state().requesters.last == "user99")
    }
}
