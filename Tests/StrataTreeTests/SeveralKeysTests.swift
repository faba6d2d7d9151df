import TestSupport
import Testing

@testable import StrataTree

/// Lookups of many keys together, against lookups of each.
@Suite("Several keys together")
struct SeveralKeysTests {
    private static let id = TwinTree.id

    @Test(
        "Each key has its value, in the order of the keys, and others have none",
        arguments: EntryGenerator.Shape.allCases)
    func values(shape: EntryGenerator.Shape) throws {
        for seed in seeds(3) {
            var (tree, entries) = (try TwinTree(), EntryGenerator(shape, seed: seed))
            for _ in 0..<700 { try tree.put(entries.key(), entries.value()) }
            try tree.publishAndCheck()
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
        for number in 0..<100 { keys.append([UInt8(number)]) }
        #expect(try values(of: keys, keys.indices, tree.store.snapshot()).allSatisfy { $0 == nil })
        for number in 0..<100 { try tree.put([UInt8(number)], bytes(50)) }
        try tree.publishAndCheck()
        for limit in [1, 31, 32, 33, 99] {
            var seen = 0
            let goesOn = try tree.store.snapshot().getEach(Self.id, keys, in: keys.indices) { _, _ in
                seen += 1
                return seen < limit
            }
            #expect(seen == limit && !goesOn)
        }
    }

    @Test("A fork finds what it has changed itself", arguments: EntryGenerator.Shape.allCases)
    func forks(shape: EntryGenerator.Shape) throws {
        var (tree, entries) = (try TwinTree(), EntryGenerator(shape, seed: 3))
        for _ in 0..<300 { try tree.put(entries.key(), entries.value()) }
        try tree.publishAndCheck()
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

    @Test("A scan of values comes to the same entries as any other", arguments: EntryGenerator.Shape.allCases)
    func scannedValues(shape: EntryGenerator.Shape) throws {
        var (tree, entries) = (try TwinTree(), EntryGenerator(shape, seed: 5))
        for _ in 0..<500 { try tree.put(entries.key(), entries.value()) }
        try tree.publishAndCheck()
        let (lower, upper) = (tree.model.sortedKeys[20], tree.model.sortedKeys[tree.model.count - 7])
        var seen: [[UInt8]] = []
        try lower.withUnsafeBytes { lower in
            try upper.withUnsafeBytes { upper in
                try tree.store.snapshot().scanValues(Self.id, from: lower, to: upper) { value, entry in
                    let key = entry.withKey { [UInt8]($0) }
                    #expect([UInt8](value) == tree.model[key])
                    seen.append(key)
                    return true
                }
            }
        }
        #expect(seen == Array(tree.model.sortedKeys[20..<tree.model.count - 7]))
    }

    @Test("The first entry behind a prefix is the first of a scan", arguments: EntryGenerator.Shape.allCases)
    func firstEntries(shape: EntryGenerator.Shape) throws {
        for seed in seeds(3) {
            var (tree, entries) = (try TwinTree(), EntryGenerator(shape, seed: seed))
            for _ in 0..<700 { try tree.put(entries.key(), entries.value()) }
            try tree.publishAndCheck()
            let known = tree.model.sortedKeys
            var wanted = known.map { Array($0.prefix(Int.random(in: 1...$0.count, using: &entries.random))) }
            wanted += known.prefix(100) + (0..<100).map { _ in entries.key() }
            var prefixes = KeyList()
            for prefix in wanted { prefixes.append(prefix) }
            var (next, foundCount) = (0, 0)
            try tree.store.snapshot().forEachFirst(Self.id, prefixes) { index, entry in
                try #require(index == next)
                next += 1
                let first = known.first { $0.starts(with: wanted[index]) }
                switch entry {
                case .none: try #require(first == nil, "seed \(seed)")
                case .value(let value):
                    foundCount += 1
                    try #require([UInt8](value) == first.flatMap { tree.model[$0] }, "seed \(seed)")
                case .elsewhere: break
                }
            }
            #expect(next == wanted.count && foundCount > 0)
        }
        var prefixes = KeyList()
        prefixes.append([1])
        try TwinTree().store.snapshot().forEachFirst(Self.id, prefixes) { _, entry in
            if case .none = entry { return }
            Issue.record("An empty tree has an entry.")
        }
    }
}
