import CStrataSodium

/// SHA-256, for formats that require it. The log's own contents are hashed by ``ContentHasher``.
package enum SHA256 {
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: crypto_hash_sha256_bytes())
        crypto_hash_sha256(&hash, bytes, UInt64(bytes.count))
        return hash
    }
}
