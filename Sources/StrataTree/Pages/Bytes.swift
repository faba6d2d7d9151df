/// Compares raw bytes, inlined where the keys of a page are compared.
enum Bytes {
    /// Negative if `a` comes first, positive if `b` does. Compares byte by byte; a prefix comes before longer keys.
    @inline(__always)
    static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let common = min(a.count, b.count)
        let same = commonPrefix(a, b, limit: common)
        if same < common { return Int(a[same]) - Int(b[same]) }
        return a.count - b.count
    }

    /// The number of leading bytes that are equal.
    @inline(__always)
    static func commonPrefix(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        commonPrefix(a, b, limit: min(a.count, b.count))
    }

    @inline(__always)
    private static func commonPrefix(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, limit: Int) -> Int {
        var place = 0
        while place + 8 <= limit {
            let difference =
                a.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                ^ b.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            if difference != 0 { return place + UInt64(littleEndian: difference).trailingZeroBitCount / 8 }
            place += 8
        }
        while place < limit, a[place] == b[place] { place += 1 }
        return place
    }

    /// The first four bytes as a number with the same order; missing bytes count as zero.
    @inline(__always)
    static func head(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        if bytes.count >= 4 { return UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)) }
        var head: UInt32 = 0
        for index in 0..<4 { head = head << 8 | (index < bytes.count ? UInt32(bytes[index]) : 0) }
        return head
    }

    /// Loads a number as stored in a file. The caller ensures that `place` is within the bytes.
    @inline(__always)
    static func load<Number: FixedWidthInteger>(
        _: Number.Type, _ bytes: UnsafeRawBufferPointer, at place: Int
    ) -> Number {
        Number(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Number.self))
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes from `start` on.
    @inline(__always)
    func dropping(_ start: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self[start...]) }

    @inline(__always)
    func keeping(_ count: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self[..<count]) }
}
