import StrataModel
import StrataSystem
import Synchronization

/// Where each page is in memory: in a slot of the arena, if it has been written since the last checkpoint, or in the
/// mapped page file.
// @unchecked: the table and the owners are atomic; the arena's slots belong to whoever took them (see `slots`).
final class PageMemory: @unchecked Sendable {
    /// Not looked at yet, or not there.
    private static let unknown: UInt32 = 0
    /// In the page file, and found whole.
    private static let inFile: UInt32 = 1
    private static let firstSlot: UInt32 = 2

    /// Page numbers are below this.
    let capacity: Int
    let sections = ReadSections()
    private let table: ReservedMemory
    private let places: UnsafeMutablePointer<Atomic<UInt32>>
    private let arena: ReservedMemory
    private let slots: Lock<SlotList>
    private let source: (any PageSource)?
    /// Of page 0 in the mapped file.
    private let fileBase: UnsafeRawPointer?

    /// - Parameters:
    ///   - capacity: how many pages there can be; address space is reserved for their table, memory only as needed.
    ///   - slotCapacity: how many pages the arena can hold.
    init(capacity: Int, slotCapacity: Int, source: (any PageSource)?) throws {
        self.capacity = capacity
        self.source = source
        fileBase = source?.base
        table = try ReservedMemory(byteCount: capacity * MemoryLayout<UInt32>.stride)
        // Fresh memory is zero, which is `unknown`.
        places = table.base.bindMemory(to: Atomic<UInt32>.self, capacity: capacity)
        arena = try ReservedMemory(byteCount: slotCapacity * PageLayout.pageBytes)
        slots = Lock(SlotList(capacity: slotCapacity))
    }

    var usedSlots: Int { slots.withLock { $0.used } }

    // MARK: Reading

    /// A page, valid until the read section ends.
    @inline(__always)
    func page(_ number: PageNumber) throws -> Page {
        guard Int(number) < capacity else { throw missing(number) }
        let place = places[Int(number)].load(ordering: .acquiring)
        if place >= Self.firstSlot { return Page(slotAddress(place)) }
        if place == Self.inFile, let fileBase { return Page(fileBase + Int(number) * PageLayout.pageBytes) }
        return try look(number)
    }

    @inline(__always)
    private func slotAddress(_ place: UInt32) -> UnsafeMutableRawPointer {
        arena.base + Int(place - Self.firstSlot) * PageLayout.pageBytes
    }

    /// The first look of this process at a page of the file: it is checked once.
    private func look(_ number: PageNumber) throws -> Page {
        guard let source else { throw missing(number) }
        let page = Page(try source.load(number))
        try PageCheck.check(page, number: number)
        // Somebody else may have looked at the same time; both found the same.
        _ = places[Int(number)].compareExchange(
            expected: Self.unknown, desired: Self.inFile, ordering: .acquiringAndReleasing)
        return page
    }

    private func missing(_ number: PageNumber) -> StrataError {
        StrataError(
            .malformed, "A page is named that is not there.",
            .init(path: source?.path, expected: "a page of the file", found: "\(number)"))
    }

    // MARK: Writing

    /// A slot for a page that is being made; nil if the arena is full.
    func takeSlot(for number: PageNumber) -> UnsafeMutableRawPointer? {
        guard let slot = slots.withLock({ $0.take() }) else { return nil }
        let place = slot + Self.firstSlot
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
        if !free.isEmpty { slots.withLock { $0.give(free) } }
    }

    /// These pages have been written to the file and synced; their slots become free once nobody looks there any more.
    /// Must not be called from inside a read section.
    func moveToFile(_ numbers: [PageNumber]) {
        var free: [UInt32] = []
        for number in numbers {
            let place = places[Int(number)].exchange(Self.inFile, ordering: .sequentiallyConsistent)
            if place >= Self.firstSlot { free.append(place - Self.firstSlot) }
        }
        sections.waitForReaders()
        slots.withLock { $0.give(free) }
    }
}

/// Where pages come from that this process has not written.
protocol PageSource: AnyObject, Sendable {
    var path: String { get }
    /// Of page 0; never moves.
    var base: UnsafeRawPointer { get }
    /// The bytes of a page, unchecked.
    func load(_ number: PageNumber) throws -> UnsafeRawPointer
}

/// Slots of the arena that nobody uses.
private struct SlotList {
    let capacity: Int
    private var free: [UInt32] = []
    private var next: UInt32 = 0

    init(capacity: Int) { self.capacity = capacity }

    var used: Int { Int(next) - free.count }

    mutating func take() -> UInt32? {
        if let slot = free.popLast() { return slot }
        guard Int(next) < capacity else { return nil }
        defer { next += 1 }
        return next
    }

    mutating func give(_ slots: [UInt32]) { free += slots }
}
