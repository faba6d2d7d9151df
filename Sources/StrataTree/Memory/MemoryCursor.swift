/// A position in a tree of a generation. The tree must not change as long as the cursor is used.
struct MemoryCursor {
    private let generation: Generation
    private let root: TreeRoot
    /// The pages from the root to the leaf of the current entry, each with the index in it; empty without an entry.
    private var path: [(page: Page, index: Int)] = []

    init(_ generation: Generation, _ root: TreeRoot) {
        self.generation = generation
        self.root = root
    }

    /// True if there is a current entry.
    var isThere: Bool { !path.isEmpty }

    /// The current entry, its key in a buffer with room for the longest; nil without one. It changes nothing, but as a
    /// mutation it reads the cursor where it is, instead of a copy.
    @inline(__always)
    mutating func read(
        _ buffer: UnsafeMutableRawBufferPointer
    ) -> (key: UnsafeRawBufferPointer, content: RunContent)? {
        guard !path.isEmpty else { return nil }
        return (copyKey(to: buffer), content)
    }

    /// Writes the key of the current entry to a buffer with room for the longest key, and returns it there.
    func copyKey(to buffer: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
        let last = path[path.count - 1]
        return last.page.copyKey(last.index, to: buffer)
    }

    var content: RunContent {
        let last = path[path.count - 1]
        return generation.content(last.page.storedValue(last.index))
    }

    /// Moves to the first entry at or after a key.
    mutating func seek(_ key: UnsafeRawBufferPointer) {
        descend { $0.search(branch: key) }
        guard !path.isEmpty else { return }
        let place = path.count - 1
        path[place].index = path[place].page.search(leaf: key).index
        if path[place].index == path[place].page.count { climb(forward: true) }
    }

    /// Moves to the last entry before a key.
    mutating func seekBefore(_ key: UnsafeRawBufferPointer) {
        descend { $0.search(branch: key) }
        guard !path.isEmpty else { return }
        let place = path.count - 1
        path[place].index = path[place].page.search(leaf: key).index
        previous()
    }

    mutating func seekFirst() { descend { _ in 0 } }

    mutating func seekLast() {
        descend { $0.count - 1 }
    }

    mutating func next() {
        let place = path.count - 1
        path[place].index += 1
        if path[place].index == path[place].page.count { climb(forward: true) }
    }

    mutating func previous() {
        let place = path.count - 1
        path[place].index -= 1
        if path[place].index < 0 { climb(forward: false) }
    }

    /// Descends from the root to a leaf.
    private mutating func descend(_ choose: (Page) -> Int) {
        path.removeAll(keepingCapacity: true)
        guard root.page != 0 else { return }
        var page = generation.page(root.page)
        while true {
            let index = choose(page)
            path.append((page, index))
            if page.isLeaf { return }
            page = generation.page(page.child(index))
        }
    }

    /// Moves to the nearest leaf on one side; to no entry at the end.
    private mutating func climb(forward: Bool) {
        while true {
            path.removeLast()
            guard let last = path.last else { return }
            let index = forward ? last.index + 1 : last.index - 1
            guard index >= 0, index < last.page.count else { continue }
            path[path.count - 1].index = index
            var page = generation.page(last.page.child(index))
            while true {
                let start = forward ? 0 : page.count - 1
                path.append((page, start))
                if page.isLeaf { return }
                page = generation.page(page.child(start))
            }
        }
    }
}
