import Testing

@testable import StrataTree

/// A tree and what it must hold, changed together.
struct TwinTree {
    static let id = TreeID(rawValue: 1)

    let store: PageStore
    private(set) var fork: Fork
    private(set) var model = TreeModel()

    init(_ options: PageStoreOptions = PageStoreOptions()) throws {
        store = try PageStore.inMemory(options: options)
        fork = store.fork()
    }

    mutating func put(_ key: [UInt8], _ value: [UInt8] = []) throws {
        try fork.put(Self.id, key, value)
        model[key] = value
    }

    /// Puts entries one after the other, each beginning where the last one ended, and asks for the page of the next.
    mutating func putNear(_ entries: [(key: [UInt8], value: [UInt8])]) throws {
        for (index, entry) in entries.enumerated() {
            entries[min(index + 1, entries.count - 1)].key.withUnsafeBytes { fork.askNear(Self.id, $0) }
            try entry.key.withUnsafeBytes { key in
                try entry.value.withUnsafeBytes { try fork.putNear(Self.id, key, $0) }
            }
            model[entry.key] = entry.value
        }
    }

    mutating func delete(_ key: [UInt8]) throws {
        let isThere = model[key] != nil
        #expect(try fork.delete(Self.id, key) == isThere)
        model[key] = nil
    }

    mutating func deleteRange(from lower: [UInt8]?, to upper: [UInt8]?) throws {
        try fork.deleteKeys(Self.id, from: lower, to: upper)
        model.removeRange(from: lower, to: upper)
    }

    mutating func load(_ entries: [(key: [UInt8], value: [UInt8])]) throws {
        try fork.loadAll(Self.id, entries)
        for entry in entries { model[entry.key] = entry.value }
    }

    /// Publishes, compares everything, and starts the next fork.
    mutating func publishAndCheck(_ comment: Comment? = nil, at location: SourceLocation = #_sourceLocation) throws {
        try store.publish(fork)
        let snapshot = store.snapshot()
        let entries = try snapshot.entries(Self.id)
        #expect(entries.map { $0[0] } == model.sortedKeys, comment, sourceLocation: location)
        let isSame = entries.allSatisfy { model[$0[0]] == $0[1] }
        #expect(isSame, comment, sourceLocation: location)
        for key in model.sortedKeys {
            let value = try snapshot.value(Self.id, key)
            if value != model[key] { Issue.record("a key is not found: \(key.prefix(20))", sourceLocation: location) }
        }
        fork = store.fork()
        #expect(try TreeChecker.faults(of: store, holding: [snapshot]) == [], comment, sourceLocation: location)
    }

    /// Of the newest published state.
    func shape() throws -> TreeShape { try TreeShape(of: store.snapshot(), Self.id) }
}

/// How many pages a tree has, and how full they are.
struct TreeShape {
    private(set) var height = 0
    private(set) var leaves = 0
    private(set) var branches = 0
    private(set) var leafBytes = 0
    /// Entries of each leaf, in order.
    private(set) var leafCounts: [Int] = []

    /// How much of the leaves is used.
    var fill: Double { Double(leafBytes) / Double(max(1, leaves) * PageLayout.pageBytes) }

    init(of snapshot: Snapshot, _ id: TreeID) throws {
        let root = snapshot.roots[id]
        guard root.page != 0 else { return }
        height = root.level + 1
        try add(root.page, root.level, snapshot.core.memory)
    }

    private mutating func add(_ number: PageNumber, _ level: Int, _ memory: PageMemory) throws {
        let page = try memory.page(number, level: level)
        guard level > 0 else {
            leaves += 1
            leafBytes += PageLayout.pageBytes - page.freeBytes - page.garbageBytes
            leafCounts.append(page.count)
            return
        }
        branches += 1
        for index in 0..<page.count { try add(page.child(index), level - 1, memory) }
    }
}

extension Fork {
    func loadAll(_ id: TreeID, _ entries: [(key: [UInt8], value: [UInt8])]) throws {
        try load(id) { loader in
            for entry in entries { try loader.add(entry.key, entry.value) }
        }
    }
}

extension BulkLoader {
    func add(_ key: [UInt8], _ value: [UInt8]) throws {
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try append(key, $0) } }
    }
}

/// `number` in so many bytes, the highest first.
func bigEndian(_ number: Int, byteCount: Int = 4) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: number >> (8 * (byteCount - 1 - $0))) }
}

func bytes(_ count: Int, of byte: UInt8 = 0x78) -> [UInt8] { [UInt8](repeating: byte, count: count) }
