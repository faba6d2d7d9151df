import StrataSystem

/// A read-only page of a tree. It holds a pointer, whose lifetime is determined by its creator.
struct Page {
    let base: UnsafeRawPointer

    @inline(__always)
    init(_ base: UnsafeRawPointer) { self.base = base }

    /// Creates a view of a buffer that contains a whole page.
    init(_ bytes: UnsafeRawBufferPointer) {
        // Never empty: a page has 4,096 bytes.
        base = bytes.baseAddress!
    }

    @inline(__always)
    private func load<Number: FixedWidthInteger>(_ place: Int, _: Number.Type) -> Number {
        Number(littleEndian: base.loadUnaligned(fromByteOffset: place, as: Number.self))
    }

    @inline(__always)
    var birth: UInt64 { load(PageLayout.birth, UInt64.self) }
    @inline(__always)
    var level: Int { Int(load(PageLayout.level, UInt8.self)) }
    @inline(__always)
    var isLeaf: Bool { level == 0 }
    @inline(__always)
    var count: Int { Int(load(PageLayout.count, UInt16.self)) }
    var heapStart: Int { Int(load(PageLayout.heapStart, UInt16.self)) }
    @inline(__always)
    var prefixBytes: Int { Int(load(PageLayout.prefixBytes, UInt16.self)) }
    var garbageBytes: Int { Int(load(PageLayout.garbageBytes, UInt16.self)) }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: PageLayout.pageBytes) }

    @inline(__always)
    private func bytes(at place: Int, count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + place, count: count)
    }

    /// The common prefix of all keys of the page.
    @inline(__always)
    var prefix: UnsafeRawBufferPointer {
        let count = prefixBytes
        return bytes(at: PageLayout.pageBytes - count, count: count)
    }

    var slotBytes: Int { isLeaf ? PageLayout.leafSlotBytes : PageLayout.branchSlotBytes }
    /// The number of bytes between the slots and the heap.
    var freeBytes: Int { heapStart - PageLayout.headerBytes - count * slotBytes }

    // MARK: Slots

    @inline(__always)
    private func slot(_ index: Int) -> Int {
        PageLayout.headerBytes + index * (isLeaf ? PageLayout.leafSlotBytes : PageLayout.branchSlotBytes)
    }

    @inline(__always)
    func head(_ index: Int) -> UInt32 { load(slot(index), UInt32.self) }
    @inline(__always)
    func place(_ index: Int) -> Int { Int(load(slot(index) + 4, UInt16.self)) }
    /// The length of the key after the page's prefix.
    @inline(__always)
    func suffixBytes(_ index: Int) -> Int { Int(load(slot(index) + 6, UInt16.self)) }
    @inline(__always)
    func child(_ index: Int) -> PageNumber { load(slot(index) + 8, UInt32.self) }

    /// The part of a leaf key after the prefix.
    @inline(__always)
    func leafSuffix(_ index: Int) -> UnsafeRawBufferPointer {
        bytes(at: place(index) + PageLayout.entryHeaderBytes, count: suffixBytes(index))
    }

    /// The bytes that a leaf stores for a value.
    @inline(__always)
    func storedValue(_ index: Int) -> StoredValue {
        let place = place(index)
        let length = load(place, UInt16.self)
        let start = place + PageLayout.entryHeaderBytes + suffixBytes(index)
        return StoredValue(lengthMark: length, bytes: bytes(at: start, count: StoredValue.byteCount(length)))
    }

    /// The part of a branch key after the bytes that the slot's head holds.
    @inline(__always)
    func branchTail(_ index: Int) -> UnsafeRawBufferPointer {
        let count = suffixBytes(index) - PageLayout.headBytes
        return count > 0 ? bytes(at: place(index), count: count) : UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// The number of heap bytes that an entry uses.
    func heapBytes(_ index: Int) -> Int {
        if isLeaf { return PageLayout.entryHeaderBytes + suffixBytes(index) + storedValue(index).bytes.count }
        return max(0, suffixBytes(index) - PageLayout.headBytes)
    }

    // MARK: Search

    /// The index of a key in a leaf, or the index where it would be inserted.
    func search(leaf key: UnsafeRawBufferPointer) -> (index: Int, isFound: Bool) {
        let prefix = prefix
        let same = Bytes.commonPrefix(key, prefix)
        if same < prefix.count {
            let isBefore = same == key.count || key[same] < prefix[same]
            return (isBefore ? 0 : count, false)
        }
        let suffix = key.dropping(same)
        let head = Bytes.head(suffix)
        var low = firstSlot(from: 0, headAtLeast: head)
        guard low < count, self.head(low) == head else { return (low, false) }
        ask(leaf: low)
        // More than one key seldom has this head.
        var high = low + 1
        if high < count, self.head(high) == head {
            high = head == .max ? count : firstSlot(from: high, headAtLeast: head + 1)
        }
        while low < high {
            let middle = (low + high) >> 1
            let order = Bytes.compare(leafSuffix(middle), suffix)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }

    /// Requests the beginning of a leaf's entry, whose key is compared and whose value is read soon.
    @inline(__always)
    func ask(leaf index: Int) { Prefetch.ask(base + place(index), byteCount: Self.soonReadBytes) }

    private static let soonReadBytes = 384

    /// The first slot from `start` on whose head is not below `head`; ``count`` if there is none.
    ///
    /// The result of a comparison causes no branch: a misprediction after a memory stall costs as much as the search,
    /// and without branches the processor can start the next search at the same time.
    @inline(__always)
    private func firstSlot(from start: Int, headAtLeast head: UInt32) -> Int {
        var low = start
        var length = count - start
        guard length > 0 else { return start }
        while length > 1 {
            let half = length >> 1
            low &+= half & isBelow(self.head(low &+ half &- 1), head)
            length &-= half
        }
        return low &- isBelow(self.head(low), head)
    }

    /// All bits set if `number` is below `other`, otherwise 0.
    @inline(__always)
    private func isBelow(_ number: UInt32, _ other: UInt32) -> Int {
        Int(truncatingIfNeeded: (Int64(number) &- Int64(other)) >> 63)
    }

    /// The child of a branch that covers a key. The first child has no key and covers all keys before the second's.
    @inline(__always)
    func search(branch key: UnsafeRawBufferPointer) -> Int {
        let prefix = prefix
        let same = Bytes.commonPrefix(key, prefix)
        if same < prefix.count {
            let isBefore = same == key.count || key[same] < prefix[same]
            return isBefore ? 0 : count - 1
        }
        let suffix = key.dropping(same)
        let head = Bytes.head(suffix)
        // The first child whose key is after the given one.
        var low = firstSlot(from: 1, headAtLeast: head)
        guard low < count, self.head(low) == head else { return low - 1 }
        var high = head == .max ? count : firstSlot(from: low, headAtLeast: head + 1)
        while low < high {
            let middle = (low + high) >> 1
            if branchKey(middle, isAtMost: suffix) { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }

    /// Compares a branch key with a suffix that has the same head.
    private func branchKey(_ index: Int, isAtMost suffix: UnsafeRawBufferPointer) -> Bool {
        let count = suffixBytes(index)
        // Lengths distinguish the zeros that pad a head from zeros that are part of a key.
        if count <= PageLayout.headBytes || suffix.count <= PageLayout.headBytes { return count <= suffix.count }
        return Bytes.compare(branchTail(index), suffix.dropping(PageLayout.headBytes)) <= 0
    }

    // MARK: Keys

    /// Writes the whole key of an entry to a buffer, which has room for the longest key, and returns it there.
    func copyKey(_ index: Int, to buffer: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
        // Not nil: the buffer has room for a key.
        let target = buffer.baseAddress!
        let prefix = prefix
        if let start = prefix.baseAddress { target.copyMemory(from: start, byteCount: prefix.count) }
        let count = prefix.count + copySuffix(index, to: target + prefix.count)
        return UnsafeRawBufferPointer(start: target, count: count)
    }

    func copySuffix(_ index: Int, to target: UnsafeMutableRawPointer) -> Int {
        let count = suffixBytes(index)
        if isLeaf {
            target.copyMemory(from: base + place(index) + PageLayout.entryHeaderBytes, byteCount: count)
            return count
        }
        var head = head(index).bigEndian
        target.copyMemory(from: &head, byteCount: min(count, PageLayout.headBytes))
        let tail = branchTail(index)
        if let start = tail.baseAddress {
            (target + PageLayout.headBytes).copyMemory(from: start, byteCount: tail.count)
        }
        return count
    }
}
