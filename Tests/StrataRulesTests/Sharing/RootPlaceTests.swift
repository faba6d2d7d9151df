import StrataModel
import StrataViews
import Testing

@testable import StrataRules

@Suite("Shares whose roots are in unusual places")
struct RootPlaceTests {
    private func shared(_ root: String, as share: String, parent: String? = nil) -> [ShareFixture.Item] {
        [ShareFixture.Item(root, parent: parent, share: share), .share(share, ShareChange(root: root))]
    }

    @Test("B313: a root that is its own parent, or below itself, is not under another share")
    func circles() throws {
        let store = try ShareFixture()
        #expect(try store.save(shared("a", as: "Share-a", parent: "a")).saves.map(\.code) == [nil, nil])
        #expect(try store.save([.init("b", parent: "a")]).saves[0].code == nil)
        let base = try store.version(of: "a")
        #expect(try store.save([.init("a", base: base, parent: "b")]).saves[0].code == nil)
        #expect(try store.save(shared("c", as: "Share-c")).saves.map(\.code) == [nil, nil])
        let other = try store.version(of: "c")
        #expect(try store.save([.init("c", base: other, parent: "b")]).saves[0].code == .alreadyShared)
    }

    @Test("B313: a record with roots of two shares below it comes under neither")
    func circleWithTwoRoots() throws {
        let store = try ShareFixture()
        try store.save([.init("d")])
        try store.save(shared("e", as: "Share-e", parent: "d"))
        try store.save(shared("f", as: "Share-f", parent: "d"))
        for root in ["e", "f"] {
            let base = try store.version(of: "d")
            #expect(try store.save([.init("d", base: base, parent: root)]).saves[0].code == .alreadyShared)
        }
    }

    @Test("B255, B313: a share whose root the request deletes still counts for its saves, as the delete may fail")
    func rootsThatMayStay() throws {
        let store = try ShareFixture()
        try store.save(shared("a", as: "Share-a"))
        try store.save(shared("b", as: "Share-b"))
        let base = try store.version(of: "b")
        let result = try store.save([.init("b", base: base, parent: "a")], deleting: ["a"], isAtomic: false)
        #expect(result.saves[0].code == .alreadyShared && result.deletes == [nil])
        #expect(try store.view.fold.fork.hierarchicalShare(of: store.key("b")) == 2)
    }
}
