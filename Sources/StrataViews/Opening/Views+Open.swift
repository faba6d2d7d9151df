import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// Views that were opened, and what was found on the way.
public struct OpenedViews: Sendable {
    public let views: Views
    /// What was found of the page file; not `.whole` only costs time.
    public let finding: PageFileFinding
    /// Why checkpoints could not be taken, or written while the log was folded.
    public let reasons: [StrataError]
    /// Up to where the checkpoint had the log; 0 if everything was folded again.
    public let checkpointOffset: UInt64
    /// Knows which records the indexes show. After a checkpoint in which they were behind they are built anew.
    public let keeper: IndexKeeper
}

extension Views {
    /// Opens the views of a store: the newest checkpoint that the log agrees with, and what the log has behind it.
    ///
    /// A page file that is missing, damaged, of another release, foreign or stale is made anew from the log: that is no
    /// error, and never a wrong answer.
    ///
    /// - Parameter progress: called while the log is folded.
    /// - Throws: ``StrataError`` if the log cannot be read or folded, or no page file can be made.
    public static func open(
        _ log: any EventLog, store: Identifier, in directory: String, platform: Platform = Platform(),
        options: PageStoreOptions = PageStoreOptions(), progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> OpenedViews {
        var opened = try openPages(log, store: store, in: directory, platform, options)
        do { _ = try opened.checkpoint.map { try digests(noted: $0.opaque) } } catch let reason as StrataError {
            try PageStore.setAside(in: directory, files: platform.files)
            opened = try openPages(log, store: store, in: directory, platform, options, because: reason)
        }
        let sorting = Replay.Sorting(
            sorter: EventSorter(files: platform.files, path: directory + "/views.sort"),
            maximumPages: options.maximumArenaPages)
        do {
            return try finish(opened, log, sorting, progress)
        } catch let error as StrataError where opened.store.isDamaged || isDamage(error) {
            // A page that the checkpoint reaches cannot be read: what it held is in the log.
            try PageStore.setAside(in: directory, files: platform.files)
            opened = try openPages(log, store: store, in: directory, platform, options, because: error)
            return try finish(opened, log, sorting, progress)
        }
    }

    private static func openPages(
        _ log: any EventLog, store: Identifier, in directory: String, _ platform: Platform,
        _ options: PageStoreOptions, because reason: StrataError? = nil
    ) throws -> OpenedPageStore {
        let opened = try PageStore.open(
            in: directory, store: store, platform: platform, options: options, isValid: log.has)
        guard let reason else { return opened }
        return OpenedPageStore(
            store: opened.store, checkpoint: opened.checkpoint, finding: .damaged, reasons: [reason] + opened.reasons)
    }

    private static func finish(
        _ opened: OpenedPageStore, _ log: any EventLog, _ sorting: Replay.Sorting,
        _ progress: (Replay.Progress) -> Void
    ) throws -> OpenedViews {
        let views = Views(pages: opened.store, log: log)
        var indexed = opened.store.snapshot()
        if try !IndexKeeper.isComplete(in: indexed) {
            let fork = opened.store.fork()
            try IndexKeeper.startAnew(in: fork)
            indexed = try opened.store.publish(fork)
        }
        var reasons = opened.reasons
        try Replay(log: log, pages: opened.store, sorting: sorting).run(progress: progress) { snapshot in
            // Folding a long log must not be done again, nor keep all of it in memory. A last part that is short is
            // left to who goes on writing: who opens the store waits.
            let isLast = snapshot.foldedOffset(ViewTree.records) == log.end.offset
            let limit = isLast ? 2 * opened.store.maximumDirtyPages : opened.store.maximumDirtyPages / 2
            guard opened.store.info.dirtyPages > limit else { return }
            guard snapshot.foldedOffset(ViewTree.records) <= log.durableEnd.offset else { return }
            // A disk that is full keeps nobody from what the log has.
            do { try views.checkpoint(snapshot, isPaced: false) } catch let error as StrataError where !isDamage(error)
            {
                reasons.append(error)
            }
        }
        if opened.store.snapshot().foldedOffset(ViewTree.records) > indexed.foldedOffset(ViewTree.records) {
            FreedMemory.giveBack()
        }
        return OpenedViews(
            views: views, finding: opened.finding, reasons: reasons,
            checkpointOffset: opened.checkpoint?.position.offset ?? 0, keeper: IndexKeeper(indexed))
    }
}
