import CStrataSodium

/// BLAKE2b-256 of bytes that arrive in pieces: the name under which an asset is stored.
///
/// ```swift
/// var hasher = ContentHasher()
/// hasher.update(piece)
/// let hash = hasher.finish()
/// ```
package struct ContentHasher: ~Copyable {
    package static let byteCount = 32
    /// The library's own structure, whose layout is opaque to Swift; owned by this value alone.
    private let memory: UnsafeMutableRawPointer
    private var state: OpaquePointer { OpaquePointer(memory) }

    package init() {
        Sodium.prepare()
        memory = .allocate(byteCount: crypto_generichash_blake2b_statebytes(), alignment: 64)
        crypto_generichash_blake2b_init(state, nil, 0, Self.byteCount)
    }

    deinit { memory.deallocate() }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        crypto_generichash_blake2b_update(
            state, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
    }

    package consuming func finish() -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: Self.byteCount)
        crypto_generichash_blake2b_final(state, &hash, Self.byteCount)
        return hash
    }
}
