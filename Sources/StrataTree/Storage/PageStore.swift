import StrataModel
import StrataSystem

/// All trees of a store, which share one pool of pages.
///
/// One fork at a time is published on top of the newest snapshot; readers hold snapshots and never wait.
///
/// ```swift
/// let store = try PageStore.inMemory()
/// let fork = store.fork()
/// try fork.put(records, key, value)
/// let snapshot = try store.publish(fork)
/// ```
package final class PageStore: Sendable {
    let core: PageCore
    private let newest: Lock<Snapshot>
    /// Nil for a store that persists nothing.
    let checkpoints: Checkpoints?
    /// Nil unless the store is a branch of another one.
    private let branch: BranchPages?

    init(core: PageCore, newest: Snapshot, checkpoints: Checkpoints? = nil, branch: BranchPages? = nil) {
        self.core = core
        self.newest = Lock(newest)
        self.checkpoints = checkpoints
        self.branch = branch
    }

    deinit { branch?.end() }

    /// A store that branches off any state of another one and shares its pages. It persists nothing. The other store
    /// must not write checkpoints, because they would write the branch's pages too.
    ///
    /// ```swift
    /// let branch = PageStore.branch(on: store.snapshot())
    /// let fork = branch.fork()
    /// ```
    package static func branch(on snapshot: Snapshot) -> PageStore {
        PageStore(core: snapshot.core, newest: snapshot, branch: BranchPages(on: snapshot))
    }

    /// A store that persists nothing.
    package static func inMemory(options: PageStoreOptions = PageStoreOptions()) throws -> PageStore {
        try PageStore(
            PageMemory(capacity: options.maximumPages, slotCapacity: options.maximumArenaPages, source: nil), options)
    }

    /// A store that persists nothing, and keeps pages beyond `maximumMemoryPages` in an unnamed file.
    ///
    /// - Parameter name: the name of that file for a moment. Stores created at the same time need different names.
    package static func temporary(
        in directory: String, files: any FileSystem, options: PageStoreOptions = PageStoreOptions(),
        name: String = "views.spill"
    ) throws -> PageStore {
        try PageStore(
            PageMemory(
                capacity: options.maximumPages, slotCapacity: options.maximumArenaPages, source: nil,
                memorySlots: options.maximumMemoryPages,
                spill: SpillFile(files: files, path: directory + "/" + name)), options)
    }

    private convenience init(_ memory: PageMemory, _ options: PageStoreOptions) {
        let core = PageCore(
            memory: memory, ledger: PageLedger(pageCount: 2, capacity: memory.capacity), lastEpoch: 1)
        core.pin(1)
        self.init(core: core, newest: Snapshot(core: core, epoch: 1, roots: TreeRoots()))
    }

    /// Drops pages that are stored in files from memory, for callers that will not need most of them for a while.
    package func letGoOfFiles() { core.memory.letGoOfFiles() }

    /// Returns true if the state belongs to this store or to a fork of it.
    package func isSource(of snapshot: Snapshot) -> Bool { snapshot.core === core }

    /// The newest published state.
    package func snapshot() -> Snapshot { newest.withLock { $0 } }

    /// A private writable copy of the newest published state.
    package func fork() -> Fork { Fork(on: snapshot()) }

    /// Makes a fork the newest state.
    ///
    /// - Throws: ``StrataError`` if the fork was not made from the newest state.
    @discardableResult
    package func publish(_ fork: Fork) throws -> Snapshot {
        // The last reference to the previous state is released outside the lock.
        let (snapshot, before) = try newest.withLock { newest throws -> (Snapshot, Snapshot) in
            let before = newest
            guard fork.core === core, fork.baseEpoch == before.epoch else {
                throw StrataError(
                    .invalidArgument, "Only a fork of the newest state can be published.",
                    .init(expected: "a fork of epoch \(before.epoch)", found: "a fork of epoch \(fork.baseEpoch)"))
            }
            newest = try fork.publish(to: branch)
            return (newest, before)
        }
        withExtendedLifetime(before) {}
        return snapshot
    }
}
