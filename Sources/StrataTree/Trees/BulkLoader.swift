import StrataModel

/// Builds a tree from entries in ascending order, with full pages, writing each page once.
package final class BulkLoader {
    private let fork: Fork
    /// One level for each height of the tree that has entries, leaves first.
    private var levels: [Level] = []
    private var lastKey: [UInt8] = []
    private(set) var entryCount: UInt64 = 0
    private var isOver = false

    /// The page of one level that is being filled.
    private final class Level {
        let content = PageContent()
        /// The bytes that a leaf would use without a prefix.
        var plainBytes = PageLayout.headerBytes
        /// The key that separates this page from the previous one; empty for the first.
        var separator: [UInt8] = []
    }

    init(_ fork: Fork) { self.fork = fork }

    /// Appends an entry whose key is greater than all previous keys.
    ///
    /// - Throws: ``StrataError`` as ``Fork/put(_:_:_:)`` does, if the key is not greater than the last one, or if the
    ///   load has ended.
    package func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        if isOver { throw StrataError(.closed, "The bulk load has ended.") }
        try Fork.check(key, value)
        let isAscending = lastKey.withUnsafeBytes { Bytes.compare($0, key) < 0 }
        guard isAscending else {
            throw StrataError(.invalidArgument, "A bulk load needs entries in the order of their keys.")
        }
        try fork.changing { try appendChecked(key, value) }
    }

    private func appendChecked(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        lastKey.removeAll(keepingCapacity: true)
        lastKey.append(contentsOf: key)
        entryCount += 1
        let stored = try fork.stored(value)
        if levels.isEmpty { start(level: 0) }
        let leaf = levels[0]
        let entryBytes =
            PageLayout.leafSlotBytes + PageLayout.entryHeaderBytes + key.count + stored.byteCount
        if !hasRoom(leaf, key, entryBytes) { try finishLeaf(before: key) }
        leaf.content.insert(leaf: leaf.content.entries.count, key: key, stored)
        leaf.plainBytes += entryBytes
    }

    private func start(level: Int) {
        let made = Level()
        made.content.start(level: level)
        levels.append(made)
    }

    private func hasRoom(_ leaf: Level, _ key: UnsafeRawBufferPointer, _ entryBytes: Int) -> Bool {
        let plain = leaf.plainBytes + entryBytes
        if plain <= PageLayout.pageBytes { return true }
        // Every entry saves the prefix, and the page stores it once.
        let prefixBytes = leaf.content.commonPrefix(with: key)
        return plain - leaf.content.entries.count * prefixBytes <= PageLayout.pageBytes
    }

    private func finishLeaf(before key: UnsafeRawBufferPointer) throws {
        let leaf = levels[0]
        let separator = leaf.content.separator(before: key)
        try finish(0)
        leaf.separator = separator
    }

    /// Writes the page of a level, adds it to the level above, and starts the next one.
    private func finish(_ index: Int) throws {
        let level = levels[index]
        let page = try fork.newPage()
        let all = 0..<level.content.entries.count
        level.content.write(all, to: page.base, number: page.number, birth: fork.epoch)
        try add(page.number, separator: level.separator, to: index + 1)
        level.content.start(level: index)
        level.plainBytes = PageLayout.headerBytes
    }

    private func add(_ child: PageNumber, separator: [UInt8], to index: Int) throws {
        if levels.count == index { start(level: index) }
        let branch = levels[index]
        let place = branch.content.entries.count
        separator.withUnsafeBytes { branch.content.insert(branch: place, key: $0, child: child) }
        if branch.content.fits(0..<place + 1) { return }
        branch.content.remove(place)
        try finish(index)
        branch.separator = separator
        separator.withUnsafeBytes { branch.content.insert(branch: 0, key: $0, child: child) }
    }

    /// Makes the loader reject further entries, which would belong to no tree.
    func end() { isOver = true }

    /// Writes the pages that are still open, and returns the root of the new tree.
    func finish() throws -> TreeRoot {
        guard !levels.isEmpty else { return .empty }
        var index = 0
        while true {
            let isTop = index == levels.count - 1
            if isTop, levels[index].content.entries.count == 1, index > 0 {
                return TreeRoot(page: levels[index].content.entries[0].child, level: index - 1, entryCount: entryCount)
            }
            try finish(index)
            index += 1
        }
    }
}

extension Fork {
    /// Loads all entries of an empty tree in one pass.
    ///
    /// ```swift
    /// try fork.load(records) { loader in for entry in sorted { try loader.append(entry.key, entry.value) } }
    /// ```
    /// - Parameter body: appends the entries; must not change the same tree in other ways.
    /// - Throws: ``StrataError`` if the tree has entries, or an error of `body`, after which the fork can only be
    ///   dropped.
    package func load(_ id: TreeID, _ body: (BulkLoader) throws -> Void) throws {
        try requireOpen()
        try requireEmpty(id)
        let loader = BulkLoader(self)
        defer { loader.end() }
        try changing {
            try body(loader)
            try requireOpen()
            try requireEmpty(id)
            var root = try loader.finish()
            root.foldedOffset = roots[id].foldedOffset
            roots[id] = root
        }
    }

    /// Returns true if the tree is empty, so that ``load(_:_:)`` accepts it.
    package func isEmpty(_ id: TreeID) -> Bool { roots[id].page == 0 }

    private func requireEmpty(_ id: TreeID) throws {
        guard isEmpty(id) else {
            throw StrataError(
                .invalidArgument, "Only an empty tree can be loaded in bulk.",
                .init(expected: "no entries", found: "\(roots[id].entryCount)"))
        }
    }
}
