import StrataModel

/// The free slots of the arena. The first slots are anonymous memory, the others are mapped from a spill file.
struct SlotList {
    private let capacity: Int
    private let memorySlots: Int
    // The address of slot 0. The arena, which never moves, owns this list.
    private let base: UnsafeMutableRawPointer
    private let spill: SpillFile?
    private var free: [UInt32] = []
    private var freeSpilled: [UInt32] = []
    private var next: UInt32 = 0

    init(capacity: Int, memorySlots: Int, base: UnsafeMutableRawPointer, spill: SpillFile?) {
        self.capacity = capacity
        self.memorySlots = memorySlots
        self.base = base
        self.spill = spill
    }

    var used: Int { Int(next) - free.count - freeSpilled.count }
    var spilled: Int { max(0, Int(next) - memorySlots) - freeSpilled.count }

    /// The slots that are stored in a file; nil if there are none.
    var spilledSlots: Range<Int>? { spill != nil && Int(next) > memorySlots ? memorySlots..<Int(next) : nil }

    /// - Throws: ``StrataError`` if no slot is free, or if there is no space to spill to.
    mutating func take() throws -> UInt32 {
        if let slot = free.popLast() { return slot }
        if next >= memorySlots, let slot = freeSpilled.popLast() { return slot }
        guard Int(next) < capacity else {
            throw StrataError(.noSpace, "Too many written pages are not in the page file yet.")
        }
        if next >= memorySlots, let spill {
            try spill.prepare(
                Int(next) - memorySlots, of: capacity - memorySlots, base: base + memorySlots * PageLayout.pageBytes)
        }
        defer { next += 1 }
        return next
    }

    mutating func give(_ slots: [UInt32]) {
        for slot in slots {
            if slot < memorySlots { free.append(slot) } else { freeSpilled.append(slot) }
        }
    }
}
