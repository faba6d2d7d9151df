import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// What it takes to fold the views of an open store again.
struct ViewsRebuilder: Sendable {
    let log: any EventLog
    let store: Identifier
    let directory: String
    let platform: Platform
    let options: PageStoreOptions
    /// Nil where this process only reads the store: its page file is left as it is then.
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

    func checkpoint(upTo offset: UInt64) throws -> CheckpointState? {
        try Views.checkpoint(of: log, store: store, in: directory, upTo: offset, platform: platform, options: options)
    }

    func erasedBase(_ eraser: RecordEraser, of log: SegmentedLog) throws -> BaseErasure? {
        try BaseErasure(of: log, by: eraser, in: directory, platform: platform, options: options)
    }

    func compactIfSparse(_ views: Views) throws { try views.compactIfSparse(platform: platform) }

    /// Where the rows of indexes are sorted that do not fit memory.
    var spill: RunSorter.Spill { RunSorter.Spill(files: platform.files, path: directory + "/views.build") }

    func removeSetAside() throws { try PageStore.removeSetAside(in: directory, files: platform.files) }
    func setAside() throws { try PageStore.setAside(in: directory, files: platform.files) }
}

/// The views that a store works with, until others are folded in their place.
struct WorkingViews: Sendable {
    let views: Views
    let checkpointer: Checkpointer?
}

/// A page that turned out wrong, and the views that it is one of.
struct ViewsDamage: Sendable {
    let error: StrataError
    let views: Views

    /// Nil if the error is of another kind.
    init?(_ error: any Error, _ views: Views) {
        guard let error = error as? StrataError, Views.isDamage(error) else { return nil }
        self.error = error
        self.views = views
    }
}

/// What became of damaged views while the store was open.
struct ViewsRebuilds: Sendable {
    /// Whoever meets more damage than that has a disk that should not be trusted, and is told.
    static let maximumCount = 5

    var count = 0
    var lastReason: StrataError?
    /// Why the last try failed; there is no other.
    var failure: StrataError?

    /// - Throws: ``StrataError`` if the views are not to be folded again.
    func requireChance(after damage: StrataError) throws {
        if let failure { throw failure }
        guard count >= Self.maximumCount else { return }
        throw StrataError(
            damage.code, "The views were damaged too often to be folded again while the store is open.",
            damage.context, cause: damage)
    }
}
