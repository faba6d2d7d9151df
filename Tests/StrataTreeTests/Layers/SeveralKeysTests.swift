import StrataModel
import TestSupport
import Testing

@testable import StrataTree

/// Lookups of many keys together, against lookups of each.
@Suite("Several keys together")
struct SeveralKeysTests {
    private static let id = TwinTree.id

    @Test(
        "Each key has its value, in the order of the keys, and others have none",
        arguments: EntryGenerator.Shape.allCases, [false, true])
    func values(shape: EntryGenerator.Shape, isLayered: Bool) throws {
        for seed in seeds(3) {
            var entries = EntryGenerator(shape, seed: seed)
            let tree = try tree(&entries, isLayered: isLayered)
            var wanted = tree.model.sortedKeys + (0..<100).map { _ in entries.key() }
            wanted += tree.model.sortedKeys.prefix(50).map { $0 + [0] }
            wanted.shuffle(using: &entries.random)
            var keys = KeyList()
            for key in wanted { keys.append(key) }
            let found = try values(of: keys, keys.indices, tree.store.snapshot())
            let isRight = found.elementsEqual(wanted.map { tree.model[$0] })
            #expect(isRight && found.contains(nil), "seed \(seed)")
            let part = try values(of: keys, 40..<41, tree.store.snapshot())
            #expect(part == [tree.model[wanted[40]]])
        }
    }

    /// A tree of some hundred entries, in several layers or in one.
    private func tree(_ entries: inout EntryGenerator, isLayered: Bool) throws -> TwinTree {
        var tree = try TwinTree(isLayered: isLayered)
        for _ in 0..<7 {
            for _ in 0..<100 { try tree.put(entries.key(), entries.value()) }
            for key in tree.model.sortedKeys.shuffled(using: &entries.random).prefix(10) { try tree.delete(key) }
            if isLayered { try tree.publishAndCheck() }
        }
        try tree.publishAndCheck()
        let below = tree.store.snapshot().below
        #expect(below.frozen.count + below.levels.runs.count > 0 || !isLayered)
        return tree
    }

    private func values(of keys: KeyList, _ range: Range<Int>, _ snapshot: Snapshot) throws -> [[UInt8]?] {
        var (values, next): ([[UInt8]?], Int) = ([], range.lowerBound)
        try snapshot.getEach(Self.id, keys, in: range) { index, value in
            #expect(index == next)
            next += 1
            values.append(value.map { [UInt8]($0) })
            return true
        }
        return values
    }

    @Test("An empty tree has no value for any key, and nobody goes on who has enough")
    func ends() throws {
        var (tree, keys) = (try TwinTree(), KeyList())
        for number in 0..<200 { keys.append([UInt8(number)]) }
        #expect(try values(of: keys, keys.indices, tree.store.snapshot()).allSatisfy { $0 == nil })
        for number in 0..<200 { try tree.put([UInt8(number)], bytes(50)) }
        try tree.publishAndCheck()
        for limit in [1, 99, 127, 128, 129, 199] {
            var seen = 0
            let goesOn = try tree.store.snapshot().getEach(Self.id, keys, in: keys.indices) { _, _ in
                seen += 1
                return seen < limit
            }
            #expect(seen == limit && !goesOn)
        }
    }

    @Test("A fork finds what it has changed itself", arguments: EntryGenerator.Shape.allCases, [false, true])
    func forks(shape: EntryGenerator.Shape, isLayered: Bool) throws {
        var entries = EntryGenerator(shape, seed: 3)
        var tree = try tree(&entries, isLayered: isLayered)
        for _ in 0..<100 { try tree.put(entries.key(), entries.value()) }
        let gone = tree.model.sortedKeys.shuffled(using: &entries.random).prefix(50)
        for key in gone { try tree.delete(key) }
        var keys = KeyList()
        for key in tree.model.sortedKeys + gone { keys.append(key) }
        var found: [[UInt8]?] = []
        try tree.fork.getEach(Self.id, keys, in: keys.indices) { _, value in
            found.append(value.map { [UInt8]($0) })
            return true
        }
        let isRight = found.elementsEqual((tree.model.sortedKeys + gone).map { tree.model[$0] })
        #expect(isRight && found.contains(nil))
    }

    @Test(
        "The first entry behind a prefix is the first of a scan", arguments: EntryGenerator.Shape.allCases,
        [false, true])
    func firstEntries(shape: EntryGenerator.Shape, isLayered: Bool) throws {
        for seed in seeds(3) {
            var entries = EntryGenerator(shape, seed: seed)
            let tree = try tree(&entries, isLayered: isLayered)
            let known = tree.model.sortedKeys
            var wanted = known.map { Array($0.prefix(Int.random(in: 1...$0.count, using: &entries.random))) }
            wanted += known.prefix(100) + (0..<100).map { _ in entries.key() }
            var prefixes = KeyList()
            for prefix in wanted { prefixes.append(prefix) }
            var (next, foundCount) = (0, 0)
            try tree.store.snapshot().forEachFirst(Self.id, prefixes) { index, value in
                try #require(index == next)
                next += 1
                let first = known.first { $0.starts(with: wanted[index]) }
                if value != nil { foundCount += 1 }
                try #require(value.map { [UInt8]($0) } == first.flatMap { tree.model[$0] }, "seed \(seed)")
            }
            #expect(next == wanted.count && foundCount > 0)
        }
        var prefixes = KeyList()
        prefixes.append([1])
        try TwinTree().store.snapshot().forEachFirst(Self.id, prefixes) { _, value in #expect(value == nil) }
    }
}
