import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// The means to fold the views of an open store again.
struct ViewsRebuilder: Sendable {
    let log: any EventLog
    let store: Identifier
    let directory: String
    let platform: Platform
    let options: PageStoreOptions
    /// Nil if this process only reads the store, whose page file then stays unchanged.
    let checkpoints: Checkpointer.Policy?

    func rebuilt(_ progress: (Replay.Progress) -> Void) throws -> OpenedViews {
        if checkpoints == nil {
            func folded() throws -> OpenedViews {
                try Views.openForReading(
                    log, store: store, in: directory, from: .log, platform: platform, options: options,
                    progress: progress)
            }
            // The writer may compact the log meanwhile.
            return try (log as? FollowerLog)?.beginningAnew(first: false, folded) ?? folded()
        }
        return try Views.rebuild(
            log, store: store, in: directory, platform: platform, options: options, progress: progress)
    }

    func erasedBase(_ eraser: RecordEraser, of log: SegmentedLog) throws -> BaseErasure? {
        try BaseErasure(of: log, by: eraser, in: directory, platform: platform, options: options)
    }

    func compactIfSparse(_ views: Views) throws { try views.compactIfSparse(platform: platform) }

    func removeSetAside() throws { try PageStore.removeSetAside(in: directory, files: platform.files) }

    /// Renames the page file, so that the next opening folds the log into another one.
    func setAside() throws {
        if checkpoints != nil { try PageStore.setAside(in: directory, files: platform.files) }
    }
}

/// The views that a store works with, until they are replaced.
struct WorkingViews: Sendable {
    let views: Views
    let checkpointer: Checkpointer?
}
