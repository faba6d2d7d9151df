/// How many, and how many bytes they have.
struct Tally: Sendable, Equatable {
    var count: UInt64 = 0
    var byteCount: UInt64 = 0

    mutating func add(bytes: Int) {
        count += 1
        byteCount += UInt64(bytes)
    }
}

/// Tallies by key, of so many keys at most: memory is bounded whatever a log holds.
struct TallyTable<Key: Hashable & Sendable>: Sendable {
    private let maximumKeys: Int
    private(set) var tallies: [Key: Tally] = [:]
    /// Of all keys that came when there were as many as there may be.
    private(set) var others = Tally()

    init(maximumKeys: Int = 1 << 17) { self.maximumKeys = maximumKeys }

    mutating func add(_ key: Key, bytes: Int) {
        if tallies[key] == nil, tallies.count >= maximumKeys {
            others.add(bytes: bytes)
        } else {
            tallies[key, default: Tally()].add(bytes: bytes)
        }
    }

    /// Those that came most often first, the same ones in the order that is given.
    func sorted(by areInOrder: (Key, Key) -> Bool) -> [(key: Key, value: Tally)] {
        tallies.sorted { left, right in
            left.value.count == right.value.count
                ? areInOrder(left.key, right.key) : left.value.count > right.value.count
        }
    }
}

/// Counts by time in steps of the same length. It begins with hours; where there are too many of them, two become one.
struct Timeline: Sendable {
    static let hourMicroseconds: Int64 = 3_600_000_000
    private static let maximumSteps = 4_096

    /// How many hours a step has, a power of two.
    private(set) var stepHours: Int64 = 1
    /// The first step, counted in steps since 1970.
    private(set) var firstStep: Int64 = 0
    private(set) var counts: [UInt64] = []

    /// - Parameter time: not before the one of the call before.
    mutating func add(_ time: Int64) {
        let hour = Self.floor(time, by: Self.hourMicroseconds)
        var step = Self.floor(hour, by: stepHours)
        if counts.isEmpty { firstStep = step }
        while step - firstStep >= Int64(Self.maximumSteps) {
            halve()
            step = Self.floor(hour, by: stepHours)
        }
        let index = Int(max(0, step - firstStep))
        if index >= counts.count { counts += repeatElement(0, count: index + 1 - counts.count) }
        counts[index] += 1
    }

    /// Two steps become one.
    private mutating func halve() {
        let first = Self.floor(firstStep, by: 2)
        let last = Self.floor(firstStep + Int64(counts.count) - 1, by: 2)
        var halved = [UInt64](repeating: 0, count: Int(last - first) + 1)
        for (index, count) in counts.enumerated() {
            halved[Int(Self.floor(firstStep + Int64(index), by: 2) - first)] += count
        }
        (counts, firstStep, stepHours) = (halved, first, stepHours * 2)
    }

    /// The same in at most so many steps, two at least.
    func narrowed(to maximumSteps: Int) -> Timeline {
        var narrow = self
        // Two stay two where 1970 is between them.
        while narrow.counts.count > max(2, maximumSteps) { narrow.halve() }
        return narrow
    }

    /// When a step begins, in microseconds since 1970.
    func time(ofStep index: Int) -> Int64 { (firstStep + Int64(index)) &* stepHours &* Self.hourMicroseconds }

    static func floor(_ number: Int64, by divisor: Int64) -> Int64 {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
