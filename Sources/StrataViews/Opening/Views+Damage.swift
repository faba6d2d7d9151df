import StrataLog
import StrataModel
import StrataSystem
import StrataTree

extension Views {
    /// Returns true if an error means damaged pages, rather than a problem with the log or with the access to either.
    /// All errors about the log's own contents name a segment or an offset.
    package static func isDamage(_ error: StrataError) -> Bool {
        if error.context.page != nil { return true }
        guard error.context.segment == nil, error.context.offset == nil else { return false }
        return error.code == .badChecksum || error.code == .malformed
    }

    /// Calls `body`; returns the error of a damaged page if it reads one.
    package static func damage(_ body: () throws -> Void) throws -> StrataError? {
        do { try body() } catch let error as StrataError where isDamage(error) { return error }
        return nil
    }

    /// Sets a page file aside in which a damaged page was found, and folds the whole log into a new one. Publishing and
    /// checkpoints must be suspended for that time.
    ///
    /// - Throws: ``StrataError`` if the log has neither its first commit nor a base, if it cannot be read or folded, or
    ///   if no page file can be created.
    package static func rebuild(
        _ log: any EventLog, store: Identifier, in directory: String, platform: Platform = Platform(),
        options: PageStoreOptions = PageStoreOptions(), progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> OpenedViews {
        try requireWhole(log)
        try PageStore.setAside(in: directory, files: platform.files)
        return try open(
            log, store: store, in: directory, platform: platform, options: options, progress: progress)
    }

    /// Returns the state after a commit, folded from the beginning of the log or its base into memory and an unnamed
    /// file.
    ///
    /// - Parameters:
    ///   - directory: the directory of that file; nil for memory alone.
    ///   - pulse: called repeatedly; an error that it throws ends the work.
    package static func state(
        of log: any EventLog, at offset: UInt64, in directory: String?, platform: Platform = Platform(),
        options: PageStoreOptions = PageStoreOptions(), sortsEvents: Bool = false,
        pulse: @escaping () throws -> Void = {}
    ) throws -> Snapshot {
        try requireWhole(log)
        let pages = try TemporaryViews(directory, platform.files).pages(options)
        var sorting: Replay.Sorting?
        if sortsEvents, let directory {
            sorting = Replay.Sorting(
                sorter: EventSorter(files: platform.files, path: directory + "/compaction.sort"),
                maximumPages: options.maximumArenaPages, limits: .lean, publishedBytes: 512 << 20)
        }
        var replay = Replay(log: log, pages: pages, sorting: sorting)
        replay.pulse = pulse
        try replay.run(upTo: offset)
        let state = pages.snapshot()
        guard state.foldedOffset(ViewTree.records) == offset else {
            throw StrataError(
                .outOfRange, "The log has no state at that offset.",
                .init(expected: "offset \(offset)", found: "\(state.foldedOffset(ViewTree.records))"))
        }
        return state
    }

    static func requireWhole(_ log: any EventLog) throws {
        let floor = log.floor.offset
        guard floor > 0, try log.base() == nil else { return }
        throw StrataError(
            .outOfRange, "The views cannot be rebuilt: the log does not reach back to its first commit.",
            .init(found: "\(floor)"))
    }
}
