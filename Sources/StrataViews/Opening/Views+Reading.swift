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
        var file = PageFileReading(
            log: log, store: store, directory: directory, platform: platform, options: options)
        let scratch = file.scratch
        if source == .pageFile {
            var opened: OpenedViews?
            let damage = try Self.damage {
                if let nearest = try file.checkpoint(upTo: log.end.offset) {
                    try Replay(log: log, pages: nearest.store).run(progress: progress)
                    opened = OpenedViews(
                        views: Views(pages: nearest.store, log: log), finding: .whole, reasons: file.reasons,
                        checkpointOffset: nearest.checkpoint.position.offset)
                }
            }
            if let opened { return opened }
            if let damage { file.reasons.append(damage) }
        }
        let views = Views(pages: try scratch.pages(options), log: log)
        let sorting = Replay.Sorting(
            sorter: EventSorter(files: scratch.files, path: "\(scratch.directory)/\(scratch.name).sort"),
            maximumPages: options.maximumArenaPages, limits: .lean, publishedBytes: 512 << 20)
        try Replay(log: log, pages: views.pages, sorting: sorting).run(progress: progress)
        return OpenedViews(
            views: views, finding: file.reasons.isEmpty ? .missing : .damaged, reasons: file.reasons,
            checkpointOffset: 0)
    }

    /// Returns the state at which folding a log begins: the newest checkpoint at or before its end, or an empty state.
    static func openNearest(
        _ log: any EventLog, store: Identifier, in directory: String, platform: Platform, options: PageStoreOptions
    ) throws -> PageStore {
        var file = PageFileReading(
            log: log, store: store, directory: directory, platform: platform, options: options)
        return try file.checkpoint(upTo: log.end.offset)?.store ?? file.scratch.pages(options)
    }

    /// Returns the newest usable checkpoint at or before an offset, including the kept ones; nil if none can be read.
    ///
    /// - Throws: ``StrataError`` if the log cannot be read.
    package static func checkpoint(
        of log: any EventLog, store: Identifier, in directory: String, upTo offset: UInt64,
        platform: Platform = Platform(), options: PageStoreOptions = PageStoreOptions()
    ) throws -> CheckpointState? {
        var file = PageFileReading(
            log: log, store: store, directory: directory, platform: platform, options: options)
        return try file.checkpoint(upTo: offset).map {
            CheckpointState(trees: $0.snapshot, offset: $0.checkpoint.position.offset)
        }
    }
}

/// Reads the checkpoints of a page file and notes why one cannot be used.
private struct PageFileReading {
    let log: any EventLog
    let store: Identifier
    let directory: String
    let platform: Platform
    let options: PageStoreOptions
    let scratch: Scratch
    var reasons: [StrataError] = []

    init(log: any EventLog, store: Identifier, directory: String, platform: Platform, options: PageStoreOptions) {
        (self.log, self.store, self.directory) = (log, store, directory)
        (self.platform, self.options, scratch) = (platform, options, Scratch(platform))
    }

    /// Returns the newest usable checkpoint at or before an offset; nil if there is none.
    mutating func checkpoint(upTo offset: UInt64) throws -> OpenedPageReader? {
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
            _ = try Views.digests(noted: opened.checkpoint.opaque)
            return opened
        } catch let error as StrataError {
            if let logFailure { throw logFailure }
            if error.code != .notFound { reasons.append(error) }
            return nil
        }
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
