import CStrataLZ4

/// Compression and decompression of LZ4 blocks.
package enum LZ4 {
    /// The largest input that one block can hold.
    package static let maximumInputBytes = Int(LZ4_MAX_INPUT_SIZE)

    /// Compresses into `target` and returns the size of the block; nil if it does not fit. The size of `target` is the
    /// caller's limit for what is worth compressing.
    package static func compress(_ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Int? {
        precondition(source.count <= maximumInputBytes, "an LZ4 block must have an upper bound")
        let count = LZ4_compress_default(
            source.baseAddress?.assumingMemoryBound(to: CChar.self),
            target.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(source.count),
            CInt(clamping: target.count))
        return count > 0 ? Int(count) : nil
    }

    /// Decompresses a block that must yield exactly `target.count` bytes; returns false if it does not. Safe for any
    /// input.
    package static func decompress(
        _ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard source.count <= Int(CInt.max), target.count <= Int(CInt.max) else { return false }
        let count = LZ4_decompress_safe(
            source.baseAddress?.assumingMemoryBound(to: CChar.self),
            target.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(source.count), CInt(target.count))
        return count == CInt(target.count)
    }
}
