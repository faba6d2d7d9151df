import Testing

@testable import StrataSystem

/// What is asked of libsodium is what its authors publish: the numbers are those of the specifications.
@Suite("Cryptography")
struct CryptographyTests {
    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).map { place in
            UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }

    private func hash(_ pieces: [UInt8]...) -> [UInt8] {
        var hasher = ContentHasher()
        for piece in pieces { piece.withUnsafeBytes { hasher.update($0) } }
        return hasher.finish()
    }

    @Test("A content hash is BLAKE2b-256, however the bytes come")
    func hashes() {
        let empty = bytes("0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8")
        let abc = bytes("bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319")
        #expect(hash() == empty)
        #expect(hash(Array("abc".utf8)) == abc)
        #expect(hash(Array("a".utf8), [], Array("bc".utf8)) == abc)
    }

    @Test("A text is sealed as XChaCha20-Poly1305 says (draft-irtf-cfrg-xchacha-03, A.3.1)")
    func seals() {
        let text = Array(
            """
            Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, \
            sunscreen would be it.
            """.utf8)
        let cipher = AuthenticatedCipher(key: (0x80...0x9f).map { UInt8($0) })
        let nonce = (0x40...0x57).map { UInt8($0) }
        let place = bytes("50515253c0c1c2c3c4c5c6c7")
        let sealed = cipher.seal(text, nonce: nonce, bound: place)
        #expect(sealed.count == text.count + AuthenticatedCipher.tagBytes)
        #expect(Array(sealed.prefix(8)) == bytes("bd6d179d3e83d43b"))
        #expect(Array(sealed.suffix(16)) == bytes("c0875924c1c7987947deafd8780acf49"))
        #expect(cipher.open(sealed, nonce: nonce, bound: place) == text)
    }

    @Test("What was changed, belongs elsewhere or was sealed with another key does not open")
    func refuses() {
        let cipher = AuthenticatedCipher(key: Array(repeating: 7, count: 32))
        let nonce = Array(repeating: UInt8(9), count: 24)
        let sealed = cipher.seal([1, 2, 3], nonce: nonce, bound: [4])
        #expect(cipher.open(sealed, nonce: nonce, bound: [4]) == [1, 2, 3])
        for place in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[place] ^= 1 << UInt8(bit)
                #expect(cipher.open(changed, nonce: nonce, bound: [4]) == nil)
            }
        }
        #expect(cipher.open(sealed, nonce: nonce, bound: [5]) == nil)
        #expect(cipher.open(sealed, nonce: Array(repeating: 8, count: 24), bound: [4]) == nil)
        #expect(cipher.open(sealed, nonce: [1], bound: [4]) == nil)
        #expect(AuthenticatedCipher(key: Array(repeating: 6, count: 32)).open(sealed, nonce: nonce, bound: [4]) == nil)
        #expect(cipher.open(Array(sealed.prefix(15)), nonce: nonce, bound: [4]) == nil)
        #expect(cipher.open(cipher.seal([], nonce: nonce, bound: []), nonce: nonce, bound: []) == [])
    }
}
