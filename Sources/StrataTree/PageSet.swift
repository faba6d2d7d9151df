/// Numbers of pages, a bit for each.
struct PageSet {
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

    mutating func remove(_ number: PageNumber) {
        let word = Int(number >> 6)
        guard word < words.count else { return }
        let bit = UInt64(1) << UInt64(number & 63)
        if words[word] & bit != 0 { count -= 1 }
        words[word] &= ~bit
    }

    /// In ascending order.
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
}
