import StrataSystem

/// The end of a file that is written in order, past the system's cache where that is possible.
struct RunOutput: ~Copyable {
    private let file: any File
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: RunFormat.bufferBytes, alignment: DirectWrites.alignment)
    private var used = 0
    private var written = 0

    init(_ file: any File) { self.file = file }

    deinit { buffer.deallocate() }

    var byteCount: Int { written + used }

    /// Adds `count` bytes and returns their place, valid until the next call. The buffer is a multiple of `count`, and
    /// so is everything that was added before.
    mutating func take(_ count: Int) throws -> UnsafeMutableRawBufferPointer {
        assert(RunFormat.bufferBytes % count == 0 && used % count == 0)
        if used == buffer.count { try flush() }
        defer { used += count }
        return UnsafeMutableRawBufferPointer(rebasing: buffer[used..<used + count])
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            if used == buffer.count { try flush() }
            let count = min(rest.count, buffer.count - used)
            UnsafeMutableRawBufferPointer(rebasing: buffer[used..<used + count]).copyMemory(from: rest.keeping(count))
            used += count
            rest = rest.dropping(count)
        }
    }

    /// Adds zeros until the length is a multiple of `alignment` without its last `kept` bytes.
    mutating func pad(to alignment: Int, leaving kept: Int = 0) throws {
        var count = (alignment - (byteCount + kept) % alignment) % alignment
        while count > 0 {
            if used == buffer.count { try flush() }
            let part = min(count, buffer.count - used)
            UnsafeMutableRawBufferPointer(rebasing: buffer[used..<used + part]).initializeMemory(
                as: UInt8.self, repeating: 0)
            used += part
            count -= part
        }
    }

    /// Writes the buffer, whose length must be a multiple of ``DirectWrites/alignment``.
    mutating func flush() throws {
        assert(used % DirectWrites.alignment == 0)
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<used])
        if try !file.writeDirectly(bytes, at: written) { try file.write(bytes, at: written) }
        written += used
        used = 0
    }
}
