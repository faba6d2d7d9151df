import StrataModel
import Testing

@testable import StrataTree

/// A change that fails in the middle leaves its fork with pages that do not fit together: all that can be done with it
/// is to drop it, and that undoes everything.
@Suite("Changes that fail in the middle")
struct FailedChangeTests {
    private static let id = TwinTree.id

    enum Change: CaseIterable, Sendable { case put, overflow, delete, range, load, rightmost }

    /// Runs into the limit of the arena, one page later each time, so that every page that a change takes is refused
    /// once.
    @Test("Whichever page is refused, dropping the fork undoes all", arguments: Change.allCases)
    func everyPage(change: Change) throws {
        var failures = 0
        var room = 0
        var isDone = false
        while !isDone {
            let store = try PageStore.inMemory(options: PageStoreOptions(maximumPages: 4_096, maximumArenaPages: 300))
            let before = try prepare(store, leaving: room)
            do {
                let fork = store.fork()
                do {
                    for number in 0..<40 { try make(change, number, fork) }
                    isDone = true
                } catch {
                    failures += 1
                    #expect((error as? StrataError)?.code == .noSpace)
                    try expectRefusal(of: fork, store)
                }
            }
            let snapshot = store.snapshot()
            #expect(try snapshot.entries(Self.id) == before)
            #expect(try TreeChecker.faults(of: store, holding: [snapshot]) == [])
            room += 1
        }
        #expect(failures > 1)
    }

    /// Fills the arena up to so many pages.
    private func prepare(_ store: PageStore, leaving room: Int) throws -> [[[UInt8]]] {
        let fork = store.fork()
        for number in 0..<120 { try fork.put(Self.id, bigEndian(number * 5, byteCount: 2) + bytes(300), bytes(500)) }
        try store.publish(fork)
        let filler = store.fork()
        var number = 0
        while store.core.memory.usedSlots < 300 - room {
            let pages = max(1, min(8, 300 - room - store.core.memory.usedSlots - 2))
            try filler.put(TreeID(rawValue: 2), bigEndian(number), bytes(pages * PageLayout.overflowBytesPerPage))
            number += 1
            if store.core.memory.usedSlots + 4 > 300 - room { break }
        }
        try store.publish(filler)
        return try store.snapshot().entries(Self.id)
    }

    private func make(_ change: Change, _ number: Int, _ fork: Fork) throws {
        let key = bigEndian(number * 15, byteCount: 2) + bytes(300)
        switch change {
        case .put: try fork.put(Self.id, key + [1], bytes(700))
        case .overflow: try fork.put(Self.id, key, bytes(9_000))
        case .delete: try fork.delete(Self.id, key)
        case .range: try fork.deleteKeys(Self.id, from: key, to: key + [9])
        case .load:
            if number > 0 { return }
            try fork.loadAll(TreeID(rawValue: 7), (0..<60).map { (bigEndian($0), bytes($0 % 9 == 0 ? 5_000 : 900)) })
        case .rightmost: try fork.put(Self.id, [0xFF, UInt8(number)] + bytes(800), bytes(900))
        }
    }

    private func expectRefusal(of fork: Fork, _ store: PageStore) throws {
        let refusals: [() throws -> Void] = [
            { try fork.put(Self.id, [1], []) },
            { try fork.delete(Self.id, bigEndian(0, byteCount: 2) + bytes(300)) },
            { try fork.deleteKeys(Self.id, from: nil, to: nil) },
            { try fork.loadAll(TreeID(rawValue: 8), []) },
            { _ = try fork.value(Self.id, [1]) },
            { try fork.scan(Self.id) { _, _ in true } },
            { _ = try fork.cursor(Self.id).seekFirst() },
            { try store.publish(fork) },
            { try Fork(on: fork).put(Self.id, [1], []) },
        ]
        for (index, refusal) in refusals.enumerated() {
            let error = #expect(throws: StrataError.self, "\(index)") { try refusal() }
            #expect(error?.code == .closed, "\(index)")
        }
    }

    @Test("A refused argument is no failure: the fork goes on")
    func refusedArgument() throws {
        var tree = try TwinTree()
        try tree.put([1], [1])
        #expect(throws: StrataError.self) { try tree.fork.put(Self.id, [], []) }
        #expect(throws: StrataError.self) { try tree.fork.loadAll(Self.id, [([1], [])]) }
        try tree.put([2], [2])
        try tree.publishAndCheck()
    }

    @Test("A load that ends early, or whose fork goes on without it, fails its fork")
    func loads() throws {
        struct Stop: Error {}
        let store = try PageStore.inMemory()
        let stopped = store.fork()
        #expect(throws: Stop.self) {
            try stopped.load(Self.id) { loader in
                try loader.add([1], bytes(9_000))
                throw Stop()
            }
        }
        #expect(throws: StrataError.self) { try store.publish(stopped) }
        let mixed = store.fork()
        #expect(throws: StrataError.self) {
            try mixed.load(Self.id) { loader in
                try loader.add([1], [])
                try mixed.put(Self.id, [2], [])
            }
        }
        #expect(throws: StrataError.self) { try store.publish(mixed) }
        var kept: BulkLoader?
        let fork = store.fork()
        try fork.load(Self.id) { kept = $0 }
        let error = #expect(throws: StrataError.self) { try kept?.add([1], bytes(9_000)) }
        #expect(error?.code == .closed)
        try store.publish(fork)
        #expect(try TreeChecker.faults(of: store, holding: [store.snapshot()]).filter { !$0.contains("lost") } == [])
    }
}
