import Glibc

/// Zero-filled memory with room to grow that never moves, so that mappings of it stay good.
///
/// Address space is reserved for the largest file at once; pages exist only where something but zeros was stored.
// @unchecked: the disk's lock guards every write; reading a mapping without it races no more than on a real disk.
final class StableMemory: @unchecked Sendable {
    static let capacityBytes = 2 << 30

    private let start: UnsafeMutableRawPointer
    // All bytes from here on are zero. Skipping them makes space that is only zero-filled cost nothing.
    private var storedEnd = 0

    init() {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        let reserved = mmap(nil, Self.capacityBytes, PROT_READ | PROT_WRITE, flags, -1, 0)
        guard let reserved, reserved != MAP_FAILED else { preconditionFailure("no address space for a simulated file") }
        start = reserved
    }

    deinit { munmap(start, Self.capacityBytes) }

    func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        precondition(range.lowerBound >= 0 && range.upperBound <= Self.capacityBytes, "outside of a simulated file")
        return UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
    }

    func store(_ source: UnsafeRawBufferPointer, at position: Int) {
        precondition(position >= 0 && source.count <= Self.capacityBytes - position, "outside of a simulated file")
        guard let first = source.baseAddress, !source.isEmpty else { return }
        if position >= storedEnd, isZero(source) { return }
        memcpy(start + position, first, source.count)
        storedEnd = max(storedEnd, position + source.count)
    }

    func clear(from position: Int) {
        guard position < storedEnd else { return }
        memset(start + position, 0, storedEnd - position)
        storedEnd = position
    }

    func copy(_ range: Range<Int>, from other: StableMemory) {
        let end = min(range.upperBound, max(storedEnd, other.storedEnd))
        guard range.lowerBound < end else { return }
        memcpy(start + range.lowerBound, other.start + range.lowerBound, end - range.lowerBound)
        storedEnd = max(storedEnd, min(end, other.storedEnd))
    }

    private func isZero(_ source: UnsafeRawBufferPointer) -> Bool {
        guard let first = source.baseAddress, source[0] == 0 else { return false }
        // Bytes that all equal their successor are all the same; the library's loop is fast in debug builds too.
        return memcmp(first, first + 1, source.count - 1) == 0
    }
}
