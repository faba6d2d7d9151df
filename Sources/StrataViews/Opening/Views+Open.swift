import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// Opened views, and the findings about their page file.
package struct OpenedViews: Sendable {
    package let views: Views
    /// The condition of the page file; anything other than `.whole` only costs time.
    package let finding: PageFileFinding
    /// The reasons why checkpoints could not be used, or could not be written while the log was folded.
    package let reasons: [StrataError]
    /// The offset of the checkpoint that was used; 0 if everything was folded again.
    package let checkpointOffset: UInt64
}

extension Views {
    /// Opens the views of a store: loads the newest checkpoint that the log agrees with, and folds the commits after
    /// it.
    ///
    /// A page file that is missing, damaged, foreign, stale or of another release is rebuilt from the log. This is not
    /// an error, and answers stay correct.
    ///
    /// - Parameter progress: called while the log is folded.
    /// - Throws: ``StrataError`` if the log cannot be read or folded, or if no page file can be created.
    package static func open(
        _ log: any EventLog, store: Identifier, in directory: String, platform: Platform = Platform(),
        options: PageStoreOptions = PageStoreOptions(), progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> OpenedViews {
        let hadFile = try PageStore.hasFile(in: directory, files: platform.files)
        do {
            return try open(log, store, in: directory, platform, options, progress: progress)
        } catch let error as StrataError where error.code == .newerFormat {
            // The store of a later release must not be changed.
            try PageStore.undoOpening(in: directory, hadFile: hadFile, files: platform.files)
            throw error
        }
    }

    private static func open(
        _ log: any EventLog, _ store: Identifier, in directory: String, _ platform: Platform,
        _ options: PageStoreOptions, progress: (Replay.Progress) -> Void
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
            return try finish(opened, log, sorting: sorting, progress: progress)
        } catch let error as StrataError where isDamage(error) {
            // A page of the checkpoint cannot be read; the log holds its contents.
            try PageStore.setAside(in: directory, files: platform.files)
            opened = try openPages(log, store: store, in: directory, platform, options, because: error)
            return try finish(opened, log, sorting: sorting, progress: progress)
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
        _ opened: OpenedPageStore, _ log: any EventLog, sorting: Replay.Sorting,
        progress: (Replay.Progress) -> Void
    ) throws -> OpenedViews {
        let views = Views(pages: opened.store, log: log)
        let beginning = opened.store.snapshot().foldedOffset(ViewTree.records)
        var reasons = opened.reasons
        try Replay(log: log, pages: opened.store, sorting: sorting).run(progress: progress) { snapshot in
            // Folding a long log must not be repeated, nor fill memory with dirty pages. A short last part is left to
            // the writer's checkpoints, because the caller that opens the store is waiting.
            let isLast = snapshot.foldedOffset(ViewTree.records) == log.end.offset
            let limit = isLast ? 2 * opened.store.maximumDirtyPages : opened.store.maximumDirtyPages / 2
            guard opened.store.info.dirtyPages > limit else { return }
            guard snapshot.foldedOffset(ViewTree.records) <= log.durableEnd.offset else { return }
            // A full disk must not prevent access to the commits in the log.
            do { try views.checkpoint(snapshot, isPaced: false) } catch let error as StrataError where !isDamage(error)
            {
                reasons.append(error)
            }
        }
        if opened.store.snapshot().foldedOffset(ViewTree.records) > beginning { FreedMemory.giveBack() }
        return OpenedViews(
            views: views, finding: opened.finding, reasons: reasons,
            checkpointOffset: opened.checkpoint?.position.offset ?? 0)
    }
}
