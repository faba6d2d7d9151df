import StrataModel

/// Hashes for digests (docs/format-keys.md §5): MurmurHash3, x64, 128 bits, with a seed of 128 bits.
package enum DigestHash {
    private static let c1: UInt64 = 0x87C3_7B91_1142_53D5
    private static let c2: UInt64 = 0x4CF5_AD43_2745_937F

    package static func hash(_ seed: UInt128, _ bytes: UnsafeRawBufferPointer) -> UInt128 {
        var h1 = UInt64(truncatingIfNeeded: seed)
        var h2 = UInt64(truncatingIfNeeded: seed >> 64)
        var place = 0
        while place + 16 <= bytes.count {
            let k1 = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            let k2 = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place + 8, as: UInt64.self))
            h1 ^= rotate(k1 &* c1, 31) &* c2
            h1 = (rotate(h1, 27) &+ h2) &* 5 &+ 0x52DC_E729
            h2 ^= rotate(k2 &* c2, 33) &* c1
            h2 = (rotate(h2, 31) &+ h1) &* 5 &+ 0x3849_5AB5
            place += 16
        }
        let (k1, k2) = tail(bytes, from: place)
        h2 ^= rotate(k2 &* c2, 33) &* c1
        h1 ^= rotate(k1 &* c1, 31) &* c2
        h1 ^= UInt64(bytes.count)
        h2 ^= UInt64(bytes.count)
        h1 = h1 &+ h2
        h2 = h2 &+ h1
        h1 = mix(h1)
        h2 = mix(h2)
        h1 = h1 &+ h2
        h2 = h2 &+ h1
        return UInt128(h2) << 64 | UInt128(h1)
    }

    /// Returns the last bytes, up to fifteen, as two numbers.
    private static func tail(_ bytes: UnsafeRawBufferPointer, from place: Int) -> (UInt64, UInt64) {
        let count = bytes.count - place
        if count == 0 { return (0, 0) }
        if bytes.count >= 8 {
            // The last eight bytes, some of which have been hashed already.
            let last = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self))
            if count <= 8 { return (last >> UInt64(8 * (8 - count)), 0) }
            let first = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            return (first, last >> UInt64(8 * (16 - count)))
        }
        var number: UInt64 = 0
        for index in place..<bytes.count { number |= UInt64(bytes[index]) << UInt64(8 * (index - place)) }
        return (number, 0)
    }

    package static func hash(_ seed: UInt128, text: String) -> UInt128 {
        var text = text
        return text.withUTF8 { hash(seed, UnsafeRawBufferPointer($0)) }
    }

    /// Returns the hash of numbers of eight bytes each. A hash is passed as two of them, its low half first.
    static func hash<let count: Int>(_ seed: UInt128, words: InlineArray<count, UInt64>) -> UInt128 {
        var words = words
        for index in words.indices { words[index] = words[index].littleEndian }
        return words.span.withUnsafeBytes { hash(seed, $0) }
    }

    private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 { value << count | value >> (64 - count) }

    private static func mix(_ value: UInt64) -> UInt64 {
        var value = value
        value ^= value >> 33
        value = value &* 0xFF51_AFD7_ED55_8CCD
        value ^= value >> 33
        value = value &* 0xC4CE_B9FE_1A85_EC53
        return value ^ value >> 33
    }
}

extension UInt128 {
    var low: UInt64 { UInt64(truncatingIfNeeded: self) }
    var high: UInt64 { UInt64(truncatingIfNeeded: self >> 64) }
}
