import StrataSystem

/// The running checksum over logical content (docs/format.md §5).
package enum Chain {
    /// Returns the checksum of everything that precedes the payload.
    static func begin(after chain: UInt32, offset: UInt64, time: Int64, payloadBytes: Int) -> CRC32C {
        var checksum = CRC32C()
        // One update of 28 bytes, because each call has a cost.
        withUnsafeTemporaryAllocation(byteCount: 28, alignment: 8) { bytes in
            bytes.storeBytes(of: chain.littleEndian, toByteOffset: 0, as: UInt32.self)
            bytes.storeBytes(of: offset.littleEndian, toByteOffset: 4, as: UInt64.self)
            bytes.storeBytes(of: time.littleEndian, toByteOffset: 12, as: Int64.self)
            bytes.storeBytes(of: UInt64(payloadBytes).littleEndian, toByteOffset: 20, as: UInt64.self)
            checksum.update(UnsafeRawBufferPointer(bytes))
        }
        return checksum
    }

    /// Returns the chain value of a commit.
    package static func value(
        after chain: UInt32, offset: UInt64, time: Int64, payload: UnsafeRawBufferPointer
    ) -> UInt32 {
        var checksum = begin(after: chain, offset: offset, time: time, payloadBytes: payload.count)
        checksum.update(payload)
        return checksum.value
    }

    /// Returns the chain value of a commit from whose payload data was erased.
    static func value(after chain: UInt32, offset: UInt64, time: Int64, original: OriginalPayload) -> UInt32 {
        var checksum = begin(after: chain, offset: offset, time: time, payloadBytes: Int(original.byteCount))
        checksum.update(original.byteCount, checksum: original.checksum)
        return checksum.value
    }
}
