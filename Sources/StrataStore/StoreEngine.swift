import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// What all handles of one store share: its log, the state that is folded from it, and the pipeline between them.
final class StoreEngine: Sendable {
    let options: StoreOptions
    let log: any EventLog
    let views: Views
    let pipeline: Pipeline
    let reader: SnapshotMaker
    private let checkpointer: Checkpointer?
    let opening: Store.Opening?
    /// Held while one thread folds what another process wrote; it counts the times.
    let refreshes = Lock(0)

    init(
        log: any EventLog, views: Views, keeper: IndexKeeper, options: StoreOptions, platform: Platform,
        opening: Store.Opening?
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

    /// Folds what the newest checkpoint lacks of a log that was just opened, which it closes if that fails.
    static func open(
        _ log: SegmentedLog, at path: String, _ options: StoreOptions, _ platform: Platform,
        _ progress: (Replay.Progress) -> Void
    ) throws -> StoreEngine {
        do {
            let opened = try Views.open(
                log, store: log.identity.storeID, in: path, platform: platform, options: options.pages,
                progress: progress)
            return try StoreEngine(
                log: log, views: opened.views, keeper: opened.keeper, options: options, platform: platform,
                opening: Store.Opening(recovery: log.recovery, views: opened.finding, reasons: opened.reasons))
        } catch {
            try? log.close()
            throw error
        }
    }

    /// Finishes what waits, writes a last checkpoint, and lets the files go. Called once.
    func close() throws {
        pipeline.close()
        reader.gate.close()
        // The log has everything, so a checkpoint that fails costs the next opening time and nothing else.
        var failure: (any Error)?
        do { try checkpointer?.stop() } catch { failure = error }
        try log.close()
        if let failure { throw failure }
    }
}
