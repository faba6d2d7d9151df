import StrataModel
import StrataSystem

/// Judges a page that came from a file: after this, reading it stays inside it whatever it says.
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
                number, .malformed, "A page stands in the place of another.", expected: "\(number)",
                found: "\(page.number)")
        }
        try checkLayout(page, number: number)
    }

    /// That slots, heap and entries lie where they must, and keys ascend.
    static func checkLayout(_ page: Page, number: PageNumber) throws {
        guard let kind = page.kind else { throw malformed(number, "its kind to be known") }
        guard kind == .leaf || kind == .branch else { return }
        guard (kind == .leaf) == page.isLeaf else { throw malformed(number, "its level to fit its kind") }
        let heapEnd = PageLayout.pageBytes - page.prefixBytes
        let slotEnd = PageLayout.headerBytes + page.count * page.slotBytes
        guard page.count > 0, page.prefixBytes <= PageLayout.maximumKeyBytes, slotEnd <= page.heapStart,
            page.heapStart <= heapEnd, page.garbageBytes <= heapEnd - page.heapStart
        else { throw malformed(number, "its slots and heap to lie apart") }
        for index in 0..<page.count { try checkEntry(page, index, heapEnd: heapEnd, number) }
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
            guard place >= page.heapStart, start <= heapEnd else { throw malformed(number, "its entries to be inside") }
            let value = page.storedValue(index)
            guard start + value.bytes.count <= heapEnd,
                value.isOverflow || value.bytes.count <= PageLayout.maximumInlineBytes
            else { throw malformed(number, "its values to be inside") }
            guard Bytes.head(page.leafSuffix(index)) == page.head(index) else {
                throw malformed(number, "the heads of its keys to be theirs")
            }
        } else {
            let tailBytes = max(0, suffixBytes - PageLayout.headBytes)
            guard place >= page.heapStart, place + tailBytes <= PageLayout.pageBytes, page.child(index) > 1,
                index > 0 || suffixBytes == 0
            else { throw malformed(number, "its children to be pages and their keys inside") }
        }
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
            .init(position: UInt64(number) * UInt64(PageLayout.pageBytes), expected: expected, found: found))
    }
}
