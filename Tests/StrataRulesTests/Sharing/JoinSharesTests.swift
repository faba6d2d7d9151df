import StrataModel
import StrataViews
import Testing

@testable import StrataRules

@Suite("Accepting shares")
struct JoinSharesTests {
    private let store: ShareFixture
    private let token: String

    init() throws {
        store = try ShareFixture()
        try store.shareList(
            ShareChange(root: "list", participants: [.user("ben", .readWrite), .email("c@example.com")]))
        token = try store.state().urlToken
    }

    @Test("B349 Accepting makes a member and a new version of the share, in one commit of the new member")
    func accepts() throws {
        let (version, offset) = (try store.version(of: "Share-1"), store.offset)
        #expect(try store.join([token], as: "ben") == [nil])
        #expect(store.offset == offset + 1)
        #expect(try store.version(of: "Share-1") != version)
        let participant = try #require(try store.state().participant(ofUser: "ben"))
        #expect(participant.hasAccepted && participant.permission == .readWrite)
        let member = try #require(try store.memberships(of: "ben").first)
        #expect(member.givesAccess && member.share == 1 && member.permission == .readWrite)
        #expect(member.joined.offset == store.offset && member.joined == member.changed)
        #expect(try store.record("Share-1").header.modifiedBy == store.view.ordinal(of: .user("ben")))
    }

    @Test("B353 Accepting again or one's own share succeeds and writes nothing")
    func again() throws {
        try store.join([token], as: "ben")
        let offset = store.offset
        #expect(try store.join([token, token], as: "ben") == [nil, nil])
        #expect(try store.join([token], as: "anna") == [nil])
        #expect(store.offset == offset)
    }

    @Test("B352, B346 A stranger is refused, and a URL of nothing is unknown; each URL is judged alone")
    func strangers() throws {
        #expect(
            try store.join([token, "nothing", ""], as: "cleo") == [.permissionFailure, .unknownItem, .unknownItem])
        #expect(try store.join(["nothing", token], as: "ben") == [.unknownItem, nil])
        try store.save([], deleting: ["Share-1"])
        #expect(try store.join([token], as: "ben") == [.unknownItem])
        let long = String(repeating: "a", count: ShareSavedEvent.maximumTokenBytes + 1)
        #expect(throws: Refusal.self) { try store.join([long], as: "ben") }
        let wrong = Request(database: DatabaseID(.private), .joinShares(JoinSharesRequest(.accept, tokens: [token])))
        #expect(throws: Refusal.self) { try store.modify(wrong, as: "ben") }
    }

    @Test("B327 An address that gets an account later makes its user the participant")
    func addresses() throws {
        #expect(try store.join([token], as: "cleo") == [.permissionFailure])
        try store.administer(.addAddress("C@example.com", user: "cleo"))
        #expect(try store.join([token], as: "cleo") == [nil])
        let participant = try store.state().participants[2]
        #expect(participant.user == "cleo" && participant.hasAccepted && participant.address == .email("c@example.com"))
    }

    @Test("B328 The first user of a one-time URL becomes its participant; then it is the plain URL")
    func oneTime() throws {
        try store.edit(ShareChange(participants: [.user("ben"), .oneTime("p")]))
        let once = try #require(try store.state().participants.last?.oneTimeToken)
        #expect(try store.join([token], as: "ben") == [nil])
        #expect(try store.join([once], as: "ben") == [.participantAlreadyInvited])
        #expect(try store.join([once], as: "cleo") == [nil])
        #expect(try store.state().participants.last?.user == "cleo")
        #expect(try store.join([once], as: "dora") == [.permissionFailure])
        #expect(try store.join([once], as: "ben") == [nil] && store.join([once], as: "cleo") == [nil])
        #expect(try store.state().participants.last?.user == "cleo")
    }

    @Test("B351 Everybody with the URL joins a public share, and a new user gets databases")
    func publicUsers() throws {
        try store.edit(ShareChange(publicPermission: .readOnly))
        #expect(try store.join([token, token], as: "dora") == [nil, nil])
        let participant = try #require(try store.state().participant(ofUser: "dora"))
        #expect(participant.role == .publicUser && participant.permission == .readOnly && participant.hasAccepted)
        let dora = try #require(try store.view.ordinal(of: .user("dora")))
        #expect(try store.view.ordinal(of: .database(.private, owner: dora)) != nil)
        #expect(try store.memberships(of: "dora").count == 1)
    }

    @Test("B341 A public share is full with 100 participants")
    func full() throws {
        try store.edit(ShareChange(publicPermission: .readOnly))
        for index in 1...99 { #expect(try store.join([token], as: "user\(index)") == [nil]) }
        #expect(try store.join([token], as: "late") == [.tooManyParticipants])
        #expect(try store.state().participants.count == 100)
    }

    @Test("B399 Requests for access by members, and for shares that do not take any, write nothing")
    func silent() throws {
        try store.join([token], as: "ben")
        let offset = store.offset
        #expect(try store.join(.requestAccess, [token, "nothing"], as: "cleo") == [nil, nil])
        #expect(store.offset == offset)
        try store.edit(ShareChange(allowsAccessRequests: true))
        #expect(try store.join(.requestAccess, [token], as: "ben") == [nil])
        #expect(try store.join(.requestAccess, [token], as: "anna") == [nil])
        #expect(store.offset == offset + 1)
    }

    @Test("B324 An ended share leaves its records, takes the share from the root, and ends all memberships")
    func ends() throws {
        try store.join([token], as: "ben")
        let before = try store.version(of: "list")
        #expect(try store.save([], deleting: ["Share-1"]).deletes == [nil])
        #expect(try store.version(of: "Share-1") == nil && store.record("list").share == nil)
        #expect(try store.version(of: "list") != before)
        #expect(try store.view.fold.fork.share(1)?.isEnded == true)
        #expect(try store.memberships(of: "ben").map(\.isGone) == [true])
        let stale = try store.save([ShareFixture.Item("list", base: before)])
        #expect(stale.saves[0].code == .serverRecordChanged)
    }

    @Test("B324 A root that is saved along comes back without its share, in one version")
    func endsWithRoot() throws {
        let base = try store.version(of: "list")
        let result = try store.save([ShareFixture.Item("list", base: base, share: "Share-1")], deleting: ["Share-1"])
        #expect(try store.record("list").share == nil && store.version(of: "list") == result.saves[0].get())
        try store.save([ShareFixture.Item("child", parent: "list")])
        let now = try store.version(of: "list")
        try store.save([
            ShareFixture.Item("list", base: now, share: "Share-2"), .share("Share-2", ShareChange(root: "list")),
        ])
        try store.save([ShareFixture.Item("other", parent: "list")], deleting: ["Share-2"])
        #expect(try store.record("list").share == nil)
        let saves = try store.events(ofKind: .recordSaved)
        #expect(saves == 2)
    }
}
