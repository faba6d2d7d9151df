/// A 256-bit hash of the content of a file.
public struct ContentHash: Hashable, Sendable, CustomStringConvertible {
    /// The first 16 bytes; ``second`` has the others. The first byte of each half is its lowest.
    public var first: UInt128
    public var second: UInt128

    public init(first: UInt128, second: UInt128) {
        self.first = first
        self.second = second
    }

    /// - Throws: ``StrataError`` unless there are 32 bytes.
    public init(bytes: [UInt8]) throws {
        let (first, second) = try bytes[...].reading { reader in
            let halves = (
                try reader.read(UInt128.self, "a content hash"), try reader.read(UInt128.self, "a content hash")
            )
            try reader.expectEnd("a content hash")
            return halves
        }
        self.init(first: first, second: second)
    }

    /// Parses a ``description``; returns nil for any other text.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 64, text.utf8.allSatisfy({ Self.digits.contains($0) }),
            let first = UInt128(text.prefix(32), radix: 16), let second = UInt128(text.suffix(32), radix: 16)
        else { return nil }
        self.init(first: first.byteSwapped, second: second.byteSwapped)
    }

    private static let digits = [UInt8]("0123456789abcdef".utf8)

    /// The hash as 64 hexadecimal digits, in the order of the bytes.
    public var description: String { hexadecimal(first.byteSwapped) + hexadecimal(second.byteSwapped) }
}
