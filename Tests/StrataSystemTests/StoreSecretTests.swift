import StrataModel
import StrataSystem
import Testing

/// The secret of a store: what it seals, and what it opens.
@Suite struct StoreSecretTests {
    private let secret = StoreSecret(number: 1, key: [UInt8](0..<32))

    private func opens(_ bytes: [UInt8], _ purpose: StoreSecret.Purpose = .changeToken) -> Bool {
        do { _ = try secret.open(bytes, as: purpose, "a test") } catch {
            #expect((error as? StrataError)?.code == .malformed, "\(error)")
            return false
        }
        return true
    }

    /// Computed by another implementation, Python's `hashlib.blake2b(…, digest_size=16, key=bytes(range(32)))`.
    @Test func `The hash is the keyed BLAKE2b of the purpose and the bytes`() {
        func text(_ bytes: [UInt8]) -> String {
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        #expect(text(secret.hash(.changeToken, [])) == "8602f18f57f3dadb9324b47adcb676d1")
        #expect(text(secret.hash(.userRecord, Array("anna".utf8))) == "a29bb6ab1d06d9e85252d98b7589972b")
        let long = [UInt8](repeating: 7, count: 300)
        #expect(text(secret.hash(.queryCursor, long)) == "8f1b9c0ff7370ee1fc51a3997e15164f")
    }

    @Test func `Sealed bytes open, with the payload that they had`() throws {
        for number in [1, 127, 128, UInt64.max >> 1] {
            let secret = StoreSecret(number: number, key: secret.key)
            for payload in [[], [0], Array(repeating: 2, count: 500)] as [[UInt8]] {
                let sealed = secret.seal(payload, as: .queryCursor)
                #expect(try secret.open(sealed, as: .queryCursor, "a test") == payload)
                #expect(try StoreSecret.unverifiedPayload(of: sealed, "a test") == payload)
                #expect(sealed.first == 2 && sealed.count <= payload.count + 26)
            }
        }
    }

    @Test func `Every other byte, purpose, number and key opens nothing`() {
        let sealed = secret.seal([3, 1, 4, 1, 5], as: .changeToken)
        #expect(opens(sealed), "canary")
        for place in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[place] ^= 1 << UInt8(bit)
                #expect(!opens(changed), "bit \(bit) of byte \(place)")
            }
            #expect(!opens(Array(sealed[..<place])) && !opens(sealed + sealed[...place]))
        }
        for purpose in [StoreSecret.Purpose.queryCursor, .shareURL, .oneTimeURL, .userRecord] {
            #expect(!opens(sealed, purpose) && !opens(secret.seal([3], as: purpose)))
        }
        #expect(!opens(StoreSecret(number: 2, key: secret.key).seal([3], as: .changeToken)))
        #expect(!opens(StoreSecret(number: 1, key: secret.key.reversed()).seal([3], as: .changeToken)))
        // A number that does not end, with a seal that fits.
        let endless = [2] + [UInt8](repeating: 0xFF, count: 12)
        #expect(!opens(endless + secret.hash(.changeToken, endless)))
        #expect(!opens([2] + secret.hash(.changeToken, [2])))
    }

    @Test func `What is printed of a secret is its number`() {
        var text = ""
        dump(secret, to: &text)
        for shown in [text, "\(secret)", String(reflecting: secret), String(describing: [secret])] {
            #expect(shown.contains("1") && !shown.contains("31") && !shown.contains("30"), "\(shown)")
        }
    }

    @Test func `Each store draws its own`() {
        let random = SeededRandom(seed: 3)
        let drawn = (0..<50).map { _ in StoreSecret(from: random).key }
        #expect(Set(drawn).count == 50 && drawn.allSatisfy { $0.count == StoreSecret.byteCount })
    }
}
