import Glibc
import StrataModel
import StrataSystem

/// What is behind a simulated disk's lock.
struct SimulatedDiskState {
    var names = SimulatedNames()
    var inodes: [Int: SimulatedInode] = [:]
    var handles: [Int: Handle] = [:]
    /// Which open file holds the lock of an inode.
    var locks: [Int: Int] = [:]
    /// Which open file holds the lock of a byte.
    var byteLocks: [LockedByte: Int] = [:]
    var counts: [SimulatedDisk.CallKind: Int] = [:]
    var faults: [SimulatedDisk.Fault] = []
    var stutter: SeededGenerator?
    var capacityBytes: Int?
    var isReadOnly = false
    var time: any TimeSource = SystemTime()
    var denied: Set<String> = []
    var beforeCall: (@Sendable (SimulatedDisk.CallKind, String) -> Void)?
    private var lastNumber = 0

    struct LockedByte: Hashable {
        let inode: Int
        let position: Int
    }

    struct Handle {
        let inode: Int
        let isWritable: Bool
    }

    init() {}

    /// An empty disk whose files to come get other numbers than those of `other`.
    init(numberingAfter other: SimulatedDiskState) { lastNumber = other.lastNumber }

    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    mutating func addInode() -> SimulatedInode {
        let inode = SimulatedInode(number: nextNumber())
        touch(inode)
        inodes[inode.number] = inode
        return inode
    }

    func touch(_ inode: SimulatedInode) { inode.modified = time.nowMicroseconds() &* 1_000 }

    func inode(at path: String) -> SimulatedInode? { names.files[path].flatMap { inodes[$0] } }

    /// Forgets files that neither a name nor an open file can reach any more.
    mutating func removeUnreachable() {
        let reachable = names.reachable.union(handles.values.map(\.inode))
        inodes = inodes.filter { reachable.contains($0.key) }
    }

    var usedBytes: Int {
        let used = Set(names.files.values).union(handles.values.map(\.inode))
        return used.reduce(0) { $0 + (inodes[$1]?.size ?? 0) }
    }

    /// Where a file must end so that it fits the disk and the largest file.
    func largestSize(of inode: SimulatedInode) -> Int {
        guard let capacityBytes else { return StableMemory.capacityBytes }
        return min(StableMemory.capacityBytes, inode.size + max(0, capacityBytes - usedBytes))
    }

    /// The checks that the kernel makes on the way to a path, before it looks for the last name.
    func checkPath(_ path: String, _ call: StaticString) throws {
        func failure(_ number: Int32) -> StrataError { .systemCall(call, path: path, errno: number) }
        if denied.contains(where: { path == $0 || path.hasPrefix($0 + "/") }) { throw failure(EACCES) }
        let parent = SimulatedNames.parent(of: path)
        guard names.directories.contains(parent) else {
            throw failure(names.files[parent] == nil ? ENOENT : ENOTDIR)
        }
    }

    func checkWritable(_ path: String, _ call: StaticString) throws {
        if isReadOnly { throw StrataError.systemCall(call, path: path, errno: EROFS) }
    }

    /// The outcome of the first fault that is due; every fault that watches such calls counts this one.
    mutating func plannedOutcome(of kind: SimulatedDisk.CallKind, _ path: String) -> SimulatedDisk.FaultOutcome? {
        var planned: SimulatedDisk.FaultOutcome?
        for index in faults.indices where faults[index].watches(kind, path) {
            if faults[index].isDueAtNextCall(), planned == nil { planned = faults[index].outcome }
        }
        return planned ?? stutteredOutcome(of: kind)
    }
}
