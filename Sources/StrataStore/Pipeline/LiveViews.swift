import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// Owns the trees that a store works with, and folds them again if a page is damaged.
final class LiveViews: Sendable {
    /// New views, the state of their indexes, and the catalog of these.
    struct Replacement {
        let working: WorkingViews
        let catchUp: IndexCatchUp
        let catalog: IndexCatalog
    }

    /// Nil if the views are in memory.
    let rebuilder: ViewsRebuilder?
    private let log: any EventLog
    private let working: Lock<WorkingViews>
    private let rebuilds = Lock(ViewsRebuilds())

    init(_ working: WorkingViews, of log: any EventLog, rebuilder: ViewsRebuilder?) {
        self.working = Lock(working)
        self.log = log
        self.rebuilder = rebuilder
    }

    var views: Views { working.withLock { $0.views } }
    var checkpointer: Checkpointer? { working.withLock { $0.checkpointer } }
    /// The number of times that the views were damaged and folded again, and the last reason.
    var rebuildCount: (count: Int, lastReason: StrataError?) { rebuilds.withLock { ($0.count, $0.lastReason) } }

    func replace(with new: WorkingViews) { working.withLock { $0 = new } }

    /// Returns true if the damaged views must be replaced; false if another thread has done so.
    ///
    /// - Throws: ``StrataError`` if they cannot be folded again.
    func beginRebuilding(after damage: ViewsDamage) throws -> Bool {
        let before = working.withLock { $0 }
        guard damage.views === before.views else { return false }
        guard rebuilder != nil else { throw damage.error }
        try rebuilds.withLock { rebuilds in
            try rebuilds.requireChance(after: damage.error)
            rebuilds.count += 1
            rebuilds.lastReason = damage.error
        }
        // Before the file is set aside: a checkpoint may put another in its place.
        before.checkpointer?.abandon()
        return true
    }

    /// Returns the error of views that could not be rebuilt; that is not retried.
    func failure(of error: any Error) -> StrataError {
        let cause = error as? StrataError
        let failure = StrataError(
            cause?.code ?? .inputOutput, "A page of the views is damaged, and the views could not be rebuilt.",
            cause?.context ?? .init(), cause: error)
        rebuilds.withLock { $0.failure = failure }
        return failure
    }

    /// Folds the log into new views.
    ///
    /// - Parameter options: the options of views in memory.
    func rebuilt(inMemory options: PageStoreOptions = PageStoreOptions()) throws -> Replacement {
        guard let rebuilder else {
            let views = try Views.inMemory(log, options: options)
            return try Self.replacement(WorkingViews(views: views, checkpointer: nil))
        }
        let opened = try opened(by: rebuilder)
        guard let policy = rebuilder.checkpoints else { return Replacement(opened) }
        let checkpointer = try Checkpointer(opened.views, policy: policy)
        let replacement = try Self.replacement(WorkingViews(views: opened.views, checkpointer: checkpointer))
        checkpointer.didPublish(
            replacement.catchUp.base, bytes: 0, events: 0, hasAllIndexes: replacement.catalog.isEmpty)
        return replacement
    }

    /// Returns views whose indexes have no rows, and so show any state.
    private static func replacement(_ working: WorkingViews) throws -> Replacement {
        let snapshot = working.views.pages.snapshot()
        return Replacement(working: working, catchUp: IndexCatchUp(snapshot), catalog: try IndexCatalog(snapshot))
    }

    /// Starts over if a compaction removed commits that were still to be folded: its base has them now.
    private func opened(by rebuilder: ViewsRebuilder) throws -> OpenedViews {
        while true {
            let floor = log.floor.offset
            do { return try rebuilder.rebuilt() } catch let error as StrataError
                where error.code == .outOfRange && log.floor.offset > floor
            { continue }
        }
    }
}

extension LiveViews.Replacement {
    /// The views of a store that is only read.
    init(_ opened: OpenedViews) {
        self.init(
            working: WorkingViews(views: opened.views, checkpointer: nil), catchUp: opened.catchUp,
            catalog: IndexCatalog())
    }
}

/// The rebuilds of damaged views while the store was open.
struct ViewsRebuilds: Sendable {
    /// The maximum number of rebuilds. After that the disk should not be trusted, and the damage is reported.
    static let maximumCount = 5

    var count = 0
    var lastReason: StrataError?
    /// The reason why the last rebuild failed; it is not retried.
    var failure: StrataError?

    /// - Throws: ``StrataError`` if the views must not be folded again.
    func requireChance(after damage: StrataError) throws {
        if let failure { throw failure }
        guard count >= Self.maximumCount else { return }
        throw StrataError(
            damage.code, "The views were damaged too often to be rebuilt while the store is open.",
            damage.context, cause: damage)
    }
}
