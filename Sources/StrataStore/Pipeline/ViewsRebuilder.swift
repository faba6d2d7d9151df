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

    func rebuilt() throws -> OpenedViews {
        if checkpoints == nil {
            return try Views.openForReading(
                log, store: store, in: directory, from: .log, platform: platform, options: options)
        }
        return try Views.rebuild(log, store: store, in: directory, platform: platform, options: options)
    }

    func state(at offset: UInt64) throws -> Snapshot {
        let isWriter = checkpoints != nil
        return try Views.state(
            of: log, at: offset, in: isWriter ? directory : nil, platform: platform, options: options)
    }

    func erasedBase(_ eraser: RecordEraser, of log: SegmentedLog) throws -> BaseErasure? {
        try BaseErasure(of: log, by: eraser, in: directory, platform: platform, options: options)
    }

    func compactIfSparse(_ views: Views) throws { try views.compactIfSparse(platform: platform) }

    /// The file in which rows of indexes are sorted that do not fit in memory.
    var spill: RunSorter.Spill { RunSorter.Spill(files: platform.files, path: directory + "/views.build") }

    func removeSetAside() throws { try PageStore.removeSetAside(in: directory, files: platform.files) }
    func setAside() throws { try PageStore.setAside(in: directory, files: platform.files) }
}

/// The views that a store works with, until they are replaced.
struct WorkingViews: Sendable {
    let views: Views
    let checkpointer: Checkpointer?
}

/// The error of a damaged page, and the views that the page belongs to.
struct ViewsDamage: Sendable {
    let error: StrataError
    let views: Views

    /// Returns nil if the error is of another kind.
    init?(_ error: any Error, _ views: Views) {
        guard let error = error as? StrataError, Views.isDamage(error) else { return nil }
        self.error = error
        self.views = views
    }
}
