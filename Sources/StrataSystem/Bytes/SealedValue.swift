import StrataModel

/// A value that a client keeps as bytes and gives back: a payload that the store's secret seals (docs/security.md §2).
package protocol SealedValue: Sendable {
    static var purpose: StoreSecret.Purpose { get }
    /// The name of the value, for errors.
    static var what: StaticString { get }
    /// The version of the payload, which is its first byte.
    static var version: UInt8 { get }
    /// The maximum length of the sealed bytes.
    static var maximumBytes: Int { get }

    /// Appends the payload behind its version.
    func append(to writer: inout ByteWriter)

    /// Reads the payload behind its version.
    ///
    /// - Throws: ``StrataError`` for bytes that are not a payload.
    init(from reader: inout ByteReader, _ payload: UnsafeRawBufferPointer) throws
}

extension SealedValue {
    package func sealed(by secret: StoreSecret) -> [UInt8] { secret.seal(payload(), as: Self.purpose) }

    /// - Throws: ``StrataError`` for bytes that the secret did not seal as such a value: `newerFormat` for those of
    ///   another release, otherwise `malformed`.
    package init(opening bytes: [UInt8], with secret: StoreSecret) throws {
        try Self.checkLength(of: bytes)
        try self.init(payload: secret.open(bytes, as: Self.purpose, Self.what))
    }

    /// Reads sealed bytes without the secret, for people who look at them and for bytes in the store's own log. They
    /// give no right.
    package init(unverified bytes: [UInt8]) throws {
        try Self.checkLength(of: bytes)
        try self.init(payload: StoreSecret.unverifiedPayload(of: bytes, Self.what))
    }

    package func payload() -> [UInt8] {
        var writer = ByteWriter(reserving: 128)
        writer.append(Self.version)
        append(to: &writer)
        return writer.bytes
    }

    package init(payload: [UInt8]) throws {
        self = try payload.withUnsafeBytes { payload in
            var reader = ByteReader(payload)
            let version = try reader.read(UInt8.self, Self.what)
            guard version == Self.version else {
                throw StrataError(
                    .newerFormat, "The bytes were made by another release.",
                    .init(expected: "\(Self.what) of version \(Self.version)", found: "version \(version)"))
            }
            let value = try Self(from: &reader, payload)
            try reader.expectEnd(Self.what)
            return value
        }
    }

    private static func checkLength(of bytes: [UInt8]) throws {
        guard bytes.count <= maximumBytes else {
            throw StrataError(
                .malformed, "The sealed bytes are too long.",
                .init(expected: "\(what) of at most \(maximumBytes) bytes", found: "\(bytes.count) bytes"))
        }
    }
}
