import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// Opened views, and the findings about their states.
package struct OpenedViews: Sendable {
    package let views: Views
    /// The condition of the states; anything other than `.whole` only costs time.
    package let finding: StateFinding
    /// The reasons why states could not be used, or could not be written while the log was folded.
    package let reasons: [StrataError]
    /// The offset of the state that was used; 0 if everything was folded again.
    package let beginning: UInt64
}

extension Views {
    /// Opens the views of a store: loads the newest state that the log agrees with, and folds the commits after it.
    ///
    /// States that are missing, damaged, foreign, stale or of another release are rebuilt from the log. This is not an
    /// error, and answers stay correct.
    ///
    /// - Parameter progress: called while the log is folded.
    /// - Throws: ``StrataError`` if the log cannot be read or folded, or if the directory of the views cannot be used.
    package static func open(
        _ log: any EventLog, store: Identifier, in directory: String, platform: Platform = Platform(),
        options: TreeStoreOptions = TreeStoreOptions(), progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> OpenedViews {
        try removePageFile(in: directory, files: platform.files)
        func openTrees() throws -> OpenedTreeStore {
            try TreeStore.open(
                in: directory, owner(store), hashed: hashed, platform: platform, options: options, isValid: log.has)
        }
        do {
            return try finish(try openTrees(), log, progress: progress)
        } catch let error as StrataError where isDamage(error) {
            // A part of the state cannot be read; the log holds its contents.
            try TreeStore.discardStates(in: directory, files: platform.files)
            return try finish(try openTrees().rebuilt(because: error), log, progress: progress)
        }
    }

    /// Removes the views of an earlier build, which were files. If it has set a directory of this one aside, that gets
    /// its name back: the log decides which of its states are usable.
    private static func removePageFile(in directory: String, files: any FileSystem) throws {
        guard try TreeStore.fileNames(in: directory, files) == nil else { return }
        let path = TreeStore.directory(in: directory)
        let damaged = "\(path).damaged"
        for name in [path, "\(directory)/readers"] where try files.exists(name) { try files.remove(name) }
        guard try files.exists(damaged) else { return }
        do { _ = try files.list(damaged) } catch let error as StrataError where error.code == .notFound {
            return try files.remove(damaged)
        }
        try files.rename(damaged, to: path)
        try files.syncDirectory(directory)
    }

    private static func finish(
        _ opened: OpenedTreeStore, _ log: any EventLog, progress: (Replay.Progress) -> Void
    ) throws -> OpenedViews {
        let views = Views(trees: opened.store, log: log)
        let beginning = opened.store.snapshot().foldedOffset(ViewTree.records)
        var failure: StrataError?
        // A full disk must not prevent access to the commits in the log.
        func unlessDiskIsFull(_ flush: () throws -> Void) throws {
            do { try flush() } catch let error as StrataError where !isDamage(error) { failure = error }
        }
        try Replay(log: log, trees: opened.store).run(progress: progress) { _ in
            try unlessDiskIsFull { try views.flushWaiting() }
        }
        let hasFolded = opened.store.snapshot().foldedOffset(ViewTree.records) > beginning
        try unlessDiskIsFull {
            // Without a first state, all would be folded again; otherwise the last fork may have filled its generation.
            let isFirst = hasFolded && views.trees.durablePosition == nil
            try isFirst ? views.trees.freeze() : views.trees.freezeIfFull()
            try views.flushWaiting()
        }
        if hasFolded { FreedMemory.giveBack() }
        return OpenedViews(
            views: views, finding: opened.finding, reasons: opened.reasons + [failure].compactMap(\.self),
            beginning: opened.state?.position.offset ?? 0)
    }

    /// Writes the complete generations as runs. Only many runs are merged; the rest has time when the store is open.
    private func flushWaiting() throws {
        while let waiting = trees.nextToFlush() { try flush(waiting) }
        while trees.isCrowded, try trees.mergeStep(isAtRest: false) {}
    }
}
