import CStrataSodium
import StrataModel

/// The secret of a store, which keys everything that a client holds and must not be able to make (docs/security.md).
package struct StoreSecret: Sendable, Hashable {
    package static let byteCount = SecretDrawnEvent.byteCount
    package static let hashBytes = 16
    private static let sealForm: UInt8 = 2

    /// The purpose of a hash. Hashes of different purposes say nothing about each other.
    package enum Purpose: UInt8, Sendable {
        case changeToken = 1
        case queryCursor = 2
        case shareURL = 3
        case oneTimeURL = 4
        case userRecord = 5
    }

    /// The number that sealed bytes name, so that a later secret can replace this one.
    package let number: UInt64
    package let key: [UInt8]

    package init(number: UInt64, key: [UInt8]) {
        precondition(key.count == Self.byteCount, "a store's secret has \(Self.byteCount) bytes, not \(key.count)")
        self.number = number
        self.key = key
    }

    /// The error of a store that has no secret and only reads.
    package static var missing: StrataError {
        StrataError(
            .notFound, "The store has no secret yet, so it makes no change tokens. Open it once for writing.")
    }

    /// Draws a secret for a store that has none.
    package init(from random: any RandomSource) {
        self.init(number: 1, key: random.nextBytes(count: Self.byteCount))
    }

    /// Returns the keyed BLAKE2b-128 of a purpose and bytes.
    package func hash(_ purpose: Purpose, _ bytes: [UInt8]) -> [UInt8] {
        Sodium.prepare()
        let input = [purpose.rawValue] + bytes
        var hash = [UInt8](repeating: 0, count: Self.hashBytes)
        crypto_generichash_blake2b(&hash, hash.count, input, UInt64(input.count), key, key.count)
        return hash
    }

    /// Returns a payload between a head, which names the form and the secret, and a keyed hash of both.
    package func seal(_ payload: [UInt8], as purpose: Purpose) -> [UInt8] {
        var writer = ByteWriter(reserving: payload.count + Self.hashBytes + 4)
        writer.append(Self.sealForm)
        writer.appendVarint(number)
        writer.append(bytes: payload)
        writer.append(bytes: hash(purpose, writer.bytes))
        return writer.bytes
    }

    /// Returns the payload of bytes that this secret sealed for the purpose.
    ///
    /// - Throws: `.malformed` for all other bytes.
    package func open(_ bytes: [UInt8], as purpose: Purpose, _ what: StaticString) throws -> [UInt8] {
        let (sealedBy, payload) = try Self.parts(of: bytes, what)
        let end = bytes.count - Self.hashBytes
        guard sealedBy == number, areEqual(hash(purpose, Array(bytes[..<end])), Array(bytes[end...])) else {
            throw StrataError(
                .malformed, "This store did not seal the bytes, or they were changed.", .init(expected: "\(what)"))
        }
        return payload
    }

    /// Returns the payload of sealed bytes without a check of their seal: anybody may have made it.
    ///
    /// - Throws: `.malformed` for bytes of another form.
    package static func unverifiedPayload(of bytes: [UInt8], _ what: StaticString) throws -> [UInt8] {
        try parts(of: bytes, what).payload
    }

    private static func parts(
        of bytes: [UInt8], _ what: StaticString
    ) throws -> (number: UInt64, payload: [UInt8]) {
        guard hasForm(bytes) else {
            throw StrataError(
                .malformed, "The bytes are not sealed.", .init(expected: "\(what)", found: "\(bytes.count) bytes"))
        }
        return try bytes.withUnsafeBytes { raw in
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: raw[1..<raw.count - hashBytes]))
            let number = try reader.readVarint("the number of a secret")
            return (number, Array(reader.readRemainingBytes()))
        }
    }

    /// True if the first byte and the length are those of sealed bytes.
    package static func hasForm(_ bytes: [UInt8]) -> Bool { bytes.first == sealForm && bytes.count > hashBytes + 1 }

    /// Compares without telling by its time where the bytes differ.
    private func areEqual(_ hash: [UInt8], _ other: [UInt8]) -> Bool {
        hash.count == other.count && sodium_memcmp(hash, other, hash.count) == 0
    }
}

extension SecretDrawnEvent {
    package init(_ secret: StoreSecret) { self.init(number: secret.number, secret: secret.key) }
}

extension StoreSecret: CustomStringConvertible, CustomReflectable {
    /// The number alone, so that no message, dump or log shows the key.
    package var description: String { "secret \(number)" }
    package var customMirror: Mirror { Mirror(self, children: ["number": number]) }
}
