import CStrataSodium

/// XChaCha20-Poly1305: without the key, sealed bytes can neither be read nor be changed unnoticed.
///
/// ```swift
/// let cipher = AuthenticatedCipher(key: key)
/// let sealed = cipher.seal(text, nonce: nonce, bound: place)
/// let text = cipher.open(sealed, nonce: nonce, bound: place)
/// ```
package struct AuthenticatedCipher: Sendable {
    package static let keyBytes = 32
    package static let nonceBytes = 24
    /// The number of bytes by which sealed bytes exceed the text.
    package static let tagBytes = 16

    private let key: [UInt8]

    /// - Parameter key: ``keyBytes`` random bytes.
    package init(key: [UInt8]) {
        precondition(key.count == Self.keyBytes, "a key must have 32 bytes")
        Sodium.prepare()
        self.key = key
    }

    /// - Parameters:
    ///   - nonce: ``nonceBytes`` bytes that were never used with this key; random ones are sufficient.
    ///   - place: the place that the text is bound to; the text opens there and nowhere else.
    package func seal(_ text: [UInt8], nonce: [UInt8], bound place: [UInt8]) -> [UInt8] {
        precondition(nonce.count == Self.nonceBytes, "a nonce must have 24 bytes")
        var sealed = [UInt8](repeating: 0, count: text.count + Self.tagBytes)
        crypto_aead_xchacha20poly1305_ietf_encrypt(
            &sealed, nil, text, UInt64(text.count), place, UInt64(place.count), nil, nonce, key)
        return sealed
    }

    /// Returns the text; nil if the key, the nonce or the place differs, or a bit was changed.
    package func open(_ sealed: [UInt8], nonce: [UInt8], bound place: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.tagBytes, nonce.count == Self.nonceBytes else { return nil }
        // One byte more than needed, so that an empty text also has memory to point to.
        var text = [UInt8](repeating: 0, count: sealed.count - Self.tagBytes + 1)
        let result = crypto_aead_xchacha20poly1305_ietf_decrypt(
            &text, nil, nil, sealed, UInt64(sealed.count), place, UInt64(place.count), nonce, key)
        text.removeLast()
        return result == 0 ? text : nil
    }
}
