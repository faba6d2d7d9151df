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
    public let options: StoreOptions
    let log: any EventLog
    let views: Views
    let pipeline: Pipeline
    private let reader: SnapshotMaker
    private let checkpointer: Checkpointer?
    /// What was found and done when the store was opened; nil for one in memory.
    public let opening: Opening?
    private let isClosed = Lock(false)

    /// What opening found.
    public struct Opening: Sendable {
        public var recovery: RecoveryReport
        /// What there was of views; anything but a whole page file means that they were folded again.
        public var views: PageFileFinding
        public var reasons: [StrataError]
    }

    init(
        log: any EventLog, views: Views, keeper: IndexKeeper, options: StoreOptions, platform: Platform,
        opening: Opening?
    ) throws {
        self.log = log
        self.views = views
        self.options = options
        self.opening = opening
        reader = SnapshotMaker(names: NameDirectory(), history: RecordHistory(log), gate: StoreGate())
        checkpointer = opening == nil ? nil : try Checkpointer(views, policy: options.checkpoints)
        pipeline = try Pipeline(
            log: log, views: views, keeper: keeper, rules: options.rules, platform: platform, reader: reader,
            checkpointer: checkpointer)
    }

    // MARK: Opening

    /// Opens a store, or makes one: the log with what a crash left of it, and the newest checkpoint that fits.
    ///
    /// Who opens a store that this process has open already gets another handle of the same one.
    ///
    /// - Throws: ``StrataError`` of the disk, of another process that writes, of damage in the log, and of options that
    ///   differ from those of a handle that is open.
    public static func open(
        at path: String, options: StoreOptions = .service, platform: Platform = Platform(),
        progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> Store {
        let log = try SegmentedLog.open(at: path, options: options.log, platform: platform)
        do {
            let opened = try Views.open(
                log, store: log.identity.storeID, in: path, platform: platform, options: options.pages,
                progress: progress)
            return try Store(
                log: log, views: opened.views, keeper: opened.keeper, options: options, platform: platform,
                opening: Opening(recovery: log.recovery, views: opened.finding, reasons: opened.reasons))
        } catch {
            try? log.close()
            throw error
        }
    }

    /// A store that leaves nothing behind.
    public static func inMemory(options: StoreOptions = .service, platform: Platform = Platform()) throws -> Store {
        try Store(on: MemoryLog(), options: options, platform: platform)
    }

    /// A store on any log, its state in memory.
    public convenience init(
        on log: any EventLog, options: StoreOptions = .service, platform: Platform = Platform()
    ) throws {
        let views = try Views.inMemory(log, options: options.pages)
        try self.init(
            log: log, views: views, keeper: IndexKeeper(views.pages.snapshot()), options: options, platform: platform,
            opening: nil)
    }

    // MARK: Writing

    /// Judges a request and commits what is accepted of it; returns once that is as durable as the store promises.
    ///
    /// - Throws: ``Refusal`` where the request fails as a whole; ``StrataError`` if the state cannot be read.
    @discardableResult
    public func modify(
        _ request: Request, as actor: Actor, operation: OperationInfo = OperationInfo()
    ) throws -> Answer {
        try pipeline.submit(request, as: actor, operation)
    }

    /// As the other `modify`, suspending instead of blocking.
    @discardableResult
    public func modify(
        _ request: Request, as actor: Actor, operation: OperationInfo = OperationInfo()
    ) async throws -> Answer {
        try await pipeline.submit(request, as: actor, operation)
    }

    // MARK: Reading

    /// The newest state. What has been acknowledged is in it.
    public func snapshot() -> StoreSnapshot { reader.make(views.pages.snapshot()) }

    /// The last commit that every reader sees, and the last one that survives a loss of power.
    public var offset: UInt64 { snapshot().offset }
    public var durableOffset: UInt64 { log.durableEnd.offset }

    /// Returns once everything up to the present end is durable.
    public func sync() throws { try log.sync() }

    /// Declares an index on a field of a record type; it is built from then on, a little at a time.
    public func declareIndex(type: String, field: String) throws {
        let trees = views.pages.snapshot()
        guard let type = try trees.ordinal(of: .recordType(type)), let field = try trees.ordinal(of: .field(field))
        else {
            throw StrataError(
                .invalidArgument, "Only fields that some record has had can be indexed.",
                .init(found: "\(type).\(field)"))
        }
        try pipeline.declareIndex(IndexID(type: type, .field(UInt32(field))))
    }

    /// How many events the indexes do not show yet.
    public var indexLag: UInt64 {
        pipeline.state.withLock { $0.indexes.isWanted ? max(1, $0.indexes.lag) : $0.indexes.lag }
    }

    /// Returns once the indexes show all that had been published when it was called, or the store is closed.
    public func awaitIndexes() { pipeline.awaitIndexes() }

    // MARK: The end

    /// Finishes what waits, writes a last checkpoint, and lets the files go. Calling it again does nothing.
    public func close() throws {
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        if wasClosed { return }
        pipeline.close()
        reader.gate.close()
        // The log has everything, so a checkpoint that fails costs the next opening time and nothing else.
        var failure: (any Error)?
        do { try checkpointer?.stop() } catch { failure = error }
        try log.close()
        if let failure { throw failure }
    }
}
