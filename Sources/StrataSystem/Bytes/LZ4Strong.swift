import CStrataLZ4

/// Compresses harder than ``LZ4``, for data that is written once and read often. The blocks are decompressed alike.
package struct LZ4Strong: ~Copyable {
    /// Higher levels take more processor time for nearly the same size.
    private static let level: CInt = 3

    // Working memory, allocated once; LZ4 would allocate it for every block.
    private let state: UnsafeMutableRawPointer

    package init() { state = .allocate(byteCount: Int(LZ4_sizeofStateHC()), alignment: 16) }

    deinit { state.deallocate() }

    /// Like ``LZ4/compress(_:into:)``.
    package mutating func compress(
        _ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) -> Int? {
        precondition(source.count <= LZ4.maximumInputBytes, "an LZ4 block must have an upper bound")
        let count = LZ4_compress_HC_extStateHC(
            state, source.baseAddress?.assumingMemoryBound(to: CChar.self),
            target.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(source.count), CInt(clamping: target.count),
            Self.level)
        return count > 0 ? Int(count) : nil
    }
}
