extension Fork {
    /// Deletes a key; returns false, without copying a page, if the key does not exist.
    @discardableResult
    package func delete(_ id: TreeID, _ key: UnsafeRawBufferPointer) throws -> Bool {
        try requireOpen()
        let own = generation.find(id, key, in: roots[id])
        if case .mark? = own { return false }
        let isBelow = try below.find(id, key) != nil
        guard own != nil || isBelow else { return false }
        try deleteKnown(id, key, isBelow: isBelow)
        return true
    }

    /// Deletes a key that exists, or may exist in an older layer, without a search there.
    package func deleteKnown(_ id: TreeID, _ key: UnsafeRawBufferPointer) throws {
        try Self.check(key, UnsafeRawBufferPointer(start: nil, count: 0))
        try requireOpen()
        try deleteKnown(id, key, isBelow: !below.isEmpty)
    }

    private func deleteKnown(_ id: TreeID, _ key: UnsafeRawBufferPointer, isBelow: Bool) throws {
        try changing(id) { root in
            if isBelow, !root.deleted.cover(id, key) { return try putDeleted(key, in: &root) }
            guard root.page != 0, generation.find(key, in: root) != nil else { return }
            try descend(&root, to: key)
            let leaf = path[path.count - 1]
            leaf.editor.remove(leaf.page.search(leaf: key).index)
            try settle(&root)
        }
    }

    /// The identity of a tree's content; it is unique only once the fork accepts no more changes.
    package func identity(of id: TreeID) throws -> TreeIdentity {
        try requireWhole()
        return TreeIdentity(changed: roots[id].changed)
    }

    package func foldedOffset(_ id: TreeID) -> UInt64 { roots[id].foldedOffset }
    /// Sets the offset up to which a tree has been folded.
    ///
    /// - Throws: ``StrataError`` if the fork accepts no more changes.
    package func setFoldedOffset(_ id: TreeID, _ offset: UInt64) throws {
        try requireOpen()
        roots[id].foldedOffset = offset
    }

    // MARK: Settling

    /// A page that uses fewer bytes is merged with a neighbor, if both then fit.
    private static let sparseBytes = PageLayout.pageBytes / 4
    /// Merged pages leave room, so that the next insert does not split them again.
    private static let mergedBytes = PageLayout.pageBytes * 3 / 4

    /// Merges and removes sparse and empty pages along the path, from its end up.
    ///
    /// - Parameter everyLevel: true to continue up to the root in any case, because branches may have become sparse on
    ///   their own.
    func settle(_ root: inout TreeRoot, everyLevel: Bool = false) throws {
        while let step = path.popLast() {
            let page = step.page
            guard let parent = path.last else {
                try settleRoot(step, &root)
                return
            }
            if page.count == 0 {
                retire(step.number, birth: epoch)
                removeChild(parent)
                continue
            }
            let usedBytes = PageLayout.pageBytes - page.freeBytes - page.garbageBytes
            let isMerged = try usedBytes < Self.sparseBytes && merge(parent)
            // An only child cannot be merged, but then its parent is sparse.
            if !isMerged, !everyLevel, parent.page.count > 1 { return }
        }
    }

    private func removeChild(_ parent: PathStep) {
        if parent.index == 0, parent.page.count > 1 {
            parent.editor.removeFirstChild()
        } else {
            parent.editor.remove(parent.index)
        }
    }

    /// Removes an empty root, and replaces a root with a single child by that child.
    private func settleRoot(_ step: PathStep, _ root: inout TreeRoot) throws {
        if step.page.count == 0 {
            retire(step.number, birth: epoch)
            root.page = 0
            root.level = 0
            return
        }
        var number = step.number
        while true {
            let page = generation.page(number)
            guard !page.isLeaf, page.count == 1 else { break }
            let child = page.child(0)
            retire(number, birth: page.birth)
            number = child
            root.page = child
            root.level -= 1
        }
    }

    /// Merges the last child of the path with a neighbor; returns false if they do not fit in one page.
    private func merge(_ parent: PathStep) throws -> Bool {
        let count = parent.page.count
        guard count > 1 else { return false }
        let leftIndex = parent.index > 0 ? parent.index - 1 : 0
        let level = parent.page.level - 1
        let (leftNumber, rightNumber) = (parent.page.child(leftIndex), parent.page.child(leftIndex + 1))
        let (left, right) = (generation.page(leftNumber), generation.page(rightNumber))
        let separator = parent.page.copyKey(leftIndex + 1, to: separatorBuffer)
        content.start(level: level)
        content.append(left)
        content.append(right, separator: separator)
        let all = 0..<content.entries.count
        guard content.pageBytes(all) <= Self.mergedBytes else { return false }
        let (leftBirth, rightBirth) = (left.birth, right.birth)
        let merged = try newPage()
        content.write(all, to: merged.base, birth: epoch)
        parent.editor.set(child: merged.number, at: leftIndex)
        parent.editor.remove(leftIndex + 1)
        retire(leftNumber, birth: leftBirth)
        retire(rightNumber, birth: rightBirth)
        return true
    }
}
