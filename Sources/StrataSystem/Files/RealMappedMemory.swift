import Glibc
import StrataModel
import Synchronization

/// Read-only pages of a file.
// @unchecked: the memory stays mapped as long as the object lives, and this class never writes to it.
final class RealMappedMemory: MappedMemory, @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}

/// A file mapped piece by piece into address space reserved for its maximum size.
// @unchecked: the base never changes, the size is atomic, and one thread at a time extends.
final class RealGrowingMap: GrowingMap, @unchecked Sendable {
    private static let pageBytes = sysconf(Int32(_SC_PAGESIZE))
    /// Where address space is scarce, a file may grow at least to this size or to twice its present one.
    private static let scarceBytes = 64 << 20

    // Declared before the memory, so that it is released first.
    let guarded: MapGuard?
    private let memory: ReservedMemory
    private let mappedBytes = Atomic<Int>(0)
    private let file: RealFile

    init(_ file: RealFile, reserving byteCount: Int) throws {
        self.file = file
        let least = max(Self.scarceBytes, 2 * (try file.size()))
        memory = try ReservedMemory(byteCount: byteCount, atLeast: min(byteCount, least), isWritable: false)
        guarded = MapGuard(
            UnsafeMutableRawBufferPointer(start: memory.base, count: memory.byteCount), isWritable: false)
    }

    var base: UnsafeRawPointer { UnsafeRawPointer(memory.base) }
    var reservedBytes: Int { memory.byteCount }
    var byteCount: Int { mappedBytes.load(ordering: .acquiring) }

    func release() { memory.release(0..<byteCount) }

    func extend(to byteCount: Int) throws {
        let mapped = self.byteCount
        guard byteCount > mapped else { return }
        guard byteCount <= reservedBytes, mapped % Self.pageBytes == 0 else {
            throw StrataError(
                .outOfRange, "The mapped size exceeds the reserved address space.",
                .init(path: file.path, expected: "at most \(reservedBytes) bytes", found: "\(byteCount)"))
        }
        try file.map(mapped..<byteCount, over: memory.base + mapped, protection: PROT_READ)
        mappedBytes.store(byteCount, ordering: .releasing)
    }
}
