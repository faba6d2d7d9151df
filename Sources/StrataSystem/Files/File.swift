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
    /// Like ``writeSome(_:at:)`` past the cache of the system, but returns nil, and writes nothing, where the file
    /// system or the place allows no such write.
    func writeSomeDirectly(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int?
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
    /// Takes the exclusive lock of the file if it is free; the lock lasts until ``close()`` or the end of the process.
    func tryLock() throws -> Bool
    func close()
}

/// The bytes of a file as memory, until this object is released.
package protocol MappedMemory: AnyObject, Sendable {
    /// Valid as long as this object is alive, also when the file is closed.
    var bytes: UnsafeRawBufferPointer { get }
    /// Reports whether a part of the file could not be read; nil for memory to which that cannot happen.
    var guarded: MapGuard? { get }
}

/// Defaults for stand-ins that only hold a log and need none of this.
extension File {
    private var isUnsupported: StrataError {
        StrataError(.invalidArgument, "This kind of file does not support the operation.", .init(path: path))
    }

    package func identity() throws -> FileIdentity { throw isUnsupported }
    package func status() throws -> FileStatus { FileStatus(identity: try identity(), size: try size()) }
    package func touch() throws { throw isUnsupported }
    package func startWriteback(_ range: Range<Int>) {}
    package func writeSomeDirectly(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int? { nil }
    package func shareContent(of source: any File) throws -> Bool { false }
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

    func retryingInterruptions<Result>(_ call: () throws -> Result) throws -> Result {
        while true {
            do { return try call() } catch let error as StrataError where error.code == .interrupted { continue }
        }
    }
}
