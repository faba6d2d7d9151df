import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import StrataTree
import StrataViews

/// Owns what all handles of one store share: its log, the pipeline, and the threads that compact, collect and notify.
final class StoreEngine: Sendable {
    let options: StoreOptions
    let log: any EventLog
    let pipeline: Pipeline
    /// Takes all requests, for the pipeline or the home writer.
    let router: RequestRouter
    let reader: SnapshotBuilder
    let notifier: Notifier
    let assets: AssetStore
    private let found: Lock<StoreOpening?>
    var opening: StoreOpening? { found.withLock { $0 } }
    /// Distinguishes cursors of this store from those of other stores.
    let storeID: Identifier
    let platform: Platform
    /// The secret of a store whose log has none yet, and of a store that shows the past of another.
    let newSecret: StoreSecret?
    /// The secret in the log, once it has been read there.
    let foundSecret = Lock<StoreSecret?>(nil)
    /// The path of the store's files; nil if it has none.
    let path: String?
    /// Nil if history cannot be removed.
    let compactor: Compactor?
    /// The states that are kept for readers of the past.
    let pasts: PastStates
    let pastLog: Lock<FollowerLog?> = Lock(nil)
    let resumedErasure = Lock(false)
    var hasResumedErasure: Bool { resumedErasure.withLock(\.self) }
    /// Held during an erasure, and while the log is compacted; counts the erasures.
    let erasures = Lock(0)
    /// Carries out the erasures of other processes.
    let eraser = ErasureFollower()

    var views: Views { pipeline.views }
    var keys: KeyRing { reader.context.keys }
    /// The current time in microseconds since 1970.
    var now: Int64 { platform.time.nowMicroseconds() }

    private init(
        _ log: any EventLog, _ working: WorkingViews, options: StoreOptions, platform: Platform,
        opening: StoreOpening? = nil, assets: AssetStore,
        keys: KeyRing, at path: String? = nil, pastOf origin: StoreEngine? = nil
    ) throws {
        self.log = log
        self.path = path
        self.options = options
        found = Lock(opening)
        self.platform = platform
        storeID =
            log.segments?.identity.storeID ?? (log as? any ReadOnlyLog)?.storeID
            ?? platform.random.nextIdentifier()
        newSecret = try origin.map { try? $0.secret() } ?? Self.newSecret(log, working.views, platform)
        var rules = options.rules
        rules.secrets.newSecret = newSecret
        rules.secrets.recordsSecret = log.end.offset == 0
        let stated = options.statesRules ? options.stated : nil
        rules.stated = { _ in stated }
        pasts = PastStates(
            store: storeID, in: path ?? "", platform: platform, options: options.trees, limits: options.pasts)
        let rebuilder = path.map { [storeID] path in
            ViewsRebuilder(
                log: log, store: storeID, directory: path, platform: platform, options: options.trees,
                isWriter: !(log is any ReadOnlyLog))
        }
        let live = LiveViews(
            working, of: log, rebuilder: rebuilder, patienceMilliseconds: options.patienceMilliseconds)
        reader = SnapshotBuilder(
            context: SnapshotContext(
                RecordHistory(log), live, keys, newSecret: rules.secrets.recordsSecret ? newSecret : nil),
            gate: StoreGate())
        reader.publish(working.views.trees.snapshot())
        let forwarding = try Forwarding(log, options.place)
        pipeline = try Pipeline(
            log: log, live: live, rules: rules, platform: platform, reader: reader, audits: options.audits)
        router = try RequestRouter(pipeline, forwarding)
        notifier = Notifier(pipeline, router, options.queryRules)
        self.assets = assets
        compactor = log.segments.flatMap { [pipeline, assets, erasures] log in
            path.map {
                Compactor(
                    log, at: $0, platform, policy: options.history, pipeline: pipeline, assets: assets,
                    erasures: erasures)
            }
        }
        // The assets of a store in memory belong to that store, even where its past is read.
        if path != nil || !(log is any ReadOnlyLog) { try assets.begin(pipeline) }
        if !(log is any ReadOnlyLog), try views.trees.snapshot().hasSubscriptions() { notifier.start() }
    }

    /// Creates an engine whose views and assets are in memory.
    ///
    /// - Throws: `.invalidArgument` if the assets are to be in the cluster.
    convenience init(inMemory log: any EventLog, _ options: StoreOptions, _ platform: Platform) throws {
        guard options.place.assets == .directory else {
            throw StrataError(
                .invalidArgument,
                "A store in memory has no directory for the assets of the cluster; open it in a directory.",
                .init(path: options.place.address, expected: "assets=directory", found: "assets=cluster"))
        }
        let views = try Views.inMemory(log, options: options.trees)
        let home = log.isShared ? FilesHome(of: "", isCopy: true, options) : nil
        if let store = log.segments?.identity.storeID { try home?.prepare(for: store, platform) }
        try self.init(
            log, WorkingViews(views: views, flusher: nil), options: options, platform: platform,
            assets: try home?.assets(options, platform)
                ?? AssetStore(.unnamed(inDirectory: TemporaryDirectory.path), platform),
            keys: home?.keys(options, platform) ?? KeyRing(nil, platform.random))
        try followErasures()
        if log.isShared { drawSecretIfPossible() }
    }

    /// Creates an engine for the past of one whose views are in memory.
    convenience init(past offset: UInt64, of engine: StoreEngine) throws {
        let log = try HistoricalLog(engine.log, of: engine.storeID, through: offset)
        let views = try Views.inMemory(log, options: engine.options.trees)
        try self.init(past: log, views, of: engine)
    }

    /// Creates an engine for an opened past of one whose views are in memory.
    convenience init(past log: HistoricalLog, _ views: Views, of engine: StoreEngine) throws {
        try self.init(
            log, WorkingViews(views: views, flusher: nil), options: engine.options, platform: engine.platform,
            assets: engine.assets, keys: engine.keys, pastOf: engine)
    }

    /// Creates an engine that leaves the store's files unchanged.
    convenience init(
        reading log: any ReadOnlyLog, _ opened: OpenedViews, at path: String, _ options: StoreOptions,
        _ platform: Platform, pastOf origin: StoreEngine? = nil
    ) throws {
        let home = try FilesHome(readingAt: path, options, platform.files)
        // No indexes are built here; only those in the state count.
        try self.init(
            log, WorkingViews(views: opened.views, flusher: nil), options: options, platform: platform,
            assets: home.assets(options, platform, isWritable: false),
            keys: home.keys(options, platform, isFollowed: true), at: path, pastOf: origin)
    }

    /// Folds the commits of a newly opened log that the newest durable state lacks, and closes the log if that fails.
    ///
    /// - Parameter segments: the log's segments.
    static func open(
        _ log: any EventLog, in segments: SegmentedLog, at path: String, _ options: StoreOptions,
        _ platform: Platform, progress: (Replay.Progress) -> Void
    ) throws -> StoreEngine {
        let storeID = segments.identity.storeID
        var (views, opening): (WorkingViews?, StoreEngine?)
        do {
            let opened = try Views.open(
                log, store: storeID, in: path, platform: platform, options: options.trees,
                progress: progress)
            try (log as? ReplicatedLog)?.awaitOpening()
            let working = WorkingViews(views: opened.views, flusher: try Flusher(opened.views))
            views = working
            let home = FilesHome(of: path, isCopy: log.isShared, options)
            try home.prepare(for: storeID, platform)
            let engine = try StoreEngine(
                log, working, options: options, platform: platform,
                opening: StoreOpening(recovery: segments.recovery, views: opened.finding, reasons: opened.reasons),
                assets: home.assets(options, platform), keys: home.keys(options, platform), at: path)
            opening = engine
            // Keys that cannot be cleaned up now are cleaned up when the next key is made or destroyed.
            try? engine.keys.clean()
            do {
                if try engine.finishErasures() { engine.resumedErasure.withLock { $0 = true } }
            } catch let error as StrataError {
                // A full disk does not prevent opening the store; the next opening tries again.
                engine.found.withLock { $0?.reasons.append(error) }
            }
            try engine.followErasures()
            engine.drawSecretIfPossible()
            try segments.startSealing { [weak engine] key in try engine?.name(of: key) }
            try engine.compactor?.start()
            return engine
        } catch {
            // Before the lock of the log is given up: it would go on as a second writer of states.
            (opening?.pipeline.flusher ?? views?.flusher)?.abandon()
            try? log.close()
            throw error
        }
    }

    /// Draws a missing secret. What prevents that, such as a full disk, does not prevent opening the store.
    private func drawSecretIfPossible() {
        do { try drawMissingSecret() } catch {
            let reason = StrataError(
                .refusingWrites, "The store could not draw its secret; the next opening tries again.", cause: error)
            found.withLock { $0?.reasons.append(reason) }
        }
    }

    /// Returns the name of an ordinal, which the log stores in segments that use it.
    func name(of key: UsedNames.Key) throws -> InternedName? {
        let name = try reader.context.reading(views.trees.snapshot(), acceptsNewer: true) {
            try reader.context.names.name(key.namespace, key.ordinal, in: $0)
        }
        return name.map { InternedName(ordinal: key.ordinal, name: $0) }
    }

    /// Finishes pending work, writes the last changes, and closes the files. Called once.
    func close() throws {
        compactor?.stop()
        // Early, because it looks up names in the views.
        log.segments?.stopSealing()
        notifier.stop()
        // Its last answers are applied by the pipeline.
        router.close()
        pipeline.close()
        // A running erasure first ends or fails; then no other thread touches the files.
        eraser.stop()
        erasures.withLock { _ in }
        if path != nil || !(log is any ReadOnlyLog) { assets.end() }
        reader.gate.close()
        reader.publish(nil)
        pasts.forget()
        pastLog.withLock { $0 = nil }
        // The log has everything, so a flush that fails only costs time at the next opening.
        let closing = Result { try pipeline.live.close() }
        try log.close()
        try closing.get()
    }
}
