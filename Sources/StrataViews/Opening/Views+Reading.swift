import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// The source from which a process that does not write a store reads its state.
package enum ViewsSource: Sendable {
    /// The newest checkpoint at or before the end of the log, and the commits after it.
    case pageFile
    /// The log alone.
    case log
}

/// A state to continue from, with the keeper of its indexes.
struct NearestState {
    let pages: PageStore
    let keeper: IndexCatchUp
}

extension Views {
    /// Opens the state of a store at the end of its log for reading. The store's files stay unchanged except for a slot
    /// in `readers`. Folded pages are kept in memory, and beyond the limit of the options in an unnamed file.
    ///
    /// A page file that cannot be used only costs time.
    ///
    /// ```swift
    /// let opened = try Views.openForReading(log, store: log.identity.storeID, in: path)
    /// try opened.views.pages.snapshot().digests()
    /// ```
    /// - Throws: ``StrataError`` if the log cannot be read or folded.
    package static func openForReading(
        _ log: any EventLog, store: Identifier, in directory: String, from source: ViewsSource = .pageFile,
        platform: Platform = Platform(), options: PageStoreOptions = PageStoreOptions(),
        progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> OpenedViews {
        let scratch = Scratch(platform)
        var reasons: [StrataError] = []
        if source == .pageFile {
            do {
                if let nearest = try fromPageFile(log, store, directory, platform, options, scratch, &reasons) {
                    try Replay(log: log, pages: nearest.pages).run(progress: progress)
                    return OpenedViews(
                        views: Views(pages: nearest.pages, log: log), finding: .whole, reasons: reasons,
                        checkpointOffset: nearest.keeper.base.foldedOffset(ViewTree.records), keeper: nearest.keeper)
                }
            } catch let error as StrataError where isDamage(error) { reasons.append(error) }
        }
        let views = Views(pages: try scratch.pages(options), log: log)
        let sorting = Replay.Sorting(
            sorter: EventSorter(files: scratch.files, path: "\(scratch.directory)/\(scratch.name).sort"),
            maximumPages: options.maximumArenaPages, limits: .lean, publishedBytes: 512 << 20)
        try Replay(log: log, pages: views.pages, sorting: sorting).run(progress: progress)
        return OpenedViews(
            views: views, finding: reasons.isEmpty ? .missing : .damaged, reasons: reasons, checkpointOffset: 0,
            keeper: IndexCatchUp(views.pages.snapshot()))
    }

    /// Returns nil if no checkpoint can be used.
    private static func fromPageFile(
        _ log: any EventLog, _ store: Identifier, _ directory: String, _ platform: Platform,
        _ options: PageStoreOptions, _ scratch: Scratch, _ reasons: inout [StrataError]
    ) throws -> NearestState? {
        guard
            let opened = try openCheckpoint(
                of: log, store, directory, upTo: log.end.offset, platform, options, scratch, &reasons)
        else { return nil }
        var shown = opened.snapshot
        if try !IndexCatchUp.isComplete(in: shown) {
            let fork = opened.store.fork()
            try IndexCatchUp.startAnew(in: fork)
            shown = try opened.store.publish(fork)
        }
        return NearestState(pages: opened.store, keeper: IndexCatchUp(shown))
    }

    /// Returns the state at which folding a log begins: the newest checkpoint at or before its end, or an empty state.
    static func openNearest(
        _ log: any EventLog, store: Identifier, in directory: String, platform: Platform, options: PageStoreOptions
    ) throws -> NearestState {
        let scratch = Scratch(platform)
        var reasons: [StrataError] = []
        if let found = try fromPageFile(log, store, directory, platform, options, scratch, &reasons) { return found }
        let pages = try scratch.pages(options)
        return NearestState(pages: pages, keeper: IndexCatchUp(pages.snapshot()))
    }

    /// Returns the newest usable checkpoint at or before an offset, including the kept ones; nil if none can be read.
    ///
    /// - Throws: ``StrataError`` if the log cannot be read.
    package static func checkpoint(
        of log: any EventLog, store: Identifier, in directory: String, upTo offset: UInt64,
        platform: Platform = Platform(), options: PageStoreOptions = PageStoreOptions()
    ) throws -> CheckpointState? {
        var reasons: [StrataError] = []
        let opened = try openCheckpoint(
            of: log, store, directory, upTo: offset, platform, options, Scratch(platform), &reasons)
        return opened.map { CheckpointState(trees: $0.snapshot, offset: $0.checkpoint.position.offset) }
    }

    private static func openCheckpoint(
        of log: any EventLog, _ store: Identifier, _ directory: String, upTo offset: UInt64, _ platform: Platform,
        _ options: PageStoreOptions, _ scratch: Scratch, _ reasons: inout [StrataError]
    ) throws -> OpenedPageReader? {
        var logFailure: (any Error)?
        do {
            let opened = try PageStore.openReader(
                in: directory, store: store, upTo: offset, platform: platform, options: options,
                scratch: SpillPlace(scratch.files, path: "\(scratch.directory)/\(scratch.name).spill")
            ) { position in
                do { return try log.has(position) } catch {
                    logFailure = error
                    throw error
                }
            }
            _ = try digests(noted: opened.checkpoint.opaque)
            return opened
        } catch let error as StrataError {
            if let logFailure { throw logFailure }
            if error.code != .notFound { reasons.append(error) }
            return nil
        }
    }

    /// The place for pages that do not fit in memory, which is never in the store.
    private struct Scratch {
        let files = RealFileSystem()
        let directory = TemporaryDirectory.path
        let name: String

        func pages(_ options: PageStoreOptions) throws -> PageStore {
            try .temporary(in: directory, files: files, options: options, name: name + ".spill")
        }

        init(_ platform: Platform) { name = "strata-\(platform.random.nextIdentifier())" }
    }
}
