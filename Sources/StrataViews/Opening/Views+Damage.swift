import StrataLog
import StrataModel
import StrataSystem
import StrataTree

extension Views {
    /// Returns true if an error means damaged trees, rather than a problem with the log or with the access to either.
    /// All errors about the log's own contents name a segment or an offset.
    package static func isDamage(_ error: StrataError) -> Bool {
        if error.context.page != nil { return true }
        guard error.context.segment == nil, error.context.offset == nil else { return false }
        return error.code == .badChecksum || error.code == .malformed
    }

    /// Calls `body`; returns the error of a damaged frame if it reads one.
    package static func damage(_ body: () throws -> Void) throws -> StrataError? {
        do { try body() } catch let error as StrataError where isDamage(error) { return error }
        return nil
    }

    /// Removes the states in which damage was found, and folds the whole log into new ones. Publishing and flushes must
    /// be suspended for that time.
    ///
    /// - Throws: ``StrataError`` if the log has neither its first commit nor a base, if it cannot be read or folded, or
    ///   if the directory of the views cannot be used.
    package static func rebuild(
        _ log: any EventLog, store: Identifier, in directory: String, platform: Platform = Platform(),
        options: TreeStoreOptions = TreeStoreOptions(), progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> OpenedViews {
        try requireWhole(log)
        try TreeStore.discardStates(in: directory, files: platform.files)
        return try open(
            log, store: store, in: directory, platform: platform, options: options, progress: progress)
    }

    /// Returns the state after a commit, folded from the beginning of the log or its base.
    ///
    /// - Parameters:
    ///   - directory: the directory of the unnamed files that hold the trees; nil for memory alone.
    ///   - pulse: called repeatedly; an error that it throws ends the work.
    package static func state(
        of log: any EventLog, at offset: UInt64, in directory: String?, platform: Platform = Platform(),
        options: TreeStoreOptions = TreeStoreOptions(), pulse: @escaping () throws -> Void = {}
    ) throws -> Snapshot {
        try requireWhole(log)
        let trees = try TemporaryViews(directory, platform.files).trees(options)
        var replay = Replay(log: log, trees: trees)
        replay.pulse = pulse
        try replay.run(upTo: offset)
        let state = trees.snapshot()
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
