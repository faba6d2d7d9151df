/// MurmurHash3, x64, 128 bits, as its author describes it: for comparison, and slow.
enum PlainHash {
    typealias Value = (low: UInt64, high: UInt64)

    static func hash(_ bytes: [UInt8], seed: UInt128 = 0) -> UInt128 {
        let (c1, c2): (UInt64, UInt64) = (0x87c3_7b91_1142_53d5, 0x4cf5_ad43_2745_937f)
        var h: Value = (UInt64(truncatingIfNeeded: seed), UInt64(truncatingIfNeeded: seed >> 64))
        let blocks = bytes.count / 16
        for block in 0..<blocks {
            let (k1, k2) = (number(bytes, block * 16, 8), number(bytes, block * 16 + 8, 8))
            h.low ^= turned(k1 &* c1, by: 31) &* c2
            h.low = turned(h.low, by: 27)
            h.low = (h.low &+ h.high) &* 5 &+ 0x52dce729
            h.high ^= turned(k2 &* c2, by: 33) &* c1
            h.high = turned(h.high, by: 31)
            h.high = (h.high &+ h.low) &* 5 &+ 0x38495ab5
        }
        let rest = bytes.count - blocks * 16
        if rest > 8 { h.high ^= turned(number(bytes, blocks * 16 + 8, rest - 8) &* c2, by: 33) &* c1 }
        if rest > 0 { h.low ^= turned(number(bytes, blocks * 16, min(rest, 8)) &* c1, by: 31) &* c2 }
        h.low ^= UInt64(bytes.count)
        h.high ^= UInt64(bytes.count)
        h.low = h.low &+ h.high
        h.high = h.high &+ h.low
        h = (finished(h.low), finished(h.high))
        h.low = h.low &+ h.high
        h.high = h.high &+ h.low
        return UInt128(h.high) << 64 + UInt128(h.low)
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> UInt64 {
        bytes[start..<start + count].reversed().reduce(0) { $0 << 8 + UInt64($1) }
    }

    private static func turned(_ value: UInt64, by count: UInt64) -> UInt64 { value << count + value >> (64 - count) }

    private static func finished(_ value: UInt64) -> UInt64 {
        var value = value
        for factor: UInt64 in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
            value ^= value >> 33
            value = value &* factor
        }
        return value ^ value >> 33
    }
}

/// What hashes are made of (docs/format-keys.md §5): numbers of eight bytes, hashes of sixteen, lowest byte first.
func plainBytes(_ number: UInt64) -> [UInt8] { (0..<8).map { UInt8(number >> (8 * $0) & 0xFF) } }
func plainBytes(_ hash: UInt128) -> [UInt8] { (0..<16).map { UInt8(hash >> (8 * $0) & 0xFF) } }
