import StrataModel
import StrataSystem
import Synchronization

/// Where each page is in memory: in a slot of the arena, if it has been written since the last checkpoint or the file
/// is not mapped, or in the mapped page file.
// @unchecked: the table and the owners are atomic; the arena's slots belong to whoever took them (see `slots`).
final class PageMemory: @unchecked Sendable {
    /// Not looked at yet, or not there.
    static let unknown: UInt32 = 0
    /// In the page file, and found whole.
    private static let inFile: UInt32 = 1
    /// It was in the page file, and a failed sync lost it.
    private static let lost: UInt32 = 2
    static let firstSlot: UInt32 = 3

    /// Page numbers are below this.
    let capacity: Int
    let sections = ReadSections()
    private let table: ReservedMemory
    let places: UnsafeMutablePointer<Atomic<UInt32>>
    private let arena: ReservedMemory
    let slots: Lock<SlotList>
    let source: (any PageSource)?
    /// Pages of a file that is not mapped.
    let frames: Lock<FrameCache>?
    /// Of page 0 in the mapped file.
    private let fileBase: UnsafeRawPointer?
    /// The guard that records unreadable pages of the mapped file.
    private let guarded: MapGuard?
    /// The minimum reservation if address space is scarce: 16 MiB of pages, and page numbers for 1 GiB.
    private static let scarce = (slots: 4_096, pages: 256 << 10)

    /// - Parameters:
    ///   - capacity: how many pages there can be; address space is reserved for their table, memory only as needed.
    ///   - slotCapacity: how many pages the arena can hold.
    ///   - cachedPages: how many of them are of a file that is not mapped.
    ///   - spill: where slots from `memorySlots` on have their memory.
    init(
        capacity: Int, slotCapacity: Int, source: (any PageSource)?, cachedPages: Int = 0, memorySlots: Int = .max,
        spill: SpillFile? = nil
    ) throws {
        self.source = source
        frames = source != nil && source?.base == nil ? Lock(FrameCache(limit: cachedPages)) : nil
        fileBase = source?.base
        guarded = source?.guarded
        let stride = MemoryLayout<UInt32>.stride
        // A file's pages all have a number.
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

    /// Takes pages that lie in files out of memory; they come back as they are read.
    func letGoOfFiles() {
        source?.letGo()
        guard let slots = slots.withLock({ $0.spilledSlots }) else { return }
        arena.release(slots.lowerBound * PageLayout.pageBytes..<slots.upperBound * PageLayout.pageBytes)
    }

    // MARK: Reading

    /// Runs `body` in a read section: the pages that it follows stay where they are until it ends.
    ///
    /// - Throws: ``StrataError`` also if the page file turned out to be shorter than it was: what `body` made of the
    ///   zeros that stand for what is missing counts for nothing.
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
        source?.foundDamage()
        return Self.unreadable(PageNumber(byte / PageLayout.pageBytes), source?.path)
    }

    static func unreadable(_ number: PageNumber, _ path: String?) -> StrataError {
        StrataError(
            .inputOutput,
            "The page file cannot be read: somebody made it shorter while it was in use, or its medium failed.",
            .init(page: number, path: path))
    }

    /// A page, valid until the read section ends.
    @inline(__always)
    func page(_ number: PageNumber) throws -> Page {
        guard Int(number) < capacity else { throw missing(number) }
        // As strict as the counters of `sections`: whoever moved the page sees this reader, or this reader the new
        // place.
        let place = places[Int(number)].load(ordering: .sequentiallyConsistent)
        if place >= Self.firstSlot { return Page(slotAddress(place)) }
        if place == Self.inFile, let fileBase { return Page(fileBase + Int(number) * PageLayout.pageBytes) }
        return try look(number)
    }

    /// Where a page is that has been looked at before; nil for any other. Nothing is read.
    func place(of number: PageNumber) -> UnsafeRawPointer? {
        guard Int(number) < capacity else { return nil }
        let place = places[Int(number)].load(ordering: .sequentiallyConsistent)
        if place >= Self.firstSlot { return UnsafeRawPointer(slotAddress(place)) }
        return place == Self.inFile ? fileBase.map { $0 + Int(number) * PageLayout.pageBytes } : nil
    }

    @inline(__always)
    func slotAddress(_ place: UInt32) -> UnsafeMutableRawPointer {
        arena.base + Int(place - Self.firstSlot) * PageLayout.pageBytes
    }

    /// The first look of this process at a page of the file: it is checked once.
    private func look(_ number: PageNumber) throws -> Page {
        guard let source, places[Int(number)].load(ordering: .acquiring) != Self.lost else { throw missing(number) }
        if let frames { return try read(number, source, frames) }
        let page = try reportingDamage {
            let page = Page(try source.load(number))
            try PageCheck.check(page, number: number)
            return page
        }
        // Somebody else may have looked at the same time; both found the same.
        _ = places[Int(number)].compareExchange(
            expected: Self.unknown, desired: Self.inFile, ordering: .acquiringAndReleasing)
        return page
    }

    private func missing(_ number: PageNumber) -> StrataError {
        source?.foundDamage()
        return StrataError(
            .malformed, "A page is named that is not there.",
            .init(page: number, path: source?.path, expected: "a page of the file", found: "\(number)"))
    }

    /// Tells the file of pages that are not what was written there; not of a medium that could not be read.
    func reportingDamage<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StrataError {
            if error.code == .badChecksum || error.code == .malformed { source?.foundDamage() }
            throw error
        }
    }

    // MARK: Writing

    /// A slot for a page that is being made.
    ///
    /// - Throws: ``StrataError`` if the arena is full, or there is no space to spill to.
    func takeSlot(for number: PageNumber) throws -> UnsafeMutableRawPointer {
        let place = try slots.withLock { try $0.take() } + Self.firstSlot
        places[Int(number)].store(place, ordering: .releasing)
        return slotAddress(place)
    }

    /// The slot of a page that its only user may write to.
    func slot(of number: PageNumber) -> UnsafeMutableRawPointer {
        let place = places[Int(number)].load(ordering: .acquiring)
        precondition(place >= Self.firstSlot, "only pages in the arena are written")
        return slotAddress(place)
    }

    func isInArena(_ number: PageNumber) -> Bool {
        places[Int(number)].load(ordering: .acquiring) >= Self.firstSlot
    }

    /// Nobody reaches these pages any more.
    func forget(_ numbers: some Sequence<PageNumber>) {
        var free: [UInt32] = []
        for number in numbers {
            let place = places[Int(number)].exchange(Self.unknown, ordering: .acquiringAndReleasing)
            if place >= Self.firstSlot { free.append(place - Self.firstSlot) }
        }
        guard !free.isEmpty else { return }
        // A slot is given to others only when the cache does not know it any more.
        if let frames { frames.withLock { [free] in $0.remove(free) } }
        slots.withLock { $0.give(free) }
    }

    /// These pages have been written to the file; their slots become free once nobody looks there any more.
    /// Must not be called from inside a read section.
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

    /// Brings pages back from the mapped file to the arena: what was written there may never have reached the medium,
    /// and is only there until the kernel needs its memory. A page that is gone is damaged for whoever asks for it; one
    /// for which there is no room stays where it is, until the next checkpoint writes it again.
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

/// A page that a checkpoint has written, and what it was.
struct MovedPage {
    var number: PageNumber
    var birth: UInt64
}

/// Where pages come from that this process has not written.
protocol PageSource: AnyObject, Sendable {
    var path: String { get }
    /// A page is not what was written there.
    func foundDamage()
    /// Of page 0; never moves. Nil if the file is not mapped.
    var base: UnsafeRawPointer? { get }
    /// The guard of the map; nil if its pages cannot be missing.
    var guarded: MapGuard? { get }
    /// The bytes of a page in the map, unchecked.
    func load(_ number: PageNumber) throws -> UnsafeRawPointer
    /// Takes mapped pages out of memory until they are read again.
    func letGo()
    /// The bytes of a page, unchecked, wherever the file has them.
    func read(_ number: PageNumber, into target: UnsafeMutableRawPointer) throws
}
