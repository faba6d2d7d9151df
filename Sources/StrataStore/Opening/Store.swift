import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import StrataTree
import StrataViews

/// A handle of a container: its share in the log, the state and the pipeline that all handles of this process use, and
/// the push queues that were opened through it.
///
/// ```swift
/// let store = try Store.open(at: "Notes.strata")
/// let anna = Actor(user: "anna")
/// let answer = try await store.modify(request, as: anna)
/// let note = try answer.snapshot.record(id, in: DatabaseID(.private), as: anna)
/// try store.close()
/// ```
public final class Store: Sendable {
    let engine: StoreEngine
    /// The share in an engine that other handles of this process may use too; nil if the engine is this handle's alone.
    private let lease: StoreTable.Lease?
    let gate = StoreGate()
    /// The mailboxes that were opened through this handle.
    private let pushQueues = Lock<[WeakQueue]>([])

    private struct WeakQueue {
        weak var box: PushQueue?
    }

    public var options: StoreOptions { engine.options }
    /// An object that all handles of this process on one store have in common; use it only for comparison.
    public var sharedIdentity: any AnyObject & Sendable { engine }
    /// The result of opening the store for writing; nil if it is only read, or in memory.
    public var opening: Opening? { engine.opening }
    /// The store's ID.
    package var storeID: Identifier { engine.storeID }
    /// The log that the store is folded from. If another program writes it, it may be ahead of ``offset``.
    package var log: any EventLog { engine.log }
    var views: Views { engine.views }
    var pipeline: Pipeline { engine.pipeline }

    public typealias Opening = StoreOpening

    public let access: AccessMode

    init(_ engine: StoreEngine, _ lease: StoreTable.Lease?, _ access: AccessMode = .readWrite) {
        self.engine = engine
        self.lease = lease
        self.access = access
    }

    // MARK: Opening

    /// Opens a store for reading as of a commit; later commits are not in it.
    ///
    /// ```swift
    /// let past = try Store.open(at: "Notes.strata", through: 1_207)
    /// ```
    /// The state is that of a kept state before the offset, if there is one, and the log from there on.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for an offset past the end, and for one whose history was removed.
    public static func open(at path: String, through offset: UInt64, options: StoreOptions = .service) throws -> Store {
        try open(at: path, through: offset, options: options, platform: Platform())
    }

    package static func open(
        at path: String, through offset: UInt64, options: StoreOptions = .service, platform: Platform = Platform(),
        progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> Store {
        Store(
            try StoreEngine.openForReading(at: path, through: offset, options, platform, progress: progress), nil,
            .readOnly)
    }

    /// Opens or creates a store: recovers the log after a crash, and loads the newest state on disk that fits.
    ///
    /// If this process already has the store open, this returns another handle of it. If another process writes the
    /// store, the error names that process; the store can then be opened for reading.
    ///
    /// - Throws: ``StrataError`` of the disk, if another process writes the store, for damage in the log, and for
    ///   options that differ from those of an open handle.
    public static func open(
        at path: String, options: StoreOptions = .service, access: AccessMode = .readWrite
    ) throws -> Store {
        try open(at: path, options: options, access: access, platform: Platform())
    }

    package static func open(
        at path: String, options: StoreOptions = .service, access: AccessMode = .readWrite,
        platform: Platform = Platform(), progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> Store {
        if access == .readOnly {
            if let lease = try StoreTable.shared.leaseForReading(at: path, platform) {
                return Store(lease.engine, lease, access)
            }
            return Store(try StoreEngine.openForReading(at: path, options, platform, progress: progress), nil, access)
        }
        let lease = try StoreTable.shared.lease(at: path, options, platform, progress)
        return Store(lease.engine, lease)
    }

    /// Creates a store in memory that leaves no files.
    public static func inMemory(options: StoreOptions = .service) throws -> Store {
        try inMemory(options: options, platform: Platform())
    }

    package static func inMemory(options: StoreOptions = .service, platform: Platform) throws -> Store {
        try Store(on: MemoryLog(), options: options, platform: platform)
    }

    /// Creates a store on any log, with its state in memory.
    package convenience init(
        on log: any EventLog, options: StoreOptions = .service, platform: Platform = Platform()
    ) throws {
        self.init(try StoreEngine(inMemory: log, options, platform), nil)
    }

    // MARK: Writing

    /// Judges a request and commits its accepted items; returns once they are as durable as the store promises.
    ///
    /// - Throws: ``Refusal`` if the request fails as a whole; ``StrataError`` if the state cannot be read.
    @discardableResult
    public func modify(_ request: Request, as actor: Actor) throws -> Answer {
        try modify(request, as: actor, operation: OperationInfo())
    }

    /// Like the other `modify`, suspending instead of blocking.
    @discardableResult
    public func modify(_ request: Request, as actor: Actor) async throws -> Answer {
        try await modify(request, as: actor, operation: OperationInfo())
    }

    /// Records the client's operation in the commit.
    @discardableResult
    package func modify(_ request: Request, as actor: Actor, operation: OperationInfo) throws -> Answer {
        try requireWritable()
        try engine.assets.requireAssets(of: request)
        // Even if the answer is lost: the commit may exist.
        defer { noteSubscriptions(request) }
        return try engine.router.submit(request, as: actor, operation)
    }

    @discardableResult
    package func modify(_ request: Request, as actor: Actor, operation: OperationInfo) async throws -> Answer {
        try requireWritable()
        try engine.assets.requireAssets(of: request)
        defer { noteSubscriptions(request) }
        return try await engine.router.submit(request, as: actor, operation)
    }

    /// Starts the notifier for subscriptions that fire once: they end when they fire, even if no device listens.
    private func noteSubscriptions(_ request: Request) {
        guard case .modifySubscriptions(let body) = request.content else { return }
        if body.saves.contains(where: { $0.options.contains(.once) }) { engine.notifier.start() }
    }

    func requireWritable() throws {
        try gate.requireOpen()
        if access == .readOnly { throw FollowerLog.error }
    }

    func keep(_ box: PushQueue) {
        pushQueues.withLock { pushQueues in
            pushQueues.removeAll { $0.box == nil }
            pushQueues.append(WeakQueue(box: box))
        }
        if gate.isClosed { box.close() }
    }

    // MARK: Reading

    /// Applies the commits that another process has written since the store was opened for reading; returns true if
    /// there were any. A store that this process writes is always up to date.
    ///
    /// - Throws: ``StrataError`` if the log cannot be read; the state is then unchanged.
    @discardableResult
    public func refresh() throws -> Bool {
        try gate.requireOpen()
        return try engine.refresh()
    }

    /// Returns the newest state. It includes all acknowledged commits.
    public func snapshot() -> StoreSnapshot { wrap(views.trees.snapshot()) }

    /// The newest state, or a later one if a frame of it is damaged.
    package var newest: StoreSnapshot {
        var newest = snapshot()
        newest.acceptsNewer = true
        return newest
    }

    func wrap(_ trees: Snapshot) -> StoreSnapshot {
        var snapshot = engine.reader.make(trees)
        // Other handles may still have the store open.
        if gate.isClosed { snapshot.gate = gate }
        return snapshot
    }

    /// The last commit that every reader sees. ``durableOffset`` is the last one that survives a loss of power.
    public var offset: UInt64 { snapshot().offset }
    public var durableOffset: UInt64 { log.durableEnd.offset }

    /// Returns once everything up to the current end is durable.
    public func sync() throws {
        try gate.requireOpen()
        try log.sync()
    }

    /// The number of times that a damaged frame caused the state to be folded again since the store was opened, at most
    /// one, and the reason. The disk should no longer be trusted.
    public var rebuilds: (count: Int, lastReason: StrataError?) { pipeline.live.rebuilds }

    /// Folds the whole log into new views, even if the current ones are sound, and replaces their files. Writers wait
    /// until this finishes.
    ///
    /// ```swift
    /// try store.rebuildViews()
    /// ```
    /// - Throws: ``StrataError`` if the log cannot be folded or their files cannot be written; the store then refuses
    ///   writes.
    public func rebuildViews() throws {
        try requireWritable()
        try engine.erasures.withLock { _ in try pipeline.renewViews(options.trees) }
    }

    // MARK: The end

    /// True once this handle is closed.
    package var isClosed: Bool { gate.isClosed }

    /// Closes this handle, which a release does not. Closing the last handle finishes pending work, writes what is
    /// left, and closes the files; snapshots can be used until then. Calling it again does nothing.
    public func close() throws {
        guard gate.close() else { return }
        // Other handles may continue to use the store.
        for entry in pushQueues.withLock({ $0 }) { entry.box?.close() }
        pipeline.publication.wakeAll()
        if let lease { try StoreTable.shared.giveBack(lease) } else { try engine.close() }
    }
}
