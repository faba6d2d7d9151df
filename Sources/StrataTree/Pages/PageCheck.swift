import StrataModel
import StrataSystem

/// Validates a page that was read from a file. Afterward, no access through it leaves the page, whatever it contains.
enum PageCheck {
    static func check(_ page: Page, number: PageNumber) throws {
        let sum = CRC32C.checksum(page.bytes.dropping(PageLayout.number))
        guard sum == page.storedChecksum else {
            throw damage(
                number, .badChecksum, "A page's bytes do not match its checksum.",
                expected: String(page.storedChecksum, radix: 16), found: String(sum, radix: 16))
        }
        guard page.number == number else {
            throw damage(
                number, .malformed, "A page is stored in the place of another page.", expected: "\(number)",
                found: "\(page.number)")
        }
        try checkLayout(page, number: number)
    }

    /// Checks that slots, heap and entries are in their places without overlapping, and that keys ascend.
    static func checkLayout(_ page: Page, number: PageNumber) throws {
        guard let kind = page.kind else { throw malformed(number, "its kind to be known") }
        guard kind == .leaf || kind == .branch else {
            // Otherwise it could be read as a leaf.
            guard page.count == 0 else { throw malformed(number, "no entries in a page of its kind") }
            return
        }
        guard (kind == .leaf) == page.isLeaf, page.level < PageLayout.maximumLevels else {
            throw malformed(number, "its level to fit its kind")
        }
        let heapEnd = PageLayout.pageBytes - page.prefixBytes
        let slotEnd = PageLayout.headerBytes + page.count * page.slotBytes
        guard page.count > 0, page.prefixBytes <= PageLayout.maximumKeyBytes, slotEnd <= page.heapStart,
            page.heapStart <= heapEnd, page.garbageBytes <= heapEnd - page.heapStart
        else { throw malformed(number, "its slots and heap not to overlap") }
        for index in 0..<page.count { try checkEntry(page, index, heapEnd: heapEnd, number) }
        try checkHeap(page, heapEnd: heapEnd, number)
        for index in (page.isLeaf ? 1 : 2)..<max(page.count, page.isLeaf ? 1 : 2)
        where !isAscending(page, index) {
            throw malformed(number, "its keys to ascend")
        }
    }

    private static func checkEntry(_ page: Page, _ index: Int, heapEnd: Int, _ number: PageNumber) throws {
        let suffixBytes = page.suffixBytes(index)
        guard page.prefixBytes + suffixBytes <= PageLayout.maximumKeyBytes else {
            throw malformed(number, "its keys to be within their limit")
        }
        let place = page.place(index)
        if page.isLeaf {
            let start = place + PageLayout.entryHeaderBytes + suffixBytes
            guard place >= page.heapStart, start <= heapEnd else {
                throw malformed(number, "its entries to be inside the page")
            }
            let value = page.storedValue(index)
            guard start + value.bytes.count <= heapEnd,
                value.isOverflow || value.bytes.count <= PageLayout.maximumInlineBytes
            else { throw malformed(number, "its values to be inside the page") }
            if value.isOverflow { try check(OverflowReference(value.bytes), number) }
            guard page.prefixBytes + suffixBytes > 0, Bytes.head(page.leafSuffix(index)) == page.head(index) else {
                throw malformed(number, "the heads of its keys to match the keys")
            }
        } else {
            let tailBytes = max(0, suffixBytes - PageLayout.headBytes)
            guard tailBytes == 0 || place >= page.heapStart && place + tailBytes <= heapEnd, page.child(index) > 1,
                index > 0 || suffixBytes == 0
            else { throw malformed(number, "its children to be pages and their keys to be inside the page") }
            // A short key's end is determined by its length alone, so the padding of its head must be zero.
            let filled = UInt64(page.head(index)) << (8 * UInt64(min(suffixBytes, PageLayout.headBytes)))
            guard index == 0 || UInt32(truncatingIfNeeded: filled) == 0 else {
                throw malformed(number, "the heads of its keys to match the keys")
            }
        }
    }

    private static func check(_ reference: OverflowReference, _ number: PageNumber) throws {
        guard reference.byteCount > PageLayout.maximumInlineBytes,
            reference.byteCount <= PageLayout.maximumValueBytes, reference.first > 1,
            Int(reference.first) + reference.pageCount <= Int(PageNumber.max)
        else { throw malformed(number, "its long values to be in pages") }
    }

    /// Checks that no two entries share a byte of the heap, and that unused bytes are counted: writers rely on both.
    private static func checkHeap(_ page: Page, heapEnd: Int, _ number: PageNumber) throws {
        try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: PageLayout.pageBytes / 64) { taken in
            taken.initialize(repeating: 0)
            var used = 0
            for index in 0..<page.count {
                let heapBytes = page.heapBytes(index)
                guard heapBytes > 0 else { continue }
                used += heapBytes
                guard take(page.place(index)..<page.place(index) + heapBytes, of: taken) else {
                    throw malformed(number, "its entries not to overlap")
                }
            }
            guard used + page.garbageBytes == heapEnd - page.heapStart else {
                throw malformed(number, "its unused bytes to be counted")
            }
        }
    }

    /// Sets a bit for each byte; returns false if one of them is already set.
    private static func take(_ range: Range<Int>, of taken: UnsafeMutableBufferPointer<UInt64>) -> Bool {
        var place = range.lowerBound
        while place < range.upperBound {
            let count = min(64 - (place & 63), range.upperBound - place)
            let bits = (UInt64.max >> UInt64(64 - count)) << UInt64(place & 63)
            guard taken[place >> 6] & bits == 0 else { return false }
            taken[place >> 6] |= bits
            place += count
        }
        return true
    }

    private static func isAscending(_ page: Page, _ index: Int) -> Bool {
        if page.head(index - 1) != page.head(index) { return page.head(index - 1) < page.head(index) }
        if page.isLeaf { return Bytes.compare(page.leafSuffix(index - 1), page.leafSuffix(index)) < 0 }
        let (before, count) = (page.suffixBytes(index - 1), page.suffixBytes(index))
        if before <= PageLayout.headBytes || count <= PageLayout.headBytes { return before < count }
        return Bytes.compare(page.branchTail(index - 1), page.branchTail(index)) < 0
    }

    private static func malformed(_ number: PageNumber, _ expected: String) -> StrataError {
        damage(number, .malformed, "A page does not follow the format.", expected: expected, found: nil)
    }

    private static func damage(
        _ number: PageNumber, _ code: StrataError.Code, _ message: StaticString, expected: String, found: String?
    ) -> StrataError {
        StrataError(
            code, message,
            .init(
                position: UInt64(number) * UInt64(PageLayout.pageBytes), page: number, expected: expected, found: found)
        )
    }
}
