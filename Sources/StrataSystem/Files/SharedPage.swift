import CStrata
import Glibc
import StrataModel

/// The ways to open a ``SharedPage``.
package enum SharedPageUse: Sendable {
    /// By its only owner, who creates the file if it does not exist.
    case own
    /// By a reader that asks to be woken.
    case follow
    /// By a reader that may not write: the owner does not know that it waits.
    case read
}

/// A file of one page through which a process notifies others on the same machine, in memory that all of them map.
///
/// The owner holds a lock on the file, which ends with the owner's process. The other processes read with system calls
/// only: memory of a file must not be touched if another process may truncate it.
///
/// ```swift
/// let page = try SharedPage(path, .own)
/// page.store(bytes, at: 0)
/// page.announce(at: 2_048, wakingIfSet: 2_112)
/// ```
// @unchecked: the memory is mapped as long as the object lives, its content is shared by all processes, and one owner
// at a time stores.
package final class SharedPage: @unchecked Sendable {
    package static let byteCount = 4_096

    package let path: String
    private let descriptor: Int32
    private let start: UnsafeMutableRawPointer
    private let use: SharedPageUse
    /// The guard of the owner's mapping; other processes only wait on the page.
    private var guarded: MapGuard?

    package convenience init(_ path: String, _ use: SharedPageUse) throws {
        try self.init(path, use, at: AT_FDCWD, named: path, rights: 0o600)
    }

    /// - Parameters:
    ///   - directory: the descriptor that `name` is relative to.
    ///   - rights: the permissions of a newly created file.
    init(_ path: String, _ use: SharedPageUse, at directory: Int32, named name: String, rights: mode_t) throws {
        let flags =
            switch use {
            case .own: O_RDWR | O_CREAT
            case .follow: O_RDWR
            case .read: O_RDONLY
            }
        // A pipe in place of the file is refused, not waited for.
        let descriptor = openat(directory, name, flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, rights)
        guard descriptor >= 0 else { throw StrataError.systemCall("open", path: path, errno: errno) }
        do {
            if case .own = use { try Self.fill(descriptor, path) }
            try Self.checkSize(descriptor, path)
            let protection = if case .own = use { PROT_READ | PROT_WRITE } else { PROT_READ }
            guard let start = mmap(nil, Self.byteCount, protection, MAP_SHARED, descriptor, 0), start != MAP_FAILED
            else { throw StrataError.systemCall("mmap", path: path, errno: errno) }
            (self.path, self.descriptor, self.start, self.use) = (path, descriptor, start, use)
            let bytes = UnsafeMutableRawBufferPointer(start: start, count: Self.byteCount)
            if case .own = use { guarded = try MapGuard(bytes, isWritable: true) } else { guarded = nil }
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        guarded = nil
        munmap(start, Self.byteCount)
        // A child process that another thread is starting shares the descriptor for a moment, and with it the lock.
        if case .own = use { unclaim() }
        close(descriptor)
    }

    /// Rewrites the page as it is, with zeros where it is missing: memory must not be written to unless the file has
    /// space for it, and space that is only reserved may turn out to be missing.
    private static func fill(_ descriptor: Int32, _ path: String) throws {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        guard pread(descriptor, &bytes, byteCount, 0) >= 0 else {
            throw StrataError.systemCall("pread", path: path, errno: errno)
        }
        let count = pwrite(descriptor, bytes, byteCount, 0)
        guard count == byteCount else {
            throw StrataError.systemCall("pwrite", path: path, errno: count < 0 ? errno : ENOSPC)
        }
    }

    private static func checkSize(_ descriptor: Int32, _ path: String) throws {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw StrataError.systemCall("fstat", path: path, errno: errno) }
        guard status.st_size >= byteCount else {
            throw StrataError(
                .impossibleLength, "The file is too short for a page.",
                .init(path: path, expected: "\(byteCount) bytes", found: "\(status.st_size)"))
        }
    }

    // MARK: The owner

    /// Shows other processes that the owner lives, until this object or the process ends; returns false if another
    /// owner does.
    package func claim() -> Bool { strata_lock_byte(descriptor, 0) == 0 }

    package func unclaim() { _ = strata_unlock_byte(descriptor, 0) }

    package func store(_ bytes: [UInt8], at position: Int) {
        requireOwner(position, bytes.count)
        let target = UnsafeMutableRawBufferPointer(start: start + position, count: bytes.count)
        target.copyBytes(from: bytes)
        if guarded?.missingByte != nil, restore() { target.copyBytes(from: bytes) }
    }

    /// Restores a page whose file was truncated; until then, stores reach only private memory. Returns false if the
    /// file cannot be extended again.
    private func restore() -> Bool {
        guard (try? Self.fill(descriptor, path)) != nil,
            mmap(start, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0) != MAP_FAILED
        else { return false }
        guarded?.forget()
        return true
    }

    /// Adds 1 to the number at `word`, and wakes its waiters if the number at `flag` says that there are any. Without
    /// waiters, this makes no system call.
    package func announce(at word: Int, wakingIfSet flag: Int) {
        requireOwner(max(word, flag), 4)
        strata_increment(start + word)
        if strata_take(start + flag) != 0 { _ = strata_wake_waiters(start + word) }
    }

    private func requireOwner(_ position: Int, _ count: Int) {
        precondition(position >= 0 && position + count <= Self.byteCount, "the bytes must be within the page")
        guard case .own = use else { preconditionFailure("only the owner may change a shared page") }
    }

    // MARK: The others

    /// Returns true if the owner's process lives and still holds the page.
    package func isClaimed() -> Bool { strata_is_byte_locked(descriptor, 0) > 0 }

    package func read(_ range: Range<Int>) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            let result = pread(descriptor, buffer.baseAddress, range.count, off_t(range.lowerBound))
            guard result >= 0 else { throw StrataError.systemCall("pread", path: path, errno: errno) }
            count = result
        }
    }

    /// Waits until the owner announces something or the time is up; returns early if the number at `word` is not
    /// `value`.
    ///
    /// The owner does not know of a reader that may not write. For such a reader, this only rests for a while.
    package func wait(at word: Int, while value: UInt32, flag: Int, milliseconds: Int) {
        // IMPORTANT: the flag is raised before the call compares the number: an announcement in between either changes
        // the number or sees the flag.
        if case .follow = use, raise(flag) {
            if strata_wait_while_equal(start + word, value, Int64(milliseconds)) == 0 { return }
            // The number changed, a signal came, or the time is up. Any other error means that waiting is impossible
            // here.
            if [EAGAIN, EINTR, ETIMEDOUT].contains(errno) { return }
        }
        ThreadPause.rest(microseconds: Int64(min(milliseconds, Self.unknownFollowerMilliseconds)) * 1_000)
    }

    private static let unknownFollowerMilliseconds = 20

    private func raise(_ flag: Int) -> Bool {
        var raised: UInt32 = 1
        return pwrite(descriptor, &raised, 4, off_t(flag)) == 4
    }
}
