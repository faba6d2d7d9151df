import CStrata
import Glibc
import StrataModel

/// A range of address space that never moves. Its pages take memory when they are first written; fresh ones are zero.
// @unchecked: the object only owns the range; its users decide who may write where.
package final class ReservedMemory: @unchecked Sendable {
    package let base: UnsafeMutableRawPointer
    package let byteCount: Int

    /// - Parameters:
    ///   - byteCount: the size wanted.
    ///   - least: the size that suffices where the process lacks address space; nil if only `byteCount` does.
    package init(byteCount wanted: Int, atLeast least: Int? = nil) throws {
        let least = least ?? wanted
        var count = wanted
        var start: UnsafeMutableRawPointer?
        while start == nil, count > least {
            start = Self.mapLeavingRoom(count)
            if start == nil { count = max(least, count / 2 & ~(Self.grainBytes - 1)) }
        }
        start = start ?? Self.map(count)
        guard let start else {
            throw StrataError.systemCall("mmap", path: "address space of \(count) bytes", errno: errno)
        }
        (base, byteCount) = (start, count)
        // Random accesses to a large range miss the processor's address cache at each step; huge pages avoid that. A
        // small store would fill a fraction of its first one. It is no error if the system has none.
        let small = min(Self.hugePageBytes, count)
        madvise(base, small, MADV_NOHUGEPAGE)
        madvise(base + small, count - small, MADV_HUGEPAGE)
    }

    private static let hugePageBytes = 2 << 20
    /// At least the page size of any processor.
    private static let grainBytes = 64 << 10

    /// Maps `count` bytes if they are at most a quarter of the remaining address space. A range that takes all of it
    /// leaves no room for threads or the heap, and a process whose heap cannot grow ends without a message.
    private static func mapLeavingRoom(_ count: Int) -> UnsafeMutableRawPointer? {
        // munmap releases whole pages.
        let page = sysconf(Int32(_SC_PAGESIZE))
        guard count < .max / 8 else { return nil }
        let kept = (count + page - 1) / page * page
        guard let start = map(4 * kept) else { return nil }
        munmap(start + kept, 3 * kept)
        return start
    }

    private static func map(_ count: Int) -> UnsafeMutableRawPointer? {
        guard count > 0 else {
            errno = EINVAL
            return nil
        }
        let start = mmap(
            nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        return start == MAP_FAILED ? nil : start
    }

    deinit { munmap(base, byteCount) }
}

/// The freed memory that the C library keeps for reuse.
package enum FreedMemory {
    /// Returns it to the system. Takes milliseconds: for the end of work that needed far more memory than what follows.
    package static func giveBack() { strata_give_back_freed_memory() }
}

/// Prefetching of memory that will soon be needed.
@usableFromInline
package enum Prefetch {
    /// Requests the bytes, so that several accesses overlap; guarantees nothing, and never faults.
    @inlinable
    package static func ask(_ start: UnsafeRawPointer, byteCount: Int) { strata_prefetch(start, byteCount) }
}
