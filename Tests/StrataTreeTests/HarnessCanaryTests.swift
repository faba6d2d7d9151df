import Testing

@testable import StrataTree

/// Faults that the model tests and the checker must find: a check that cannot fail proves nothing.
@Suite("Canaries of the tree tests")
struct HarnessCanaryTests {
    private static let id = TwinTree.id

    private func store() throws -> PageStore {
        let store = try PageStore.inMemory()
        let fork = store.fork()
        for number in 0..<200 { try fork.put(Self.id, bigEndian(number), bytes(100)) }
        try store.publish(fork)
        return store
    }

    private func rewrite(_ store: PageStore, _ byte: UInt8) throws {
        let fork = store.fork()
        for number in 0..<200 { try fork.put(Self.id, bigEndian(number), bytes(100, of: byte)) }
        try store.publish(fork)
    }

    @Test("A page that is used again while a snapshot pins it is noticed")
    func usedTooEarly() throws {
        let store = try store()
        let held = store.snapshot()
        let before = try held.entries(Self.id)
        store.core.unpin(held.epoch)
        try rewrite(store, 2)
        try rewrite(store, 3)
        let newest = store.snapshot()
        let entries = try? held.entries(Self.id)
        #expect(entries != before)
        let faults = try? TreeChecker.faults(of: store, holding: [held, newest])
        #expect(faults != [])
        // What was let go twice is pinned once more, for the snapshot's own end.
        store.core.pin(held.epoch)
    }

    @Test("A page that the ledger lost, or has twice, is noticed", arguments: [true, false])
    func ledger(isLost: Bool) throws {
        let store = try store()
        store.core.withLedger { ledger in
            if isLost {
                _ = try? ledger.lend(1, to: 99)
                _ = ledger.publish(fork: 99, unused: [], retired: [])
            } else {
                let page = ledger.unreachable.free.first ?? PageRun(first: 2, count: 1)
                ledger.restore(free: PageSet([page]), retired: [])
            }
            return ((), [])
        }
        let faults = try TreeChecker.faults(of: store, holding: [store.snapshot()])
        #expect(faults.contains { $0.contains(isLost ? "lost" : "twice") })
    }

    @Test("An entry that is missing, or in a wrong leaf, is noticed", arguments: [true, false])
    func entries(isMissing: Bool) throws {
        let store = try store()
        let snapshot = store.snapshot()
        let memory = store.core.memory
        let root = try memory.page(snapshot.roots[Self.id].page)
        let (first, second) = (root.child(0), root.child(1))
        if isMissing {
            PageEditor(memory.slot(of: first)).remove(1)
        } else {
            let editor = PageEditor(memory.slot(of: root.number))
            editor.set(child: second, at: 0)
            editor.set(child: first, at: 1)
        }
        let faults = try TreeChecker.faults(of: store, holding: [snapshot])
        #expect(faults.contains { $0.contains(isMissing ? "counts" : "range") })
    }
}
