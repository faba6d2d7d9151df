import StrataModel
import StrataSystem
import Testing

@testable import StrataRules

@Suite("New shares")
struct NewShareTests {
    private let store: ShareFixture

    init() throws { store = try ShareFixture() }

    private func codes(_ items: [ShareFixture.Item], isAtomic: Bool = true, zone: String = "Notes") throws -> [UInt64] {
        try store.save(items, isAtomic: isAtomic, zone: zone).saves.map { $0.code?.rawValue ?? 0 }
    }

    @Test("B304 A new share is saved with its root, in any order, whether the root is new or stored")
    func withRoot() throws {
        let share = ShareFixture.Item.share("Share-1", ShareChange(root: "list"))
        #expect(try codes([share]) == [12])
        #expect(try codes([ShareFixture.Item("list"), share], isAtomic: false) == [0, 12])
        #expect(try store.version(of: "Share-1") == nil && store.record("list").share == nil)
        let base = try store.version(of: "list")
        #expect(try codes([share, ShareFixture.Item("list", base: base, share: "Share-1")]) == [0, 0])
        #expect(try store.record("list").share == store.key("Share-1"))
        let other = ShareFixture.Item.share("Share-2", ShareChange(root: "other"))
        #expect(try codes([ShareFixture.Item("other", share: "Share-2"), other]) == [0, 0])
        #expect(try store.state("Share-2").number == 2)
    }

    @Test("B304 A root that fails takes its share along, and shares that remain are numbered without gaps")
    func failedRoot() throws {
        let items = [
            ShareFixture.Item("_list", share: "Share-1"), .share("Share-1", ShareChange(root: "_list")),
            ShareFixture.Item("a", parent: "nobody", share: "Share-2"), .share("Share-2", ShareChange(root: "a")),
            ShareFixture.Item("b", share: "Share-3"), .share("Share-3", ShareChange(root: "b")),
        ]
        #expect(try codes(items, isAtomic: false) == [12, 12, 31, 12, 0, 0])
        #expect(try store.state("Share-3").number == 1 && store.view.fold.fork.shareCount() == 1)
        #expect(try codes(Array(items[2..<4])) == [31, 22])
    }

    @Test("B304 A share is not the root of another one, stored or saved by the same request")
    func shareAsRoot() throws {
        var inner = ShareFixture.Item.share("Share-1", ShareChange(root: "list"))
        #expect(try codes([ShareFixture.Item("list", share: "Share-1"), inner]) == [0, 0])
        let outer = ShareFixture.Item.share("Share-2", ShareChange(root: "Share-1"))
        var root = ShareFixture.Item.share("Share-1", nil)
        (root.base, root.share) = (try store.version(of: "Share-1"), "Share-2")
        #expect(try codes([outer, root], isAtomic: false) == [12, 12])
        (inner, root) = (.share("Share-3", ShareChange(root: "other")), .share("Share-4", ShareChange(root: "Share-3")))
        inner.share = "Share-4"
        #expect(
            try codes([ShareFixture.Item("other", share: "Share-3"), inner, root], isAtomic: false) == [31, 12, 12])
    }

    @Test("B304 A share has no parent")
    func shareWithParent() throws {
        try store.shareList()
        var share = ShareFixture.Item.share("Share-1", nil, base: try store.version(of: "Share-1"))
        share.parent = "list"
        #expect(try codes([share]) == [12])
        share = .share("Share-2", ShareChange(root: "other"))
        share.parent = "list"
        #expect(try codes([ShareFixture.Item("other", share: "Share-2"), share], isAtomic: false) == [31, 12])
    }

    @Test("B303 The name of a share says whether it covers its zone")
    func names() throws {
        #expect(try codes([.share("Share-1", ShareChange())]) == [12])
        #expect(try codes([.share("Share-1", nil)]) == [12])
        let wrong = ShareFixture.Item.share(ShareState.zoneWideName, ShareChange(root: "list"))
        #expect(try codes([ShareFixture.Item("list", share: ShareState.zoneWideName), wrong]) == [22, 12])
        #expect(try codes([.share(ShareState.zoneWideName, ShareChange())]) == [0])
        #expect(try store.state(ShareState.zoneWideName).isZoneWide)
    }

    @Test("B307 Neither the default zone nor the public database has shares")
    func places() throws {
        let items = [ShareFixture.Item("list", share: "Share-1"), .share("Share-1", ShareChange(root: "list"))]
        #expect(
            try store.save(items, zone: "_defaultZone").saves.map(\.code) == [.referenceViolation, .invalidArguments])
        let other = try store.save(items, zone: "_defaultZone", scope: .public).saves
        #expect(other.map(\.code) == [.referenceViolation, .badDatabase])
    }

    @Test("B309 A second share of a zone is a conflict, whatever the policy", arguments: SavePolicy.allCases)
    func second(_ policy: SavePolicy) throws {
        let share = ShareFixture.Item.share(ShareState.zoneWideName, ShareChange())
        #expect(try codes([share]) == [0])
        #expect(try store.save([share], policy: policy).saves[0].code == .serverRecordChanged)
    }

    @Test("B310, B311 A zone is shared as a whole, or record by record")
    func kinds() throws {
        try store.shareList()
        #expect(try codes([.share(ShareState.zoneWideName, ShareChange())]) == [12])
        try store.save([], deleting: ["Share-1"])
        #expect(try codes([.share(ShareState.zoneWideName, ShareChange())]) == [0])
        let base = try store.version(of: "list")
        let items = [
            ShareFixture.Item("list", base: base, share: "Share-2"), .share("Share-2", ShareChange(root: "list")),
        ]
        #expect(try codes(items) == [22, 15])
        try store.save([], deleting: [ShareState.zoneWideName])
        let both = items + [ShareFixture.Item.share(ShareState.zoneWideName, ShareChange())]
        #expect(try codes(both, isAtomic: false) == [0, 0, 12])
    }

    @Test("B312 A root has one share")
    func sharedOnce() throws {
        let items = [
            ShareFixture.Item("list", share: "Share-1"), .share("Share-1", ShareChange(root: "list")),
            .share("Share-2", ShareChange(root: "list")),
        ]
        #expect(try codes(items, isAtomic: false) == [0, 0, 30])
    }

    @Test("B312, B313 A new share under another one and its root fail alike, whatever their order")
    func sharedBelow() throws {
        try store.shareList()
        try store.save([ShareFixture.Item("free")])
        let base = try store.version(of: "free")
        let items = [
            ShareFixture.Item("free", base: base, parent: "list", share: "Share-2"),
            .share("Share-2", ShareChange(root: "free")),
        ]
        #expect(try codes(items, isAtomic: false) == [30, 30])
        #expect(try codes(items.reversed(), isAtomic: false) == [30, 30])
    }

    @Test("B314 A record names a share only as its root")
    func existing() throws {
        #expect(try codes([ShareFixture.Item("list", share: "Share-1")]) == [31])
        try store.shareList()
        #expect(try codes([ShareFixture.Item("other", share: "Share-1")]) == [31])
        let base = try store.version(of: "list")
        #expect(try codes([ShareFixture.Item("list", base: base, share: "Share-1")]) == [0])
        #expect(try codes([ShareFixture.Item("other", share: "list")]) == [31])
        // A save that fails in an atomic zone counts, as all items do there.
        try store.save([ShareFixture.Item("note")])
        let wrong = ShareFixture.Item.share("note", ShareChange(root: "other"), base: try store.version(of: "note"))
        #expect(try codes([ShareFixture.Item("other", share: "note"), wrong]) == [22, 12])
        #expect(try codes([ShareFixture.Item("other", share: "note"), wrong], isAtomic: false) == [31, 12])
        let tag = try store.version(of: "Share-1")
        let claim = ShareFixture.Item.share("Share-1", ShareChange(root: "other"), base: tag)
        #expect(try codes([ShareFixture.Item("other", share: "Share-1"), claim], isAtomic: false).first == 31)
    }

    @Test("B316 A new share has its owner, who has accepted, and a URL")
    func owner() throws {
        try store.shareList()
        let state = try store.state()
        let owner = try #require(state.participants.first)
        #expect(state.participants.count == 1 && owner.user == "anna" && owner.role == .owner && owner.hasAccepted)
        #expect(owner.permission == .readWrite && state.publicPermission == .none && !state.allowsAccessRequests)
        #expect(state.urlToken.utf8.count == 25)
        #expect(try store.view.fold.fork.share(ofToken: state.urlToken)?.share == 1)
    }

    @Test("B317 A root has the same URL whenever it is shared, and no other root or store has it")
    func stableURL() throws {
        try store.shareList()
        let token = try store.state().urlToken
        try store.save([], deleting: ["Share-1"])
        #expect(try store.view.fold.fork.share(ofToken: token) == nil)
        let base = try store.version(of: "list")
        try store.save([
            ShareFixture.Item("list", base: base, share: "Share-2"), .share("Share-2", ShareChange(root: "list")),
            ShareFixture.Item("b", share: "Share-3"), .share("Share-3", ShareChange(root: "b")),
        ])
        #expect(try store.state("Share-2").urlToken == token && store.state("Share-3").urlToken != token)
        let other = try ShareFixture()
        other.rules.secrets.newSecret = StoreSecret(from: SeededRandom(seed: 2))
        try other.shareList()
        #expect(try other.state().urlToken != token)
    }

    @Test("B317 A zone that is shared again as a whole has the same URL, and another one in its next life")
    func stableURLOfZone() throws {
        func share() throws -> String {
            try store.save([.share(ShareState.zoneWideName, ShareChange(root: nil))])
            return try store.state(ShareState.zoneWideName).urlToken
        }
        let token = try share()
        try store.save([], deleting: [ShareState.zoneWideName])
        #expect(try share() == token)
        try store.modify(.zones(deleting: [ZoneID("Notes")]))
        try store.modify(.zones(saving: [ZoneID("Notes")]))
        #expect(try share() != token)
    }

    @Test("B7 Shares have keys of their own, which no other record has, and nobody sets the state of a share")
    func keys() throws {
        let title = (key: "cloudkit.title", value: FieldValue.string("List") as FieldValue?)
        #expect(try codes([ShareFixture.Item("note", fields: [title])]) == [12])
        let state = (key: ShareState.key, value: FieldValue.data([1]) as FieldValue?)
        let share = ShareFixture.Item.share("Share-1", ShareChange(root: "list"), fields: [title, state])
        #expect(try codes([ShareFixture.Item("list", share: "Share-1"), share]) == [22, 12])
        let free = (key: "color", value: FieldValue.int64(3) as FieldValue?)
        let good = ShareFixture.Item.share("Share-1", ShareChange(root: "list"), fields: [title, free])
        #expect(try codes([ShareFixture.Item("list", share: "Share-1"), good]) == [0, 0])
        #expect(try store.record("Share-1").fields.count == 3)
        let type = try #require(try store.view.shareType())
        #expect(try store.view.schema(of: type)[store.view.shareField()] == nil)
    }

    @Test("A record that is no share has no participants")
    func otherType() throws {
        #expect(try codes([ShareFixture.Item("note", sharing: ShareChange(root: "note"))]) == [12])
    }
}
