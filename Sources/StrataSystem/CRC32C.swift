import CStrata

/// The checksum of the format: CRC-32C, by the processor's instruction where it has one.
///
/// ```swift
/// var checksum = CRC32C()
/// checksum.update(bytes)
/// checksum.value
/// ```
public struct CRC32C: Sendable {
    public private(set) var value: UInt32

    /// Goes on from the checksum of what came before.
    public init(continuing value: UInt32 = 0) { self.value = value }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        value = strata_crc32c(value, bytes.baseAddress, bytes.count)
    }

    public mutating func update<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { update($0) }
    }

    public static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        strata_crc32c(0, bytes.baseAddress, bytes.count)
    }
}
