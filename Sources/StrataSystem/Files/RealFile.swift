import CStrata
import Glibc
import StrataModel
import Synchronization

/// A file descriptor. It is closed once, by ``close()`` or with the object.
final class RealFile: File {
    let path: String
    // Negative once closed, so that a second close cannot hit a descriptor that has been reused.
    private let descriptor: Atomic<Int32>
    /// The process that took the lock of the file; 0 if none did.
    private let lockHolder = Atomic<Int32>(0)
    /// The error of a write-back; 0 if there was none. The system reports it only once, and the next sync must fail.
    private let writebackError = Atomic<Int32>(0)
    /// The same file, opened for direct writes; ``untried`` before the first, ``refused`` where there can be none.
    private let directDescriptor = Atomic<Int32>(RealFile.untried)

    private static let untried: Int32 = -2
    private static let refused: Int32 = -1
    /// `MADV_POPULATE_READ` of Linux 5.14 and later.
    private static let populateRead: Int32 = 22

    init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = Atomic(descriptor)
    }

    deinit { close() }

    func close() {
        let open = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        guard open >= 0 else { return }
        // A child process that another thread is starting shares the descriptor until it executes its own program, so
        // closing alone would leave the lock with the child. A forked copy of this object must not release its parent's
        // lock.
        if lockHolder.load(ordering: .relaxed) == getpid() { flock(open, LOCK_UN) }
        Glibc.close(open)
        refuseDirectWrites()
    }

    private var openDescriptor: Int32 { descriptor.load(ordering: .relaxed) }

    private func failure(_ call: StaticString) -> StrataError { .systemCall(call, path: path, errno: errno) }

    func size() throws -> Int { Int(try rawStatus().st_size) }

    func identity() throws -> FileIdentity {
        let status = try rawStatus()
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    func status() throws -> FileStatus {
        func nanoseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) }
        let status = try rawStatus()
        return FileStatus(
            identity: FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)),
            size: Int(status.st_size), modified: nanoseconds(status.st_mtim), changed: nanoseconds(status.st_ctim))
    }

    func touch() throws {
        guard futimens(openDescriptor, nil) == 0 else { throw failure("futimens") }
    }

    func shareContent(of source: any File) throws -> Bool {
        guard let source = source as? RealFile else { return false }
        return strata_share_content(openDescriptor, source.openDescriptor) == 0
    }

    private func rawStatus() throws -> stat {
        var status = stat()
        guard fstat(openDescriptor, &status) == 0 else { throw failure("fstat") }
        return status
    }

    func readSome(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int {
        let count = pread(openDescriptor, target.baseAddress, target.count, off_t(position))
        guard count >= 0 else { throw failure("pread") }
        return count
    }

    func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int {
        let count = pwrite(openDescriptor, source.baseAddress, source.count, off_t(position))
        guard count >= 0 else { throw failure("pwrite") }
        return count
    }

    func writeSomeDirectly(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int? {
        guard DirectWrites.isAligned(source, at: position) else { return nil }
        let direct = openDirectly()
        guard direct >= 0 else { return nil }
        let count = pwrite(direct, source.baseAddress, source.count, off_t(position))
        guard count < 0 else { return count }
        guard errno == EINVAL || errno == EOPNOTSUPP else { throw failure("pwrite") }
        // The file system takes larger units, or none.
        refuseDirectWrites()
        return nil
    }

    /// Returns the descriptor for direct writes, or a negative number.
    private func openDirectly() -> Int32 {
        let known = directDescriptor.load(ordering: .acquiring)
        guard known == Self.untried else { return known }
        let opened = strata_open_directly(openDescriptor)
        let (isFirst, other) = directDescriptor.compareExchange(
            expected: Self.untried, desired: max(opened, Self.refused), ordering: .acquiringAndReleasing)
        if isFirst { return opened }
        if opened >= 0 { Glibc.close(opened) }
        return other
    }

    private func refuseDirectWrites() {
        let direct = directDescriptor.exchange(Self.refused, ordering: .acquiringAndReleasing)
        if direct >= 0 { Glibc.close(direct) }
    }

    func syncData() throws {
        let result = fdatasync(openDescriptor)
        let earlier = writebackError.exchange(0, ordering: .relaxed)
        guard result == 0 else { throw failure("fdatasync") }
        guard earlier == 0 else { throw StrataError.systemCall("sync_file_range", path: path, errno: earlier) }
    }

    func finishWriteback(_ range: Range<Int>) {
        let result = strata_finish_writeback(openDescriptor, Int64(range.lowerBound), Int64(range.count))
        if result != 0 { noteWriteback(error: errno) }
    }

    func startWriteback(_ range: Range<Int>) {
        let result = strata_start_writeback(openDescriptor, Int64(range.lowerBound), Int64(range.count))
        if result != 0 { noteWriteback(error: errno) }
    }

    func noteWriteback(error: Int32) {
        // With other errors nothing was lost: the file system does not offer the call.
        guard [EIO, ENOSPC, EDQUOT].contains(error) else { return }
        writebackError.store(error, ordering: .relaxed)
    }

    func allocate(_ range: Range<Int>) throws {
        let result = posix_fallocate(openDescriptor, off_t(range.lowerBound), off_t(range.count))
        guard result == 0 else { throw StrataError.systemCall("fallocate", path: path, errno: result) }
    }

    func truncate(to size: Int) throws {
        guard ftruncate(openDescriptor, off_t(size)) == 0 else { throw failure("ftruncate") }
    }

    func map(length: Int) throws -> any MappedMemory {
        guard length > 0, length <= (try size()) else { throw Self.outOfRange(path, try size(), length) }
        guard let start = mmap(nil, length, PROT_READ, MAP_SHARED, openDescriptor, 0), start != MAP_FAILED else {
            throw failure("mmap")
        }
        // What was written past the cache is read in, since it is new and will be asked for. If that is not possible,
        // the first reads take longer.
        if directDescriptor.load(ordering: .relaxed) >= 0 { _ = madvise(start, length, Self.populateRead) }
        return try RealMappedMemory(UnsafeMutableRawBufferPointer(start: start, count: length))
    }

    func tryLock() throws -> Bool {
        if flock(openDescriptor, LOCK_EX | LOCK_NB) == 0 {
            lockHolder.store(getpid(), ordering: .relaxed)
            return true
        }
        guard errno == EWOULDBLOCK else { throw failure("flock") }
        return false
    }

    private static func outOfRange(_ path: String, _ size: Int, _ found: Int) -> StrataError {
        StrataError(
            .outOfRange, "Only existing bytes of a file can be mapped.",
            .init(path: path, expected: "1 to \(size) bytes", found: "\(found)"))
    }
}
