import StrataSystem

/// Pages of a file that is read instead of mapped. A bounded number of them is cached in the arena.
extension PageMemory {
    /// Reads a page that is in no slot. Must be called inside a read section.
    func read(_ number: PageNumber, _ source: PageFile, _ frames: Lock<FrameCache>) throws -> Page {
        let slot = try slots.withLock { try $0.take() }
        let target = slotAddress(slot + Self.firstSlot)
        do {
            try source.read(number, into: target)
            try PageCheck.check(Page(UnsafeRawPointer(target)), number: number)
        } catch {
            slots.withLock { $0.give([slot]) }
            throw error
        }
        let (place, free) = frames.withLock { frames -> (UInt32, [UInt32]) in
            let (isMine, known) = places[Int(number)].compareExchange(
                expected: Self.unknown, desired: slot + Self.firstSlot, ordering: .sequentiallyConsistent)
            // Another thread may have read the page at the same time.
            guard isMine else { return (known, [slot]) }
            frames.insert(slot, number)
            return (slot + Self.firstSlot, trim(&frames))
        }
        if !free.isEmpty { slots.withLock { $0.give(free) } }
        return Page(UnsafeRawPointer(slotAddress(place)))
    }

    /// Evicts frames over the limit, and returns the slots that have become free.
    private func trim(_ frames: inout FrameCache) -> [UInt32] {
        frames.trim { number, slot in
            places[Int(number)].compareExchange(
                expected: slot + Self.firstSlot, desired: Self.unknown, ordering: .sequentiallyConsistent
            ).exchanged
        }
        return frames.takeDeparted(sections)
    }

    /// Caches pages that have been written to the file in their current slots, as far as the cache has room.
    func keepAsFrames(_ numbers: some Sequence<PageNumber>, _ frames: Lock<FrameCache>) {
        let free = frames.withLock { frames in
            for number in numbers {
                let place = places[Int(number)].load(ordering: .acquiring)
                if place >= Self.firstSlot { frames.insert(place - Self.firstSlot, number) }
            }
            return trim(&frames)
        }
        if !free.isEmpty { slots.withLock { $0.give(free) } }
    }
}
