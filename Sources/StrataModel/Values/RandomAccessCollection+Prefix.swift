extension RandomAccessCollection where Index == Int {
    /// Returns the index after the elements that meet a condition, which come before all others.
    @inlinable
    package func endOfPrefix(where isInPrefix: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isInPrefix(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
