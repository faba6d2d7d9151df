import StrataModel
import Testing

@testable import StrataTree

/// A change that fails in the middle leaves its fork with pages that do not fit together: all that can be done with it
/// is to drop it, and that undoes everything.
@Suite("Changes that fail in the middle")
struct FailedChangeTests {
    private static let id = TwinTree.id

    enum Change: CaseIterable, Sendable { case put, outside, delete, range, rightmost }

    /// Runs into the limit of the generation, one page later each time, so that every page that a change takes is
    /// refused once.
    @Test("Whichever page is refused, dropping the fork undoes all", arguments: Change.allCases)
    func everyPage(change: Change) throws {
        var (pages, failures) = (0, 0)
        var isDone = false
        while !isDone {
            pages += 1
            var options = TreeStoreOptions()
            options.reservedBytes = pages * PageLayout.pageBytes
            let store = try TreeStore.sample(options)
            guard let before = try? prepare(store) else { continue }
            do {
                let fork = try store.fork()
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
            #expect(TreeShape(of: snapshot, Self.id).faults == [])
        }
        #expect(failures > 1)
    }

    private func prepare(_ store: TreeStore) throws -> [[[UInt8]]] {
        let fork = try store.fork()
        for number in 0..<120 { try fork.put(Self.id, bigEndian(number * 5, byteCount: 2) + bytes(300), bytes(500)) }
        try store.publish(fork)
        return try store.snapshot().entries(Self.id)
    }

    private func make(_ change: Change, _ number: Int, _ fork: Fork) throws {
        let key = bigEndian(number * 15, byteCount: 2) + bytes(300)
        switch change {
        case .put: try fork.put(Self.id, key + [1], bytes(700))
        case .outside: try fork.put(Self.id, key, bytes(9_000))
        case .delete: try fork.delete(Self.id, key)
        case .range: try fork.deleteKeys(Self.id, from: key, to: key + [9])
        case .rightmost: try fork.put(Self.id, [0xFF, UInt8(number)] + bytes(800), bytes(900))
        }
    }

    private func expectRefusal(of fork: Fork, _ store: TreeStore) throws {
        let refusals: [() throws -> Void] = [
            { try fork.put(Self.id, [1], []) },
            { try fork.delete(Self.id, bigEndian(0, byteCount: 2) + bytes(300)) },
            { try fork.deleteKeys(Self.id, from: nil, to: nil) },
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
        try tree.put([2], [2])
        try tree.publishAndCheck()
    }
}
