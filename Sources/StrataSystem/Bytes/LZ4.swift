import CLZ4

/// LZ4 blocks.
public enum LZ4 {
    /// Largest input that one block can hold.
    public static let maximumInputBytes = Int(LZ4_MAX_INPUT_SIZE)

    /// How large a block of `count` bytes can become at worst.
    public static func bound(_ count: Int) -> Int {
        precondition(count <= maximumInputBytes, "an LZ4 block has an upper bound")
        return Int(LZ4_compressBound(CInt(count)))
    }

    /// Compresses into `target`; nil if the block would not fit there, which is how a caller says what pays.
    public static func compress(_ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Int? {
        precondition(source.count <= maximumInputBytes, "an LZ4 block has an upper bound")
        let count = LZ4_compress_default(
            source.baseAddress?.assumingMemoryBound(to: CChar.self),
            target.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(source.count),
            CInt(clamping: target.count))
        return count > 0 ? Int(count) : nil
    }

    /// Decompresses a block that must give exactly as many bytes as `target` has; false if it does not. Any input is
    /// safe.
    public static func decompress(
        _ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard source.count <= Int(CInt.max), target.count <= Int(CInt.max) else { return false }
        let count = LZ4_decompress_safe(
            source.baseAddress?.assumingMemoryBound(to: CChar.self),
            target.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(source.count), CInt(target.count))
        return count == CInt(target.count)
    }
}
