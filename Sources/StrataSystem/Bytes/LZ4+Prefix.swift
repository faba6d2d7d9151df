extension LZ4 {
    /// Makes the block of `prefix` and the content of `block`, without decompressing it: a block begins with literals,
    /// to which the prefix is added, and its matches refer backward by distance.
    ///
    /// - Returns: the size of the new block; nil if it does not fit, or if `block` does not begin with literals.
    package static func prepend(
        _ prefix: UnsafeRawBufferPointer, to block: UnsafeRawBufferPointer,
        into target: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard let token = block.first else { return nil }
        var (literals, place) = (Int(token >> 4), 1)
        if literals == longCount {
            var byte: UInt8 = 255
            while byte == 255 {
                guard place < block.count else { return nil }
                byte = block[place]
                literals += Int(byte)
                place += 1
            }
        }
        guard literals <= block.count - place else { return nil }
        literals += prefix.count
        let rest = UnsafeRawBufferPointer(rebasing: block[place...])
        let countBytes = literals < longCount ? 0 : (literals - longCount) / 255 + 1
        let total = 1 + countBytes + prefix.count + rest.count
        guard total <= target.count else { return nil }
        target[0] = UInt8(min(literals, longCount)) << 4 | token & 0x0F
        if countBytes > 0 {
            for index in 1..<countBytes { target[index] = 255 }
            target[countBytes] = UInt8((literals - longCount) % 255)
        }
        UnsafeMutableRawBufferPointer(rebasing: target[(1 + countBytes)...]).copyMemory(from: prefix)
        UnsafeMutableRawBufferPointer(rebasing: target[(total - rest.count)...]).copyMemory(from: rest)
        return total
    }

    /// The number of literals from which on further bytes continue it.
    private static let longCount = 15
}
