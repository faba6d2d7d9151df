import StrataModel
import StrataSystem

/// All trees of a store, sharing one pool of pages.
///
/// One fork at a time is published on top of the newest snapshot; readers hold snapshots and never wait.
///
/// ```swift
/// let store = try PageStore.inMemory()
/// let fork = store.fork()
/// try fork.put(records, key, value)
/// let snapshot = try store.publish(fork)
/// ```
public final class PageStore: Sendable {
    let core: PageCore
    private let newest: Lock<Snapshot>

    init(core: PageCore, newest: Snapshot) {
        self.core = core
        self.newest = Lock(newest)
    }

    /// A store that leaves nothing behind.
    public static func inMemory(options: PageStoreOptions = PageStoreOptions()) throws -> PageStore {
        let memory = try PageMemory(
            capacity: options.maximumPages, slotCapacity: options.maximumArenaPages, source: nil)
        let core = PageCore(
            memory: memory, ledger: PageLedger(pageCount: 2, capacity: options.maximumPages), lastEpoch: 1)
        core.pin(1)
        return PageStore(core: core, newest: Snapshot(core: core, epoch: 1, roots: TreeRoots()))
    }

    /// The newest published state.
    public func snapshot() -> Snapshot { newest.withLock { $0 } }

    /// A private writable copy of the newest published state.
    public func fork() -> Fork { Fork(on: snapshot()) }

    /// Makes a fork the newest state.
    ///
    /// - Throws: ``StrataError`` if the newest state is not what the fork was made from.
    @discardableResult
    public func publish(_ fork: Fork) throws -> Snapshot {
        // Whoever held the last reference to the state before lets it go outside the lock.
        let (snapshot, before) = try newest.withLock { newest throws -> (Snapshot, Snapshot) in
            let before = newest
            guard fork.baseEpoch == before.epoch else {
                throw StrataError(
                    .invalidArgument, "Only a fork of the newest state can be published.",
                    .init(expected: "a fork of epoch \(before.epoch)", found: "a fork of epoch \(fork.baseEpoch)"))
            }
            newest = try fork.publish()
            return (newest, before)
        }
        withExtendedLifetime(before) {}
        return snapshot
    }
}

/// How much room a page store may take.
public struct PageStoreOptions: Sendable {
    /// The page file's largest size, in pages of 4 KiB.
    public var maximumPages: Int
    /// Pages that are written and not yet in the file, at most.
    public var maximumArenaPages: Int

    public init(maximumPages: Int = 64 << 20, maximumArenaPages: Int = 4 << 20) {
        self.maximumPages = maximumPages
        self.maximumArenaPages = maximumArenaPages
    }
}
