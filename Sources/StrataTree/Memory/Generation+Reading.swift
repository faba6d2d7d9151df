import StrataSystem

extension Generation {
    /// The entry of a key, or nil if this generation has none.
    func find(_ key: UnsafeRawBufferPointer, in root: TreeRoot) -> StoredValue? {
        guard root.page != 0 else { return nil }
        let leaf = leaf(of: key, in: root)
        let (index, isFound) = leaf.search(leaf: key)
        return isFound ? leaf.storedValue(index) : nil
    }

    /// Looks up those keys that have no content yet, level by level: the next pages of all keys are prefetched while
    /// others are searched.
    func find(_ id: TreeID, _ lookups: UnsafeMutableBufferPointer<RunLookup>, in root: TreeRoot) {
        if root.isTransparent { return }
        withUnsafeTemporaryAllocation(of: PageNumber.self, capacity: lookups.count) { pages in
            pages.initialize(repeating: root.page)
            for _ in 0..<root.level {
                for place in lookups.indices where lookups[place].content == nil {
                    let page = page(pages[place])
                    pages[place] = page.child(page.search(branch: lookups[place].key))
                    ask(for: pages[place])
                }
            }
            for place in lookups.indices where root.page != 0 && lookups[place].content == nil {
                let leaf = page(pages[place])
                let (index, isFound) = leaf.search(leaf: lookups[place].key)
                if isFound { lookups[place].content = content(leaf.storedValue(index)) }
            }
        }
        if root.deleted.isEmpty { return }
        for place in lookups.indices
        where lookups[place].content == nil && root.deleted.cover(id, lookups[place].key) {
            lookups[place].content = .mark
        }
    }

    @inline(__always)
    private func leaf(of key: UnsafeRawBufferPointer, in root: TreeRoot) -> Page {
        var page = page(root.page)
        while !page.isLeaf {
            let child = page.child(page.search(branch: key))
            ask(for: child)
            page = self.page(child)
        }
        return page
    }

    /// Requests the parts of a page that a search reads first, so that it waits for them together.
    @inline(__always)
    func ask(for number: PageNumber) {
        let place = UnsafeRawPointer(address(number))
        Prefetch.ask(place, byteCount: Self.startBytes)
        Prefetch.ask(place + (PageLayout.pageBytes - Self.endBytes), byteCount: Self.endBytes)
    }

    /// The parts of a page that a search reads first: its header with the first heads, and the prefix at its end.
    private static let startBytes = 192
    private static let endBytes = 64

    /// The content of an entry of this generation.
    @inline(__always)
    func content(_ stored: StoredValue) -> RunContent {
        if stored.isDeleted { return .mark }
        return .value(stored.isOutside ? value(ValuePlace(stored.bytes)) : stored.bytes)
    }
}
