import StrataModel
import TestSupport
import Testing

@testable import StrataTree

/// Cursors that stay where they are while their fork changes, against a sorted list.
@Suite("Cursors during writes")
struct CursorModelTests {
    private static let id = TwinTree.id

    @Test(
        "A cursor goes on from its key, whatever happens around it", arguments: EntryGenerator.Shape.allCases,
        [false, true])
    func duringWrites(shape: EntryGenerator.Shape, isLayered: Bool) throws {
        for seed in seeds(2) {
            var run = CursorRun(try TwinTree(isLayered: isLayered), EntryGenerator(shape, seed: seed))
            try run.load(300)
            for step in 0..<400 {
                if Int.random(in: 0..<3, using: &run.entries.random) == 0 { try run.change() }
                try run.move()
                if !run.isRight { Issue.record("seed \(seed), step \(step): \(run.state)") }
                if step % 100 == 99 { try run.publish() }
            }
        }
    }

    @Test("An entry is not read after a change before the cursor moves")
    func staleEntry() throws {
        var tree = try TwinTree()
        for key in UInt8(1)...3 { try tree.put([key], [key]) }
        let cursor = tree.fork.cursor(Self.id)
        #expect(try cursor.seekFirst())
        try tree.put([2], [9])
        #expect(throws: StrataError.self) { try cursor.withEntry { _, _ in } }
        #expect(try cursor.next())
        #expect(try cursor.withEntry { _, value in [UInt8](value) } == [9])
    }

    @Test("At the ends a cursor has no entry, and an empty tree has none at all")
    func ends() throws {
        var tree = try TwinTree()
        let cursor = tree.fork.cursor(Self.id)
        #expect(try !cursor.seekFirst() && !cursor.seekLast() && !cursor.next() && !cursor.previous())
        try tree.put([5])
        #expect(try cursor.seekLast() && !cursor.next() && !cursor.previous())
        #expect(try cursor.withEntry { _, _ in true } == nil)
        #expect(try cursor.seekFirst() && !cursor.previous() && !cursor.next())
        try tree.delete([5])
        #expect(try !cursor.seekFirst())
    }

    @Test("A scan ends where its body says so, at every entry")
    func stoppedScans() throws {
        var tree = try TwinTree()
        for number in 0..<120 { try tree.put([UInt8(number)], bytes(number % 40 == 0 ? 5_000 : 90)) }
        try tree.publishAndCheck()
        let snapshot = tree.store.snapshot()
        for limit in 1...121 {
            var seen = 0
            try snapshot.scan(Self.id) { _, _ in
                seen += 1
                return seen < limit
            }
            #expect(seen == min(limit, 120))
        }
        struct Stop: Error {}
        #expect(throws: Stop.self) { try snapshot.scan(Self.id) { _, _ in throw Stop() } }
    }

    @Test("Snapshots of hundreds of epochs keep what they had, and give it back in any order")
    func oldSnapshots() throws {
        var random = SeededGenerator(seed: 2)
        let store = try TreeStore.sample(TreeTrial.options)
        var held: [(snapshot: Snapshot, number: Int)] = []
        for number in 0..<300 {
            let fork = try store.fork()
            for key in 0..<20 { try fork.put(Self.id, bigEndian((key * 37 + number) % 400), bigEndian(number)) }
            try fork.put(Self.id, [0], bigEndian(number))
            if number % 9 == 0 { try fork.put(Self.id, [0, 1], bytes(6_000, of: UInt8(number % 256))) }
            held.append((try store.publish(fork), number))
        }
        held.shuffle(using: &random)
        while let last = held.popLast() {
            #expect(try last.snapshot.value(Self.id, [0]) == bigEndian(last.number))
            #expect(try last.snapshot.value(Self.id, [0, 1])?.first == UInt8(last.number / 9 * 9 % 256))
        }
    }
}

/// A cursor and where it must be.
private struct CursorRun {
    private var tree: TwinTree
    private var cursor: Cursor
    private var expected: [UInt8]?
    private var found: [UInt8]?
    private var last = ""
    var entries: EntryGenerator

    init(_ tree: TwinTree, _ entries: EntryGenerator) {
        self.tree = tree
        self.entries = entries
        cursor = tree.fork.cursor(TwinTree.id)
    }

    var isRight: Bool { expected == found }
    var state: String { "\(last): expected \(String(describing: expected)), found \(String(describing: found))" }

    mutating func load(_ count: Int) throws {
        var sorted = TreeModel()
        for _ in 0..<count { sorted[entries.key()] = entries.value() }
        for key in sorted.sortedKeys { try tree.put(key, sorted[key] ?? []) }
    }

    mutating func publish() throws {
        try tree.publishAndCheck()
        cursor = tree.fork.cursor(TwinTree.id)
        expected = nil
    }

    /// At the cursor or somewhere else.
    mutating func change() throws {
        let key = expected ?? entries.key()
        switch Int.random(in: 0..<8, using: &entries.random) {
        case 0: try tree.delete(key)
        case 1: try tree.put(key, entries.value())
        case 2: if key.count < 960 { try tree.put(key + [0], entries.value()) }
        case 3:
            let place = tree.model.place(of: key)
            let upper = tree.model.sortedKeys.dropFirst(place + 5).first
            try tree.deleteRange(from: key, to: upper ?? key)
        case 4:
            let lower = tree.model.sortedKeys.prefix(tree.model.place(of: key)).suffix(5).first
            try tree.deleteRange(from: lower, to: key)
        case 5: for _ in 0..<30 { try tree.put(entries.key(), entries.value()) }
        default: try tree.put(entries.key(), entries.value())
        }
    }

    mutating func move() throws {
        let keys = tree.model.sortedKeys
        let target = entries.key()
        let isThere: Bool
        switch Int.random(in: 0..<14, using: &entries.random) {
        case 0: (last, isThere, expected) = ("first", try cursor.seekFirst(), keys.first)
        case 1: (last, isThere, expected) = ("last", try cursor.seekLast(), keys.last)
        case 2:
            isThere = try target.withUnsafeBytes { try cursor.seek($0) }
            (last, expected) = ("seek", keys.dropFirst(tree.model.place(of: target)).first)
        case 3:
            isThere = try target.withUnsafeBytes { try cursor.seekBefore($0) }
            (last, expected) = ("seekBefore", keys.prefix(tree.model.place(of: target)).last)
        case 4..<9:
            isThere = try cursor.next()
            let place = expected.map { tree.model.place(of: $0) + (tree.model[$0] == nil ? 0 : 1) }
            (last, expected) = ("next", place.flatMap { keys.dropFirst($0).first })
        default:
            isThere = try cursor.previous()
            (last, expected) = ("previous", expected.flatMap { keys.prefix(tree.model.place(of: $0)).last })
        }
        found = try cursor.withEntry { key, _ in [UInt8](key) }
        if isThere != (found != nil) { found = [0xFF, 0xFF, 0xFF] }
    }
}
