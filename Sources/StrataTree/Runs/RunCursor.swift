import StrataModel

/// A position in a run, in entries that are visible. It is at an entry, or has none.
package struct RunCursor {
    private let run: Run
    private var index = 0
    private var cursor: PieceCursor
    /// The tree in which it moves; nil for all.
    private var tree: TreeID?

    package init(_ run: Run) {
        self.run = run
        cursor = PieceCursor(run.pieces[0])
    }

    package var hasEntry: Bool { cursor.hasEntry }

    // MARK: Moving

    /// Moves to the first visible entry of all trees.
    package mutating func seekFirst() throws -> Bool {
        if let first = run.visibleFrom { return try seek(acrossTrees: first) }
        tree = nil
        guard enter(0) else { return false }
        if try cursor.seekFirst() { return true }
        return try enterNext()
    }

    /// Moves to the first visible entry at or after a key. Moving on passes from tree to tree.
    package mutating func seek(acrossTrees start: RunKey) throws -> Bool {
        let start = max(start, run.visibleFrom ?? start)
        tree = nil
        return try start.bytes.withUnsafeBytes { key in
            guard enter(run.firstPiece(endingAtOrAfter: key, start.tree)) else { return false }
            if try cursor.seek(acrossTrees: start.tree, key) { return true }
            return try enterNext()
        }
    }

    /// Moves to the first visible entry of a tree at or after a key, nil for its first one. Moving ends with the tree.
    package mutating func seek(_ tree: TreeID, _ key: UnsafeRawBufferPointer?) throws -> Bool {
        self.tree = tree
        if let first = run.visibleFrom, first.isAfter(tree, key ?? .init(start: nil, count: 0)) {
            guard first.tree == tree else { return end() }
            return try first.bytes.withUnsafeBytes { try seekVisible(tree, $0) }
        }
        return try seekVisible(tree, key)
    }

    private mutating func seekVisible(_ tree: TreeID, _ key: UnsafeRawBufferPointer?) throws -> Bool {
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        guard enter(run.firstPiece(endingAtOrAfter: key ?? none, tree)) else { return false }
        if try cursor.seek(tree, key) { return true }
        return try enterNext()
    }

    /// Moves to the last visible entry of a tree before a key, nil for its last one.
    package mutating func seekBefore(_ tree: TreeID, _ key: UnsafeRawBufferPointer?) throws -> Bool {
        self.tree = tree
        var start = run.pieces.count - 1
        if let key { start = min(start, run.firstPiece(endingAtOrAfter: key, tree)) }
        guard enter(start) else { return false }
        while true {
            if try cursor.seekBefore(tree, key) { return isVisible ? true : end() }
            guard index > 0, enter(index - 1) else { return end() }
            if let last = run.pieces[index].descriptor.last, last.tree < tree { return end() }
        }
    }

    package mutating func next() throws -> Bool {
        if try cursor.next() { return true }
        return try enterNext()
    }

    package mutating func previous() throws -> Bool {
        guard let tree, hasEntry else { return end() }
        if try cursor.previous() { return isVisible ? true : end() }
        while index > 0, enter(index - 1) {
            if try cursor.seekBefore(tree, nil) { return isVisible ? true : end() }
        }
        return end()
    }

    private mutating func enter(_ index: Int) -> Bool {
        guard run.pieces.indices.contains(index) else { return end() }
        self.index = index
        cursor.change(to: run.pieces[index])
        return true
    }

    private mutating func enterNext() throws -> Bool {
        while index + 1 < run.pieces.count {
            _ = enter(index + 1)
            if let tree {
                if try cursor.seek(tree, nil) { return true }
                if run.pieces[index].descriptor.first.map({ $0.tree > tree }) == true { break }
            } else if try cursor.seekFirst() {
                return true
            }
        }
        return end()
    }

    private mutating func end() -> Bool {
        if hasEntry { cursor.change(to: run.pieces[index]) }
        return false
    }

    private var isVisible: Bool {
        guard let first = run.visibleFrom else { return true }
        return !first.isAfter(cursor.tree, cursor.key)
    }

    // MARK: Reading

    /// The place of the entry, which grows from entry to entry.
    var place: (piece: Int, frame: Int, index: Int) { (index, cursor.number, cursor.index) }

    var outOfOrder: StrataError {
        cursor.piece.map.malformed("keys out of order", at: cursor.number * cursor.piece.frameBytes)
    }

    /// Checks the bytes that were read until now. A caller that does not move to the end calls it after its last use.
    package func requireReadable() throws { try run.requireReadable() }

    /// The key and the content of the entry, read in place as ``MemoryCursor/read(_:)`` does; nil if there is none.
    @inline(__always)
    mutating func read() -> (key: UnsafeRawBufferPointer, content: RunContent)? {
        cursor.hasEntry ? (cursor.key, cursor.content) : nil
    }

    /// The entry, valid until the cursor moves; nil if there is none.
    package var entry: RunEntry? {
        guard cursor.hasEntry else { return nil }
        return RunEntry(tree: cursor.tree, key: cursor.key, content: cursor.content)
    }

    /// The content of the entry, which must be there; its bytes are valid as long as the run.
    package var content: RunContent { cursor.content }
}
