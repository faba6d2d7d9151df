/// A set of sector numbers, as bits.
struct SectorSet: Sequence {
    private var words: [UInt64] = []

    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    func contains(_ sector: Int) -> Bool {
        sector / 64 < words.count && words[sector / 64] >> UInt64(sector % 64) & 1 == 1
    }

    mutating func insert(_ sectors: Range<Int>) {
        guard !sectors.isEmpty else { return }
        let missing = (sectors.upperBound + 63) / 64 - words.count
        if missing > 0 { words.append(contentsOf: repeatElement(0, count: missing)) }
        Self.forEachMask(of: sectors) { words[$0] |= $1 }
    }

    mutating func remove(_ sectors: Range<Int>) {
        Self.forEachMask(of: sectors.clamped(to: 0..<words.count * 64)) { words[$0] &= ~$1 }
    }

    mutating func removeAll() { words.removeAll(keepingCapacity: true) }

    mutating func formUnion(_ other: SectorSet) {
        if other.words.count > words.count {
            words.append(contentsOf: repeatElement(0, count: other.words.count - words.count))
        }
        for index in other.words.indices { words[index] |= other.words[index] }
    }

    private static func forEachMask(of sectors: Range<Int>, _ body: (Int, UInt64) -> Void) {
        var sector = sectors.lowerBound
        while sector < sectors.upperBound {
            let count = Swift.min(64 - sector % 64, sectors.upperBound - sector)
            let ones = count == 64 ? UInt64.max : (1 << UInt64(count)) - 1
            body(sector / 64, ones << UInt64(sector % 64))
            sector += count
        }
    }
}

extension SectorSet {
    /// Gives the sectors in ascending order.
    struct Iterator: IteratorProtocol {
        fileprivate let words: [UInt64]
        fileprivate var index = -1
        fileprivate var rest: UInt64 = 0

        mutating func next() -> Int? {
            while rest == 0 {
                index += 1
                guard index < words.count else { return nil }
                rest = words[index]
            }
            defer { rest &= rest - 1 }
            return index * 64 + rest.trailingZeroBitCount
        }
    }

    func makeIterator() -> Iterator { Iterator(words: words) }
}
