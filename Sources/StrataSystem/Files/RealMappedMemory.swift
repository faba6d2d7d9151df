import Glibc
import StrataModel

/// Read-only pages of a file.
// @unchecked: the memory stays mapped as long as the object lives, and this class never writes to it.
final class RealMappedMemory: MappedMemory, @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer
    private(set) var guarded: MapGuard?

    /// Takes over pages that were mapped.
    init(_ pages: UnsafeMutableRawBufferPointer) throws {
        bytes = UnsafeRawBufferPointer(pages)
        guarded = try MapGuard(pages, isWritable: false)
    }

    deinit {
        guarded = nil
        munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    }
}
