import StrataModel

/// An open file. Calls may come from several threads; none of them moves a shared file position.
///
/// Each method of an implementation makes one system call and passes on its result, including short counts and
/// interruptions. The loops that callers need are in the extension below, where they are tested with injected faults.
package protocol File: AnyObject, Sendable {
    var path: String { get }
    func size() throws -> Int
    /// The same for every opening of one file, and different for any two files that are open at the same time.
    func identity() throws -> FileIdentity
    /// The identity, size and times of the file. If none of them differs, the file has not been written to.
    func status() throws -> FileStatus
    /// Sets the time of the last change to the content to now, without changing the content.
    func touch() throws
    /// Makes this empty file share the content of another file of the same file system, without copying it. Returns
    /// false where that is impossible.
    func shareContent(of source: any File) throws -> Bool
    /// Reads at most `target.count` bytes and returns their number, 0 at the end of the file.
    func readSome(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int
    /// Writes at least one byte of a nonempty source, possibly not all, and extends the file if necessary.
    func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int
    /// Returns once all earlier writes have reached the medium, with the metadata that reading them back needs.
    func syncData() throws
    /// Writes the range back before it returns, so that the next sync has less to do; guarantees nothing.
    func finishWriteback(_ range: Range<Int>)
    /// Starts to write the range back, so that a later sync has less to do; guarantees nothing.
    func startWriteback(_ range: Range<Int>)
    /// Reserves space, so that a write there cannot fail for lack of it; new bytes read as zero.
    func allocate(_ range: Range<Int>) throws
    func truncate(to size: Int) throws
    /// Maps the first `length` bytes, which must exist; later writes through this file show in the mapping.
    func map(length: Int) throws -> any MappedMemory
    /// Reserves address space for a file that grows; nothing is mapped until ``GrowingMap/extend(to:)``.
    func mapGrowing(reserving byteCount: Int) throws -> any GrowingMap
    /// Maps a range that exists in the file over reserved memory, for reading and writing.
    func map(_ range: Range<Int>, over address: UnsafeMutableRawPointer) throws
    /// Takes the exclusive lock of the file if it is free; the lock lasts until ``close()`` or the end of the process.
    func tryLock() throws -> Bool
    /// Takes the exclusive lock of one byte, which need not exist, unless another opening of the file holds it. The
    /// lock lasts until ``unlock(byte:)``, ``close()`` or the end of the process. The file must be open for writing.
    func tryLock(byte position: Int) throws -> Bool
    func unlock(byte position: Int) throws
    /// Returns true if another opening of the file, in this process or another, holds the lock of a byte.
    func isLockedElsewhere(byte position: Int) throws -> Bool
    func close()
}

/// The bytes of a file as memory, until this object is released.
package protocol MappedMemory: AnyObject, Sendable {
    /// Valid as long as this object is alive.
    var bytes: UnsafeRawBufferPointer { get }
}

/// The bytes of a file that grows, as memory that never moves.
package protocol GrowingMap: AnyObject, Sendable {
    /// The address of byte 0; valid as long as this object is alive. Bytes from ``byteCount`` on must not be touched.
    var base: UnsafeRawPointer { get }
    var byteCount: Int { get }
    /// The maximum size of the file; less than requested if address space is scarce.
    var reservedBytes: Int { get }
    /// Reports whether a part of the file could not be read; nil for a map to which that cannot happen.
    var guarded: MapGuard? { get }
    /// Maps the file up to a size that it has and must keep. Called by one thread at a time; a smaller size has no
    /// effect.
    func extend(to byteCount: Int) throws
    /// Releases the bytes from memory; they are read from the file again when needed.
    func release()
}

/// Defaults for stand-ins that only hold a log and need none of this.
extension File {
    private var isNoPageFile: StrataError {
        StrataError(.invalidArgument, "This kind of file does not support the operation.", .init(path: path))
    }

    package func identity() throws -> FileIdentity { throw isNoPageFile }
    package func status() throws -> FileStatus { FileStatus(identity: try identity(), size: try size()) }
    package func touch() throws { throw isNoPageFile }
    package func startWriteback(_ range: Range<Int>) {}
    package func shareContent(of source: any File) throws -> Bool { false }
    package func mapGrowing(reserving byteCount: Int) throws -> any GrowingMap { throw isNoPageFile }
    package func map(_ range: Range<Int>, over address: UnsafeMutableRawPointer) throws { throw isNoPageFile }
    package func tryLock(byte position: Int) throws -> Bool { throw isNoPageFile }
    package func unlock(byte position: Int) throws { throw isNoPageFile }
    package func isLockedElsewhere(byte position: Int) throws -> Bool { throw isNoPageFile }
}

extension File {
    /// Reads until `target` is full or the file ends; returns the number of bytes read.
    package func read(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int {
        var count = 0
        while count < target.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: target[count...])
            let some = try retryingInterruptions { try readSome(into: rest, at: position + count) }
            if some == 0 { break }
            count += some
        }
        return count
    }

    /// Returns `count` bytes from `position`, or fewer if the file ends before that.
    package func read(count: Int, at position: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            initializedCount = try read(into: UnsafeMutableRawBufferPointer(buffer), at: position)
        }
    }

    /// Writes all of `source`. After an error any part of it may have been written.
    package func write(_ source: UnsafeRawBufferPointer, at position: Int) throws {
        var count = 0
        while count < source.count {
            let rest = UnsafeRawBufferPointer(rebasing: source[count...])
            let some = try retryingInterruptions { try writeSome(rest, at: position + count) }
            guard some > 0 else {
                throw StrataError(
                    .inputOutput, "Writing made no progress.",
                    .init(position: UInt64(position + count), path: path, expected: "\(rest.count) bytes", found: "0"))
            }
            count += some
        }
    }

    package func write(_ source: [UInt8], at position: Int) throws {
        try source.withUnsafeBytes { try write($0, at: position) }
    }

    /// Writes all of `source` in pieces of at most 16 KiB, where small parts will be overwritten later: the kernel
    /// keeps a larger piece together in its cache, and then each small write to it takes up to ten times as long.
    package func writeInPieces(_ source: UnsafeRawBufferPointer, at position: Int) throws {
        let pieceBytes = 16 << 10
        for start in stride(from: 0, to: source.count, by: pieceBytes) {
            let end = min(start + pieceBytes, source.count)
            try write(UnsafeRawBufferPointer(rebasing: source[start..<end]), at: position + start)
        }
    }

    /// Overwrites the content with zeros, as far as the medium writes in place; durable on return.
    package func wipe() throws {
        try write([UInt8](repeating: 0, count: try size()), at: 0)
        try sync()
    }

    /// Calls `syncData` until no signal interrupts it.
    package func sync() throws {
        try retryingInterruptions { try syncData() }
    }

    private func retryingInterruptions<Result>(_ call: () throws -> Result) throws -> Result {
        while true {
            do { return try call() } catch let error as StrataError where error.code == .interrupted { continue }
        }
    }
}
