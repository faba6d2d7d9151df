import StrataModel
import Testing

@testable import ReferenceModel

/// The rules of shares in the model itself, by stories of clients.
@Suite struct ReferenceSharingTests {
    private typealias Save = ReferenceFixture.Save
    private typealias Participant = ShareChange.Participant
    private var fixture = ReferenceFixture()
    private static let alreadyShared = Refusal.Code(rawValue: 30)

    /// Everybody has a database; ada has the zone Z with a over b over c, and d beside them.
    init() {
        for user in ["ada", "ben", "cleo"] {
            fixture.user = user
            _ = fixture.codes([Save(name: "note")])
        }
        fixture.user = "ada"
        _ = fixture.zones(save: ["Z"])
        _ = fixture.codes(
            [
                Save(name: "a", zone: "Z"), Save(name: "b", zone: "Z", parent: "a"),
                Save(name: "c", zone: "Z", parent: "b"), Save(name: "d", zone: "Z"),
            ])
    }

    private mutating func become(_ user: String, in sharer: String? = "ada") {
        fixture.user = user
        fixture.sharer = user == sharer ? nil : sharer
        fixture.scope = fixture.sharer == nil ? .private : .shared
    }

    private func stored(_ name: String) -> ReferenceRecord? {
        fixture.store.state.databases[DatabaseID(.private, owner: "ada")]?.zones["Z"]?.records[ReferenceName(name)]
    }

    private static func user(_ name: String, _ permission: SharePermission = .readOnly) -> Participant {
        Participant(
            "p-\(name)", .user(recordName: "_user-\(name)"), role: .privateUser, permission: permission)
    }

    private mutating func share(_ root: String, with participants: [Participant]? = nil) -> [Refusal.Code?] {
        fixture.codes([
            Save(
                name: "Share-\(root)", zone: "Z", type: "cloudkit.share",
                sharing: ShareChange(root: root, participants: participants)),
            Save(name: root, zone: "Z", base: stored(root)?.version, share: "Share-\(root)"),
        ])
    }

    private mutating func change(_ share: String, _ change: ShareChange) -> [Refusal.Code?] {
        fixture.codes([
            Save(name: share, zone: "Z", type: "cloudkit.share", base: stored(share)?.version, sharing: change)
        ])
    }

    private mutating func join(
        _ share: String, _ action: JoinSharesRequest.Action = .accept
    ) -> [Refusal.Code?] {
        let token = stored(share)?.sharing?.urlToken ?? "none"
        return join(token: token, action)
    }

    private mutating func join(token: String, _ action: JoinSharesRequest.Action = .accept) -> [Refusal.Code?] {
        ReferenceFixture.codes(
            of: fixture.ask(
                Request(database: DatabaseID(.shared), .joinShares(JoinSharesRequest(action, tokens: [token])))))
    }

    private func seen(by user: String) -> [String] {
        let view = ReferenceSharedView(fixture.store.state, user: user)
        return view.zones.values.flatMap(\.keys).sorted().map(\.text)
    }

    @Test mutating func `B304 a share comes with its root, and a stored one alone`() {
        let alone = Save(name: "Share-a", zone: "Z", type: "cloudkit.share", sharing: ShareChange(root: "a"))
        #expect(fixture.codes([alone]) == [.invalidArguments])
        #expect(share("a") == [nil, nil])
        #expect(stored("a")?.share == "Share-a" && stored("b")?.share == nil)
        #expect(change("Share-a", ShareChange(participants: [Self.user("ben")])) == [nil])
        let defaultZone = Save(name: "Share-x", type: "cloudkit.share", sharing: ShareChange(root: "note"))
        #expect(fixture.codes([defaultZone]) == [.invalidArguments])
        fixture.scope = .public
        #expect(fixture.codes([defaultZone]) == [.badDatabase])
    }

    @Test mutating func `B309 to B314 what can be shared beside what`() {
        let zoneWide = Save(name: "cloudkit.zoneshare", zone: "Z", type: "cloudkit.share", sharing: ShareChange())
        #expect(share("b") == [nil, nil])
        #expect(share("a") == [Self.alreadyShared, .batchRequestFailed])
        #expect(share("c") == [Self.alreadyShared, .batchRequestFailed])
        #expect(fixture.codes([zoneWide]) == [.invalidArguments])
        #expect(share("d") == [nil, nil])
        #expect(
            fixture.codes([Save(name: "d", zone: "Z", base: stored("d")?.version, parent: "c")])
                == [Self.alreadyShared])
        fixture.isAtomic = false
        #expect(fixture.codes([Save(name: "x", zone: "Z", share: "Share-none")]) == [.referenceViolation])
        #expect(fixture.codes([], deletes: [("Z", "Share-b"), ("Z", "Share-d")]) == [nil, nil])
        #expect(stored("b")?.share == nil)
        #expect(fixture.codes([zoneWide]) == [nil])
        #expect(fixture.codes([zoneWide]) == [.serverRecordChanged])
        #expect(share("a") == [.serverRejectedRequest, .referenceViolation])
    }

    @Test mutating func `B349 to B353 invited users join, and strangers do not`() {
        #expect(share("a", with: [Self.user("ben")]) == [nil, nil])
        #expect(seen(by: "ben") == [])
        become("cleo")
        #expect(join("Share-a") == [.permissionFailure] && join(token: "none") == [.unknownItem])
        become("ben")
        let version = stored("Share-a")?.version
        #expect(join("Share-a") == [nil] && stored("Share-a")?.version != version)
        #expect(seen(by: "ben") == ["Share-a", "a", "b", "c"] && seen(by: "cleo") == [])
        let commits = fixture.store.commitCount
        #expect(join("Share-a") == [nil] && fixture.store.commitCount == commits)
    }

    @Test mutating func `B369 to B374 what a member writes`() {
        #expect(share("a", with: [Self.user("ben"), Self.user("cleo", .readWrite)]) == [nil, nil])
        become("ben")
        #expect(join("Share-a") == [nil])
        fixture.policy = .changedKeys
        #expect(fixture.codes([Save(name: "b", zone: "Z")]) == [.permissionFailure])
        #expect(fixture.codes([Save(name: "x", zone: "Z", parent: "b")]) == [.permissionFailure])
        #expect(fixture.codes([], deletes: [("Z", "c")]) == [.permissionFailure])
        become("cleo")
        #expect(join("Share-a") == [nil])
        #expect(fixture.codes([Save(name: "b", zone: "Z"), Save(name: "x", zone: "Z", parent: "c")]) == [nil, nil])
        #expect(stored("x")?.createdBy == "cleo")
        #expect(fixture.codes([Save(name: "y", zone: "Z")]) == [.permissionFailure])
        #expect(fixture.codes([Save(name: "y", zone: "Z", parent: "d")]) == [.permissionFailure])
        #expect(fixture.codes([Save(name: "y", zone: "Z", parent: "none")]) == [.permissionFailure])
        #expect(fixture.codes([Save(name: "c", zone: "Z", parent: "d")]) == [.permissionFailure])
        #expect(
            fixture.codes([Save(name: "y", zone: "Z", parent: "z"), Save(name: "z", zone: "Z", parent: "a")])
                == [nil, nil])
        #expect(fixture.codes([], deletes: [("Z", "x")]) == [nil])
        #expect(fixture.codes([], deletes: [("Z", "a")]) == [.permissionFailure])
        #expect(fixture.codes([Save(name: "a", zone: "Y")]) == [.invalidArguments])
        fixture.sharer = "ben"
        #expect(fixture.codes([Save(name: "a", zone: "Z")]) == [.invalidArguments])
    }

    @Test mutating func `B322, B361 moves show in the feed of a member`() throws {
        #expect(share("b", with: [Self.user("ben")]) == [nil, nil])
        become("ben")
        #expect(join("Share-b") == [nil] && seen(by: "ben") == ["Share-b", "b", "c"])
        become("ada")
        fixture.policy = .changedKeys
        #expect(fixture.codes([Save(name: "d", zone: "Z", parent: "c")]) == [nil])
        #expect(seen(by: "ben") == ["Share-b", "b", "c", "d"])
        let token = fixture.store.commitCount
        #expect(fixture.codes([Save(name: "c", zone: "Z", parent: "a")]) == [nil])
        #expect(seen(by: "ben") == ["Share-b", "b"])
        let zone = ReferenceSharedView.Zone(owner: "ada", name: "Z")
        let feed = try #require(fixture.store.expectedFeed(of: zone, to: "ben", since: token))
        #expect(feed.modified == [] && feed.deleted == ["c", "d"])
        let later = fixture.store.commitCount
        #expect(fixture.codes([Save(name: "c", zone: "Z", parent: "b")]) == [nil])
        let back = try #require(fixture.store.expectedFeed(of: zone, to: "ben", since: later))
        #expect(back.modified == ["b", "c", "d"] && back.deleted == [])
        // The end of one membership ends its tokens.
        #expect(change("Share-b", ShareChange(participants: [])) == [nil] && seen(by: "ben") == [])
        #expect(fixture.store.expectedZones(of: "ben", since: later).deleted == [zone])
        #expect(fixture.store.expectedFeed(of: zone, to: "ben", since: later) == nil)
    }

    @Test mutating func `B324, B325, B376 and B368 shares end, and members leave`() {
        #expect(share("a", with: [Self.user("ben"), Self.user("cleo", .readWrite)]) == [nil, nil])
        for user in ["ben", "cleo"] {
            become(user)
            #expect(join("Share-a") == [nil])
        }
        #expect(
            fixture.codes([], deletes: [("Z", "Share-a"), ("Z", "c")]) == [.batchRequestFailed, .permissionFailure])
        #expect(fixture.codes([], deletes: [("Z", "Share-a")]) == [nil])
        #expect(seen(by: "cleo") == [] && seen(by: "ben").count == 4)
        #expect(stored("Share-a")?.sharing?.participants.map(\.user) == ["ada", "ben"])
        #expect(fixture.codes([], deletes: [("Z", "c")]) == [.zoneNotFound])
        become("ben")
        let gone = fixture.zones(delete: ["Z"], owner: "_user-ada")
        #expect(ReferenceFixture.codes(of: gone) == [nil] && seen(by: "ben") == [] && stored("a") != nil)
        become("ada")
        let token = stored("Share-a")?.sharing?.urlToken
        let tag = stored("a")?.version
        #expect(fixture.codes([], deletes: [("Z", "Share-a")]) == [nil])
        #expect(stored("a")?.share == nil && stored("a")?.version != tag)
        #expect(share("a") == [nil, nil] && stored("Share-a")?.sharing?.urlToken == token)
        #expect(fixture.codes([], deletes: [("Z", "a")]) == [.referenceViolation])
        #expect(fixture.codes([], deletes: [("Z", "c"), ("Z", "b"), ("Z", "a")]) == [nil, nil, nil])
        #expect(stored("Share-a") == nil)
    }

    @Test mutating func `B334 to B336 a public share`() {
        #expect(share("a", with: [Self.user("ben")]) == [nil, nil])
        #expect(change("Share-a", ShareChange(publicPermission: .readOnly)) == [nil])
        #expect(stored("Share-a")?.sharing?.participants.map(\.user) == ["ada"])
        #expect(change("Share-a", ShareChange(participants: [Self.user("ben")])) == [.invalidArguments])
        become("cleo")
        #expect(join("Share-a") == [nil])
        fixture.policy = .changedKeys
        #expect(fixture.codes([Save(name: "b", zone: "Z")]) == [.permissionFailure])
        become("ada")
        #expect(change("Share-a", ShareChange(publicPermission: .readWrite)) == [nil])
        become("cleo")
        #expect(fixture.codes([Save(name: "b", zone: "Z")]) == [nil])
        become("ada")
        #expect(change("Share-a", ShareChange(publicPermission: SharePermission.none)) == [nil])
        #expect(seen(by: "cleo") == [])
    }

    @Test mutating func `B332, B337 and B379 the list of participants`() throws {
        #expect(share("a", with: [Self.user("ben", .readWrite), Self.user("cleo")]) == [nil, nil])
        let old = stored("Share-a")?.version
        become("ben")
        #expect(join("Share-a") == [nil])
        let view = ReferenceSharedView(fixture.store.state, user: "ben")
        let shown = try #require(view.zones.values.first?["Share-a"]?.sharing)
        #expect(shown.participants.map(\.user) == ["ada", "ben"])
        #expect(change("Share-a", ShareChange(participants: [])) == [.permissionFailure])
        #expect(change("Share-a", ShareChange(root: "a")) == [nil])
        become("ada")
        fixture.policy = .allKeys
        let stale = Save(
            name: "Share-a", zone: "Z", type: "cloudkit.share", base: old, sharing: ShareChange(participants: []))
        #expect(fixture.codes([stale]) == [.serverRecordChanged])
        let many = (0..<99).map { Participant("o\($0)", .oneTimeURL, role: .privateUser, permission: .readOnly) }
        #expect(change("Share-a", ShareChange(participants: many + [Self.user("cleo")])) == [.init(rawValue: 29)])
        #expect(change("Share-a", ShareChange(participants: many)) == [nil])
    }

    @Test mutating func `B328 and B398 one-time URLs, and requests for access`() {
        let once = Participant("o", .oneTimeURL, role: .privateUser, permission: .readWrite)
        #expect(share("a", with: [once]) == [nil, nil])
        let token = stored("Share-a")?.sharing?.participants.last?.oneTimeToken ?? ""
        become("ben")
        #expect(join(token: token) == [nil] && seen(by: "ben").count == 4)
        become("cleo")
        #expect(join(token: token) == [.permissionFailure])
        #expect(join("Share-a", .requestAccess) == [nil] && join(token: "none", .requestAccess) == [nil])
        #expect(stored("Share-a")?.sharing?.requesters == [])
        become("ada")
        #expect(change("Share-a", ShareChange(allowsAccessRequests: true)) == [nil])
        become("cleo")
        #expect(join("Share-a", .requestAccess) == [nil])
        #expect(stored("Share-a")?.sharing?.requesters == ["cleo"])
        become("ada")
        let list = [once, Self.user("cleo")]
        #expect(change("Share-a", ShareChange(participants: list)) == [nil])
        #expect(stored("Share-a")?.sharing?.participants.last?.isApprovedRequester == true)
        var block = ShareChange()
        block.blocked = ["_user-cleo"]
        #expect(change("Share-a", block) == [nil])
        #expect(stored("Share-a")?.sharing?.participants.count == 2)
        become("cleo")
        #expect(join("Share-a") == [.permissionFailure] && join("Share-a", .requestAccess) == [nil])
        #expect(stored("Share-a")?.sharing?.requesters == [])
    }
}
