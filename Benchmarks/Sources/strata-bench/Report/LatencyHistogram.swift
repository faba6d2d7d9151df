/// Counts of times in steps that grow with the time, by at most 3 %. Adding one allocates nothing.
struct LatencyHistogram: Sendable {
    private static let stepBits = 5
    private static let stepCount = 1 << stepBits
    /// 2^44 nanoseconds are almost five hours.
    private static let longest: UInt64 = 1 << 44 - 1

    private var counts = [UInt64](repeating: 0, count: Self.place(of: Self.longest) + 1)
    private(set) var total: UInt64 = 0

    mutating func add(nanoseconds: UInt64) {
        counts[Self.place(of: min(nanoseconds, Self.longest))] += 1
        total += 1
    }

    mutating func add(seconds: Double) { add(nanoseconds: UInt64(max(0, seconds) * 1e9)) }

    mutating func add(_ other: Self) {
        for place in counts.indices { counts[place] += other.counts[place] }
        total += other.total
    }

    private static func place(of nanoseconds: UInt64) -> Int {
        guard nanoseconds >= stepCount else { return Int(nanoseconds) }
        let shift = 63 - nanoseconds.leadingZeroBitCount - stepBits
        return (shift + 1) << stepBits + Int(nanoseconds >> UInt64(shift)) & (stepCount - 1)
    }

    /// The largest time that falls into a place.
    private static func end(of place: Int) -> UInt64 {
        guard place >= stepCount else { return UInt64(place) }
        let shift = UInt64(place >> stepBits - 1)
        return (UInt64(place & (stepCount - 1) + stepCount) + 1) << shift - 1
    }

    /// Returns the time within which a part of the operations was done, in microseconds; 0 if there were none.
    func microseconds(of part: Double) -> Double {
        var rest = max(1, UInt64((Double(total) * part).rounded(.up)))
        for (place, count) in counts.enumerated() where count > 0 {
            if count >= rest { return Double(Self.end(of: place)) / 1e3 }
            rest -= count
        }
        return 0
    }

    /// The histogram as numbers, for another process.
    var words: [UInt64] { counts.enumerated().filter { $1 > 0 }.flatMap { [UInt64($0), $1] } }

    init() {}

    init?(words: [UInt64]) {
        guard words.count.isMultiple(of: 2) else { return nil }
        for pair in stride(from: 0, to: words.count, by: 2) {
            guard words[pair] < UInt64(counts.count) else { return nil }
            counts[Int(words[pair])] += words[pair + 1]
            total += words[pair + 1]
        }
    }
}
