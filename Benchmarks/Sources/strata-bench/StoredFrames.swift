import StrataSystem

/// The bytes that a log stores for payloads, so that a bare loop writes the same.
enum StoredFrames {
    /// Frame headers included.
    static func of(_ payloads: [ArraySlice<UInt8>]) -> [[UInt8]] {
        payloads.map { payload in
            var stored = [UInt8](repeating: 0x5A, count: 64)
            let body = compressed(payload)
            stored += body.count < payload.count ? body : Array(payload)
            stored += repeatElement(0, count: (8 - stored.count % 8) % 8)
            return stored
        }
    }

    /// The size of the largest block that LZ4 makes of so many bytes.
    static func bound(_ count: Int) -> Int { count + count / 255 + 16 }

    static func compressed(_ payload: ArraySlice<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: bound(payload.count)) { target, count in
            count =
                payload.withUnsafeBytes { LZ4.compress($0, into: UnsafeMutableRawBufferPointer(target)) } ?? 0
        }
    }
}
