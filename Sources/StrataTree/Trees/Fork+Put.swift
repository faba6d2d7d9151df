import StrataModel
import StrataSystem

extension Fork {
    /// Sets the value of a key.
    ///
    /// - Parameters:
    ///   - key: 1 to 960 bytes.
    ///   - value: at most 1 GiB. Neither may point into bytes that a read of this fork passed to its body.
    /// - Throws: ``StrataError`` if the key or value is too long. Also if there is no room for more pages or a page is
    ///   damaged; the fork can then only be dropped.
    package func put(_ id: TreeID, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        try Self.check(key, value)
        try changingPages { try putChecked(id, key, value) }
    }

    /// Like ``put(_:_:_:)``, for one of many keys in ascending order: the search begins where the last one ended.
    package func putNear(_ id: TreeID, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        try Self.check(key, value)
        let isNear = nearTree == id
        try changingPages { try putChecked(id, key, value, isNear: isNear) }
    }

    /// Prefetches the leaf to which a call of ``putNear(_:_:_:)`` for a later key probably leads.
    package func askNear(_ id: TreeID, _ key: UnsafeRawBufferPointer) {
        guard nearTree == id, path.count > 1 else { return }
        let parent = path[path.count - 2].page
        guard let place = core.memory.place(of: parent.child(parent.search(branch: key))) else { return }
        Prefetch.ask(place, byteCount: PageLayout.pageBytes)
    }

    /// - Parameter isNear: true if the path leads to a leaf of this tree.
    private func putChecked(
        _ id: TreeID, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isNear: Bool = false
    ) throws {
        let stored = try stored(value)
        var root = roots[id]
        if root.page == 0 {
            root = TreeRoot(page: try newLeaf(), level: 0, entryCount: 0, foldedOffset: root.foldedOffset)
        }
        if isNear { try descendNear(to: key) } else { try descend(&root, to: key) }
        let depth = path.count
        let leaf = path[depth - 1]
        let (index, isFound) = leaf.page.search(leaf: key)
        if isFound {
            let old = leaf.page.storedValue(index)
            if old.isOverflow { try retireOverflow(OverflowReference(old.bytes)) }
            if !leaf.editor.replace(leaf: index, stored) {
                try refill(&root) { content in
                    content.remove(index)
                    content.insert(leaf: index, key: key, stored)
                    return index
                }
            }
        } else {
            root.entryCount += 1
            let prefixBytes = leaf.page.prefixBytes
            let isInside = key.count >= prefixBytes && Bytes.commonPrefix(key, leaf.page.prefix) == prefixBytes
            if !isInside || !leaf.editor.insert(leaf: index, suffix: key.dropping(prefixBytes), stored) {
                try refill(&root) { content in
                    content.insert(leaf: index, key: key, stored)
                    return index
                }
            }
        }
        roots[id] = root
        // A split shortens the path.
        if path.count == depth { nearTree = id }
    }

    static func check(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        guard (1...PageLayout.maximumKeyBytes).contains(key.count) else {
            throw StrataError(
                .outOfRange, "A key is too long, or empty.",
                .init(expected: "1 to \(PageLayout.maximumKeyBytes) bytes", found: "\(key.count)"))
        }
        guard value.count <= PageLayout.maximumValueBytes else {
            throw StrataError(
                .outOfRange, "A value is too long.",
                .init(expected: "at most \(PageLayout.maximumValueBytes) bytes", found: "\(value.count)"))
        }
    }

    private func newLeaf() throws -> PageNumber {
        let page = try newPage()
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        PageEditor(page.base).start(.leaf, level: 0, number: page.number, birth: epoch, prefix: none)
        return page.number
    }

    // MARK: Descending

    /// Sets `path` to lead to the leaf of a key, with all pages copied for this fork.
    func descend(_ root: inout TreeRoot, to key: UnsafeRawBufferPointer) throws {
        path.removeAll()
        root.page = try appendOwn(root.page, level: root.level)
        try descendFromEnd(to: key)
    }

    private func descendFromEnd(to key: UnsafeRawBufferPointer) throws {
        while let last = path.last, !last.page.isLeaf {
            let index = last.page.search(branch: key)
            try step(into: index)
        }
    }

    /// Changes `path` to lead to the leaf of a key in the same tree, beginning at the lowest branch that certainly
    /// covers the key.
    private func descendNear(to key: UnsafeRawBufferPointer) throws {
        var place = path.count - 2
        while place > 0 {
            let page = path[place].page
            let index = page.search(branch: key)
            // A key of the first or the last child may belong to another branch.
            if index > 0, index < page.count - 1 { break }
            place -= 1
        }
        // The only page of a tree covers every key.
        path.cut(to: max(0, place) + 1)
        try descendFromEnd(to: key)
    }

    /// Descends into a child of the last page of the path.
    func step(into index: Int) throws {
        let place = path.count - 1
        let parent = path[place]
        path.set(index: index, at: place)
        let child = parent.page.child(index)
        let own = try appendOwn(child, level: parent.page.level - 1)
        if own != child { parent.editor.set(child: own, at: index) }
    }

    /// Appends a page to the path, copied if it does not belong to this fork.
    private func appendOwn(_ number: PageNumber, level: Int) throws -> PageNumber {
        let page = try core.memory.page(number)
        guard page.level == level else {
            throw core.memory.wrongLevel(number, expected: level, found: page.level)
        }
        let own = try ownCopy(number, page)
        path.append(own)
        return own.number
    }

    // MARK: Splitting

    /// Extracts the entries of the last page of the path, changes them, and writes them to one or two pages.
    ///
    /// - Parameter change: changes the entries, and returns the index of the new one.
    func refill(_ root: inout TreeRoot, _ change: (PageContent) -> Int) throws {
        let place = path.count - 1
        let step = path[place]
        content.start(level: step.page.level)
        content.append(step.page)
        let changed = change(content)
        let all = 0..<content.entries.count
        if content.fits(all) {
            content.write(all, to: step.base, number: step.number, birth: epoch)
            return
        }
        let cut = cut(changed)
        let right = try newPage()
        let separator = content.separator(at: cut, into: separatorBuffer)
        content.write(cut..<all.upperBound, to: right.base, number: right.number, birth: epoch)
        content.write(0..<cut, to: step.base, number: step.number, birth: epoch)
        _ = path.popLast()
        try insertChild(right.number, separator: separator, beside: step.number, level: content.level, &root)
    }

    /// The index at which to split entries that do not fit in one page.
    private func cut(_ changed: Int) -> Int {
        let last = content.entries.count - 1
        // Ascending entries fill their pages: an entry after all others begins a new page. Entries that fit with a
        // shorter prefix may not fit with the longer prefix that the page gets now (a branch's heads do not shrink), so
        // the size is computed.
        if changed == last, path.isRightmost, content.fits(0..<last) { return last }
        if fillsPages, changed > 0, content.fits(0..<changed), content.fits(changed..<last + 1) { return changed }
        guard let cut = content.evenCut() else {
            preconditionFailure("two pages must have room for a full page and another entry")
        }
        return cut
    }

    /// Inserts a page that was split off after the page at the end of the path.
    private func insertChild(
        _ number: PageNumber, separator: UnsafeRawBufferPointer, beside left: PageNumber, level: Int,
        _ root: inout TreeRoot
    ) throws {
        guard let parent = path.last else {
            let page = try newPage()
            let editor = PageEditor(page.base)
            let none = UnsafeRawBufferPointer(start: nil, count: 0)
            editor.start(.branch, level: level + 1, number: page.number, birth: epoch, prefix: none)
            let hasRoom =
                editor.insert(branch: 0, suffix: none, child: left)
                && editor.insert(branch: 1, suffix: separator, child: number)
            precondition(hasRoom, "a new root must have room for two children")
            root.page = page.number
            root.level = level + 1
            return
        }
        let index = parent.index + 1
        let prefixBytes = parent.page.prefixBytes
        let isInside =
            separator.count >= prefixBytes && Bytes.commonPrefix(separator, parent.page.prefix) == prefixBytes
        if isInside, parent.editor.insert(branch: index, suffix: separator.dropping(prefixBytes), child: number) {
            return
        }
        try refill(&root) { content in
            content.insert(branch: index, key: separator, child: number)
            return index
        }
    }
}
