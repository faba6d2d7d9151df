import Glibc
import StrataModel
import StrataSystem
import Synchronization

/// A file system in memory that knows what has been synced, fails on demand, and shows what power loss would leave.
///
/// The model of the medium is the one of docs/format.md §13, at its worst:
/// - What was written since the last sync of its file may be there, or not, or in part, for each 512-byte sector.
/// - A size that was not synced may be any size between the old and the new one.
/// - A name added, renamed or removed since the last sync of its directory may be as before or as after.
/// - Directories are durable as soon as they are made, and cannot be renamed or removed.
///
/// Space is counted by file size, so space that was never written takes room as well.
///
/// ```swift
/// let disk = SimulatedDisk()
/// disk.fail(.syncData, at: 3, with: .syncLoses)
/// disk.beforeCall = { kind, path in … }
/// let survivor = disk.afterPowerLoss(seed: 7)
/// ```
package final class SimulatedDisk: FileSystem {
    let state: Monitor<SimulatedDiskState>
    /// Tells the disks of a process apart.
    let number = SimulatedDisk.diskCount.add(1, ordering: .relaxed).newValue
    private static let diskCount = Atomic<UInt64>(0)

    package init() { state = Monitor(SimulatedDiskState()) }

    init(_ state: SimulatedDiskState) { self.state = Monitor(state) }

    /// Called before each call takes effect, on the caller's thread and without a lock: it may freeze or wait.
    package var beforeCall: (@Sendable (CallKind, String) -> Void)? {
        get { state.withLock { $0.beforeCall } }
        set {
            // The old hook may hold a file of this disk, whose end takes the lock: let it go outside.
            var hook = newValue
            state.withLock { swap(&$0.beforeCall, &hook) }
        }
    }

    /// Writing more than this fails with ENOSPC, after what still fits; nil: no limit.
    package var capacityBytes: Int? {
        get { state.withLock { $0.capacityBytes } }
        set { state.withLock { $0.capacityBytes = newValue } }
    }

    package var usedBytes: Int { state.withLock { $0.usedBytes } }

    /// Whether everything that would change the disk fails with EROFS, in open files too.
    package var isReadOnly: Bool {
        get { state.withLock { $0.isReadOnly } }
        set { state.withLock { $0.isReadOnly = newValue } }
    }

    /// The clock that gives files their times.
    package var time: any TimeSource {
        get { state.withLock { $0.time } }
        set { state.withLock { $0.time = newValue } }
    }

    /// Calls that name this path, or one below it, fail with EACCES; files that are open stay usable.
    package func deny(_ path: String) {
        state.withLock { _ = $0.denied.insert(SimulatedNames.normal(path)) }
    }

    package func allow(_ path: String) {
        state.withLock { _ = $0.denied.remove(SimulatedNames.normal(path)) }
    }

    /// How many calls of a kind there were, failed ones included.
    package func count(of kind: CallKind) -> Int { state.withLock { $0.counts[kind, default: 0] } }

    /// Does one call of the operating system: tells the hook, counts, and fails it if that is planned.
    func call<Result>(
        _ kind: CallKind, _ path: String, _ name: StaticString,
        _ body: (inout SimulatedDiskState, FaultOutcome?) throws -> Result
    ) throws -> Result {
        if let beforeCall { beforeCall(kind, path) }
        let (result, number): (Result, Int32?) = try state.withLock { state in
            state.counts[kind, default: 0] += 1
            let outcome = state.plannedOutcome(of: kind, path)
            switch outcome {
            case .errno(let number): throw StrataError.systemCall(name, path: path, errno: number)
            case .interrupted: throw StrataError.systemCall(name, path: path, errno: EINTR)
            case .doneThenErrno(let number): return (try body(&state, nil), number)
            default: return (try body(&state, outcome), nil)
            }
        }
        // Outside of the lock, which a file that was opened in vain takes when it goes.
        if let number { throw StrataError.systemCall(name, path: path, errno: number) }
        return result
    }
}

extension SimulatedDisk {
    /// What a program can ask of a disk.
    package enum CallKind: String, Sendable, CaseIterable {
        /// Opening a file that exists; making a new one is ``create``.
        case open
        case create, exists, size, read, write, syncData, allocate, truncate, map, lock, touch
        case makeDirectory, rename, remove, list, syncDirectory
    }
}
