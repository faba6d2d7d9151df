import StrataModel

/// An open file. Calls may come from several threads; none of them moves a shared file position.
///
/// Implementations do one call of the operating system each and pass on what it answered, short counts and
/// interruptions included: the loops that every caller wants are in the extension below, so that they are tested with
/// injected faults.
public protocol File: AnyObject, Sendable {
    var path: String { get }
    func size() throws -> Int
    /// The same for every opening of one file, and for no two files that are open at the same time.
    func identity() throws -> FileIdentity
    /// What tells whether the file is still the same; a file that differs in nothing of it has not been written to.
    func status() throws -> FileStatus
    /// Gives this file, which is empty, the content of another one of the same file system without copying it; false
    /// where that cannot be.
    func shareContent(of source: any File) throws -> Bool
    /// Reads at most as much as fits; 0 at the end of the file.
    func readSome(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int
    /// Writes at least one byte of a source that is not empty, maybe not all, and extends the file if need be.
    func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int
    /// Returns once everything written before has reached the medium, as far as reading it back needs.
    func syncData() throws
    /// Has the range written back before it returns, so that the next sync has less to do; promises nothing.
    func finishWriteback(_ range: Range<Int>)
    /// Has the range written back meanwhile, so that a sync later has less to do; promises nothing.
    func startWriteback(_ range: Range<Int>)
    /// Reserves space, so that writing there cannot fail for lack of it; new bytes read as zero.
    func allocate(_ range: Range<Int>) throws
    func truncate(to size: Int) throws
    /// Maps the first `length` bytes, which must exist; later writes through this file are seen in the mapping.
    func map(length: Int) throws -> any MappedMemory
    /// Reserves address space for a file that grows; nothing is mapped until ``GrowingMap/extend(to:)``.
    func mapGrowing(reserving byteCount: Int) throws -> any GrowingMap
    /// Puts a part of the file, which it has, in place of reserved memory, to be read and written there.
    func map(_ range: Range<Int>, over address: UnsafeMutableRawPointer) throws
    /// Takes the exclusive lock of the file if nobody has it; it lasts until ``close()`` or the end of the process.
    func tryLock() throws -> Bool
    /// Takes the exclusive lock of one byte, which need not be there, if no other opening of the file has it; it lasts
    /// until ``unlock(byte:)``, ``close()`` or the end of the process. The file is open for writing.
    func tryLock(byte position: Int) throws -> Bool
    func unlock(byte position: Int) throws
    /// Whether another opening of the file, of this process or another, has the lock of a byte.
    func isLockedElsewhere(byte position: Int) throws -> Bool
    func close()
}

/// A file's bytes as memory, until it is released.
public protocol MappedMemory: AnyObject, Sendable {
    /// Valid as long as this object is alive.
    var bytes: UnsafeRawBufferPointer { get }
}

/// The bytes of a file that grows, as memory that never moves.
public protocol GrowingMap: AnyObject, Sendable {
    /// Of byte 0; valid as long as this object is alive. Bytes from ``byteCount`` on must not be touched.
    var base: UnsafeRawPointer { get }
    var byteCount: Int { get }
    /// The maximum size of the file; less than requested if address space is scarce.
    var reservedBytes: Int { get }
    /// Tells whether a part of the file could not be read; nil for one of which that cannot happen.
    var guarded: MapGuard? { get }
    /// Maps the file up to a size, which it has and must keep. Called by one thread at a time; a smaller size changes
    /// nothing.
    func extend(to byteCount: Int) throws
    /// Takes the bytes out of memory; they are read from the file again when they are needed.
    func letGo()
}

/// Stand-ins that only ever hold a log need none of this.
extension File {
    private var isNoPageFile: StrataError {
        StrataError(.invalidArgument, "This kind of file cannot do that.", .init(path: path))
    }

    public func identity() throws -> FileIdentity { throw isNoPageFile }
    public func status() throws -> FileStatus { FileStatus(identity: try identity(), size: try size()) }
    public func startWriteback(_ range: Range<Int>) {}
    public func shareContent(of source: any File) throws -> Bool { false }
    public func mapGrowing(reserving byteCount: Int) throws -> any GrowingMap { throw isNoPageFile }
    public func map(_ range: Range<Int>, over address: UnsafeMutableRawPointer) throws { throw isNoPageFile }
    public func tryLock(byte position: Int) throws -> Bool { throw isNoPageFile }
    public func unlock(byte position: Int) throws { throw isNoPageFile }
    public func isLockedElsewhere(byte position: Int) throws -> Bool { throw isNoPageFile }
}

extension File {
    /// Reads until `target` is full or the file ends; returns how many bytes were read.
    public func read(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int {
        var count = 0
        while count < target.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: target[count...])
            let some = try retryingInterruptions { try readSome(into: rest, at: position + count) }
            if some == 0 { break }
            count += some
        }
        return count
    }

    /// At most `count` bytes from `position`; fewer only where the file ends.
    public func read(count: Int, at position: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            initializedCount = try read(into: UnsafeMutableRawBufferPointer(buffer), at: position)
        }
    }

    /// Writes all of `source`. After an error any part of it may have been written.
    public func write(_ source: UnsafeRawBufferPointer, at position: Int) throws {
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

    public func write(_ source: [UInt8], at position: Int) throws {
        try source.withUnsafeBytes { try write($0, at: position) }
    }

    /// `syncData`, again if a signal came in between.
    public func sync() throws {
        try retryingInterruptions { try syncData() }
    }

    private func retryingInterruptions<Result>(_ call: () throws -> Result) throws -> Result {
        while true {
            do { return try call() } catch let error as StrataError where error.code == .interrupted { continue }
        }
    }
}
