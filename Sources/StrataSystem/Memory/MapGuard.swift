import CStrata
import Synchronization

/// Keeps the process alive when a part of a file that is mapped cannot be read any more, because somebody made the file
/// shorter or the medium failed: what is missing reads as zeros, and ``missingByte`` tells so (docs/decisions/0010).
///
/// ```swift
/// let value = memory.load(as: UInt64.self)
/// guard guarded.missingByte == nil else { throw … }   // what was read counts only now
/// ```
// @unchecked: the note is atomic, and the pointer to it never changes.
public final class MapGuard: @unchecked Sendable {
    // Not within the object: the signal handler writes to it, whose address must not move.
    private let note: UnsafeMutablePointer<Atomic<UInt64>>
    private let range: Int32

    /// - Parameter bytes: what is mapped, or may be later on. It stays reserved until this object is gone.
    init(_ bytes: UnsafeMutableRawBufferPointer, isWritable: Bool) {
        note = .allocate(capacity: 1)
        note.initialize(to: Atomic(0))
        range = strata_guard(
            bytes.baseAddress, bytes.count, isWritable ? 1 : 0,
            UnsafeMutableRawPointer(note).assumingMemoryBound(to: UInt64.self))
    }

    deinit {
        strata_unguard(range)
        note.deinitialize(count: 1)
        note.deallocate()
    }

    /// The first byte that was found to be missing; nil if none was.
    @inline(__always)
    public var missingByte: Int? {
        let found = note.pointee.load(ordering: .acquiring)
        return found == 0 ? nil : Int(found) - 1
    }

    /// Clears the note. Call it after all bytes are mapped again.
    func forget() { note.pointee.store(0, ordering: .releasing) }
}
