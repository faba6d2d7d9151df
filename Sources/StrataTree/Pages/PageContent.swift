/// The entries of one or two pages, extracted to be written to pages again when splitting, merging, or changing a
/// page's prefix. Its buffers are reused.
final class PageContent {
    struct Entry {
        var keyStart: Int
        var keyBytes: Int
        /// Set in a leaf.
        var valueStart = 0
        var valueBytes = 0
        var lengthMark: UInt16 = 0
        /// Set in a branch.
        var child: PageNumber = 0
    }

    private(set) var entries: [Entry] = []
    private var bytes: [UInt8] = []
    private(set) var level = 0
    private var isLeaf: Bool { level == 0 }

    func start(level: Int) {
        self.level = level
        entries.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Appends all entries of a page.
    ///
    /// - Parameter separator: the key of a branch's first child, which its page does not hold.
    func append(_ page: Page, separator: UnsafeRawBufferPointer? = nil) {
        let prefix = page.prefix
        for index in 0..<page.count {
            let keyStart = bytes.count
            if !isLeaf, index == 0 {
                if let separator { bytes.append(contentsOf: separator) }
            } else {
                bytes.append(contentsOf: prefix)
                appendSuffix(page, index)
            }
            var entry = Entry(keyStart: keyStart, keyBytes: bytes.count - keyStart)
            if isLeaf {
                let value = page.storedValue(index)
                entry.valueStart = bytes.count
                entry.valueBytes = value.bytes.count
                entry.lengthMark = value.lengthMark
                bytes.append(contentsOf: value.bytes)
            } else {
                entry.child = page.child(index)
            }
            entries.append(entry)
        }
    }

    private func appendSuffix(_ page: Page, _ index: Int) {
        if isLeaf {
            bytes.append(contentsOf: page.leafSuffix(index))
            return
        }
        withUnsafeBytes(of: page.head(index).bigEndian) { head in
            bytes.append(contentsOf: head.keeping(min(page.suffixBytes(index), PageLayout.headBytes)))
        }
        bytes.append(contentsOf: page.branchTail(index))
    }

    func insert(leaf index: Int, key: UnsafeRawBufferPointer, _ value: StoredValue) {
        var entry = Entry(keyStart: bytes.count, keyBytes: key.count)
        bytes.append(contentsOf: key)
        entry.valueStart = bytes.count
        entry.valueBytes = value.bytes.count
        entry.lengthMark = value.lengthMark
        bytes.append(contentsOf: value.bytes)
        entries.insert(entry, at: index)
    }

    func insert(branch index: Int, key: UnsafeRawBufferPointer, child: PageNumber) {
        var entry = Entry(keyStart: bytes.count, keyBytes: key.count)
        entry.child = child
        bytes.append(contentsOf: key)
        entries.insert(entry, at: index)
    }

    func remove(_ index: Int) { entries.remove(at: index) }

    // MARK: Sizes

    private func withKey<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let entry = entries[index]
        return try bytes.withUnsafeBytes { all in
            try body(UnsafeRawBufferPointer(rebasing: all[entry.keyStart..<entry.keyStart + entry.keyBytes]))
        }
    }

    /// The length of the common prefix of these keys. A branch's first child has no key.
    private func prefixBytes(_ range: Range<Int>) -> Int {
        let first = isLeaf ? range.lowerBound : range.lowerBound + 1
        guard first < range.upperBound else { return 0 }
        return withKey(first) { a in withKey(range.upperBound - 1) { b in Bytes.commonPrefix(a, b) } }
    }

    private func size(_ index: Int, prefixBytes: Int, isFirst: Bool) -> Int {
        let entry = entries[index]
        if isLeaf {
            return PageLayout.leafSlotBytes + PageLayout.entryHeaderBytes + entry.keyBytes - prefixBytes
                + entry.valueBytes
        }
        if isFirst { return PageLayout.branchSlotBytes }
        return PageLayout.branchSlotBytes + max(0, entry.keyBytes - prefixBytes - PageLayout.headBytes)
    }

    /// The number of bytes of a page that these entries would use, including header and prefix.
    func pageBytes(_ range: Range<Int>) -> Int {
        let prefixBytes = prefixBytes(range)
        return range.reduce(PageLayout.headerBytes + prefixBytes) { sum, index in
            sum + size(index, prefixBytes: prefixBytes, isFirst: index == range.lowerBound)
        }
    }

    func fits(_ range: Range<Int>) -> Bool { pageBytes(range) <= PageLayout.pageBytes }

    /// The most even cut for which both halves fit; nil if there is none.
    func evenCut() -> Int? {
        let all = 0..<entries.count
        let prefixBytes = prefixBytes(all)
        let total = pageBytes(all)
        var left = PageLayout.headerBytes + prefixBytes
        var middle = 1
        for cut in 1..<entries.count {
            left += size(cut - 1, prefixBytes: prefixBytes, isFirst: cut == 1)
            middle = cut
            if 2 * left >= total { break }
        }
        for distance in 0..<entries.count {
            for cut in [middle - distance, middle + distance] where cut > 0 && cut < entries.count {
                if fits(0..<cut), fits(cut..<entries.count) { return cut }
            }
        }
        return nil
    }

    // MARK: Putting back

    /// The shortest key that is after all entries before `cut` and not after any entry from it on.
    func separator(at cut: Int, into target: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
        withKey(cut) { right in
            var count = right.count
            // A branch's keys already separate; between two leaves, one byte more than the common prefix does.
            if isLeaf { count = withKey(cut - 1) { left in Bytes.commonPrefix(left, right) } + 1 }
            let key = right.keeping(count)
            target.copyMemory(from: key)
            return UnsafeRawBufferPointer(UnsafeMutableRawBufferPointer(rebasing: target[..<count]))
        }
    }

    /// Writes a page with these entries, which are known to fit.
    func write(_ range: Range<Int>, to base: UnsafeMutableRawPointer, birth: UInt64) {
        let editor = PageEditor(base)
        let prefixBytes = prefixBytes(range)
        let first = isLeaf ? range.lowerBound : range.lowerBound + 1
        if first < range.upperBound {
            withKey(first) {
                editor.start(level: level, birth: birth, prefix: $0.keeping(prefixBytes))
            }
        } else {
            let none = UnsafeRawBufferPointer(start: nil, count: 0)
            editor.start(level: level, birth: birth, prefix: none)
        }
        for index in range {
            let entry = entries[index]
            let isFirstChild = !isLeaf && index == range.lowerBound
            let isInside = bytes.withUnsafeBytes { all in
                let start = isFirstChild ? entry.keyStart + entry.keyBytes : entry.keyStart + prefixBytes
                let suffix = UnsafeRawBufferPointer(rebasing: all[start..<entry.keyStart + entry.keyBytes])
                if !isLeaf {
                    return editor.insert(branch: index - range.lowerBound, suffix: suffix, child: entry.child)
                }
                let value = UnsafeRawBufferPointer(
                    rebasing: all[entry.valueStart..<entry.valueStart + entry.valueBytes])
                return editor.insert(
                    leaf: index - range.lowerBound, suffix: suffix,
                    StoredValue(lengthMark: entry.lengthMark, bytes: value))
            }
            precondition(isInside, "the entries of a page must fit")
        }
    }
}
