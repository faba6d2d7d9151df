import StrataModel

/// Writes the pages that some roots reach to a new file, one after the other, under new numbers.
///
/// Children precede their parents, so that only one page of each level is held in memory.
struct PageCopier {
    private let source: PageMemory
    private let writer: SliceWriter
    private let epoch: UInt64
    /// The number of the next page of the new file.
    private(set) var next = PageNumber(ViewFormat.headerSlots)
    /// The pages before `next` that are not written yet.
    private var pending: [UInt8] = []
    private let capacity: Int

    init(_ source: PageMemory, _ writer: SliceWriter, epoch: UInt64) {
        self.source = source
        self.writer = writer
        self.epoch = epoch
        capacity = source.capacity
        pending.reserveCapacity(SliceWriter.slicePages * PageLayout.pageBytes)
    }

    mutating func copy(_ roots: TreeRoots) throws -> TreeRoots {
        var copied = TreeRoots()
        for id in roots.ids {
            var root = roots[id]
            if root.page != 0 { root.page = try copy(root.page, level: root.level) }
            copied[id] = root
        }
        try flush()
        return copied
    }

    private mutating func copy(_ number: PageNumber, level: Int) throws -> PageNumber {
        var bytes = try read { try $0.page(number, level: level) }
        let count = bytes.withPage(\.count)
        for index in 0..<count {
            if level > 0 {
                let child = try copy(bytes.withPage { $0.child(index) }, level: level - 1)
                bytes.withEditor { $0.set(child: child, at: index) }
            } else if let reference = bytes.withPage({ $0.overflow(index) }) {
                let copied = try copyOverflow(reference.reference)
                bytes.withUnsafeMutableBytes { bytes in
                    // Never empty: a page has 4,096 bytes.
                    copied.store(to: bytes.baseAddress! + reference.place)
                }
            }
        }
        return try append(&bytes)
    }

    private mutating func copyOverflow(_ reference: OverflowReference) throws -> OverflowReference {
        let first = next
        for number in reference.first..<reference.first + PageNumber(reference.pageCount) {
            var bytes = try read { memory in
                let page = try memory.page(number)
                guard page.kind == .overflow else {
                    throw StrataError(
                        .malformed, "A long value refers to a page of another kind.", .init(found: "\(number)"))
                }
                return page
            }
            _ = try append(&bytes)
        }
        return OverflowReference(first: first, byteCount: reference.byteCount)
    }

    /// The bytes of a page, copied in a read section so that the page cannot be moved during the copy.
    private func read(_ page: (PageMemory) throws -> Page) throws -> [UInt8] {
        try source.reading { [UInt8](try page(source).bytes) }
    }

    private mutating func append(_ bytes: inout [UInt8]) throws -> PageNumber {
        let number = next
        guard Int(number) < capacity else { throw StrataError(.noSpace, "The page file has reached its maximum size.") }
        bytes.withEditor { editor in
            editor.set(number: number)
            editor.set(birth: epoch)
        }
        pending += bytes
        next += 1
        if pending.count >= SliceWriter.slicePages * PageLayout.pageBytes { try flush() }
        return number
    }

    private mutating func flush() throws {
        let count = pending.count / PageLayout.pageBytes
        let first = next - PageNumber(count)
        try pending.withUnsafeBytes { pending in
            try writer.write(Array(first..<next), isLast: false) { number, target in
                let place = Int(number - first) * PageLayout.pageBytes
                target.copyMemory(
                    from: pending.dropping(place).keeping(PageLayout.pageBytes).baseAddress!,  // not empty: a page
                    byteCount: PageLayout.pageBytes)
            }
        }
        pending.removeAll(keepingCapacity: true)
    }
}

extension Page {
    /// The overflow reference of a leaf's entry, and its place; nil if the leaf holds the value itself.
    fileprivate func overflow(_ index: Int) -> (reference: OverflowReference, place: Int)? {
        let value = storedValue(index)
        guard value.isOverflow, let start = value.bytes.baseAddress else { return nil }
        return (OverflowReference(value.bytes), start - base)
    }
}

extension [UInt8] {
    fileprivate func withPage<Result>(_ body: (Page) -> Result) -> Result {
        withUnsafeBytes { body(Page($0)) }
    }

    fileprivate mutating func withEditor(_ body: (PageEditor) -> Void) {
        // Never empty: a page has 4,096 bytes.
        withUnsafeMutableBytes { body(PageEditor($0.baseAddress!)) }
    }
}
