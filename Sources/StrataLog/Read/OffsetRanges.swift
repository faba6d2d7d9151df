/// A set of offsets, stored as ranges.
///
/// ```swift
/// var offsets = OffsetRanges()
/// offsets.insert(3)
/// offsets.insert(4...9)
/// print(offsets)  // 3 to 9
/// ```
package struct OffsetRanges: Sendable, Equatable, CustomStringConvertible {
    /// In order, with at least one missing offset between any two.
    package private(set) var ranges: [ClosedRange<UInt64>] = []

    package init(_ ranges: [ClosedRange<UInt64>] = []) {
        for range in ranges { insert(range) }
    }

    package var isEmpty: Bool { ranges.isEmpty }
    package var count: UInt64 { ranges.reduce(0) { $0 + UInt64($1.count) } }

    package func contains(_ offset: UInt64) -> Bool { ranges.contains { $0.contains(offset) } }

    package mutating func insert(_ offset: UInt64) { insert(offset...offset) }

    package mutating func insert(_ range: ClosedRange<UInt64>) {
        // Offsets mostly come in order, and each continues the last range.
        if let last = ranges.last, range.lowerBound == last.upperBound + 1 {
            ranges[ranges.count - 1] = last.lowerBound...range.upperBound
            return
        }
        let touching = ranges.filter { $0.lowerBound <= range.upperBound + 1 && range.lowerBound <= $0.upperBound + 1 }
        let merged = touching.reduce(range) {
            min($0.lowerBound, $1.lowerBound)...max($0.upperBound, $1.upperBound)
        }
        ranges.removeAll { touching.contains($0) }
        let place = ranges.firstIndex { $0.lowerBound > merged.lowerBound } ?? ranges.count
        ranges.insert(merged, at: place)
    }

    /// Returns the offsets of `range` that are not in the set.
    package func missing(in range: ClosedRange<UInt64>) -> OffsetRanges {
        var missing = OffsetRanges()
        var next = range.lowerBound
        for known in ranges where known.upperBound >= next && known.lowerBound <= range.upperBound {
            if known.lowerBound > next { missing.insert(next...known.lowerBound - 1) }
            next = known.upperBound + 1
        }
        if next <= range.upperBound { missing.insert(next...range.upperBound) }
        return missing
    }

    /// `6 to 8, 12`.
    package var description: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
            .joined(separator: ", ")
    }
}
