import TestSupport
import Testing

@testable import StrataViews

@Suite("Hashes of digests")
struct PlainHashTests {
    // Published with the reference implementation's ports.
    private static let vectors: [(text: String, low: UInt64, high: UInt64)] = [
        ("", 0, 0),
        ("hello", 0xcbd8_a7b3_41bd_9b02, 0x5b1e_906a_48ae_1d19),
        ("hello, world", 0x342f_ac62_3a5e_bc8e, 0x4cdc_bc07_9642_414d),
        ("19 Jan 2038 at 3:14:07 AM", 0xb89e_5988_b737_affc, 0x664f_c295_0231_b2cb),
        ("The quick brown fox jumps over the lazy dog.", 0xcd99_481f_9ee9_02c9, 0x695d_a1a3_8987_b6e7),
    ]

    @Test("The published vectors")
    func vectors() {
        for (text, low, high) in Self.vectors {
            let expected = UInt128(high) << 64 | UInt128(low)
            #expect(PlainHash.hash(Array(text.utf8)) == expected, "\(text)")
            #expect(DigestHash.hash(0, text: text) == expected, "\(text)")
        }
    }

    @Test("Any bytes of any length with any seed")
    func anything() {
        var generator = SeededGenerator(seed: 1)
        for count in 0..<200 {
            let bytes = generator.nextBytes(count)
            let seed = UInt128(generator.next()) << 64 | UInt128(generator.next())
            #expect(bytes.withUnsafeBytes { DigestHash.hash(seed, $0) } == PlainHash.hash(bytes, seed: seed))
        }
    }
}
