import StrataModel
import StrataViews
import Testing

@testable import StrataRules

@Suite("What members do to shares")
struct MemberShareTests {
    private let store: ShareFixture
    private let token: String

    init() throws {
        store = try ShareFixture(users: ["anna", "ben", "cleo", "dora"])
        try store.shareList(
            ShareChange(
                root: "list",
                participants: [
                    .user("ben", .readWrite, role: .administrator), .user("cleo", .readWrite), .user("dora"),
                ]))
        token = try store.state().urlToken
        for user in ["ben", "cleo"] { try #require(try store.join([token], as: user) == [nil]) }
    }

    @Test("B308 Only the owner of a zone creates shares in it")
    func newShares() throws {
        let result = try store.save(
            [ShareFixture.Item("new", parent: "list", share: "Share-2"), .share("Share-2", ShareChange(root: "new"))],
            isAtomic: false, scope: .shared, as: "ben")
        #expect(result.saves[1].code == .permissionFailure)
        #expect(try store.version(of: "Share-2") == nil)
    }

    @Test("B332 Administrators change participants, and other members only the fields of a share")
    func editors() throws {
        let add = ShareChange(
            participants: [
                .user("ben", .readWrite, role: .administrator), .user("cleo", .readWrite), .email("e@example.com"),
            ])
        #expect(try store.edit(add, scope: .shared, as: "cleo") == .permissionFailure)
        #expect(
            try store.edit(ShareChange(publicPermission: .readOnly), scope: .shared, as: "cleo") == .permissionFailure)
        let title = (key: "cloudkit.title", value: FieldValue.string("List") as FieldValue?)
        let base = try store.version(of: "Share-1")
        let saved = try store.save([.share("Share-1", nil, base: base, fields: [title])], scope: .shared, as: "cleo")
        #expect(saved.saves[0].code == nil)
        #expect(try store.edit(add, scope: .shared, as: "ben") == nil)
        #expect(try store.state().participants.map(\.user) == ["anna", "ben", "cleo", ""])
        #expect(try store.edit(ShareChange(allowsAccessRequests: true), scope: .shared, as: "ben") == nil)
    }

    @Test("B332 No one changes the role or permission of the owner")
    func ownersEntry() throws {
        let owner = try #require(try store.state().participants.first)
        func list(_ role: ShareRole, _ permission: SharePermission) -> ShareChange {
            let entry = ShareChange.Participant(
                owner.id, .user(recordName: "__unknown__"), role: role, permission: permission)
            return ShareChange(
                participants: [entry, .user("ben", .readWrite, role: .administrator), .user("cleo", .readOnly)])
        }
        for user in ["ben", "anna"] {
            let scope: InternedName.Scope = user == "anna" ? .private : .shared
            for (role, permission) in [(ShareRole.owner, SharePermission.readOnly), (.privateUser, .readWrite)] {
                #expect(try store.edit(list(role, permission), scope: scope, as: user) == .permissionFailure)
            }
            #expect(try store.edit(list(.owner, .readWrite), scope: scope, as: user) == nil)
        }
        #expect(try store.state().participants.first == owner)
    }

    @Test("B333 An administrator who may only read records changes the participants all the same")
    func readOnlyAdministrator() throws {
        let roles: [ShareChange.Participant] = [
            .user("ben", .readOnly, role: .administrator), .user("cleo", .readWrite),
        ]
        #expect(try store.edit(ShareChange(participants: roles)) == nil)
        let fewer = ShareChange(participants: [.user("ben", .readOnly, role: .administrator)])
        #expect(try store.edit(fewer, scope: .shared, as: "ben") == nil)
        #expect(try store.memberships(of: "cleo").map(\.isGone) == [true])
        let base = try store.version(of: "list")
        let saved = try store.save([ShareFixture.Item("list", base: base)], scope: .shared, as: "ben")
        #expect(saved.saves[0].code == .permissionFailure)
    }

    @Test("B375 Administrators cannot change or remove themselves, nor the owner")
    func ownParticipation() throws {
        for own in [
            [ShareChange.Participant.user("ben", .readOnly, role: .administrator)], [.user("ben", .readWrite)], [],
            [.user("ben", .readWrite, role: .administrator), .user("cleo"), .user("anna")],
        ] {
            let code = try store.edit(ShareChange(participants: own + [.user("dora")]), scope: .shared, as: "ben")
            #expect(code == (own.count == 3 ? .invalidArguments : .permissionFailure))
        }
        #expect(try store.state().participants.count == 4)
    }

    @Test("B475 An administrator gives nobody, and not the public, more than the own permission")
    func givenPermissions() throws {
        let ben = ShareChange.Participant.user("ben", .readOnly, role: .administrator)
        let cleo = ShareChange.Participant.user("cleo", .readWrite)
        #expect(try store.edit(ShareChange(participants: [ben, cleo, .user("dora")])) == nil)
        for more in [
            ShareChange(publicPermission: .readWrite),
            ShareChange(participants: [ben, cleo, .user("dora", .readWrite)]),
            ShareChange(participants: [ben, cleo, .email("e@example.com", .readWrite)]),
        ] {
            #expect(try store.edit(more, scope: .shared, as: "ben") == .permissionFailure)
        }
        #expect(try store.state().participants.count == 4 && store.state().publicPermission == .none)
        // What a participant has may stay, and an administrator may lower it.
        let kept = ShareChange(participants: [ben, cleo, .email("e@example.com")])
        #expect(try store.edit(kept, scope: .shared, as: "ben") == nil)
        #expect(try store.state().participants.map(\.permission) == [.readWrite, .readOnly, .readWrite, .readOnly])
        #expect(try store.edit(ShareChange(publicPermission: .readOnly), scope: .shared, as: "ben") == nil)
        #expect(try store.edit(ShareChange(publicPermission: .readWrite)) == nil)
        #expect(try store.edit(ShareChange(publicPermission: .readOnly), scope: .shared, as: "ben") == nil)
        #expect(
            try store.edit(ShareChange(publicPermission: .readWrite), scope: .shared, as: "ben") == .permissionFailure)
    }

    @Test("B376 A member who deletes the share leaves it, with a new version, and may be invited again")
    func leaves() throws {
        let before = try store.version(of: "Share-1")
        #expect(try store.save([], deleting: ["Share-1"], scope: .shared, as: "cleo").deletes == [nil])
        #expect(try store.version(of: "Share-1") != before)
        #expect(try store.state().participants.map(\.user) == ["anna", "ben", "dora"])
        #expect(try store.memberships(of: "cleo").map(\.isGone) == [true])
        #expect(try store.memberships(of: "ben").map(\.isGone) == [false])
        #expect(try store.record("list").share != nil)
        #expect(try store.save([], deleting: ["Share-1"], scope: .shared, as: "cleo").deletes[0]?.code == .zoneNotFound)
        #expect(try store.join([token], as: "cleo") == [.permissionFailure])
    }
}
