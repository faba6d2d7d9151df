import TestSupport
import Testing

@testable import StrataTree

/// Puts that begin where the last one ended, against a sorted dictionary.
@Suite("Puts that are near each other")
struct NearPutTests {
    @Test(
        "Ascending and scattered keys between all other changes give the same tree",
        arguments: EntryGenerator.Shape.allCases)
    func model(shape: EntryGenerator.Shape) throws {
        for seed in seeds(4) {
            var (tree, entries) = (try TwinTree(), EntryGenerator(shape, seed: seed))
            for _ in 0..<25 {
                var batch = (0..<Int.random(in: 1...60, using: &entries.random)).map { _ in
                    (key: entries.key(), value: entries.value())
                }
                // Also keys that are there already, and such as come directly after one.
                batch += tree.model.sortedKeys.shuffled(using: &entries.random).prefix(10).map { ($0, entries.value()) }
                batch += tree.model.sortedKeys.shuffled(using: &entries.random).prefix(5).map { ($0 + [0], [1]) }
                let isSorted = Int.random(in: 0..<4, using: &entries.random) > 0
                if isSorted { batch.sort { $0.key.lexicographicallyPrecedes($1.key) } }
                let cut = Int.random(in: 0...batch.count, using: &entries.random)
                try tree.putNear(Array(batch[..<cut]))
                try change(&tree, &entries)
                try tree.putNear(Array(batch[cut...]))
                if Int.random(in: 0..<3, using: &entries.random) == 0 {
                    try tree.publishAndCheck("seed \(seed), sorted \(isSorted)")
                }
            }
            try tree.publishAndCheck("seed \(seed)")
        }
    }

    /// Changes the tree in another way, or another tree.
    private func change(_ tree: inout TwinTree, _ entries: inout EntryGenerator) throws {
        let keys = tree.model.sortedKeys
        switch Int.random(in: 0..<5, using: &entries.random) {
        case 0: for key in keys.shuffled(using: &entries.random).prefix(20) { try tree.delete(key) }
        case 1: try tree.put(entries.key(), entries.value())
        case 2: if keys.count > 40 { try tree.deleteRange(from: keys[10], to: keys[keys.count / 2]) }
        case 3: try tree.fork.put(TreeID(rawValue: 2), entries.key(), entries.value())
        default: break
        }
    }

    @Test("A tree of several levels, filled in order beside keys that are there, has them all")
    func levels() throws {
        var tree = try TwinTree()
        try tree.putNear((0..<20_000).map { (bigEndian($0 * 4) + bytes(60), []) })
        try tree.publishAndCheck()
        try #require(try tree.shape().height > 2)
        try tree.putNear((0..<20_000).map { (bigEndian($0 * 4 + 1) + bytes(60), [UInt8(truncatingIfNeeded: $0)]) })
        try tree.publishAndCheck()
    }
}
