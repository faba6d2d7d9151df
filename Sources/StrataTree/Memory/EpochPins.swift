/// The epochs whose states are still read, each with its number of readers.
struct EpochPins {
    /// In ascending order of epochs.
    private var pins: [(epoch: UInt64, count: Int)] = []

    /// The oldest epoch that is read; nil if there is none.
    var oldest: UInt64? { pins.first?.epoch }

    mutating func pin(_ epoch: UInt64) {
        let index = index(of: epoch)
        if index < pins.count, pins[index].epoch == epoch {
            pins[index].count += 1
        } else {
            pins.insert((epoch, 1), at: index)
        }
    }

    mutating func unpin(_ epoch: UInt64) {
        let index = index(of: epoch)
        assert(index < pins.count && pins[index].epoch == epoch, "an epoch is unpinned once per pin")
        pins[index].count -= 1
        if pins[index].count == 0 { pins.remove(at: index) }
    }

    /// Most epochs are the newest.
    private func index(of epoch: UInt64) -> Int {
        var index = pins.count
        while index > 0, pins[index - 1].epoch >= epoch { index -= 1 }
        return index
    }
}
