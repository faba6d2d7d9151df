import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

extension StoreEngine {
    /// Opens an engine that leaves the store's files unchanged.
    static func openForReading(
        at path: String, through offset: UInt64? = nil, _ options: StoreOptions, _ platform: Platform,
        pastOf origin: StoreEngine? = nil, progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> StoreEngine {
        var platform = platform
        // The log reports a directory that cannot be opened.
        platform.files = (try? platform.files.anchored(at: StorePaths(path).store)) ?? platform.files
        // Commits after the requested offset do not matter.
        let log = try FollowerLog { [platform] in
            try LogReader.open(at: path, requiresWholeEnd: offset == nil, platform: platform)
        }
        return try log.beginningAnew(first: false) {
            let seen: any ReadOnlyLog =
                if let offset { try HistoricalLog(log, of: log.storeID, through: offset) } else { log }
            let opened = try Views.openForReading(
                seen, store: log.storeID, in: path, platform: platform, options: options.trees, progress: progress)
            return try StoreEngine(reading: seen, opened, at: path, options, platform, pastOf: origin)
        }
    }

    /// Returns an engine that shows the store as of a commit.
    func past(through offset: UInt64, progress: (Replay.Progress) -> Void) throws -> StoreEngine {
        try requirePast(offset)
        guard let path else { return try StoreEngine(past: offset, of: self) }
        let log = try logOfPasts(at: path)
        return try log.beginningAnew(first: false) {
            let past = try HistoricalLog(log, of: log.storeID, through: offset)
            let opened = try pasts.views(at: past, of: log, progress: progress)
            return try StoreEngine(reading: past, opened, at: path, options, platform, pastOf: self)
        }
    }

    /// Like ``past(through:progress:)``, without the states that are kept for other readers.
    func pastAlone(through offset: UInt64, memoryBytes: Int) throws -> StoreEngine {
        try requirePast(offset)
        guard let path else { return try StoreEngine(past: offset, of: self) }
        var options = options
        options.trees.memoryBytes = min(options.trees.memoryBytes, memoryBytes)
        return try .openForReading(at: path, through: offset, options, platform, pastOf: self)
    }

    /// Like ``past(through:progress:)``, with some records only; nil if these are not enough to judge any request by.
    func past(through offset: UInt64, records names: Set<[UInt8]>) throws -> StoreEngine? {
        try requirePast(offset)
        do {
            let past = try HistoricalLog(log, of: storeID, through: offset)
            let opened = try Views.openForReading(
                past, store: storeID, in: path, records: names, platform: platform, options: options.trees)
            return try opened.map { try engine(of: past, $0) }
        } catch is StrataError {
            // A run is damaged, or a writer has removed commits. Opening the whole state handles both.
            return nil
        }
    }

    /// Returns an engine that shows a state of this one with other states of some records, as if at a commit.
    func past(
        through offset: UInt64, turningBack newest: Snapshot, to records: [RecordKey: [UInt8]?]
    ) throws -> StoreEngine {
        try requirePast(offset)
        let past = try HistoricalLog(log, of: storeID, through: offset)
        return try engine(of: past, Views.openForReading(past, turningBack: newest, of: views.trees, to: records))
    }

    private func engine(of past: HistoricalLog, _ opened: OpenedViews) throws -> StoreEngine {
        guard let path else { return try StoreEngine(past: past, opened.views, of: self) }
        return try StoreEngine(reading: past, opened, at: path, options, platform, pastOf: self)
    }

    /// Returns the newest usable state on disk at or before an offset; nil if there is none.
    func durableState(upTo offset: UInt64) throws -> Snapshot? {
        guard let path else { return nil }
        return try Views.state(
            on: path, of: log, store: storeID, upTo: offset, platform: platform, options: options.trees)
    }

    /// - Throws: ``StrataError`` `outOfRange` for an offset that the store has no state of. Otherwise the log's files,
    ///   if there are any, contain it.
    private func requirePast(_ offset: UInt64) throws {
        try reader.gate.requireOpen()
        let newest = views.trees.snapshot().foldedOffset(ViewTree.records)
        // The floor of a followed log may be past the state until that is folded again.
        let floor = log.floor.offset
        guard floor <= offset, offset <= newest else {
            throw StrataError(
                .outOfRange, "The store has no state at that offset.",
                .init(expected: "\(floor) to \(newest)", found: "\(offset)"))
        }
        // A reader of the files sees only durable commits.
        if path != nil, (log.segments?.durableEnd ?? log.durableEnd).offset < offset { try log.sync() }
    }

    /// Returns the log as its files are now, opened once for all readers of the past until something is erased or
    /// removed.
    private func logOfPasts(at path: String) throws -> FollowerLog {
        try pastLog.withLock { known in
            if let known, (try? known.refresh()) != nil, try pasts.isCurrent(known) {
                return known
            }
            let opened = try pasts.begin {
                // The state that it shows was in the log when this store was opened.
                try FollowerLog { [platform] in
                    try LogReader.open(at: path, requiresWholeEnd: false, platform: platform)
                }
            }
            known = opened
            return opened
        }
    }

    /// Advances a store that shows the past to a later offset.
    func advance(to offset: UInt64) throws {
        try advancing { past in
            try past.advance(to: offset)
            try Replay(log: past, trees: views.trees).run()
        }
        pipeline.publication.announce(offset)
    }

    /// Advances a store that shows the past over the commits that come next.
    func advance(over commits: [Commit]) throws {
        guard let last = commits.last else { return }
        try advancing { past in
            let fold = Fold(try views.trees.fork())
            for commit in commits {
                try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
            }
            // Only now: a commit that cannot be folded is in neither the log nor the state that are shown.
            try past.advance(to: last.offset)
            try fold.publish(to: views.trees)
        }
        reader.publish(views.trees.snapshot())
        pipeline.publication.announce(last.offset)
    }

    private func advancing(_ body: (HistoricalLog) throws -> Void) throws {
        guard let past = log as? HistoricalLog else {
            throw StrataError(
                .invalidArgument, "Only a store that shows the past can be advanced.",
                .init(expected: "a store opened as of an offset"))
        }
        try pipeline.live.refreshes.withLock { count in
            count += 1
            try body(past)
        }
    }

    /// Folds the commits that another process has written since; returns true if there were any.
    func refresh() throws -> Bool {
        guard let log = log as? FollowerLog else { return false }
        return try pipeline.live.reading { try refresh(log) }
    }

    private func refresh(_ log: FollowerLog) throws -> Bool {
        try pipeline.live.refreshes.withLock { count in
            count += 1
            try reader.gate.requireOpen()
            // Commits that an earlier call found but could not fold must still be folded.
            _ = try log.refresh()
            keys.forget()
            let before = views.trees.snapshot()
            do { try Replay(log: log, trees: views.trees).run() } catch let error as StrataError
                where error.code == .outOfRange
            {
                // The writer removed the commits that come next here; the base contains them.
                let again = try log.beginningAnew(first: true) {
                    try Views.openForReading(
                        log, store: log.storeID, in: path ?? "", platform: platform, options: options.trees)
                }
                try pipeline.take(WorkingViews(views: again.views, flusher: nil))
            }
            let newest = views.trees.snapshot()
            reader.publish(newest)
            return newest.foldedOffset(ViewTree.records) > before.foldedOffset(ViewTree.records)
        }
    }
}

extension StoreEngine {
    /// Returns the last commit of a state that survives a power failure if durability is `.commit`; otherwise the
    /// state's last commit. With `.commit` only lazy commits come after it, and they change nothing, so a token from
    /// there stays valid after a crash.
    func durableOffset(of trees: Snapshot) -> UInt64 {
        let end = trees.foldedOffset(ViewTree.records)
        return options.durability == .commit ? min(end, log.durableEnd.offset) : end
    }
}
