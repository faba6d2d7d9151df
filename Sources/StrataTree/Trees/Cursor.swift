import StrataModel

/// A position in the order of a tree's keys.
///
/// It holds page numbers instead of pointers, so it may be kept between reads. If it is on a fork that changes, it
/// finds its position again by its key.
///
/// ```swift
/// let cursor = snapshot.cursor(records)
/// var isThere = try cursor.seek(key)
/// while isThere { try cursor.withEntry { key, value in … }; isThere = try cursor.next() }
/// ```
package final class Cursor {
    private let memory: PageMemory
    /// Keeps the pages from being reused.
    private let owner: AnyObject
    /// True on a fork, where the tree may change under the cursor.
    private let isOnFork: Bool
    private let currentRoot: () throws -> (root: TreeRoot, changeCount: Int)
    private var root: TreeRoot
    private var changeCount: Int
    /// The path from the root to a leaf; empty if there is no current entry.
    private var path: [(number: PageNumber, index: Int)] = []
    private var key: [UInt8] = []

    init(
        memory: PageMemory, owner: AnyObject, root: TreeRoot, changeCount: Int,
        currentRoot: @escaping () throws -> (root: TreeRoot, changeCount: Int)
    ) {
        self.memory = memory
        self.owner = owner
        isOnFork = owner is Fork
        self.root = root
        self.changeCount = changeCount
        self.currentRoot = currentRoot
    }

    // MARK: Moving

    /// Moves to the first entry at or after a key; returns false if there is none.
    package func seek(_ key: UnsafeRawBufferPointer) throws -> Bool {
        try moving {
            guard try descend({ $0.search(branch: key) }) else { return false }
            let place = path.count - 1
            let leaf = try memory.page(path[place].number, level: 0)
            path[place].index = leaf.search(leaf: key).index
            return try path[place].index < leaf.count || climb(forward: true)
        }
    }

    package func seekFirst() throws -> Bool { try moving { try descend { _ in 0 } } }

    /// Moves to the last entry before a key; returns false if there is none.
    package func seekBefore(_ key: UnsafeRawBufferPointer) throws -> Bool {
        try moving {
            guard try descend({ $0.search(branch: key) }) else { return false }
            let place = path.count - 1
            let leaf = try memory.page(path[place].number, level: 0)
            path[place].index = leaf.search(leaf: key).index
            return try stepBack()
        }
    }

    /// Moves to the next entry; returns false after the last one, where the cursor has no entry.
    package func next() throws -> Bool {
        if path.isEmpty { return false }
        if try currentRoot().changeCount != changeCount {
            let key = key
            guard try key.withUnsafeBytes({ try seek($0) }) else { return false }
            // If the entry itself was deleted, the cursor is already at the next one.
            if self.key != key { return true }
        }
        return try moving(keepsPath: true) {
            let place = path.count - 1
            path[place].index += 1
            if path[place].index < (try memory.page(path[place].number, level: 0)).count { return true }
            return try climb(forward: true)
        }
    }

    /// Moves to the previous entry; returns false before the first one, where the cursor has no entry.
    package func previous() throws -> Bool {
        if path.isEmpty { return false }
        if try currentRoot().changeCount != changeCount {
            let key = key
            return try key.withUnsafeBytes { try seekBefore($0) }
        }
        return try moving(keepsPath: true) { try stepBack() }
    }

    private func stepBack() throws -> Bool {
        let place = path.count - 1
        if path[place].index > 0 {
            path[place].index -= 1
            return true
        }
        return try climb(forward: false)
    }

    private func moving(keepsPath: Bool = false, _ body: () throws -> Bool) throws -> Bool {
        return try memory.reading {
            if !keepsPath {
                (root, changeCount) = try currentRoot()
                path.removeAll(keepingCapacity: true)
            }
            guard try body() else {
                path.removeAll(keepingCapacity: true)
                return false
            }
            if isOnFork { try rememberKey() }
            return true
        }
    }

    private func rememberKey() throws {
        let last = path[path.count - 1]
        let leaf = try memory.page(last.number, level: 0)
        key = [UInt8](unsafeUninitializedCapacity: PageLayout.maximumKeyBytes) { buffer, count in
            count = leaf.copyKey(last.index, to: UnsafeMutableRawBufferPointer(buffer)).count
        }
    }

    /// Descends from the root to a leaf; returns false if the tree is empty.
    private func descend(_ choose: (Page) -> Int) throws -> Bool {
        guard root.page != 0 else { return false }
        var number = root.page
        for level in (0...root.level).reversed() {
            let page = try memory.page(number, level: level)
            let index = choose(page)
            path.append((number, index))
            if level > 0 { number = page.child(index) }
        }
        return true
    }

    /// Moves to the nearest leaf on one side; returns false at the end.
    private func climb(forward: Bool) throws -> Bool {
        var level = 0
        while true {
            path.removeLast()
            level += 1
            guard let last = path.last else { return false }
            let page = try memory.page(last.number, level: level)
            let index = forward ? last.index + 1 : last.index - 1
            guard index >= 0, index < page.count else { continue }
            path[path.count - 1].index = index
            var number = page.child(index)
            while level > 0 {
                level -= 1
                let child = try memory.page(number, level: level)
                let start = forward ? 0 : child.count - 1
                path.append((number, start))
                if level > 0 { number = child.child(start) }
            }
            return true
        }
    }

    // MARK: Reading

    /// Calls `body` with the entry, whose bytes are valid only during the call; nil if there is no entry.
    package func withEntry<Result>(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        guard let last = path.last else { return nil }
        guard try currentRoot().changeCount == changeCount else {
            throw StrataError(.invalidArgument, "The fork has changed: move the cursor before it is read again.")
        }
        return try memory.reading {
            let leaf = try memory.page(last.number, level: 0)
            let value = leaf.storedValue(last.index)
            return try withUnsafeTemporaryAllocation(byteCount: PageLayout.maximumKeyBytes, alignment: 8) { buffer in
                let key = leaf.copyKey(last.index, to: buffer)
                if value.isOverflow {
                    return try memory.withOverflow(OverflowReference(value.bytes)) { try body(key, $0) }
                }
                return try body(key, value.bytes)
            }
        }
    }
}

extension Snapshot {
    package func cursor(_ id: TreeID) -> Cursor {
        let root = roots[id]
        return Cursor(memory: core.memory, owner: self, root: root, changeCount: 0) { (root, 0) }
    }
}

extension Fork {
    package func cursor(_ id: TreeID) -> Cursor {
        Cursor(memory: core.memory, owner: self, root: roots[id], changeCount: changeCount) { [unowned self] in
            try requireWhole()
            return (roots[id], changeCount)
        }
    }
}
