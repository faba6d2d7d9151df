import StrataLog
import TestSupport
import Testing

@Suite("Sets of offsets")
struct OffsetRangesTests {
    @Test("Ranges that touch or overlap become one, in whatever order they come")
    func merging() {
        var offsets = OffsetRanges([5...6, 1...2])
        #expect(offsets.ranges == [1...2, 5...6] && offsets.description == "1 to 2, 5 to 6")
        offsets.insert(3)
        #expect(offsets.ranges == [1...3, 5...6])
        offsets.insert(4)
        #expect(offsets.ranges == [1...6] && offsets.count == 6)
        offsets.insert(0...10)
        offsets.insert(12)
        #expect(offsets.description == "0 to 10, 12")
        #expect(offsets.contains(12) && !offsets.contains(11))
        #expect(OffsetRanges().isEmpty && OffsetRanges().description.isEmpty)
    }

    @Test("What is missing of a range")
    func missing() {
        let offsets = OffsetRanges([3...4, 8...9])
        #expect(offsets.missing(in: 1...10).ranges == [1...2, 5...7, 10...10])
        #expect(offsets.missing(in: 3...4).isEmpty)
        #expect(offsets.missing(in: 4...8).ranges == [5...7])
        #expect(offsets.missing(in: 20...21).ranges == [20...21])
    }

    @Test("It agrees with a plain set", arguments: seeds(20))
    func plainSet(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var offsets = OffsetRanges()
        var plain: Set<UInt64> = []
        for _ in 0..<30 {
            let low = UInt64(generator.next(below: 60))
            let range = low...low + UInt64(generator.next(below: 4))
            offsets.insert(range)
            plain.formUnion(range)
            #expect(Set(offsets.ranges.joined()) == plain && offsets.count == UInt64(plain.count))
            #expect(zip(offsets.ranges, offsets.ranges.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound })
            #expect(Set(offsets.missing(in: 5...55).ranges.joined()) == Set(5...55).subtracting(plain))
        }
    }
}
