import StrataModel
import StrataSystem
import Synchronization

/// Maps each page to its place in memory: a slot of the arena, if it has been written since the last checkpoint or the
/// file is not mapped, or the mapped page file.
// @unchecked: the table's entries are atomic; a slot of the arena belongs to the thread that took it (see `slots`).
final class PageMemory: @unchecked Sendable {
    /// The page has not been accessed yet, or does not exist.
    static let unknown: UInt32 = 0
    /// The page is in the page file, and was found valid.
    private static let inFile: UInt32 = 1
    /// The page was in the page file and was lost after a failed sync.
    private static let lost: UInt32 = 2
    static let firstSlot: UInt32 = 3

    /// The upper bound of page numbers.
    let capacity: Int
    let sections = ReaderEpochs()
    private let table: ReservedMemory
    let places: UnsafeMutablePointer<Atomic<UInt32>>
    private let arena: ReservedMemory
    let slots: Lock<SlotList>
    let source: PageFile?
    /// The cached pages of a file that is not mapped.
    let frames: Lock<FrameCache>?
    /// The address of page 0 in the mapped file.
    private let fileBase: UnsafeRawPointer?
    /// The guard that records unreadable pages of the mapped file.
    private let guarded: MapGuard?
    /// The minimum reservation if address space is scarce: 16 MiB of pages, and page numbers for 1 GiB.
    private static let scarce = (slots: 4_096, pages: 256 << 10)

    /// - Parameters:
    ///   - capacity: the maximum number of pages. Address space is reserved for their table, memory only as needed.
    ///   - slotCapacity: the maximum number of pages in the arena.
    ///   - cachedPages: the maximum number of cached pages of a file that is not mapped.
    ///   - spill: provides the memory of slots from `memorySlots` on.
    init(
        capacity: Int, slotCapacity: Int, source: PageFile?, cachedPages: Int = 0, memorySlots: Int = .max,
        spill: SpillFile? = nil
    ) throws {
        self.source = source
        frames = source != nil && source?.base == nil ? Lock(FrameCache(limit: cachedPages)) : nil
        fileBase = source?.base
        guarded = source?.guarded
        let stride = MemoryLayout<UInt32>.stride
        // Every page of a file needs an entry in the table.
        table = try ReservedMemory(
            byteCount: capacity * stride, atLeast: source == nil ? min(capacity, Self.scarce.pages) * stride : nil)
        self.capacity = min(capacity, table.byteCount / stride)
        // Fresh memory is zero, which is `unknown`.
        places = table.base.bindMemory(to: Atomic<UInt32>.self, capacity: self.capacity)
        arena = try ReservedMemory(
            byteCount: slotCapacity * PageLayout.pageBytes,
            atLeast: min(slotCapacity, Self.scarce.slots) * PageLayout.pageBytes)
        let slotCapacity = arena.byteCount / PageLayout.pageBytes
        let memorySlots = spill == nil ? slotCapacity : min(memorySlots, slotCapacity)
        slots = Lock(SlotList(capacity: slotCapacity, memorySlots: memorySlots, base: arena.base, spill: spill))
    }

    var usedSlots: Int { slots.withLock { $0.used } }
    var spilledSlots: Int { slots.withLock { $0.spilled } }

    /// Drops pages that are stored in files from memory; they return as they are read.
    func letGoOfFiles() {
        source?.release()
        guard let slots = slots.withLock({ $0.spilledSlots }) else { return }
        arena.release(slots.lowerBound * PageLayout.pageBytes..<slots.upperBound * PageLayout.pageBytes)
    }

    // MARK: Reading

    /// Runs `body` in a read section, during which the pages that it reads are not moved.
    ///
    /// - Throws: also a ``StrataError`` if the page file turned out to be truncated. Missing pages read as zeros, so
    ///   the result of `body` is then discarded.
    @inline(__always)
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        let ticket = sections.enter()
        defer { sections.leave(ticket) }
        let result: Result
        do { result = try body() } catch {
            try requireReadable()
            throw error
        }
        try requireReadable()
        return result
    }

    @inline(__always)
    private func requireReadable() throws {
        if let guarded, let byte = guarded.missingByte { throw unreadable(byte) }
    }

    private func unreadable(_ byte: Int) -> StrataError {
        Self.unreadable(PageNumber(byte / PageLayout.pageBytes), source?.path)
    }

    static func unreadable(_ number: PageNumber, _ path: String?) -> StrataError {
        StrataError(
            .inputOutput,
            "The page file cannot be read: it was truncated while in use, or its medium failed.",
            .init(page: number, path: path))
    }

    /// A page, valid until the read section ends.
    @inline(__always)
    func page(_ number: PageNumber) throws -> Page {
        guard Int(number) < capacity else { throw missing(number) }
        // Sequentially consistent, as the counters of `sections`: either the thread that moved the page sees this
        // reader, or this reader sees the new place.
        let place = places[Int(number)].load(ordering: .sequentiallyConsistent)
        if place >= Self.firstSlot { return Page(slotAddress(place)) }
        if place == Self.inFile, let fileBase { return Page(fileBase + Int(number) * PageLayout.pageBytes) }
        return try look(number)
    }

    /// The address of a page that has been accessed before; nil for any other page. Nothing is read.
    func place(of number: PageNumber) -> UnsafeRawPointer? {
        guard Int(number) < capacity else { return nil }
        let place = places[Int(number)].load(ordering: .sequentiallyConsistent)
        if place >= Self.firstSlot { return UnsafeRawPointer(slotAddress(place)) }
        return place == Self.inFile ? fileBase.map { $0 + Int(number) * PageLayout.pageBytes } : nil
    }

    /// The parts of a page that a search reads first: its header with the first heads, and the prefix at its end.
    private static let startBytes = 192
    private static let endBytes = 64

    /// Requests the parts of a page that a search reads first, so that it waits for them together.
    @inline(__always)
    func ask(for number: PageNumber) {
        guard let place = place(of: number) else { return }
        Prefetch.ask(place, byteCount: Self.startBytes)
        Prefetch.ask(place + (PageLayout.pageBytes - Self.endBytes), byteCount: Self.endBytes)
    }

    @inline(__always)
    func slotAddress(_ place: UInt32) -> UnsafeMutableRawPointer {
        arena.base + Int(place - Self.firstSlot) * PageLayout.pageBytes
    }

    /// Accesses a page of the file for the first time in this process, and checks it.
    private func look(_ number: PageNumber) throws -> Page {
        guard let source, places[Int(number)].load(ordering: .acquiring) != Self.lost else { throw missing(number) }
        if let frames { return try read(number, source, frames) }
        let page = Page(try source.load(number))
        try PageCheck.check(page, number: number)
        // Another thread may have checked it at the same time, with the same result.
        _ = places[Int(number)].compareExchange(
            expected: Self.unknown, desired: Self.inFile, ordering: .acquiringAndReleasing)
        return page
    }

    private func missing(_ number: PageNumber) -> StrataError {
        StrataError(
            .malformed, "A page number refers to a page that does not exist.",
            .init(page: number, path: source?.path, expected: "a page of the file", found: "\(number)"))
    }

    // MARK: Writing

    /// A slot for a new page.
    ///
    /// - Throws: ``StrataError`` if the arena is full, or there is no space to spill to.
    func takeSlot(for number: PageNumber) throws -> UnsafeMutableRawPointer {
        let place = try slots.withLock { try $0.take() } + Self.firstSlot
        places[Int(number)].store(place, ordering: .releasing)
        return slotAddress(place)
    }

    /// The slot of a page that belongs to a single writer, the caller.
    func slot(of number: PageNumber) -> UnsafeMutableRawPointer {
        let place = places[Int(number)].load(ordering: .acquiring)
        precondition(place >= Self.firstSlot, "only pages in the arena can be written")
        return slotAddress(place)
    }

    func isInArena(_ number: PageNumber) -> Bool {
        places[Int(number)].load(ordering: .acquiring) >= Self.firstSlot
    }

    /// Forgets the memory of pages that can no longer be reached.
    func forget(_ numbers: some Sequence<PageNumber>) {
        var free: [UInt32] = []
        for number in numbers {
            let place = places[Int(number)].exchange(Self.unknown, ordering: .acquiringAndReleasing)
            if place >= Self.firstSlot { free.append(place - Self.firstSlot) }
        }
        guard !free.isEmpty else { return }
        // A slot is released only after the cache has forgotten it.
        if let frames { frames.withLock { [free] in $0.remove(free) } }
        slots.withLock { $0.give(free) }
    }

    /// Redirects pages that have been written to the file; their slots become free once no reader accesses them. Must
    /// not be called from inside a read section.
    func moveToFile(_ numbers: some Sequence<PageNumber>) {
        if let frames { return keepAsFrames(numbers, frames) }
        var free: [UInt32] = []
        for number in numbers {
            let place = places[Int(number)].exchange(Self.inFile, ordering: .sequentiallyConsistent)
            if place >= Self.firstSlot { free.append(place - Self.firstSlot) }
        }
        sections.waitForReaders()
        slots.withLock { $0.give(free) }
    }

    /// Copies pages from the mapped file back to the arena: after a failed sync, they may exist only in the kernel's
    /// memory. A page that is gone is reported as damaged when it is read; a page for which there is no slot stays in
    /// the file until the next checkpoint rewrites it.
    func takeBack(_ pages: [MovedPage]) {
        for moved in pages {
            guard let page = pageInFile(moved) else {
                places[Int(moved.number)].store(Self.lost, ordering: .sequentiallyConsistent)
                continue
            }
            guard let slot = try? slots.withLock({ try $0.take() }) else { continue }
            slotAddress(slot + Self.firstSlot).copyMemory(from: page.base, byteCount: PageLayout.pageBytes)
            places[Int(moved.number)].store(slot + Self.firstSlot, ordering: .sequentiallyConsistent)
        }
    }

    private func pageInFile(_ moved: MovedPage) -> Page? {
        guard let page = try? source.map({ Page(try $0.load(moved.number)) }),
            (try? PageCheck.check(page, number: moved.number)) != nil, page.birth == moved.birth
        else { return nil }
        return page
    }
}

/// A page that a checkpoint has written, and its birth.
struct MovedPage {
    var number: PageNumber
    var birth: UInt64
}
