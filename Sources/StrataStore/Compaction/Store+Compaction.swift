import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// Compaction of history (docs/compaction.md).
extension Store {
    /// Removes the commits before an offset and keeps their result; the commit at the offset stays. Change tokens from
    /// before that are no longer served, and the past before it can no longer be shown.
    ///
    /// Returns when the compaction is complete. Others can read and write while it runs; closing the store ends it.
    ///
    /// ```swift
    /// let done = try store.compact(before: store.offset)
    /// print("\(done.segmentCount) segments, \(done.freedBytes) bytes")
    /// ```
    ///
    /// - Throws: ``StrataError`` `invalidArgument` for an offset past the end, for history that was already removed,
    ///   for an offset past the one that a long-lived operation noted, and for a store in memory; errors of the disk.
    ///   In these cases nothing has changed.
    @discardableResult
    public func compact(before offset: UInt64) throws -> Compaction {
        try requireWritable()
        guard let compactor = engine.compactor else { throw Self.noHistoryError }
        return try compactor.compact(to: offset > 0 ? offset - 1 : 0)
    }

    /// Returns the plan of ``compact(before:)``; nothing is changed. The state at the offset is folded for it, unless
    /// that is the newest state.
    ///
    /// ```swift
    /// for zone in try store.compactionPlan(before: 1_000).zones { print(zone.zone.name, zone.changeCount) }
    /// ```
    ///
    /// - Throws: as ``compact(before:)``.
    public func compactionPlan(before offset: UInt64) throws -> CompactionPlan {
        try gate.requireOpen()
        return try engine.compactionPlan(to: offset > 0 ? offset - 1 : 0)
    }

    /// Returns the outcome of a compaction that would remove no file of the log: the current horizon and base. Returns
    /// nil if it would remove one. Changes nothing.
    ///
    /// - Throws: as ``compact(before:)``.
    package static func emptyCompaction(
        at path: String, before offset: UInt64, platform: Platform = Platform()
    ) throws -> Compaction? {
        let log = try LogReader.open(at: path, platform: platform)
        let horizon = offset > 0 ? offset - 1 : 0
        try Compactor.requireHorizon(
            horizon, after: log.floor.offset, through: log.end.offset,
            noted: try KeptOperation.firstOffset(inStore: path, platform.files))
        let base = try log.readBase()
        guard try StoreEngine.removable(log.storedSegments(), base, through: horizon).byteCount == 0 else { return nil }
        return Compaction(
            horizon: log.floor.offset, segmentCount: 0, freedBytes: 0, baseBytes: UInt64(base?.byteCount ?? 0),
            assetCount: 0)
    }

    /// The error of the last compaction by the policy of ``StoreOptions/history``; nil if it succeeded. It is retried
    /// when the log has grown.
    public var compactionFailure: (any Error)? { engine.compactor?.failure }

    static var noHistoryError: StrataError {
        StrataError(.invalidArgument, "Only a store on disk can be compacted.")
    }
}

extension StoreEngine {
    /// Returns the log's files, if it has any.
    private func storedSegments() throws -> [StoredSegment]? {
        if let segments = log.segments { return try segments.storedSegments() }
        return try (log as? FollowerLog)?.storedSegments()
    }

    func compactionPlan(to horizon: UInt64) throws -> CompactionPlan {
        guard let segments = try storedSegments(), let path else { throw Store.noHistoryError }
        let newest = views.trees.snapshot()
        if let compactor {
            try compactor.requireHorizon(horizon)
        } else {
            try Compactor.requireHorizon(
                horizon, after: log.floor.offset, through: newest.foldedOffset(ViewTree.records),
                noted: try KeptOperation.firstOffset(inStore: path, platform.files))
        }
        let isReader = log is any ReadOnlyLog
        let state =
            newest.foldedOffset(ViewTree.records) == horizon
            ? newest
            : try Views.state(
                of: log, at: horizon, in: isReader ? nil : path, platform: platform, options: .lean)
        let gone = try Self.removable(segments, try log.readBase(), through: horizon)
        let estimate = try BaseEstimate(state)
        return CompactionPlan(
            horizon: horizon, segmentCount: gone.segmentCount, freedBytes: gone.byteCount,
            recordBytes: estimate.byteCount, zones: try zones(of: estimate, state, through: horizon))
    }

    /// Returns the number of segments that a compaction removes, and their bytes plus those of the previous base.
    static func removable(
        _ segments: [StoredSegment], _ base: BaseReader?, through horizon: UInt64
    ) throws -> (segmentCount: Int, byteCount: UInt64) {
        let gone = segments.prefix { $0.lastOffset.map { $0 <= horizon } ?? false }
        return (gone.count, gone.reduce(UInt64(base?.byteCount ?? 0)) { $0 + $1.byteCount })
    }

    private func zones(
        of estimate: BaseEstimate, _ state: Snapshot, through horizon: UInt64
    ) throws -> [CompactionPlan.Zone] {
        let names = reader.context.names.resolver(in: state)
        let kept = Dictionary(uniqueKeysWithValues: estimate.zones.map { ($0.zone, $0) })
        var zones: [CompactionPlan.Zone] = []
        for database in 1..<max(1, try state.nameCount(.database)) + 1 {
            let id = try names.requiredDatabase(database)
            for (ordinal, _) in try state.zoneRows(of: database) {
                let changes = try changeCount(of: ordinal, through: horizon)
                let zone = kept[ordinal]
                if changes == 0, zone == nil { continue }
                zones.append(
                    CompactionPlan.Zone(
                        database: id, zone: ZoneID(try names.text(.zone, ordinal)), changeCount: changes,
                        recordCount: zone?.recordCount ?? 0, byteCount: zone?.byteCount ?? 0))
            }
        }
        return zones
    }

    private func changeCount(of zone: UInt64, through horizon: UInt64) throws -> Int {
        var commits = TouchedCommits(.zones([zone]), of: log, after: log.floor.offset, through: horizon)
        var count = 0
        while let commit = try commits.next() { count += commit.count }
        return count
    }
}
