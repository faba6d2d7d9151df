import StrataModel
import StrataSystem

extension SegmentedLog {
    /// Creates a store whose log begins after a base, as if the history up to there had been compacted: for a caller
    /// that has a base and the commits after it, but no store. ``open(at:options:platform:touches:)`` then opens it.
    ///
    /// The store gets its identity only once all else is durable; an interruption leaves no valid store.
    ///
    /// ```swift
    /// try SegmentedLog.make(at: path, after: horizon, time: time, options: options) { try payloads.next() }
    /// ```
    /// - Parameters:
    ///   - path: a path where nothing exists yet; its parent directory must exist.
    ///   - horizon: the last commit that the base replaces.
    ///   - time: the time of that commit.
    ///   - next: returns the base's payloads one by one; nil after the last.
    package static func make(
        at path: String, after horizon: Position, time: Int64, options: LogOptions = LogOptions(),
        platform: Platform = Platform(), _ next: () throws -> ArraySlice<UInt8>?
    ) throws {
        try options.validate()
        let (paths, files) = (StorePaths(path), platform.files)
        guard try !files.exists(path) else {
            throw StrataError(.alreadyExists, "A new store needs a path where nothing exists.", .init(path: path))
        }
        guard (1...Version.maximumOffset).contains(horizon.offset) else {
            throw StrataError(.outOfRange, "The horizon is not a valid offset.", .init(found: "\(horizon.offset)"))
        }
        try files.makeDirectory(path)
        try files.makeDirectory(paths.log)
        let identity = try StoreIdentity(
            storeID: platform.random.nextIdentifier(), containerIdentifier: options.containerIdentifier,
            created: platform.time.nowMicroseconds())
        try begin(paths, identity, after: horizon, time: time, platform, next)
        try files.replace(paths.identity, in: paths.store, with: identity.encoded())
    }

    /// Creates a copy of a store whose log begins after a base of that store. An interrupted call leaves a directory
    /// without an identity, in which the next one starts again.
    ///
    /// - Parameters:
    ///   - path: the copy's directory, which must be missing or empty; its parent directory must exist.
    ///   - base: a base of the store.
    ///   - complete: called before the directory gets the identity, to add what else makes it a copy.
    package static func makeCopy(
        at path: String, of identity: StoreIdentity, from base: BaseReader, platform: Platform = Platform(),
        _ complete: () throws -> Void
    ) throws {
        let (paths, files) = (StorePaths(path), platform.files)
        try files.makeDirectory(paths.store)
        let lock = try StoreLock(paths, files)
        defer { lock.release() }
        // Another process may have made it in the meantime.
        if try files.exists(paths.identity) { return }
        if try !files.exists(paths.joining) {
            if let foreign = try files.list(paths.store).filter({ $0 != "LOCK" }).min() {
                throw StrataError(
                    .notAStore, "The directory contains other files but no store; use an empty or new directory.",
                    .init(path: paths.store, expected: "an empty directory", found: foreign))
            }
            try files.open(paths.joining, .create).close()
        }
        try files.syncDirectory(paths.store)
        try files.makeDirectory(paths.log)
        for name in try files.list(paths.log) { try files.remove(paths.log + "/" + name) }
        var payloads = base
        try begin(paths, identity, after: base.horizon, time: base.time, platform) { try payloads.next() }
        try complete()
        try files.replace(paths.identity, in: paths.store, with: identity.encoded())
        try files.remove(paths.joining)
    }

    /// Writes a base and the first segment after it, durably.
    private static func begin(
        _ paths: StorePaths, _ identity: StoreIdentity, after horizon: Position, time: Int64, _ platform: Platform,
        _ next: () throws -> ArraySlice<UInt8>?
    ) throws {
        let files = platform.files
        let file = try files.open(paths.baseDraft, .create)
        defer { file.close() }
        var base = try BaseWriter(
            file, storeID: identity.storeID, baseID: platform.random.nextIdentifier(), horizon: horizon, time: time)
        while let payload = try next() { try base.append(payload) }
        try base.finish()
        // IMPORTANT: Keep the order of a compaction, so that nothing is named before it is durable.
        try files.rename(paths.baseDraft, to: paths.base(horizon.offset))
        try files.syncDirectory(paths.log)
        let floor = FloorMark(storeID: identity.storeID, position: horizon, time: time, hasBase: true)
        try files.replace(paths.floor, in: paths.log, with: floor.encoded())
        try SegmentMaker(paths: paths, platform: platform, storeID: identity.storeID)
            .make(after: horizon, time: time, spare: nil).file.close()
        try files.syncDirectory(paths.store)
    }
}
