/// The slots of the arena that hold pages of a file that is not mapped, oldest first.
struct FrameCache {
    let limit: Int
    private var numbers: [UInt32: PageNumber] = [:]
    /// Slots in insertion order. A slot that left and returned is listed twice, and is then evicted early.
    private var queue: [UInt32] = []
    private var queueStart = 0
    /// Slots that can no longer be found, but that readers may still access.
    private var resting: [UInt32] = []
    private var leaving: [UInt32] = []
    private var departure = ReaderEpochs.GracePeriod()

    init(limit: Int) { self.limit = max(limit, 1) }

    var count: Int { numbers.count }

    mutating func insert(_ slot: UInt32, _ number: PageNumber) {
        numbers[slot] = number
        queue.append(slot)
    }

    mutating func remove(_ slots: [UInt32]) {
        for slot in slots { numbers[slot] = nil }
    }

    /// Evicts the oldest frames until the limit is met.
    ///
    /// - Parameter hide: makes the page in that slot unfindable; returns false if it was not found there, because
    ///   another thread is taking the slot back.
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

    /// The slots that no reader accesses now. Never waits, so that it may be called inside a read section.
    mutating func takeDeparted(_ sections: ReaderEpochs) -> [UInt32] {
        if leaving.isEmpty {
            if resting.isEmpty { return [] }
            swap(&leaving, &resting)
            departure = ReaderEpochs.GracePeriod()
        }
        guard sections.hasEnded(&departure) else { return [] }
        defer { leaving = [] }
        return leaving
    }
}
