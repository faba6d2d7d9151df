import Glibc
import StrataModel
import StrataSystem
import Synchronization

/// A file that is open on a simulated disk.
final class SimulatedFile: File {
    let path: String
    private let disk: SimulatedDisk
    private let handle: Int
    private let knownFailures: Atomic<Int>

    init(disk: SimulatedDisk, path: String, handle: Int, knownFailures: Int) {
        self.disk = disk
        self.path = path
        self.handle = handle
        self.knownFailures = Atomic(knownFailures)
    }

    deinit { close() }

    func close() {
        disk.state.withLock { state in
            guard let open = state.handles.removeValue(forKey: handle) else { return }
            if state.locks[open.inode] == handle { state.locks[open.inode] = nil }
            state.byteLocks = state.byteLocks.filter { $0.value != handle }
            state.removeUnreachable()
        }
    }

    func size() throws -> Int {
        try call(.size, "fstat") { _, inode, _ in inode.size }
    }

    func identity() throws -> FileIdentity {
        try call(.size, "fstat") { _, inode, _ in
            FileIdentity(device: disk.number, inode: UInt64(inode.number))
        }
    }

    func status() throws -> FileStatus {
        try call(.size, "fstat") { _, inode, _ in
            FileStatus(
                identity: FileIdentity(device: disk.number, inode: UInt64(inode.number)), size: inode.size,
                modified: inode.modified)
        }
    }

    func touch() throws {
        try call(.touch, "futimens") { state, inode, _ in
            try state.checkWritable(path, "futimens")
            state.touch(inode)
        }
    }

    func readSome(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int {
        try call(.read, "pread") { _, inode, outcome in
            guard position >= 0 else { throw failure("pread", EINVAL) }
            var count = max(0, min(target.count, inode.size - position))
            if case .shortRead(let bytes) = outcome { count = min(count, bytes) }
            target.copyMemory(from: inode.live.bytes(position..<position + count))
            return count
        }
    }

    func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int {
        try call(.write, "pwrite", changes: true) { state, inode, outcome in
            guard position >= 0 else { throw failure("pwrite", EINVAL) }
            var count = min(source.count, max(0, state.largestSize(of: inode) - position))
            if count == 0, !source.isEmpty { throw failure("pwrite", state.capacityBytes == nil ? EFBIG : ENOSPC) }
            if case .ignored = outcome { return count }
            if case .shortWrite(let bytes) = outcome { count = min(count, bytes) }
            if case .writeThenErrno(let bytes, _) = outcome { count = min(count, bytes) }
            if count > 0 {
                inode.write(UnsafeRawBufferPointer(rebasing: source[..<count]), at: position)
                state.touch(inode)
            }
            if case .writeThenErrno(_, let number) = outcome { throw failure("pwrite", number) }
            return count
        }
    }

    func syncData() throws {
        try call(.syncData, "fdatasync") { state, inode, outcome in
            if state.isReadOnly, inode.needsSync { throw failure("fdatasync", EROFS) }
            if case .syncLoses = outcome {
                inode.loseUnsynced()
                inode.writebackFailures += 1
                knownFailures.store(inode.writebackFailures, ordering: .relaxed)
                throw failure("fdatasync", EIO)
            }
            inode.sync()
            if knownFailures.exchange(inode.writebackFailures, ordering: .relaxed) < inode.writebackFailures {
                throw failure("fdatasync", EIO)
            }
        }
    }

    // Nothing follows from it: what is unsynced may be on the medium anyway.
    func finishWriteback(_ range: Range<Int>) {}

    func allocate(_ range: Range<Int>) throws {
        try call(.allocate, "fallocate", changes: true) { state, inode, _ in
            guard range.lowerBound >= 0, !range.isEmpty else { throw failure("fallocate", EINVAL) }
            try checkRoom(for: range.upperBound, of: inode, in: state, "fallocate")
            if range.upperBound > inode.size { inode.resize(to: range.upperBound) }
        }
    }

    func truncate(to size: Int) throws {
        // The kernel says EINVAL, not EBADF, to truncating a file that is open for reading.
        try call(.truncate, "ftruncate", changes: true, notWritable: EINVAL) { state, inode, _ in
            guard size >= 0 else { throw failure("ftruncate", EINVAL) }
            try checkRoom(for: size, of: inode, in: state, "ftruncate")
            inode.resize(to: size)
            state.touch(inode)
        }
    }

    func map(length: Int) throws -> any MappedMemory {
        try call(.map, "mmap") { _, inode, _ in
            guard length > 0, length <= inode.size else {
                throw StrataError(
                    .outOfRange, "Only existing bytes of a file can be mapped.",
                    .init(path: path, expected: "1 to \(inode.size) bytes", found: "\(length)"))
            }
            return SimulatedMappedMemory(inode.live, length: length)
        }
    }

    func tryLock() throws -> Bool {
        try call(.lock, "flock") { state, inode, _ in
            guard let holder = state.locks[inode.number] else {
                state.locks[inode.number] = handle
                return true
            }
            return holder == handle
        }
    }

    func mapGrowing(reserving byteCount: Int) throws -> any GrowingMap {
        try call(.map, "mmap") { _, inode, _ in SimulatedGrowingMap(inode.live, self, reserving: byteCount) }
    }

    // The memory is there already; what was written to it is no business of the medium.
    func map(_ range: Range<Int>, over address: UnsafeMutableRawPointer) throws {
        try call(.map, "mmap") { _, inode, _ in
            guard range.upperBound <= inode.size else {
                throw StrataError(
                    .outOfRange, "Only existing bytes of a file can be mapped.",
                    .init(path: path, expected: "at most \(inode.size) bytes", found: "\(range.upperBound)"))
            }
        }
    }

    func tryLock(byte position: Int) throws -> Bool {
        try call(.lock, "fcntl", changes: true) { state, inode, _ in
            let byte = SimulatedDiskState.LockedByte(inode: inode.number, position: position)
            guard let holder = state.byteLocks[byte] else {
                state.byteLocks[byte] = handle
                return true
            }
            return holder == handle
        }
    }

    func unlock(byte position: Int) throws {
        try call(.lock, "fcntl") { state, inode, _ in
            let byte = SimulatedDiskState.LockedByte(inode: inode.number, position: position)
            if state.byteLocks[byte] == handle { state.byteLocks[byte] = nil }
        }
    }

    func isLockedElsewhere(byte position: Int) throws -> Bool {
        try call(.lock, "fcntl") { state, inode, _ in
            let holder = state.byteLocks[.init(inode: inode.number, position: position)]
            return holder != nil && holder != handle
        }
    }

    private func failure(_ call: StaticString, _ number: Int32) -> StrataError {
        .systemCall(call, path: path, errno: number)
    }

    private func checkRoom(
        for size: Int, of inode: SimulatedInode, in state: SimulatedDiskState, _ call: StaticString
    ) throws {
        guard size > inode.size, size > state.largestSize(of: inode) else { return }
        throw failure(call, size > StableMemory.capacityBytes ? EFBIG : ENOSPC)
    }

    private func call<Result>(
        _ kind: SimulatedDisk.CallKind, _ name: StaticString, changes: Bool = false, notWritable: Int32 = EBADF,
        _ body: (inout SimulatedDiskState, SimulatedInode, SimulatedDisk.FaultOutcome?) throws -> Result
    ) throws -> Result {
        try disk.call(kind, path, name) { state, outcome in
            guard let open = state.handles[handle], let inode = state.inodes[open.inode] else {
                throw failure(name, EBADF)
            }
            if changes, !open.isWritable { throw failure(name, notWritable) }
            if changes { try state.checkWritable(path, name) }
            return try body(&state, inode, outcome)
        }
    }
}
