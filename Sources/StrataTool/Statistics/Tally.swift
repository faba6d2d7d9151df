/// A number of items and the sum of their bytes.
struct Tally: Sendable, Equatable {
    var count: UInt64 = 0
    var byteCount: UInt64 = 0

    mutating func add(bytes: Int) {
        count += 1
        byteCount += UInt64(bytes)
    }
}

/// Tallies by key. The number of keys is limited, which bounds memory for any log.
struct TallyTable<Key: Hashable & Sendable>: Sendable {
    private let maximumKeys: Int
    private(set) var tallies: [Key: Tally] = [:]
    /// The sum for all keys that arrived after the table was full.
    private(set) var others = Tally()

    init(maximumKeys: Int = 1 << 17) { self.maximumKeys = maximumKeys }

    mutating func add(_ key: Key, bytes: Int) {
        if tallies[key] == nil, tallies.count >= maximumKeys {
            others.add(bytes: bytes)
        } else {
            tallies[key, default: Tally()].add(bytes: bytes)
        }
    }

    /// Returns the most frequent keys first. Keys with equal counts are in the given order.
    func sorted(by areInOrder: (Key, Key) -> Bool) -> [(key: Key, value: Tally)] {
        tallies.sorted { left, right in
            left.value.count == right.value.count
                ? areInOrder(left.key, right.key) : left.value.count > right.value.count
        }
    }
}

/// Counts over time in steps of equal length. It starts with short steps and merges them when there are too many.
struct Timeline: Sendable {
    static let hourMicroseconds: Int64 = 3_600_000_000
    private static let maximumSteps = 4_096
    /// The lengths of steps in milliseconds, each a multiple of the one before. After the last one, lengths double.
    private static let lengths: [Int64] = {
        let seconds: [Int64] = [1, 2, 10, 30, 60, 120, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400]
        return [1, 2, 10, 20, 100, 200] + seconds.map { $0 * 1_000 }
    }()

    private var stepMilliseconds = lengths[0]
    var stepMicroseconds: Int64 { min(stepMilliseconds, Int64.max / 1_000) * 1_000 }
    /// The first step, counted in steps since 1970.
    private(set) var firstStep: Int64 = 0
    private(set) var counts: [UInt64] = []

    /// - Parameter time: a time not before that of the previous call.
    mutating func add(_ time: Int64) {
        let millisecond = Self.floor(time, by: 1_000)
        var step = Self.floor(millisecond, by: stepMilliseconds)
        if counts.isEmpty { firstStep = step }
        while step - firstStep >= Int64(Self.maximumSteps) {
            coarsen()
            step = Self.floor(millisecond, by: stepMilliseconds)
        }
        let index = Int(max(0, step - firstStep))
        if index >= counts.count { counts += repeatElement(0, count: index + 1 - counts.count) }
        counts[index] += 1
    }

    /// Merges the steps into steps of the next length.
    private mutating func coarsen() {
        let length = Self.lengths.first { $0 > stepMilliseconds } ?? stepMilliseconds * 2
        let factor = length / stepMilliseconds
        let first = Self.floor(firstStep, by: factor)
        let last = Self.floor(firstStep + Int64(counts.count) - 1, by: factor)
        var coarse = [UInt64](repeating: 0, count: Int(last - first) + 1)
        for (index, count) in counts.enumerated() {
            coarse[Int(Self.floor(firstStep + Int64(index), by: factor) - first)] += count
        }
        (counts, firstStep, stepMilliseconds) = (coarse, first, length)
    }

    /// Returns the timeline with at most the given number of steps, but at least two.
    func narrowed(to maximumSteps: Int) -> Timeline {
        var narrow = self
        // Two steps on either side of 1970 never merge.
        while narrow.counts.count > max(2, maximumSteps) { narrow.coarsen() }
        return narrow
    }

    /// Returns the beginning of a step, in microseconds since 1970.
    func time(ofStep index: Int) -> Int64 { (firstStep + Int64(index)) &* stepMilliseconds &* 1_000 }

    static func floor(_ number: Int64, by divisor: Int64) -> Int64 {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
