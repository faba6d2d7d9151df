import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// How the state of a store is read that this process does not write.
public enum ViewsSource: Sendable {
    /// From the newest checkpoint that is not behind the end of the log, and what the log has after it.
    case pageFile
    /// From the log alone.
    case log
}

/// A state to go on from, and what its indexes show.
struct NearestState {
    let pages: PageStore
    let keeper: IndexKeeper
}

extension Views {
    /// The state of a store for reading, at the end of its log. Its files stay as they are, but for a place in
    /// `readers`; what is folded is in memory, and in a file without a name where it is more than the options allow.
    ///
    /// A page file that cannot be used only costs time.
    ///
    /// ```swift
    /// let opened = try Views.openForReading(log, store: log.identity.storeID, in: path)
    /// try opened.views.pages.snapshot().digests()
    /// ```
    /// - Throws: ``StrataError`` if the log cannot be read or folded.
    public static func openForReading(
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
            keeper: IndexKeeper(views.pages.snapshot()))
    }

    /// Nil if there is no checkpoint that can be taken.
    private static func fromPageFile(
        _ log: any EventLog, _ store: Identifier, _ directory: String, _ platform: Platform,
        _ options: PageStoreOptions, _ scratch: Scratch, _ reasons: inout [StrataError]
    ) throws -> NearestState? {
        guard
            let opened = try openCheckpoint(
                of: log, store, directory, upTo: log.end.offset, platform, options, scratch, &reasons)
        else { return nil }
        var shown = opened.snapshot
        if try !IndexKeeper.isComplete(in: shown) {
            let fork = opened.store.fork()
            try IndexKeeper.startAnew(in: fork)
            shown = try opened.store.publish(fork)
        }
        return NearestState(pages: opened.store, keeper: IndexKeeper(shown))
    }

    /// Where folding a log begins: at the newest checkpoint that is not behind its end, or with nothing.
    static func openNearest(
        _ log: any EventLog, store: Identifier, in directory: String, platform: Platform, options: PageStoreOptions
    ) throws -> NearestState {
        let scratch = Scratch(platform)
        var reasons: [StrataError] = []
        if let found = try fromPageFile(log, store, directory, platform, options, scratch, &reasons) { return found }
        let pages = try scratch.pages(options)
        return NearestState(pages: pages, keeper: IndexKeeper(pages.snapshot()))
    }

    /// A checkpoint of an offset or an earlier one, which may be one of those that are kept; nil if there is none that
    /// can be read.
    ///
    /// - Throws: ``StrataError`` if the log cannot be read.
    public static func checkpoint(
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

    /// Where what does not fit memory goes: never into the store.
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
