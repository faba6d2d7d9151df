import StrataSystem

extension Generation {
    /// The entry of a key, or nil if this generation has none.
    func find(_ key: UnsafeRawBufferPointer, in root: TreeRoot) -> StoredValue? {
        guard root.page != 0 else { return nil }
        let leaf = leaf(of: key, in: root)
        let (index, isFound) = leaf.search(leaf: key)
        return isFound ? leaf.storedValue(index) : nil
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
