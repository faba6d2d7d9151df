import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// Compacts history alongside readers and writers (docs/compaction.md §8): one compaction at a time, on a thread of low
/// priority.
final class Compactor: Sendable {
    /// The time after which the policy is checked even if nothing was written.
    private static let idleMilliseconds = 600_000
    /// The number of asset rows that are examined between two batches.
    private static let rowsPerSlice = 1_000

    private struct State {
        var isStopping = false
        /// True while a compaction is running.
        var isBusy = false
        /// True if the policy may have something to do.
        var isDue = true
        /// The error of the policy's last compaction, if it failed.
        var failure: (any Error)?
    }

    private let log: SegmentedLog
    private let path: String
    private let platform: Platform
    private let policy: HistoryPolicy
    private let pipeline: Pipeline
    private let assets: AssetStore
    /// Held during a compaction or an erasure: a base must not bring back what was erased.
    private let erasures: Lock<Int>
    private let state = Monitor(State())
    private let worker = WorkerHandle()

    init(
        _ log: SegmentedLog, at path: String, _ platform: Platform, policy: HistoryPolicy, pipeline: Pipeline,
        assets: AssetStore, erasures: Lock<Int>
    ) {
        self.log = log
        self.path = path
        self.platform = platform
        self.policy = policy
        self.pipeline = pipeline
        self.assets = assets
        self.erasures = erasures
    }

    /// Finishes an interrupted compaction, and then follows the policy.
    func start() throws {
        let isPruningDue = try self.isPruningDue()
        if policy.keepsEverything, !isPruningDue { return }
        if !policy.keepsEverything { log.onNewSegment { [weak self] in self?.wake() } }
        try worker.start(name: "strata-compact") { [self] in
            WorkerThread.lowerPriority()
            run(isPruningDue)
        }
    }

    private func wake() {
        state.withLock { $0.isDue = true }
        state.notifyAll()
    }

    /// Ends a running compaction, which either completes or changes nothing, and waits for it.
    func stop() {
        state.withLock { $0.isStopping = true }
        state.notifyAll()
        worker.join()
        state.wait { $0.isBusy ? nil : () }
    }

    /// The error of the last compaction in the background; nil if it succeeded.
    var failure: (any Error)? { state.withLock { $0.failure } }

    // MARK: The policy

    private func run(_ isPruningDue: Bool) {
        if isPruningDue { attempt { try pruneAssets() } }
        while !policy.keepsEverything {
            let isOver = state.wait(milliseconds: Self.idleMilliseconds) { state -> Bool? in
                if state.isStopping { return true }
                defer { state.isDue = false }
                return state.isDue ? false : nil
            }
            if isOver == true { return }
            attempt { if let horizon = try dueHorizon() { _ = try work(horizon) } }
        }
    }

    private func attempt(_ body: () throws -> Void) {
        do {
            try alone(body)
            state.withLock { $0.failure = nil }
        } catch { state.withLock { $0.failure = $0.isStopping ? nil : error } }
    }

    private func dueHorizon() throws -> UInt64? {
        let reader = try log.readBase()
        let horizon = try policy.horizon(
            try log.storedSegments(), now: platform.time.nowMicroseconds(),
            durableEnd: min(log.durableEnd.offset, publishedOffset), baseBytes: UInt64(reader?.byteCount ?? 0),
            firstKept: log.firstOffset(notBefore:))
        guard let horizon else { return nil }
        let noted = try KeptOperation.firstOffset(inStore: path, platform.files)
        let bounded = min(horizon, noted ?? horizon)
        return bounded > log.floor.offset ? bounded : nil
    }

    // MARK: One compaction

    private var publishedOffset: UInt64 { pipeline.views.trees.snapshot().foldedOffset(ViewTree.records) }

    /// Removes all history up to `horizon`; the calling thread waits.
    func compact(to horizon: UInt64) throws -> Compaction {
        try waiting { [self] in
            try requireHorizon(horizon)
            return try work(horizon, mayTakeMemory: true)
        }
    }

    /// Calls `body` with a base at `horizon`, and removes no history; the calling thread waits.
    func withBase<Result: Sendable>(
        at horizon: UInt64, _ body: @escaping @Sendable (BaseReader) throws -> Result
    ) throws -> Result {
        try waiting { [self] in
            if horizon > log.durableEnd.offset { try log.sync() }
            let draft = try makeBase(horizon, true).0
            defer {
                try? draft.remove()
                FreedMemory.giveBack()
            }
            return try body(try draft.read())
        }
    }

    private func waiting<Answer: Sendable>(_ body: @escaping @Sendable () throws -> Answer) throws -> Answer {
        try alone {
            let result = Lock<Result<Answer, any Error>?>(nil)
            let thread = try WorkerThread(name: "strata-compact") {
                WorkerThread.lowerPriority()
                let done = Result { try body() }
                result.withLock { $0 = done }
            }
            thread.join()
            guard let result = result.withLock({ $0 }) else { throw StoreGate.error }
            return try result.get()
        }
    }

    private func alone<Result>(_ body: () throws -> Result) throws -> Result {
        try begin()
        defer { end() }
        return try erasures.withLock { _ in
            if let offset = try log.unfinishedErasures() { throw Self.erasureError(offset, path) }
            return try body()
        }
    }

    static func erasureError(_ offset: UInt64, _ path: String) -> StrataError {
        StrataError(
            .refusingWrites, "An erasure is unfinished: reopen the store to complete it.",
            .init(offset: offset, path: path))
    }

    private func begin() throws {
        try state.wait { state -> Void? in
            if state.isStopping { throw StoreGate.error }
            if state.isBusy { return nil }
            state.isBusy = true
            return ()
        }
    }

    private func end() {
        state.withLock { $0.isBusy = false }
        state.notifyAll()
    }

    private func requireGoing() throws {
        if state.withLock({ $0.isStopping }) { throw StoreGate.error }
    }

    /// - Throws: ``StrataError`` `invalidArgument` for a horizon that is not possible.
    func requireHorizon(_ horizon: UInt64) throws {
        if horizon > log.durableEnd.offset, horizon <= log.end.offset { try log.sync() }
        try Self.requireHorizon(
            horizon, after: log.floor.offset, through: min(log.durableEnd.offset, publishedOffset),
            noted: try KeptOperation.firstOffset(inStore: path, platform.files))
    }

    static func requireHorizon(
        _ horizon: UInt64, after floor: UInt64, through end: UInt64, noted: UInt64?
    ) throws {
        guard horizon > floor else {
            throw StrataError(
                .invalidArgument, "The history before that offset has already been compacted, or does not exist.",
                .init(expected: "an offset after \(floor + 1)", found: "\(horizon + 1)"))
        }
        guard horizon <= end else {
            throw StrataError(
                .invalidArgument, "Only durable history can be compacted.",
                .init(expected: "at most offset \(end + 1)", found: "\(horizon + 1)"))
        }
        if let noted, horizon > noted {
            throw StrataError(
                .invalidArgument,
                "A long-lived operation has not finished and still needs the history since it began.",
                .init(expected: "at most offset \(noted + 1)", found: "\(horizon + 1)"))
        }
    }

    /// - Parameter mayTakeMemory: True to do without states on the disk if it has no room for them.
    private func work(_ horizon: UInt64, mayTakeMemory: Bool = false) throws -> Compaction {
        do { try awaitState(at: horizon) } catch let error as StrataError
            where mayTakeMemory && error.code == .noSpace
        {
            // Compaction makes the room. The next opening folds the base.
        }
        let (draft, base) = try makeBase(horizon, mayTakeMemory)
        let freed: FreedHistory
        do {
            try requireGoing()
            freed = try log.adopt(draft)
        } catch {
            try? draft.remove()
            throw error
        }
        var compaction = Compaction(
            horizon: horizon, segmentCount: freed.segmentCount, freedBytes: freed.freedBytes,
            baseBytes: freed.baseBytes, assetCount: 0)
        // The history is gone. Pruning only frees space, and is done at the next opening at the latest.
        if try AssetPruning.isDue(pipeline.views.trees.snapshot(), horizon: horizon) {
            compaction.assetCount = (try? prune(to: base)) ?? 0
        }
        FreedMemory.giveBack()
        return compaction
    }

    /// Waits until a state at or after a horizon is durable: the log will not have the positions of older ones.
    private func awaitState(at horizon: UInt64) throws {
        while pipeline.views.trees.durablePosition.map({ $0.offset < horizon }) ?? true {
            try requireGoing()
            // A store that refuses writes has no more states.
            guard pipeline.claimTurns() else { return }
            let frozen = Result { try pipeline.freeze() }
            pipeline.returnTurns()
            let (end, flusher) = try frozen.get()
            // Otherwise the views have been replaced meanwhile.
            if try flusher?.awaitFlush(through: end) ?? true { return }
        }
    }

    /// Returns a base that yields the state at its horizon, and that state.
    private func makeBase(_ horizon: UInt64, _ mayTakeMemory: Bool) throws -> (BaseDraft, Snapshot) {
        let draft = try pipeline.live.reading {
            let newest = pipeline.views.trees.snapshot()
            let isNewest = newest.foldedOffset(ViewTree.records) == horizon
            return try write(isNewest ? newest : state(at: horizon, mayTakeMemory))
        }
        do {
            return (draft, try state(of: try draft.read(), mayTakeMemory))
        } catch {
            try? draft.remove()
            throw error
        }
    }

    private func state(at offset: UInt64, _ mayTakeMemory: Bool) throws -> Snapshot {
        try withScratch(mayTakeMemory) { scratch, options in
            try Views.state(
                of: log, at: offset, in: scratch, platform: platform, options: options,
                pulse: { try self.requireGoing() })
        }
    }

    private func state(of base: BaseReader, _ mayTakeMemory: Bool = false) throws -> Snapshot {
        try withScratch(mayTakeMemory) { scratch, options in
            try Views.state(
                of: base, in: scratch, platform: platform, options: options, pulse: { try self.requireGoing() })
        }
    }

    /// Calls `body` with the directory for temporary files. If the disk is full and `mayTakeMemory` is true, calls it
    /// again without a directory, so that the state is folded in memory.
    private func withScratch<Result>(
        _ mayTakeMemory: Bool, _ body: (String?, TreeStoreOptions) throws -> Result
    ) throws -> Result {
        do { return try body(path, .lean) } catch let error as StrataError
            where mayTakeMemory && error.code == .noSpace
        {
            return try body(nil, TreeStoreOptions())
        }
    }

    private func write(_ state: Snapshot) throws -> BaseDraft {
        let offset = state.foldedOffset(ViewTree.records)
        var scan = try BaseScan(state, chain: try log.chain(at: offset))
        return try log.writeBase(at: offset) {
            try requireGoing()
            return try scan.next()?[...]
        }
    }

    // MARK: Assets

    private func isPruningDue() throws -> Bool {
        guard let base = try log.base() else { return false }
        return try AssetPruning.isDue(pipeline.views.trees.snapshot(), horizon: base.offset)
    }

    /// Completes a compaction that was interrupted before its last step.
    private func pruneAssets() throws {
        guard let reader = try log.readBase() else { return }
        _ = try prune(to: try state(of: reader))
    }

    /// Prunes the rows of assets, and then removes the files that no row names. Returns the number of files removed.
    private func prune(to base: Snapshot) throws -> Int {
        var pruning = AssetPruning(to: base)
        let horizon = base.foldedOffset(ViewTree.records)
        while true {
            try requireGoing()
            if pipeline.fullness != nil {
                _ = state.wait(milliseconds: 1_000) { $0.isStopping ? true : nil }
                continue
            }
            let began = platform.time.nowMicroseconds()
            let slice = try pipeline.betweenBatches { fork -> Bool in
                // Views that were folded again in the meantime already start from the base.
                if fork.hasPrunedAssets(through: horizon) { return false }
                return try pruning.advance(fork, limit: Self.rowsPerSlice)
            }
            guard let hasMore = slice else { throw StoreGate.error }
            if !hasMore { return try assets.collect() }
            // Leaves at least half of the time to other work.
            let milliseconds = Int(min(max(0, platform.time.nowMicroseconds() - began), 100_000) + 999) / 1_000
            _ = state.wait(milliseconds: milliseconds) { $0.isStopping ? true : nil }
        }
    }
}
