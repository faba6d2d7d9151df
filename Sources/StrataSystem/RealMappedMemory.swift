import Glibc
import StrataModel
import Synchronization

/// Read-only pages of a file.
// @unchecked: the memory is mapped until the object goes and this class never writes to it.
final class RealMappedMemory: MappedMemory, @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}

/// A file mapped piece by piece into address space that was reserved for all of it.
// @unchecked: the base never changes, the size is atomic, and one thread at a time extends.
final class RealGrowingMap: GrowingMap, @unchecked Sendable {
    private static let pageBytes = sysconf(Int32(_SC_PAGESIZE))

    private let start: UnsafeMutableRawPointer
    private let reservedBytes: Int
    private let mappedBytes = Atomic<Int>(0)
    private let file: RealFile

    init(_ file: RealFile, reserving byteCount: Int) throws {
        self.file = file
        guard byteCount > 0,
            let start = mmap(nil, byteCount, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
            start != MAP_FAILED
        else { throw StrataError.systemCall("mmap", path: file.path, errno: errno) }
        (self.start, reservedBytes) = (start, byteCount)
    }

    deinit { munmap(start, reservedBytes) }

    var base: UnsafeRawPointer { UnsafeRawPointer(start) }
    var byteCount: Int { mappedBytes.load(ordering: .acquiring) }

    func letGo() { madvise(start, byteCount, MADV_DONTNEED) }

    func extend(to byteCount: Int) throws {
        let mapped = self.byteCount
        guard byteCount > mapped else { return }
        guard byteCount <= reservedBytes, mapped % Self.pageBytes == 0 else {
            throw StrataError(
                .outOfRange, "The map has no room for that.",
                .init(path: file.path, expected: "at most \(reservedBytes) bytes", found: "\(byteCount)"))
        }
        try file.map(mapped..<byteCount, over: start + mapped, protection: PROT_READ)
        mappedBytes.store(byteCount, ordering: .releasing)
    }
}
