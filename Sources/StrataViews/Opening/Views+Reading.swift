import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// The source from which a process that does not write a store reads its state.
package enum ViewsSource: Sendable {
    /// The newest state on disk at or before the end of the log, and the commits after it.
    case states
    /// The log alone.
    case log
}

extension Views {
    /// Opens the state of a store at the end of its log for reading. The store's files stay unchanged. Changes that do
    /// not fit in memory are written to unnamed files.
    ///
    /// States that cannot be used only cost time.
    ///
    /// ```swift
    /// let opened = try Views.openForReading(log, store: log.identity.storeID, in: path)
    /// try opened.views.trees.snapshot().digests()
    /// ```
    /// - Throws: ``StrataError`` if the log cannot be read or folded, or a state for a reason other than damage.
    package static func openForReading(
        _ log: any EventLog, store: Identifier, in directory: String, from source: ViewsSource = .states,
        platform: Platform = Platform(), options: TreeStoreOptions = TreeStoreOptions(),
        progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> OpenedViews {
        var states = StateReading(log: log, store: store, directory: directory, platform: platform, options: options)
        if source == .states {
            var opened: OpenedViews?
            let damage = try Self.damage {
                if let nearest = try states.nearest(upTo: log.end.offset) {
                    let beginning = nearest.store.snapshot().foldedOffset(ViewTree.records)
                    try Replay(log: log, trees: nearest.store).run(progress: progress)
                    opened = OpenedViews(
                        views: Views(trees: nearest.store, log: log), finding: nearest.finding, reasons: states.reasons,
                        beginning: beginning)
                }
            }
            if let opened { return opened }
            if let damage { states.reasons.append(damage) }
        }
        let views = Views(trees: try states.empty(), log: log)
        try Replay(log: log, trees: views.trees).run(progress: progress)
        return OpenedViews(
            views: views, finding: states.reasons.isEmpty ? .missing : .damaged, reasons: states.reasons, beginning: 0)
    }

    /// Returns the trees from which folding a log begins: the newest state at or before its end, or empty ones.
    static func openNearest(
        _ log: any EventLog, store: Identifier, in directory: String, platform: Platform, options: TreeStoreOptions
    ) throws -> TreeStore {
        var states = StateReading(log: log, store: store, directory: directory, platform: platform, options: options)
        return try states.nearest(upTo: log.end.offset)?.store ?? states.empty()
    }

    /// Returns the newest usable state at or before an offset, including the kept ones; nil if none can be read.
    ///
    /// - Throws: ``StrataError`` if the log cannot be read, or a state for a reason other than damage.
    package static func state(
        on disk: String, of log: any EventLog, store: Identifier, upTo offset: UInt64,
        platform: Platform = Platform(), options: TreeStoreOptions = TreeStoreOptions()
    ) throws -> Snapshot? {
        var states = StateReading(log: log, store: store, directory: disk, platform: platform, options: options)
        return try states.nearest(upTo: offset)?.store.snapshot()
    }
}

/// Reads the states of a store and notes why one cannot be used.
private struct StateReading {
    let log: any EventLog
    let store: Identifier
    let directory: String
    let platform: Platform
    let options: TreeStoreOptions
    var reasons: [StrataError] = []

    /// The place for changes that do not fit in memory, which is never in the store.
    private var scratch: (directory: String, name: String) {
        (TemporaryDirectory.path, "strata-\(platform.random.nextIdentifier())")
    }

    func empty() throws -> TreeStore {
        let scratch = scratch
        return try .temporary(
            Views.owner(store), hashed: Views.hashed, in: scratch.directory, files: RealFileSystem(), options: options,
            name: scratch.name)
    }

    mutating func nearest(upTo offset: UInt64) throws -> OpenedTreeStore? {
        let opened = try TreeStore.openForReading(
            in: directory, Views.owner(store), hashed: Views.hashed, upTo: offset, files: platform.files,
            options: options, scratch: scratch, isValid: log.has)
        if let opened { reasons += opened.reasons }
        return opened
    }
}
