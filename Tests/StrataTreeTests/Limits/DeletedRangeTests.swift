import TestSupport
import Testing

@testable import StrataTree

@Suite("Deleted ranges")
struct DeletedRangeTests {
    private static let ids = [TreeID(rawValue: 3), TreeID(rawValue: 9)]

    @Test("Inserted in any order, they cover what each of them covers, and none touches another", arguments: seeds(20))
    func insert(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var ranges = DeletedRanges()
        var covered: [Set<UInt8>] = [[], []]
        for _ in 0..<40 {
            let tree = random.next(below: 2)
            let lower = random.next(below: 200)
            let upper = random.next(below: 30) == 0 ? nil : lower + 1 + random.next(below: 8)
            let range = DeletedRange(
                tree: Self.ids[tree], lower: lower == 0 ? [] : [UInt8(lower)], upper: upper.map { [UInt8($0)] } ?? [])
            ranges.insert(range)
            covered[tree].formUnion((lower..<(upper ?? 256)).map { UInt8($0) })
            #expect(ranges == DeletedRanges(ranges.ranges.shuffled(using: &random)))
        }
        for (tree, id) in Self.ids.enumerated() {
            for key in 1...UInt8.max {
                let isCovered = [key].withUnsafeBytes { ranges.cover(id, $0) }
                #expect(isCovered == covered[tree].contains(key), "seed \(seed), key \(key)")
            }
        }
        for (left, right) in zip(ranges.ranges, ranges.ranges.dropFirst()) where left.tree == right.tree {
            #expect(left.upper.lexicographicallyPrecedes(right.lower) && !left.upper.isEmpty)
        }
    }

    @Test("Many fill a generation")
    func memory() throws {
        var options = TreeStoreOptions()
        options.generationBytes = 100 << 10
        let store = try TreeStore.sample(options)
        let first = try store.fork()
        try first.put(TwinTree.id, [1], [1])
        try store.publish(first)
        try store.settle()
        let fork = try store.fork()
        for number in 0..<1_000 {
            try fork.deleteKeys(TwinTree.id, from: bigEndian(2 * number), to: bigEndian(2 * number + 1))
        }
        #expect(fork.generation.isFull)
        try store.publish(fork)
        #expect(try store.snapshot().entries(TwinTree.id).count == 1)
    }
}
