/// Appends the encodings of docs/format.md to an array of bytes.
public struct ByteWriter: Sendable {
    public private(set) var bytes: [UInt8]

    public init(reserving count: Int = 0) {
        bytes = []
        bytes.reserveCapacity(count)
    }

    public mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends the eight bytes of `high`, then those of `low`, most significant first, so that bytes and printed digits
    /// agree.
    public mutating func append(_ identifier: Identifier) {
        append(identifier.high.bigEndian)
        append(identifier.low.bigEndian)
    }

    public mutating func append(bytes more: some Sequence<UInt8>) {
        bytes.append(contentsOf: more)
    }

    public mutating func appendVarint(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    public mutating func appendString(_ text: String) {
        appendVarint(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Removes everything after the first `count` bytes.
    public mutating func truncate(to count: Int) { bytes.removeSubrange(count...) }

    /// Appends the length of the content that `body` appends, then the content.
    mutating func appendMeasured(_ body: (inout ByteWriter) throws -> Void) rethrows {
        let start = bytes.count
        try body(&self)
        let length = bytes.count - start
        let prefix = Self.varintBytes(UInt64(length))
        // The content is moved to make room for the length: nearly always one byte, and no second buffer.
        bytes.append(contentsOf: repeatElement(0, count: prefix))
        bytes.withUnsafeMutableBytes { buffer in
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[(start + prefix)...])
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<start + length]))
            var rest = length
            for index in 0..<prefix {
                buffer[start + index] = UInt8(truncatingIfNeeded: rest & 0x7F) | (index + 1 < prefix ? 0x80 : 0)
                rest >>= 7
            }
        }
    }

    static func varintBytes(_ number: UInt64) -> Int { max(1, (70 - number.leadingZeroBitCount) / 7) }

    mutating func append(byte: UInt8) { bytes.append(byte) }

    public mutating func append(raw more: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: more)
    }

    /// Lets a closure change the written bytes in place.
    public mutating func withMutableBytes<Result>(
        _ body: (UnsafeMutableRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try bytes.withUnsafeMutableBytes { try body($0) }
    }

    /// Removes all bytes, keeping the memory.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Appends zeros up to the next multiple of `alignment`.
    public mutating func pad(to alignment: Int) {
        let excess = bytes.count % alignment
        if excess != 0 { bytes.append(contentsOf: repeatElement(0, count: alignment - excess)) }
    }

    public mutating func overwrite<Number: FixedWidthInteger>(_ number: Number, at position: Int) {
        withUnsafeBytes(of: number.littleEndian) { bytes.replaceSubrange(position..<position + $0.count, with: $0) }
    }
}
