import StrataSystem

/// Reads a file mostly forward, in large pieces.
final class FileWindow {
    static let largePieceBytes = 1 << 20

    let file: any File
    /// The size of a read, unless more is requested.
    private let readBytes: Int
    /// Bytes from this position on are not read: they may still change.
    private(set) var limit: Int
    private let buffer = RawBuffer()
    private var start = 0
    private var count = 0

    init(_ file: any File, limit: Int, readBytes: Int = largePieceBytes) {
        self.file = file
        self.limit = limit
        self.readBytes = readBytes
    }

    func raise(limit: Int) { self.limit = max(self.limit, limit) }

    /// Returns `count` bytes at `position`, or fewer if the limit comes first. Valid until the next call.
    func bytes(at position: Int, count wanted: Int) throws -> UnsafeRawBufferPointer {
        // A truncated file may end before a place that was read earlier.
        guard position < limit else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let wanted = max(0, min(wanted, limit - position))
        if position < start || position + wanted > start + count { try fill(at: position, atLeast: wanted) }
        let available = min(wanted, start + count - position)
        return UnsafeRawBufferPointer(rebasing: buffer.bytes[position - start..<position - start + available])
    }

    private func fill(at position: Int, atLeast wanted: Int) throws {
        let wanted = min(max(wanted, readBytes), limit - position)
        buffer.ensure(wanted)
        start = position
        // A failed read leaves the buffer half overwritten, so nothing in it counts until the read has succeeded.
        count = 0
        count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<wanted]), at: position)
    }

    /// Returns whole words that are in memory already, or else a large piece: reading one again for each of many finds
    /// would cost the square of the file's size.
    private func piece(at position: Int) throws -> UnsafeRawBufferPointer {
        let known = position >= start ? (start + count - position) & ~7 : 0
        return try bytes(at: position, count: known > 0 ? known : Self.largePieceBytes)
    }

    /// Returns the first position from `position` on, in steps of 8, whose 8 bytes satisfy `matches`; the last bytes
    /// are extended with zeros.
    func firstWord(from position: Int, where matches: (UInt64) -> Bool) throws -> Int? {
        var position = position
        while position < limit {
            let piece = try piece(at: position)
            if piece.isEmpty { return nil }
            var index = 0
            while index + 8 <= piece.count {
                let word = UInt64(littleEndian: piece.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                if matches(word) { return position + index }
                index += 8
            }
            if index < piece.count, piece.count < Self.largePieceBytes {
                var word: UInt64 = 0
                for (shift, byte) in piece[index...].enumerated() { word |= UInt64(byte) << UInt64(8 * shift) }
                return matches(word) ? position + index : nil
            }
            position += index
        }
        return nil
    }
}
