import StrataModel

/// The difference of an entry between two states of a tree.
package enum EntryChange {
    case added(UnsafeRawBufferPointer)
    case removed(UnsafeRawBufferPointer)
    case replaced(old: UnsafeRawBufferPointer, new: UnsafeRawBufferPointer)
}

/// Compares two states of one tree side by side. Shared subtrees are skipped, so the cost is proportional to the
/// changes.
struct TreeDiff {
    /// The maximum number of steps in a read section.
    private static let stepsPerSection = 1_024

    private let memory: PageMemory
    private var old: TreeWalk
    private var new: TreeWalk
    private let oldKey: UnsafeMutableRawBufferPointer
    private let newKey: UnsafeMutableRawBufferPointer

    /// - Parameter keys: a buffer with room for two keys.
    init(
        _ memory: PageMemory, old: TreeRoot, new: TreeRoot, keys: UnsafeMutableRawBufferPointer
    ) {
        self.memory = memory
        self.old = TreeWalk(old)
        self.new = TreeWalk(new)
        oldKey = UnsafeMutableRawBufferPointer(rebasing: keys[..<PageLayout.maximumKeyBytes])
        newKey = UnsafeMutableRawBufferPointer(
            rebasing: keys[PageLayout.maximumKeyBytes..<2 * PageLayout.maximumKeyBytes])
    }

    /// Moves to the first key at or after `lower`.
    mutating func seek(_ lower: UnsafeRawBufferPointer) throws {
        try memory.reading {
            try old.seek(lower, in: memory)
            try new.seek(lower, in: memory)
        }
    }

    /// Calls `body` with each entry that differs, in the order of keys, until it returns false.
    mutating func run(_ body: (UnsafeRawBufferPointer, EntryChange) throws -> Bool) throws {
        var goesOn = true
        while goesOn {
            goesOn = try memory.reading {
                for _ in 0..<Self.stepsPerSection where try !step(body) { return false }
                return true
            }
        }
    }

    /// Takes one step; returns false at the end, or if `body` returned false.
    private mutating func step(_ body: (UnsafeRawBufferPointer, EntryChange) throws -> Bool) throws -> Bool {
        let (a, b) = (try old.peek(in: memory), try new.peek(in: memory))
        switch (a, b) {
        case (.end, .end): return false
        case (.subtree(let left, let leftLevel), .subtree(let right, let rightLevel)):
            if left == right {
                old.skip()
                new.skip()
            } else {
                if leftLevel >= rightLevel { try old.expand(in: memory) }
                if rightLevel >= leftLevel { try new.expand(in: memory) }
            }
        case (.subtree, _): try old.expand(in: memory)
        case (_, .subtree): try new.expand(in: memory)
        case (.entry(let page, let index), .end):
            guard try withEntry(page, at: index, key: oldKey, { try body($0, .removed($1)) }) else { return false }
            old.skip()
        case (.end, .entry(let page, let index)):
            guard try withEntry(page, at: index, key: newKey, { try body($0, .added($1)) }) else { return false }
            new.skip()
        case (.entry(let left, let leftIndex), .entry(let right, let rightIndex)):
            return try compare(left, at: leftIndex, with: right, at: rightIndex, body)
        }
        return true
    }

    private mutating func compare(
        _ left: Page, at leftIndex: Int, with right: Page, at rightIndex: Int,
        _ body: (UnsafeRawBufferPointer, EntryChange) throws -> Bool
    ) throws -> Bool {
        let order = try withKeys(of: left, at: leftIndex, and: right, at: rightIndex) { Bytes.compare($0, $1) }
        if order < 0 {
            guard try withEntry(left, at: leftIndex, key: oldKey, { try body($0, .removed($1)) }) else { return false }
            old.skip()
        } else if order > 0 {
            guard try withEntry(right, at: rightIndex, key: newKey, { try body($0, .added($1)) }) else { return false }
            new.skip()
        } else {
            let (a, b) = (left.storedValue(leftIndex), right.storedValue(rightIndex))
            // Equal overflow pages are equal values. Different pages may also hold equal values, which the caller can
            // detect.
            if a.isOverflow != b.isOverflow || a.bytes.count != b.bytes.count || Bytes.compare(a.bytes, b.bytes) != 0 {
                let goesOn = try withEntry(left, at: leftIndex, key: oldKey) { key, before in
                    try withEntry(right, at: rightIndex, key: newKey) { _, after in
                        try body(key, .replaced(old: before, new: after))
                    }
                }
                guard goesOn else { return false }
            }
            old.skip()
            new.skip()
        }
        return true
    }

    private func withKeys<Result>(
        of left: Page, at leftIndex: Int, and right: Page, at rightIndex: Int,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result
    ) throws -> Result {
        body(left.copyKey(leftIndex, to: oldKey), right.copyKey(rightIndex, to: newKey))
    }

    private func withEntry<Result>(
        _ page: Page, at index: Int, key buffer: UnsafeMutableRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let key = page.copyKey(index, to: buffer)
        let value = page.storedValue(index)
        if value.isOverflow { return try memory.withOverflow(OverflowReference(value.bytes)) { try body(key, $0) } }
        return try body(key, value.bytes)
    }
}

/// A walk through a tree in the order of its keys that may skip subtrees.
struct TreeWalk {
    enum Node {
        case end
        case subtree(PageNumber, level: Int)
        case entry(Page, Int)
    }

    /// The pages that have been entered, each with its next child or entry.
    private var stack: [(number: PageNumber, level: Int, next: Int)] = []
    /// The root, until it is entered or skipped.
    private var root: (number: PageNumber, level: Int)?

    init(_ root: TreeRoot) { self.root = root.page == 0 ? nil : (root.page, root.level) }

    mutating func peek(in memory: PageMemory) throws -> Node {
        if let root { return .subtree(root.number, level: root.level) }
        while let top = stack.last {
            let page = try memory.page(top.number, level: top.level)
            if top.next < page.count {
                return top.level == 0 ? .entry(page, top.next) : .subtree(page.child(top.next), level: top.level - 1)
            }
            stack.removeLast()
        }
        return .end
    }

    /// Skips the node that `peek` returned.
    mutating func skip() {
        if root != nil { root = nil } else { stack[stack.count - 1].next += 1 }
    }

    /// Enters the subtree that `peek` returned.
    mutating func expand(in memory: PageMemory) throws {
        guard case .subtree(let number, let level) = try peek(in: memory) else { return }
        skip()
        stack.append((number, level, 0))
    }

    mutating func seek(_ lower: UnsafeRawBufferPointer, in memory: PageMemory) throws {
        guard let root else { return }
        self.root = nil
        var (number, level) = root
        while true {
            let page = try memory.page(number, level: level)
            if level == 0 {
                stack.append((number, level, page.search(leaf: lower).index))
                return
            }
            let index = page.search(branch: lower)
            stack.append((number, level, index + 1))
            number = page.child(index)
            level -= 1
        }
    }
}

extension Snapshot {
    /// Calls `body` with each entry that differs between this state of a tree and an older or newer one of the same
    /// store, in the order of keys, until it returns false. The bytes are valid only during the call.
    ///
    /// - Parameter lower: the first key to compare; nil to begin at the first key.
    package func forEachChange(
        of id: TreeID, since old: Snapshot, from lower: UnsafeRawBufferPointer? = nil,
        _ body: (_ key: UnsafeRawBufferPointer, _ change: EntryChange) throws -> Bool
    ) throws {
        try core.diff(of: id, since: old, to: roots, from: lower, body)
    }
}

extension Snapshot {
    /// Returns true if both states share the tree. They must belong to one store. A tree that was changed back may not
    /// count as shared.
    package func shares(_ id: TreeID, with other: Snapshot) -> Bool {
        core === other.core && roots[id].page == other.roots[id].page
    }
}

extension Fork {
    /// Like ``Snapshot/forEachChange(of:since:from:_:)``; the fork must not be changed while this runs.
    package func forEachChange(
        of id: TreeID, since old: Snapshot, from lower: UnsafeRawBufferPointer? = nil,
        _ body: (_ key: UnsafeRawBufferPointer, _ change: EntryChange) throws -> Bool
    ) throws {
        try core.diff(of: id, since: old, to: roots, from: lower, body)
    }
}

extension PageCore {
    fileprivate func diff(
        of id: TreeID, since old: Snapshot, to new: TreeRoots, from lower: UnsafeRawBufferPointer?,
        _ body: (_ key: UnsafeRawBufferPointer, _ change: EntryChange) throws -> Bool
    ) throws {
        guard old.core === self else {
            throw StrataError(.invalidArgument, "Only states of the same store can be compared.")
        }
        let keys = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * PageLayout.maximumKeyBytes, alignment: 8)
        defer { keys.deallocate() }
        var diff = TreeDiff(memory, old: old.roots[id], new: new[id], keys: keys)
        if let lower { try diff.seek(lower) }
        try diff.run(body)
    }
}
