/// `number` in so many bytes, the highest first.
func bigEndian(_ number: Int, byteCount: Int = 4) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: number >> (8 * (byteCount - 1 - $0))) }
}

func bytes(_ count: Int, of byte: UInt8 = 0x78) -> [UInt8] { [UInt8](repeating: byte, count: count) }
