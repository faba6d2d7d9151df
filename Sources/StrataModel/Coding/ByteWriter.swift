/// Appends the encodings of docs/format.md to an array of bytes.
@usableFromInline
package struct ByteWriter: Sendable {
    @usableFromInline var written: [UInt8]

    @inlinable package var bytes: [UInt8] { written }

    package init(reserving count: Int = 0) {
        written = []
        written.reserveCapacity(count)
    }

    @inlinable
    package mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { written.append(contentsOf: $0) }
    }

    /// Appends the eight bytes of `high`, then those of `low`, most significant first, so that bytes and printed digits
    /// agree.
    @inlinable
    package mutating func append(_ identifier: Identifier) {
        append(identifier.high.bigEndian)
        append(identifier.low.bigEndian)
    }

    @inlinable
    package mutating func append(bytes more: some Sequence<UInt8>) {
        written.append(contentsOf: more)
    }

    @inlinable
    package mutating func appendVarint(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            written.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        written.append(UInt8(rest))
    }

    /// Appends the number of bytes, then the bytes.
    @inlinable
    package mutating func append(counted more: some Collection<UInt8>) {
        appendVarint(UInt64(more.count))
        append(bytes: more)
    }

    @inlinable
    package mutating func appendString(_ text: String) {
        appendVarint(UInt64(text.utf8.count))
        written.append(contentsOf: text.utf8)
    }

    /// Appends whether there is a value, then the value.
    package mutating func append<Value>(optional value: Value?, _ body: (Value, inout ByteWriter) -> Void) {
        append(value == nil ? 0 as UInt8 : 1)
        if let value { body(value, &self) }
    }

    /// Removes everything after the first `count` bytes.
    package mutating func truncate(to count: Int) { written.removeSubrange(count...) }

    /// Appends the length of the content that `body` appends, then the content; returns the length.
    @discardableResult
    mutating func appendMeasured(_ body: (inout ByteWriter) throws -> Void) rethrows -> Int {
        let start = written.count
        try body(&self)
        let length = written.count - start
        let prefix = Self.varintBytes(UInt64(length))
        // The content is moved to make room for the length: nearly always one byte, and no second buffer.
        appendZeros(prefix)
        written.withUnsafeMutableBytes { buffer in
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[(start + prefix)...])
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<start + length]))
            var rest = length
            for index in 0..<prefix {
                buffer[start + index] = UInt8(truncatingIfNeeded: rest & 0x7F) | (index + 1 < prefix ? 0x80 : 0)
                rest >>= 7
            }
        }
        return length
    }

    static func varintBytes(_ number: UInt64) -> Int { max(1, (70 - number.leadingZeroBitCount) / 7) }

    mutating func append(byte: UInt8) { written.append(byte) }

    @inlinable
    package mutating func append(raw more: UnsafeRawBufferPointer) {
        written.append(contentsOf: more)
    }

    /// Lets a closure change the written bytes in place.
    @inlinable
    package mutating func withMutableBytes<Result>(
        _ body: (UnsafeMutableRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try written.withUnsafeMutableBytes { try body($0) }
    }

    /// Removes all bytes, keeping the memory.
    package mutating func removeAll() {
        written.removeAll(keepingCapacity: true)
    }

    package mutating func appendZeros(_ count: Int) { written.append(contentsOf: repeatElement(0, count: count)) }

    /// Appends zeros up to the next multiple of `alignment`.
    package mutating func pad(to alignment: Int) {
        let excess = written.count % alignment
        if excess != 0 { appendZeros(alignment - excess) }
    }

    @inlinable
    package mutating func overwrite<Number: FixedWidthInteger>(_ number: Number, at position: Int) {
        withUnsafeBytes(of: number.littleEndian) { written.replaceSubrange(position..<position + $0.count, with: $0) }
    }
}
