import StrataModel
import Testing

@testable import StrataTree

/// A tree and what it must hold, changed together.
struct TwinTree {
    static let id = TreeID(rawValue: 3)

    let store: TreeStore
    private(set) var fork: Fork
    private(set) var model = TreeModel()

    /// - Parameter isLayered: true for small generations, so that most of the tree is in runs.
    init(isLayered: Bool = false) throws {
        store = try .sample(isLayered ? TreeTrial.options : TreeStoreOptions())
        fork = try store.fork()
    }

    mutating func put(_ key: [UInt8], _ value: [UInt8] = []) throws {
        try fork.put(Self.id, key, value)
        model[key] = value
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
        #expect(TreeShape(of: snapshot, Self.id).faults == [], comment, sourceLocation: location)
        fork = try store.fork()
    }

    /// The pages of the newest published state in memory.
    var shape: TreeShape { TreeShape(of: store.snapshot(), Self.id) }
}

extension TreeStore {
    static func sample(_ options: TreeStoreOptions = TreeStoreOptions()) throws -> TreeStore {
        try .inMemory(TreeTrial.owner, hashed: [TwinTree.id], options: options)
    }
}

/// The number of pages that a tree has in the newest generation, how full they are, and what does not add up in them.
struct TreeShape {
    private(set) var height = 0
    private(set) var leaves = 0
    private(set) var branches = 0
    private(set) var leafBytes = 0
    private(set) var faults: [String] = []
    private var reached: Set<PageNumber> = []

    /// The part of the leaves that is used.
    var fill: Double { Double(leafBytes) / Double(max(1, leaves) * PageLayout.pageBytes) }

    init(of snapshot: Snapshot, _ id: TreeID) {
        let root = snapshot.roots[id]
        guard root.page != 0 else { return }
        height = root.level + 1
        add(root.page, root.level, from: [], to: nil, snapshot.top.generation)
    }

    private mutating func add(
        _ number: PageNumber, _ level: Int, from lower: [UInt8], to upper: [UInt8]?, _ generation: Generation
    ) {
        let page = generation.page(number)
        if !reached.insert(number).inserted { faults.append("page \(number) is reached twice") }
        if page.level != level { faults.append("page \(number) has level \(page.level), not \(level)") }
        if page.count == 0 { faults.append("page \(number) is empty") }
        let keys = (0..<page.count).map { index in
            [UInt8](unsafeUninitializedCapacity: PageLayout.maximumKeyBytes) { buffer, count in
                count = page.copyKey(index, to: UnsafeMutableRawBufferPointer(buffer)).count
            }
        }
        for (index, key) in keys.enumerated() where page.isLeaf || index > 0 {
            if key.lexicographicallyPrecedes(lower) { faults.append("page \(number) has a key before its range") }
            if let upper, !key.lexicographicallyPrecedes(upper) {
                faults.append("page \(number) has a key after its range")
            }
            if index > (page.isLeaf ? 0 : 1), !keys[index - 1].lexicographicallyPrecedes(key) {
                faults.append("page \(number) has keys out of order")
            }
        }
        if page.isLeaf {
            leaves += 1
            leafBytes += PageLayout.pageBytes - page.freeBytes - page.garbageBytes
            return
        }
        branches += 1
        for index in keys.indices {
            add(
                page.child(index), level - 1, from: index == 0 ? lower : keys[index],
                to: index + 1 < keys.count ? keys[index + 1] : upper, generation)
        }
    }
}
