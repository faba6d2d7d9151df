import StrataModel
import Testing

@testable import StrataTree

@Suite("Loading in bulk")
struct BulkLoadTests {
    private static let id = TwinTree.id

    @Test("The same entries as by puts, in full pages", arguments: EntryGenerator.Shape.allCases)
    func sameAsPuts(shape: EntryGenerator.Shape) throws {
        var generator = EntryGenerator(shape, seed: 5)
        var sorted = TreeModel()
        for _ in 0..<1_500 { sorted[generator.key()] = generator.value() }
        var loaded = try TwinTree()
        try loaded.load(sorted.sortedKeys.map { ($0, sorted[$0] ?? []) })
        try loaded.publishAndCheck()
        var put = try TwinTree()
        for key in sorted.sortedKeys { try put.put(key, sorted[key] ?? []) }
        try put.publishAndCheck()
        #expect(try loaded.shape().leaves <= put.shape().leaves)
        #expect(loaded.store.snapshot().entryCount(Self.id) == UInt64(sorted.count))
    }

    @Test("Small entries fill at least 95 of 100 bytes")
    func fill() throws {
        var tree = try TwinTree()
        try tree.load((0..<5_000).map { (bigEndian($0), bytes(30)) })
        try tree.publishAndCheck()
        #expect(try tree.shape().fill >= 0.95)
    }

    @Test("No entries, one, and as many as fill pages to the last byte")
    func boundaries() throws {
        var empty = try TwinTree()
        try empty.load([])
        try empty.publishAndCheck()
        #expect(try empty.shape().height == 0)
        #expect(empty.store.core.memory.usedSlots == 0)
        // A header of 32, and 16 entries of 254 bytes: slot 8, length 2, key 2, value 242.
        for (count, leaves) in [(1, 1), (15, 1), (16, 1), (17, 2), (32, 2), (33, 3)] {
            var tree = try TwinTree()
            try tree.load((0..<count).map { ([UInt8($0 * 7), 0], bytes(242)) })
            try tree.publishAndCheck("\(count) entries")
            let shape = try tree.shape()
            #expect(shape.leaves == leaves && shape.height == (leaves > 1 ? 2 : 1), "\(count) entries")
            if count % 16 == 0 { #expect(shape.fill == 1) }
        }
    }

    @Test("Very long keys, with and without common parts, make high trees")
    func longKeys() throws {
        var tree = try TwinTree()
        try tree.load((0..<600).map { (bigEndian($0, byteCount: 2) + bytes(958), bytes(500)) })
        try tree.publishAndCheck()
        var common = try TwinTree()
        try common.load((0..<600).map { (bytes(956) + bigEndian($0), bytes(500)) })
        try common.publishAndCheck()
        #expect(try common.shape().leaves < tree.shape().leaves)
    }

    @Test("A branch's keys separate the leaves that were loaded: changes find their place")
    func changesAfterwards() throws {
        var tree = try TwinTree()
        try tree.load((0..<800).map { (bigEndian(3 * $0, byteCount: 2), bytes(100)) })
        try tree.publishAndCheck()
        for number in 0..<2_400 where number % 7 != 0 { try tree.put(bigEndian(number, byteCount: 2), bytes(3)) }
        try tree.publishAndCheck()
    }

    @Test("Keys that do not ascend are refused", arguments: [[5], [4], [0], []] as [[UInt8]])
    func wrongOrder(second: [UInt8]) throws {
        let tree = try TwinTree()
        let error = #expect(throws: StrataError.self) { try tree.fork.loadAll(Self.id, [([5], []), (second, [])]) }
        #expect(error?.code == (second.isEmpty ? .outOfRange : .invalidArgument))
        #expect(tree.fork.entryCount(Self.id) == 0)
    }

    @Test("Only an empty tree is loaded, and others stay as they are")
    func notEmpty() throws {
        var tree = try TwinTree()
        try tree.put([1])
        let error = #expect(throws: StrataError.self) { try tree.fork.loadAll(Self.id, [([5], [])]) }
        #expect(error?.code == .invalidArgument)
        try tree.fork.loadAll(TreeID(rawValue: 2), [([5], [])])
        try tree.publishAndCheck()
        #expect(try tree.store.snapshot().value(TreeID(rawValue: 2), [5]) == [])
    }

    @Test("The folded offset stays when a tree is loaded")
    func foldedOffset() throws {
        let tree = try TwinTree()
        try tree.fork.setFoldedOffset(Self.id, 77)
        try tree.fork.loadAll(Self.id, [([5], [])])
        #expect(tree.fork.foldedOffset(Self.id) == 77)
    }
}
