/// Determines which records a sealed segment does not touch (docs/format.md §25, "Filter").
enum NameFilter {
    static let groupBytes = 64
    static let groupsPerBlock = 512
    /// Gives a false-positive rate of about 1 %.
    private static let bitsPerName = 10
    private static let bitsSet = 6

    /// Returns the hash that determines the bits of a record.
    static func hash(zone: UInt64, name: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        var rest = zone
        while rest >= 0x80 {
            add(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        add(UInt8(rest))
        for byte in name { add(byte) }
        hash ^= hash >> 33
        hash = hash &* 0xFF51_AFD7_ED55_8CCD
        hash ^= hash >> 33
        hash = hash &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }

    static func groupCount(names: Int) -> Int {
        (names * bitsPerName + groupBytes * 8 - 1) / (groupBytes * 8)
    }

    static func group(of hash: UInt64, count: Int) -> Int { Int(((hash >> 32) * UInt64(count)) >> 32) }

    @inline(__always)
    private static func forEachBit(of hash: UInt64, _ body: (_ byte: Int, _ mask: UInt8) -> Bool) -> Bool {
        var rest = hash &* 0x9E37_79B9_7F4A_7C15
        for _ in 0..<bitsSet {
            let bit = Int(rest & 511)
            if !body(bit >> 3, 1 << UInt8(bit & 7)) { return false }
            rest >>= 9
        }
        return true
    }

    static func insert(_ hash: UInt64, intoGroup group: UnsafeMutableRawBufferPointer) {
        _ = forEachBit(of: hash) { byte, mask in
            group[byte] |= mask
            return true
        }
    }

    static func mayContain(_ hash: UInt64, inGroup group: UnsafeRawBufferPointer) -> Bool {
        forEachBit(of: hash) { byte, mask in group[byte] & mask != 0 }
    }

    /// Returns the bodies of the filter's blocks, in order.
    ///
    /// - Parameter hashes: the hashes of distinct records.
    static func blocks(of hashes: [UInt64]) -> [[UInt8]] {
        let count = groupCount(names: hashes.count)
        var bits = [UInt8](repeating: 0, count: count * groupBytes)
        bits.withUnsafeMutableBytes { bits in
            for hash in hashes {
                let start = group(of: hash, count: count) * groupBytes
                insert(hash, intoGroup: UnsafeMutableRawBufferPointer(rebasing: bits[start..<start + groupBytes]))
            }
        }
        let blockBytes = groupsPerBlock * groupBytes
        return stride(from: 0, to: bits.count, by: blockBytes).map {
            Array(bits[$0..<min($0 + blockBytes, bits.count)])
        }
    }
}
