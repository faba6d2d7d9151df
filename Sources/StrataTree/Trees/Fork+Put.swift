import StrataModel

extension Fork {
    /// Sets the value of a key.
    ///
    /// - Parameters:
    ///   - key: 1 to 960 bytes.
    ///   - value: at most 1 GiB. Neither may point into bytes that a read of this fork passed to its body.
    /// - Throws: ``StrataError`` if the key or value is too long. Also if there is no room for more pages; the fork can
    ///   then only be dropped.
    package func put(_ id: TreeID, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        try Self.check(key, value)
        try changing(id) { root in try set(try stored(value), of: key, in: &root) }
    }

    /// Deletes a key in all layers.
    func putDeleted(_ key: UnsafeRawBufferPointer, in root: inout TreeRoot) throws {
        try set(.deleted, of: key, in: &root)
    }

    private func set(_ stored: StoredValue, of key: UnsafeRawBufferPointer, in root: inout TreeRoot) throws {
        if root.page == 0 { (root.page, root.level) = (try newLeaf(), 0) }
        try descend(&root, to: key)
        let leaf = path[path.count - 1]
        let (index, isFound) = leaf.page.search(leaf: key)
        if isFound {
            if !leaf.editor.replace(leaf: index, stored) {
                try refill(&root) { content in
                    content.remove(index)
                    content.insert(leaf: index, key: key, stored)
                    return index
                }
            }
            return
        }
        let prefixBytes = leaf.page.prefixBytes
        let isInside = key.count >= prefixBytes && Bytes.commonPrefix(key, leaf.page.prefix) == prefixBytes
        if !isInside || !leaf.editor.insert(leaf: index, suffix: key.dropping(prefixBytes), stored) {
            try refill(&root) { content in
                content.insert(leaf: index, key: key, stored)
                return index
            }
        }
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
        PageEditor(page.base).start(level: 0, birth: epoch, prefix: none)
        return page.number
    }

    // MARK: Descending

    /// Sets `path` to lead to the leaf of a key, with all pages copied for this fork.
    func descend(_ root: inout TreeRoot, to key: UnsafeRawBufferPointer) throws {
        path.removeAll()
        root.page = try appendOwn(root.page)
        while let last = path.last, !last.page.isLeaf {
            let place = path.count - 1
            let index = last.page.search(branch: key)
            path.set(index: index, at: place)
            let child = last.page.child(index)
            let own = try appendOwn(child)
            if own != child { last.editor.set(child: own, at: index) }
        }
    }

    /// Appends a page to the path, copied if it does not belong to this fork.
    private func appendOwn(_ number: PageNumber) throws -> PageNumber {
        let own = try ownCopy(number, generation.page(number))
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
            content.write(all, to: step.base, birth: epoch)
            return
        }
        let cut = cut(changed)
        let right = try newPage()
        let separator = content.separator(at: cut, into: separatorBuffer)
        content.write(cut..<all.upperBound, to: right.base, birth: epoch)
        content.write(0..<cut, to: step.base, birth: epoch)
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
            editor.start(level: level + 1, birth: epoch, prefix: none)
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
