/// Slots of the arena that hold pages of a file that is not mapped, oldest first.
struct FrameCache {
    let limit: Int
    private var numbers: [UInt32: PageNumber] = [:]
    /// Slots in the order in which they came. One that went and came again is in it twice, and then goes early.
    private var queue: [UInt32] = []
    private var queueStart = 0
    /// Nobody finds these any more, but somebody may still look at them.
    private var resting: [UInt32] = []
    private var leaving: [UInt32] = []
    private var departure = ReadSections.Departure()

    init(limit: Int) { self.limit = max(limit, 1) }

    var count: Int { numbers.count }

    mutating func insert(_ slot: UInt32, _ number: PageNumber) {
        numbers[slot] = number
        queue.append(slot)
    }

    mutating func remove(_ slots: [UInt32]) {
        for slot in slots { numbers[slot] = nil }
    }

    /// Takes the oldest frames out until there are few enough.
    ///
    /// - Parameter hide: has nobody find the page in that slot any more; false if it was not to be found there, because
    ///   somebody else is just taking the slot back.
    mutating func trim(_ hide: (PageNumber, UInt32) -> Bool) {
        while numbers.count > limit, queueStart < queue.count {
            let slot = queue[queueStart]
            queueStart += 1
            guard let number = numbers.removeValue(forKey: slot) else { continue }
            if hide(number, slot) { resting.append(slot) }
        }
        if queueStart > 1_024, 2 * queueStart > queue.count {
            queue.removeFirst(queueStart)
            queueStart = 0
        }
    }

    /// Slots that nobody looks at any more. Never waits, so that those inside of a section may ask.
    mutating func takeDeparted(_ sections: ReadSections) -> [UInt32] {
        if leaving.isEmpty {
            if resting.isEmpty { return [] }
            swap(&leaving, &resting)
            departure = ReadSections.Departure()
        }
        guard sections.hasEnded(&departure) else { return [] }
        defer { leaving = [] }
        return leaving
    }
}
