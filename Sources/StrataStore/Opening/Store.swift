import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import StrataTree
import StrataViews

/// A container: its log, the state that is folded from it, and the rules by which requests change it.
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
    /// The share in an engine that others of this process may have too; nil if it is this handle's alone.
    private let lease: StoreTable.Lease?
    let gate = StoreGate()
    /// Those that devices listen to through this handle.
    private let boxes = Lock<[WeakBox]>([])

    private struct WeakBox {
        weak var box: Mailbox?
    }

    public var options: StoreOptions { engine.options }
    /// The same for all handles that this process has of one store, to be compared and nothing else.
    public var sharedIdentity: any AnyObject & Sendable { engine }
    /// What was found and done when the store was opened; nil for one in memory.
    public var opening: Opening? { engine.opening }
    /// What the store is folded from. Beside a program that writes it may go on behind ``offset``.
    package var log: any EventLog { engine.log }
    var views: Views { engine.views }
    var pipeline: Pipeline { engine.pipeline }

    /// What opening found.
    public struct Opening: Sendable {
        public var recovery: RecoveryReport
        /// What there was of views; anything but a whole page file means that they were folded again.
        public var views: PageFileFinding
        public var reasons: [StrataError]
    }

    public let access: AccessMode

    init(_ engine: StoreEngine, _ lease: StoreTable.Lease?, _ access: AccessMode = .readWrite) {
        self.engine = engine
        self.lease = lease
        self.access = access
    }

    // MARK: Opening

    /// Opens a store for reading as it was when a commit was its last; what was written later is not in it.
    ///
    /// ```swift
    /// let past = try Store.open(at: "Notes.strata", through: 1_207)
    /// ```
    /// The state is that of a checkpoint in front of it, as far as one is kept, and what the log has from there on.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for an offset behind the end, and for one whose history was let go.
    public static func open(
        at path: String, through offset: UInt64, options: StoreOptions = .service, platform: Platform = Platform(),
        progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> Store {
        Store(try StoreEngine.openForReading(at: path, through: offset, options, platform, progress), nil, .readOnly)
    }

    /// Opens a store, or makes one: the log with what a crash left of it, and the newest checkpoint that fits.
    ///
    /// Who opens a store that this process has open already gets another handle of the same one. Another process that
    /// writes is an error that names it; the store can be opened for reading then.
    ///
    /// - Throws: ``StrataError`` of the disk, of another process that writes, of damage in the log, and of options that
    ///   differ from those of a handle that is open.
    public static func open(
        at path: String, options: StoreOptions = .service, access: AccessMode = .readWrite,
        platform: Platform = Platform(), progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> Store {
        if access == .readOnly {
            if let lease = try StoreTable.shared.leaseForReading(at: path, platform) {
                return Store(lease.engine, lease, access)
            }
            return Store(try StoreEngine.openForReading(at: path, options, platform, progress), nil, access)
        }
        let lease = try StoreTable.shared.lease(at: path, options, platform, progress)
        return Store(lease.engine, lease)
    }

    /// A store that leaves nothing behind.
    public static func inMemory(options: StoreOptions = .service, platform: Platform = Platform()) throws -> Store {
        try Store(on: MemoryLog(), options: options, platform: platform)
    }

    /// A store on any log, its state in memory.
    public convenience init(
        on log: any EventLog, options: StoreOptions = .service, platform: Platform = Platform()
    ) throws {
        self.init(try StoreEngine(inMemory: log, options, platform), nil)
    }

    // MARK: Writing

    /// Judges a request and commits what is accepted of it; returns once that is as durable as the store promises.
    ///
    /// - Throws: ``Refusal`` where the request fails as a whole; ``StrataError`` if the state cannot be read.
    @discardableResult
    public func modify(
        _ request: Request, as actor: Actor, operation: OperationInfo = OperationInfo()
    ) throws -> Answer {
        try requireWritable()
        // Also where the answer is lost: the commit may be there.
        defer { noteSubscriptions(request) }
        return try pipeline.submit(request, as: actor, operation)
    }

    /// As the other `modify`, suspending instead of blocking.
    @discardableResult
    public func modify(
        _ request: Request, as actor: Actor, operation: OperationInfo = OperationInfo()
    ) async throws -> Answer {
        try requireWritable()
        defer { noteSubscriptions(request) }
        return try await pipeline.submit(request, as: actor, operation)
    }

    /// Subscriptions that fire once end when they do, whether anybody listens or not.
    private func noteSubscriptions(_ request: Request) {
        guard case .modifySubscriptions(let body) = request.content else { return }
        if body.saves.contains(where: { $0.options.contains(.once) }) { engine.notifier.start() }
    }

    func requireWritable() throws {
        try gate.requireOpen()
        if access == .readOnly { throw FollowedLog.error }
    }

    func keep(_ box: Mailbox) {
        boxes.withLock { boxes in
            boxes.removeAll { $0.box == nil }
            boxes.append(WeakBox(box: box))
        }
        if gate.isClosed { box.close() }
    }

    // MARK: Reading

    /// Takes up what another process has written since a store was opened for reading; returns whether there was
    /// anything. A store that this process writes is always up to date.
    ///
    /// - Throws: ``StrataError`` if the log cannot be read; the state stays as it was.
    @discardableResult
    public func refresh() throws -> Bool {
        try gate.requireOpen()
        return try engine.refresh()
    }

    /// The newest state. What has been acknowledged is in it.
    public func snapshot() -> StoreSnapshot { wrap(views.pages.snapshot()) }

    func wrap(_ trees: Snapshot) -> StoreSnapshot {
        var snapshot = engine.reader.make(trees)
        // Others may have the store open still.
        if gate.isClosed { snapshot.gate = gate }
        return snapshot
    }

    /// The last commit that every reader sees, and the last one that survives a loss of power.
    public var offset: UInt64 { snapshot().offset }
    public var durableOffset: UInt64 { log.durableEnd.offset }

    /// Returns once everything up to the present end is durable.
    public func sync() throws {
        try gate.requireOpen()
        try log.sync()
    }

    /// How often a damaged page had the state folded again from the log since the store was opened, and what the last
    /// one was. Requests only wait for that; but the disk should not be trusted much longer.
    public var rebuilds: (count: Int, lastReason: StrataError?) {
        pipeline.state.withLock { ($0.rebuilds.count, $0.rebuilds.lastReason) }
    }

    /// Folds the whole log into new views, though nothing be wrong with those that there are, and puts them into the
    /// place of the page file. Others wait meanwhile who want to write.
    ///
    /// ```swift
    /// try store.rebuildViews()
    /// ```
    /// - Throws: ``StrataError`` if the log cannot be folded or no page file be made; the store refuses writes then.
    public func rebuildViews() throws {
        try requireWritable()
        try engine.erasures.withLock { _ in try pipeline.renewViews(options.pages) }
    }

    // MARK: The end

    /// Ends this handle. That of the last one finishes what waits, writes a last checkpoint, and lets the files go;
    /// snapshots can be used until then. Calling it again does nothing.
    public func close() throws {
        guard gate.close() else { return }
        // Others may go on with the store.
        for entry in boxes.withLock({ $0 }) { entry.box?.close() }
        pipeline.publication.stir()
        if let lease { try StoreTable.shared.giveBack(lease) } else { try engine.close() }
    }
}
