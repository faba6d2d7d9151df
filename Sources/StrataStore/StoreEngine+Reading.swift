import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// How a store is opened.
public enum StoreAccess: Sendable, Hashable {
    /// By the one process that writes.
    case readWrite
    /// Beside a process that writes, or on a medium or a copy that is left as it is. The state is folded from the log
    /// into memory; see ``Store/refresh()``.
    case readOnly
}

extension StoreEngine {
    /// An engine that leaves the store's files as they are.
    static func openForReading(
        at path: String, through offset: UInt64? = nil, _ options: StoreOptions, _ platform: Platform,
        _ progress: (Replay.Progress) -> Void
    ) throws -> StoreEngine {
        let log = try FollowedLog { try LogReader.open(at: path, platform: platform) }
        return try log.beginningAnew(first: false) {
            let seen: any EventLog = if let offset { try PastLog(log, through: offset) } else { log }
            return try StoreEngine(
                inMemory: seen, options, platform, buildsIndexes: false, assets: .readOnly(AssetPaths(path)),
                keys: KeyFile(in: path, platform.files), at: path, progress)
        }
    }

    /// Folds what another process has written since; returns whether there was anything.
    func refresh() throws -> Bool {
        guard let log = log as? FollowedLog else { return false }
        return try refreshes.withLock { count in
            count += 1
            try reader.gate.requireOpen()
            // What a look before found and could not fold is still to be folded.
            _ = try log.refresh()
            keys.forget()
            let before = views.pages.snapshot().foldedOffset(ViewTree.records)
            do { try Replay(log: log, pages: views.pages).run() } catch let error as StrataError
                where error.code == .outOfRange
            {
                // The writer let go of what comes next here: the base has it.
                let again = try log.beginningAnew(first: true) { try Views.inMemory(log, options: options.pages) }
                pipeline.working.withLock { $0 = WorkingViews(views: again, checkpointer: nil) }
            }
            return views.pages.snapshot().foldedOffset(ViewTree.records) > before
        }
    }
}

extension StoreEngine {
    /// The last commit of a state that no loss of power undoes, where the store promises that of what it acknowledges:
    /// behind it are lazy commits alone, which change nothing. A token from there holds after a crash.
    func lastingOffset(of trees: Snapshot) -> UInt64 {
        let end = trees.foldedOffset(ViewTree.records)
        return options.durability == .commit ? min(end, log.durableEnd.offset) : end
    }
}
