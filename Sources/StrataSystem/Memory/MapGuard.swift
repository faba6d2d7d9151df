import CStrata
import StrataModel
import Synchronization

/// Protects a mapping against SIGBUS: if a mapped page cannot be read, because the file was truncated or the medium
/// failed, it reads as zeros and ``missingByte`` is set (docs/decisions/0010).
///
/// ```swift
/// let value = memory.load(as: UInt64.self)
/// guard guarded.missingByte == nil else { throw … }   // the value is valid only now
/// ```
// @unchecked: the note is atomic, and the pointer to it never changes.
package final class MapGuard: @unchecked Sendable {
    // Allocated separately: the signal handler writes to it, so its address must not move.
    private let note: UnsafeMutablePointer<Atomic<UInt64>>
    private let range: Int32

    /// - Parameter bytes: the memory that is mapped now or later. It must stay reserved until this object is released.
    /// - Throws: ``StrataError`` if the process has too many mappings to protect another one.
    init(_ bytes: UnsafeMutableRawBufferPointer, isWritable: Bool) throws {
        note = .allocate(capacity: 1)
        note.initialize(to: Atomic(0))
        range = strata_guard(
            bytes.baseAddress, bytes.count, isWritable ? 1 : 0,
            UnsafeMutableRawPointer(note).assumingMemoryBound(to: UInt64.self))
        if range < 0 { throw StrataError(.inputOutput, "The process has mapped too many files.") }
    }

    deinit {
        strata_unguard(range)
        note.deinitialize(count: 1)
        note.deallocate()
    }

    /// The first byte that could not be read; nil if all could.
    @inline(__always)
    package var missingByte: Int? {
        let found = note.pointee.load(ordering: .acquiring)
        return found == 0 ? nil : Int(found) - 1
    }

    /// True if a byte of any mapping of the process could not be read.
    package static var hasMissingBytes: Bool { strata_has_missing_pages() != 0 }

    /// Clears the note. Called after all bytes are mapped again.
    func forget() { note.pointee.store(0, ordering: .releasing) }
}
