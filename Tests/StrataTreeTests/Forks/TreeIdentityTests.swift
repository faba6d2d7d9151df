import Testing

@testable import StrataTree

@Suite("Identities of trees")
struct TreeIdentityTests {
    private static let id = TwinTree.id

    private func change(_ store: PageStore, _ key: UInt8) throws -> Snapshot {
        let fork = store.fork()
        try fork.put(Self.id, [key], [key])
        return try store.publish(fork)
    }

    @Test("A changed tree has another; one that states and branches share has the same")
    func states() throws {
        let store = try PageStore.inMemory()
        let first = try change(store, 1)
        let fork = store.fork()
        try fork.put(TreeID(rawValue: 9), [1], [1])
        let second = try store.publish(fork)
        #expect(try first.identity(of: Self.id) == second.identity(of: Self.id))
        let branches = try (0..<2).map { _ in try change(PageStore.branch(on: second), 2) }
        let identities = try ([second] + branches).map { try $0.identity(of: Self.id) }
        #expect(Set(identities).count == 3)
        #expect(try Set(branches.map { try $0.identity(of: TreeID(rawValue: 9)) }).count == 1)
    }

    @Test("No two stores of a process have the same, even if one takes the place of another in memory")
    func stores() throws {
        var seen: Set<TreeIdentity> = []
        for _ in 0..<50 {
            let state = try change(try PageStore.inMemory(), 1)
            #expect(seen.insert(try state.identity(of: Self.id)).inserted)
        }
    }
}
