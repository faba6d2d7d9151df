/// A page of a tree that is changed in place. Its creator has exclusive access to the page.
struct PageEditor {
    let base: UnsafeMutableRawPointer

    init(_ base: UnsafeMutableRawPointer) { self.base = base }

    @inline(__always)
    var page: Page { Page(UnsafeRawPointer(base)) }

    @inline(__always)
    private func store<Number: FixedWidthInteger>(_ number: Number, at place: Int) {
        base.storeBytes(of: number.littleEndian, toByteOffset: place, as: Number.self)
    }

    private func set(count: Int) { store(UInt16(count), at: PageLayout.count) }
    private func set(heapStart: Int) { store(UInt16(heapStart), at: PageLayout.heapStart) }
    private func set(garbageBytes: Int) { store(UInt16(garbageBytes), at: PageLayout.garbageBytes) }
    private func set(birth: UInt64) { store(birth, at: PageLayout.birth) }

    /// Copies the used parts of a page.
    func copy(_ page: Page, birth: UInt64) {
        let heapStart = page.heapStart
        base.copyMemory(from: page.base, byteCount: PageLayout.headerBytes + page.count * page.slotBytes)
        (base + heapStart).copyMemory(from: page.base + heapStart, byteCount: PageLayout.pageBytes - heapStart)
        set(birth: birth)
    }

    /// Initializes an empty page: a leaf, or a branch of a higher level.
    func start(level: Int, birth: UInt64, prefix: UnsafeRawBufferPointer) {
        base.initializeMemory(as: UInt8.self, repeating: 0, count: PageLayout.headerBytes)
        set(birth: birth)
        store(UInt8(level), at: PageLayout.level)
        set(heapStart: PageLayout.pageBytes - prefix.count)
        store(UInt16(prefix.count), at: PageLayout.prefixBytes)
        if let start = prefix.baseAddress {
            (base + PageLayout.pageBytes - prefix.count).copyMemory(from: start, byteCount: prefix.count)
        }
    }

    // MARK: Slots

    /// Inserts an empty slot.
    private func openSlot(_ index: Int, slotBytes: Int) -> Int {
        let count = page.count
        let place = PageLayout.headerBytes + index * slotBytes
        (base + place + slotBytes).copyMemory(from: base + place, byteCount: (count - index) * slotBytes)
        set(count: count + 1)
        return place
    }

    private func setSlot(_ slot: Int, head: UInt32, place: Int, suffixBytes: Int) {
        store(head, at: slot)
        store(UInt16(place), at: slot + 4)
        store(UInt16(suffixBytes), at: slot + 6)
    }

    private func takeHeap(_ byteCount: Int) -> Int {
        let place = page.heapStart - byteCount
        set(heapStart: place)
        return place
    }

    /// Returns true if an entry of this many heap bytes fits, compacting the heap if that makes the room.
    private func makeRoom(_ heapBytes: Int, slotBytes: Int) -> Bool {
        let needed = heapBytes + slotBytes
        if page.freeBytes >= needed { return true }
        guard page.freeBytes + page.garbageBytes >= needed else { return false }
        tidy()
        return true
    }

    /// Inserts an entry; returns false, without changes, if there is no room. `suffix` is the key after the page's
    /// prefix.
    func insert(leaf index: Int, suffix: UnsafeRawBufferPointer, _ value: StoredValue) -> Bool {
        let heapBytes = PageLayout.entryHeaderBytes + suffix.count + value.bytes.count
        guard makeRoom(heapBytes, slotBytes: PageLayout.leafSlotBytes) else { return false }
        let place = takeHeap(heapBytes)
        writeEntry(at: place, suffix, value)
        let slot = openSlot(index, slotBytes: PageLayout.leafSlotBytes)
        setSlot(slot, head: Bytes.head(suffix), place: place, suffixBytes: suffix.count)
        return true
    }

    private func writeEntry(at place: Int, _ suffix: UnsafeRawBufferPointer, _ value: StoredValue) {
        store(value.lengthMark, at: place)
        let key = base + place + PageLayout.entryHeaderBytes
        if let start = suffix.baseAddress { key.copyMemory(from: start, byteCount: suffix.count) }
        value.store(to: key + suffix.count)
    }

    /// Replaces the value of an entry; returns false, without changes, if there is no room.
    func replace(leaf index: Int, _ value: StoredValue) -> Bool {
        let old = page.storedValue(index).bytes.count
        let place = page.place(index)
        if old == value.bytes.count {
            store(value.lengthMark, at: place)
            value.store(to: base + place + PageLayout.entryHeaderBytes + page.suffixBytes(index))
            return true
        }
        let suffixBytes = page.suffixBytes(index)
        let needed = PageLayout.entryHeaderBytes + suffixBytes + value.bytes.count
        let given = PageLayout.entryHeaderBytes + suffixBytes + old
        guard page.freeBytes + page.garbageBytes + given >= needed else { return false }
        return withUnsafeTemporaryAllocation(byteCount: PageLayout.maximumKeyBytes, alignment: 8) { suffix in
            let suffix = UnsafeMutableRawBufferPointer(rebasing: suffix[..<suffixBytes])
            suffix.copyMemory(from: page.leafSuffix(index))
            remove(index)
            // The removed entry made the room that was counted above.
            return insert(leaf: index, suffix: UnsafeRawBufferPointer(suffix), value)
        }
    }

    /// Inserts a child; returns false if there is no room. The first child of a branch has an empty key.
    func insert(branch index: Int, suffix: UnsafeRawBufferPointer, child: PageNumber) -> Bool {
        let tailBytes = max(0, suffix.count - PageLayout.headBytes)
        guard makeRoom(tailBytes, slotBytes: PageLayout.branchSlotBytes) else { return false }
        let place = takeHeap(tailBytes)
        if tailBytes > 0 {
            // Not nil: the suffix is longer than its head.
            (base + place).copyMemory(from: suffix.baseAddress! + PageLayout.headBytes, byteCount: tailBytes)
        }
        let slot = openSlot(index, slotBytes: PageLayout.branchSlotBytes)
        setSlot(slot, head: Bytes.head(suffix), place: place, suffixBytes: suffix.count)
        store(child, at: slot + 8)
        return true
    }

    func set(child: PageNumber, at index: Int) {
        store(child, at: PageLayout.headerBytes + index * PageLayout.branchSlotBytes + 8)
    }

    func remove(_ index: Int) {
        let page = page
        let slotBytes = page.slotBytes
        set(garbageBytes: page.garbageBytes + page.heapBytes(index))
        let place = PageLayout.headerBytes + index * slotBytes
        (base + place).copyMemory(from: base + place + slotBytes, byteCount: (page.count - index - 1) * slotBytes)
        set(count: page.count - 1)
    }

    /// Removes the first child. The second becomes the first and loses its key, because a first child has none.
    func removeFirstChild() {
        remove(0)
        let page = page
        set(garbageBytes: page.garbageBytes + page.heapBytes(0))
        setSlot(PageLayout.headerBytes, head: 0, place: PageLayout.pageBytes, suffixBytes: 0)
    }

    /// Compacts the heap, so that its garbage becomes free.
    private func tidy() {
        withUnsafeTemporaryAllocation(byteCount: PageLayout.pageBytes, alignment: 8) { copy in
            copy.copyMemory(from: page.bytes)
            let old = Page(UnsafeRawBufferPointer(copy))
            var place = PageLayout.pageBytes - old.prefixBytes
            for index in 0..<old.count {
                let heapBytes = old.heapBytes(index)
                let source = old.place(index)
                place -= heapBytes
                (base + place).copyMemory(from: old.base + source, byteCount: heapBytes)
                store(UInt16(place), at: PageLayout.headerBytes + index * old.slotBytes + 4)
            }
            set(heapStart: place)
            set(garbageBytes: 0)
        }
    }
}
