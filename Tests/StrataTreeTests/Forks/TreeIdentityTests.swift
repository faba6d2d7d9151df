import Testing

@testable import StrataTree

@Suite("Identities of trees")
struct TreeIdentityTests {
    private static let id = TwinTree.id

    private func change(_ store: TreeStore, _ key: UInt8) throws -> Snapshot {
        let fork = try store.fork()
        try fork.put(Self.id, [key], [key])
        return try store.publish(fork)
    }

    @Test("A changed tree has another; one that states and branches share has the same")
    func states() throws {
        let store = try TreeStore.sample()
        let first = try change(store, 1)
        let fork = try store.fork()
        try fork.put(TreeID(rawValue: 9), [1], [1])
        let second = try store.publish(fork)
        #expect(first.shares(Self.id, with: second))
        let branches = try (0..<2).map { _ in try change(try store.branch(on: second), 2) }
        let identities = ([second] + branches).map { $0.identity(of: Self.id) }
        #expect(Set(identities).count == 3)
        #expect(Set(branches.map { $0.identity(of: TreeID(rawValue: 9)) }).count == 1)
    }

    @Test("Writing and merging runs changes none")
    func runs() throws {
        let store = try TreeStore.sample(TreeTrial.options)
        var state = try change(store, 1)
        for key in UInt8(2)..<9 {
            let before = store.snapshot()
            try store.settle()
            while try store.mergeStep(isAtRest: true) {}
            #expect(store.snapshot().shares(Self.id, with: before))
            #expect(try store.snapshot().entries(Self.id) == before.entries(Self.id))
            let next = try change(store, key)
            #expect(!next.shares(Self.id, with: state))
            state = next
        }
        let empty = try store.fork()
        #expect(try empty.identity(of: Self.id) == state.identity(of: Self.id))
    }

    @Test("No two stores of a process have the same, even if one takes the place of another in memory")
    func stores() throws {
        var seen: Set<TreeIdentity> = []
        for _ in 0..<50 {
            let state = try change(try TreeStore.sample(), 1)
            #expect(seen.insert(state.identity(of: Self.id)).inserted)
        }
    }
}
