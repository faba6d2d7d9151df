/// A set of page numbers, with one bit for each.
struct PageSet: Sendable {
    private var words: [UInt64] = []
    private(set) var count = 0

    func contains(_ number: PageNumber) -> Bool {
        let word = Int(number >> 6)
        return word < words.count && words[word] & (1 << UInt64(number & 63)) != 0
    }

    mutating func insert(_ number: PageNumber) {
        let word = Int(number >> 6)
        if word >= words.count { words += repeatElement(0, count: max(word + 1, 2 * words.count) - words.count) }
        let bit = UInt64(1) << UInt64(number & 63)
        if words[word] & bit == 0 { count += 1 }
        words[word] |= bit
    }

    mutating func insert(_ range: Range<PageNumber>) {
        for number in range { insert(number) }
    }

    mutating func remove(_ number: PageNumber) {
        let word = Int(number >> 6)
        guard word < words.count else { return }
        let bit = UInt64(1) << UInt64(number & 63)
        if words[word] & bit != 0 { count -= 1 }
        words[word] &= ~bit
    }

    mutating func remove(_ range: Range<PageNumber>) {
        for number in range { remove(number) }
    }

    mutating func formUnion(_ other: PageSet) {
        if words.count < other.words.count {
            words += repeatElement(0, count: other.words.count - words.count)
        }
        for index in other.words.indices {
            count += (other.words[index] & ~words[index]).nonzeroBitCount
            words[index] |= other.words[index]
        }
    }

    mutating func subtract(_ other: PageSet) {
        for index in 0..<min(words.count, other.words.count) {
            count -= (words[index] & other.words[index]).nonzeroBitCount
            words[index] &= ~other.words[index]
        }
    }

    /// The numbers in ascending order.
    var numbers: [PageNumber] {
        var numbers: [PageNumber] = []
        numbers.reserveCapacity(count)
        for (index, word) in words.enumerated() where word != 0 {
            var rest = word
            while rest != 0 {
                numbers.append(PageNumber(index * 64 + rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
        return numbers
    }

    // MARK: Runs

    var runCount: Int {
        var runs = 0
        var carry: UInt64 = 0
        for word in words {
            // Counts the set bits that follow a clear bit.
            runs += (word & ~(word << 1 | carry)).nonzeroBitCount
            carry = word >> 63
        }
        return runs
    }

    /// Calls `body` with as few runs as possible, in ascending order.
    func forEachRun(_ body: (PageRun) throws -> Void) rethrows {
        var open: Range<Int>?
        for (index, word) in words.enumerated() where word != 0 {
            var place = 0
            while place < 64 {
                let rest = word >> UInt64(place)
                if rest == 0 { break }
                let start = place + rest.trailingZeroBitCount
                let length = (~(word >> UInt64(start))).trailingZeroBitCount
                place = min(start + length, 64)
                let run = index * 64 + start..<index * 64 + place
                if let before = open, before.upperBound == run.lowerBound {
                    open = before.lowerBound..<run.upperBound
                } else {
                    if let before = open { try body(PageRun(before)) }
                    open = run
                }
            }
        }
        if let open { try body(PageRun(open)) }
    }
}

extension PageRun {
    fileprivate init(_ range: Range<Int>) {
        self.init(first: PageNumber(range.lowerBound), count: range.count)
    }
}

extension PageSet: Equatable {
    static func == (one: PageSet, other: PageSet) -> Bool {
        let (short, long) = one.words.count < other.words.count ? (one, other) : (other, one)
        // The counts are equal, and the longer set has all numbers of the shorter one.
        return one.count == other.count && zip(short.words, long.words).allSatisfy { $0 == $1 }
    }
}
