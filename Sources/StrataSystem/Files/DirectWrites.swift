/// Writes that go past the system's cache, and so take a fraction of the processor time of copying into it. Readers of
/// the file, mapped or not, see them as soon as they have returned.
package enum DirectWrites {
    /// Positions, sizes and addresses of direct writes are multiples of this. Every common file system takes them so.
    package static let alignment = 4_096

    static func isAligned(_ source: UnsafeRawBufferPointer, at position: Int) -> Bool {
        (position | source.count | Int(bitPattern: source.baseAddress)) % alignment == 0
    }
}

extension File {
    /// Writes all of `source` directly; returns false if that is impossible here, in which case nothing was written.
    package func writeDirectly(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Bool {
        var count = 0
        while count < source.count {
            let rest = UnsafeRawBufferPointer(rebasing: source[count...])
            guard let some = try retryingInterruptions({ try writeSomeDirectly(rest, at: position + count) }), some > 0
            else {
                if count == 0 { return false }
                // After a short write, the rest may begin anywhere.
                try write(rest, at: position + count)
                return true
            }
            count += some
        }
        return true
    }
}
