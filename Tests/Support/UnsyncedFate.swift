/// Decides what power loss does to what was not synced.
protocol UnsyncedFate {
    mutating func size(between durable: Int, and live: Int) -> Int
    /// Which bytes of a sector are the new ones. `isLost`: a sync failed and nobody will write the sector again.
    mutating func keptBytes(ofSector count: Int, isLost: Bool) -> Range<Int>
    mutating func keepsNameChange() -> Bool
}

/// All of it is there, or none.
struct UniformFate: UnsyncedFate {
    let keeps: Bool

    func size(between durable: Int, and live: Int) -> Int { keeps ? live : durable }
    func keptBytes(ofSector count: Int, isLost: Bool) -> Range<Int> { keeps && !isLost ? 0..<count : 0..<0 }
    func keepsNameChange() -> Bool { keeps }
}

/// Anything that a medium may do, chosen by a seed.
struct RandomFate: UnsyncedFate {
    private var generator: SeededGenerator
    private let keptOf64: Int

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        // Fair coins alone would hardly ever lose just one sector of many, or keep just one.
        keptOf64 = [1, 8, 32, 56, 63][generator.next(below: 5)]
    }

    mutating func size(between durable: Int, and live: Int) -> Int {
        let smaller = min(durable, live)
        switch generator.next(below: 4) {
        case 0: return durable
        case 1: return live
        default: return smaller + generator.next(below: abs(live - durable) + 1)
        }
    }

    mutating func keptBytes(ofSector count: Int, isLost: Bool) -> Range<Int> {
        if generator.next(below: 16) == 0 {
            let tear = generator.next(below: count)
            return generator.next(below: 2) == 0 ? 0..<tear : tear..<count
        }
        return generator.next(below: 64) < keptOf64 ? 0..<count : 0..<0
    }

    mutating func keepsNameChange() -> Bool { generator.next(below: 64) < keptOf64 }
}
