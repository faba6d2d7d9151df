import StrataModel
import StrataSystem

/// A file of a run, mapped as a whole. A file that is truncated while it is mapped reads as zeros, and the next
/// ``requireReadable()`` throws.
final class RunMap: Sendable {
    let path: String
    let bytes: MappedRange
    private let map: any MappedMemory
    private let guarded: MapGuard?

    /// Maps a file and closes it, so that a store of many files needs no descriptors.
    ///
    /// - Parameter byteCount: the size that the file must have; nil for any.
    init(_ file: any File, byteCount expected: Int? = nil) throws {
        path = file.path
        let size = try file.size()
        guard size > 0, size == expected ?? size else {
            throw StrataError(
                .malformed, "A file of a run has another length than its state says.",
                .init(path: path, expected: expected.map { "\($0) bytes" } ?? "some bytes", found: "\(size)"))
        }
        map = try file.map(length: size)
        // Not nil: the range is not empty.
        bytes = MappedRange(start: map.bytes.baseAddress!, count: size)
        guarded = map.guarded
        file.close()
    }

    /// Checks the bytes that were read until now.
    ///
    /// - Throws: ``StrataError`` if some of them could not be read.
    @inline(__always)
    func requireReadable() throws {
        if let guarded, let byte = guarded.missingByte { throw unreadable(byte) }
    }

    private func unreadable(_ byte: Int) -> StrataError {
        StrataError(
            .inputOutput, "A file of a run cannot be read: it was truncated while in use, or its medium failed.",
            place(of: byte))
    }

    /// The error of bytes that do not follow the format, or that could not be read.
    /// Calls `body`, which checks a file that was just written. Its errors are those of the disk: what the file has is
    /// in memory too, and may be written again.
    static func checkingWritten<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StrataError
            where error.code == .badChecksum || error.code == .malformed
        {
            var context = error.context
            context.page = nil
            throw StrataError(
                .inputOutput, "The disk did not keep a file of a run as it was written.", context, cause: error)
        }
    }

    func malformed(_ found: String, at byte: Int) -> StrataError {
        if let missing = guarded?.missingByte { return unreadable(missing) }
        return StrataError(.malformed, "A file of a run is damaged.", place(of: byte, found))
    }

    /// Requires a checksum or a length of bytes that were just read to be the stored one.
    func check(_ sum: UInt32, is stored: UInt32, of part: String, at byte: Int) throws {
        try requireReadable()
        if sum == stored { return }
        throw StrataError(.badChecksum, "A part of a run does not match its checksum.", place(of: byte, part))
    }

    private func place(of byte: Int, _ found: String? = nil) -> StrataError.Context {
        StrataError.Context(
            position: UInt64(byte), page: UInt32(clamping: byte / RunFormat.frameBytes), path: path, found: found)
    }
}

/// The mapped bytes.
// @unchecked: memory that is only read, and that lives as long as the map that has it.
struct MappedRange: @unchecked Sendable {
    let start: UnsafeRawPointer
    let count: Int

    var all: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }
}
