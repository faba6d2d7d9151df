import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

extension Store {
    /// Compacts a store that is not open and whose disk has no room for a base: folds the state into memory, and
    /// removes the views to make room. The next opening folds them again (docs/compaction.md §8).
    ///
    /// - Throws: as ``compact(before:)``; `invalidArgument` also if no file would be removed; `locked` while a program
    ///   has the store open for writing. If even this does not make enough room, the log is unchanged and the views
    ///   are gone.
    public static func compactWithoutRoom(
        at path: String, before offset: UInt64, options: StoreOptions = .service
    ) throws -> Compaction {
        try compactWithoutRoom(at: path, before: offset, options: options, platform: Platform())
    }

    package static func compactWithoutRoom(
        at path: String, before offset: UInt64, options: StoreOptions = .service, platform: Platform
    ) throws -> Compaction {
        var options = options.log
        options.createsStore = false
        let log = try SegmentedLog.open(at: path, options: options, platform: platform)
        defer { try? log.close() }
        let horizon = offset > 0 ? offset - 1 : 0
        if let offset = try log.unfinishedErasures() { throw Compactor.erasureError(offset, path) }
        try Compactor.requireHorizon(
            horizon, after: log.floor.offset, through: log.durableEnd.offset,
            noted: try KeptOperation.firstOffset(inStore: path, log.platform.files))
        guard try StoreEngine.removable(log.storedSegments(), log.readBase(), through: horizon).byteCount > 0 else {
            throw StrataError(
                .invalidArgument, "Compacting would free no space, because it would remove no file of the log.",
                .init(path: path, expected: "an offset after the end of a closed segment", found: "\(offset)"))
        }
        let draft = try base(at: horizon, of: log, path)
        do {
            _ = try Views.state(of: try draft.read(), in: nil, platform: log.platform, options: TreeStoreOptions())
            let freed = try log.adopt(draft)
            return Compaction(
                horizon: horizon, segmentCount: freed.segmentCount, freedBytes: freed.freedBytes,
                baseBytes: freed.baseBytes, assetCount: 0)
        } catch {
            try? draft.remove()
            throw error
        }
    }

    /// Folds the state into memory, removes the views, and writes the base into the freed space. The state is
    /// released on return.
    private static func base(at horizon: UInt64, of log: SegmentedLog, _ path: String) throws -> BaseDraft {
        let state = try Views.state(of: log, at: horizon, in: nil, platform: log.platform)
        try TreeStore.removeAll(in: path, files: log.platform.files)
        var scan = try BaseScan(state, chain: try log.chain(at: horizon))
        return try log.writeBase(at: horizon) { try scan.next()?[...] }
    }
}
