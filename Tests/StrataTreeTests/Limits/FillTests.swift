import TestSupport
import Testing

@testable import StrataTree

/// How full pages are after inserts and deletes in each order, and that nothing of a tree is left when it is empty.
@Suite("How full pages are")
struct FillTests {
    enum Order: CaseIterable, Sendable { case ascending, descending, random }

    private func numbers(_ count: Int, _ order: Order) -> [Int] {
        var random = SeededGenerator(seed: 11)
        switch order {
        case .ascending: return Array(0..<count)
        case .descending: return (0..<count).reversed()
        case .random: return (0..<count).shuffled(using: &random)
        }
    }

    @Test("Inserts in order leave full pages, others at least half-full ones", arguments: Order.allCases)
    func inserting(order: Order) throws {
        var tree = try TwinTree()
        for number in numbers(2_000, order) { try tree.put(bigEndian(number), bytes(60)) }
        try tree.publishAndCheck()
        let least: [Order: Double] = [.ascending: 0.9, .descending: 0.49, .random: 0.6]
        #expect(tree.shape.fill >= least[order] ?? 1, "\(order)")
        #expect(tree.shape.height == 2)
    }

    @Test("Deleting everything leaves no page", arguments: Order.allCases, Order.allCases)
    func deleting(inserted: Order, deleted: Order) throws {
        var tree = try TwinTree()
        for number in numbers(900, inserted) { try tree.put(bigEndian(number), bytes(60)) }
        try tree.publishAndCheck()
        let all = numbers(900, deleted)
        for number in all[..<840] { try tree.delete(bigEndian(number)) }
        try tree.publishAndCheck()
        #expect(tree.shape.fill >= 0.2, "pages that became sparse were merged")
        for number in all[840...] { try tree.delete(bigEndian(number)) }
        try tree.publishAndCheck()
        #expect(tree.shape.height == 0)
    }

    @Test("Pages that no state reaches are used again")
    func usedAgain() throws {
        var tree = try TwinTree()
        var counts: [Int] = []
        for round in 0..<40 {
            for number in numbers(900, .random) { try tree.put(bigEndian(number), bytes(60, of: UInt8(round))) }
            for number in stride(from: 0, to: 900, by: 3) { try tree.delete(bigEndian(number)) }
            try tree.publishAndCheck()
            try tree.deleteRange(from: nil, to: nil)
            try tree.publishAndCheck()
            counts.append(tree.store.memoryBytes)
        }
        #expect(try #require(counts.last) <= 2 * counts[3], "\(counts)")
    }

    /// A leaf holds three; what separates leaves is often as long as the keys, so that branches have few children.
    private func highTree() throws -> TwinTree {
        var tree = try TwinTree()
        try tree.put([0], bytes(64))
        for number in 0..<400 { try tree.put(highKey(number), bytes(64)) }
        try tree.publishAndCheck()
        #expect(tree.shape.height >= 4)
        return tree
    }

    private func highKey(_ number: Int) -> [UInt8] {
        bigEndian(number / 2, byteCount: 2) + bytes(957) + [UInt8(number % 2)]
    }

    @Test("A tree of which little is left becomes low again", arguments: [1, 2, 3, 7])
    func lowAgain(left: Int) throws {
        var tree = try highTree()
        try tree.deleteRange(from: nil, to: highKey(200))
        try tree.deleteRange(from: highKey(200 + left), to: nil)
        try tree.publishAndCheck()
        let shape = tree.shape
        #expect(shape.height == (shape.leaves == 1 ? 1 : 2), "\(shape)")
        for number in 201..<200 + left { try tree.delete(highKey(number)) }
        try tree.publishAndCheck()
        #expect(tree.shape.height == 1)
    }

    @Test("Branches that deletes leave with few children are merged", arguments: [true, false])
    func sparseBranches(inRanges: Bool) throws {
        var tree = try highTree()
        for start in stride(from: 0, to: 400, by: 40) {
            if inRanges {
                try tree.deleteRange(from: highKey(start), to: highKey(start + 38))
            } else {
                for number in start..<start + 38 { try tree.delete(highKey(number)) }
            }
        }
        try tree.publishAndCheck()
        let shape = tree.shape
        #expect(shape.height <= 4, "\(shape)")
        #expect(shape.branches <= shape.leaves, "\(shape)")
    }

    @Test("Every range over a few leaves, at each key and between them")
    func ranges() throws {
        var whole = TreeModel()
        for number in 0..<24 { whole[[UInt8(2 * number)] + bytes(400)] = bytes(50, of: UInt8(number)) }
        let bounds: [[UInt8]?] = [nil, []] + (0..<49).map { [UInt8($0)] }
        let store = try TreeStore.sample()
        let fork = try store.fork()
        for key in whole.sortedKeys { try fork.put(TwinTree.id, key, whole[key] ?? []) }
        try store.publish(fork)
        #expect(TreeShape(of: store.snapshot(), TwinTree.id).leaves > 2)
        for lower in bounds {
            for upper in bounds {
                let changed = try store.fork()
                try changed.deleteKeys(TwinTree.id, from: lower, to: upper)
                var model = whole
                model.removeRange(from: lower, to: upper)
                var found: [[UInt8]] = []
                try changed.scan(TwinTree.id) { key, _ in
                    found.append([UInt8](key))
                    return true
                }
                if found != model.sortedKeys {
                    Issue.record("\(String(describing: lower)) to \(String(describing: upper))")
                }
                #expect(try changed.entryCount(TwinTree.id) == UInt64(model.count))
            }
        }
    }
}
