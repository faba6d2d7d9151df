import StrataModel
import StrataSystem

/// All trees of a store.
///
/// One fork at a time is published on top of the newest snapshot; readers hold snapshots and never wait. Changes stay
/// in memory until a generation of them is full. It is then written as a run.
///
/// ```swift
/// let store = try TreeStore.inMemory(owner, hashed: [records])
/// let fork = try store.fork()
/// try fork.put(records, key, value)
/// let snapshot = try store.publish(fork)
/// ```
package final class TreeStore: Sendable {
    struct State: Sendable {
        var newest: Snapshot
        var levels: Levels
        /// The number of the next file.
        var nextNumber: UInt64
    }

    let state: Lock<State>
    /// The states on disk. Held while a run is written, so that flushes and merges follow each other.
    let durable: Lock<DurableStates>
    let home: RunHome
    /// The number of the store's first own file. The runs with lower numbers are another store's, and stay as they are.
    let firstNumber: UInt64
    let owner: RunOwner
    /// The trees whose entries are also found by hash.
    let hashed: Set<TreeID>
    let options: TreeStoreOptions

    init(
        newest: Snapshot, nextNumber: UInt64 = 1, durable: DurableStates? = nil, home: RunHome, owner: RunOwner,
        hashed: Set<TreeID>, options: TreeStoreOptions
    ) {
        state = Lock(State(newest: newest, levels: newest.below.levels, nextNumber: nextNumber))
        self.durable = Lock(
            durable ?? DurableStates(directory: nil, platform: Platform(), owner: owner, maximumKept: 0))
        self.home = home
        firstNumber = home.isDurable ? 0 : nextNumber
        self.owner = owner
        self.hashed = hashed
        self.options = options
    }

    /// A store that leaves no files.
    package static func inMemory(
        _ owner: RunOwner, hashed: Set<TreeID>, options: TreeStoreOptions = TreeStoreOptions()
    ) throws -> TreeStore {
        TreeStore(
            newest: try newest(options: options), home: RunHome(place: .memory), owner: owner, hashed: hashed,
            options: options)
    }

    /// A store whose runs are unnamed files, which end with it.
    ///
    /// - Parameter name: the beginning of the names that the files have for a moment. Stores created at the same time
    ///   need different names.
    package static func temporary(
        _ owner: RunOwner, hashed: Set<TreeID>, in directory: String, files: any FileSystem,
        options: TreeStoreOptions = TreeStoreOptions(), name: String = "views"
    ) throws -> TreeStore {
        TreeStore(
            newest: try newest(options: options), home: RunHome(place: .unnamed("\(directory)/\(name)", files)),
            owner: owner, hashed: hashed, options: options)
    }

    /// A state with the given runs and nothing in memory.
    static func newest(
        of levels: Levels = .none, roots: TreeRoots = TreeRoots(), options: TreeStoreOptions = TreeStoreOptions()
    ) throws -> Snapshot {
        let generation = try Generation(limit: options.generationBytes, reserving: options.reservedBytes)
        return Snapshot(
            top: MemoryLayer(generation, epoch: Epochs.next(), roots: roots), below: Below(levels: levels))
    }

    /// A store that begins with a state of this one and shares its layers. Its own runs are files without names.
    package func branch(on snapshot: Snapshot) throws -> TreeStore {
        let generation = try Generation(limit: options.generationBytes, reserving: options.reservedBytes)
        let top = MemoryLayer(generation, epoch: Epochs.next(), roots: snapshot.roots.emptied())
        return TreeStore(
            newest: Snapshot(top: top, below: snapshot.below.adding(snapshot.top)),
            nextNumber: snapshot.below.levels.firstFreeNumber, home: scratch, owner: owner, hashed: hashed,
            options: options)
    }

    /// The place of the files of a branch, whose names no other branch uses at the same time.
    private var scratch: RunHome {
        switch home.place {
        case .directory(let directory, let files):
            RunHome(place: .unnamed("\(directory)/branch-\(Epochs.next())", files))
        case .unnamed(let path, let files): RunHome(place: .unnamed("\(path)-\(Epochs.next())", files))
        case .memory: home
        }
    }

    // MARK: States

    /// The newest published state.
    package func snapshot() -> Snapshot { state.withLock { $0.newest } }

    /// Returns true if a state was published by this store.
    package func isSource(of snapshot: Snapshot) -> Bool {
        snapshot.top.generation.store == self.snapshot().top.generation.store
    }

    /// A private writable copy of the newest published state.
    package func fork() throws -> Fork { try Fork(on: snapshot()) }

    /// Makes a fork the newest state.
    ///
    /// A store whose files end with it also writes full generations here, since nothing else does.
    /// - Throws: ``StrataError`` if the fork was not made from the newest state.
    @discardableResult
    package func publish(_ fork: Fork) throws -> Snapshot {
        // The last references to previous states are released outside the lock.
        let under = fork.under
        let (snapshot, before) = try state.withLock { state throws -> (Snapshot, Snapshot) in
            let before = state.newest
            guard fork.baseEpoch == before.epoch else {
                throw StrataError(
                    .invalidArgument, "A fork can be published only on the state that it was made from.",
                    .init(expected: "state \(before.epoch)", found: "\(fork.baseEpoch)"))
            }
            state.newest = try fork.publish(on: state.levels)
            return (state.newest, before)
        }
        withExtendedLifetime((under, before)) {}
        // The state is published; what fails stays in memory, and is tried again with the next one.
        if !home.isDurable, waitingGenerations > 1 { try? writeRuns() }
        return snapshot
    }
}
