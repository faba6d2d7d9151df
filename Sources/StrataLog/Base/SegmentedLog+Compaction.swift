import StrataModel
import StrataSystem

/// A base that was written and does not stand for anything yet.
public struct BaseDraft: Sendable {
    public let horizon: Position
    let time: Int64
    let path: String
    let files: any FileSystem

    /// Its payloads, as they will be read.
    public func read() throws -> BaseReader { try BaseReader(try files.open(path, .read)) }
}

extension SegmentedLog {
    public func base() throws -> Position? { catalog.read { $0.floor.hasBase ? $0.floor.position : nil } }

    public func readBase() throws -> BaseReader? { try catalog.readBase() }

    /// Writes what stands for all commits up to `horizon`, beside the log; ``adopt(_:)`` puts it into their place.
    ///
    /// ```swift
    /// let draft = try log.writeBase(at: horizon) { try scan.next() }
    /// try check(try draft.read())
    /// try log.adopt(draft)
    /// ```
    /// - Parameters:
    ///   - offset: of a commit that is durable.
    ///   - next: gives the payloads; nil behind the last.
    public func writeBase(at offset: UInt64, _ next: () throws -> ArraySlice<UInt8>?) throws -> BaseDraft {
        try catalog.requireOpen()
        guard offset > floor.offset, offset <= durableEnd.offset, let commit = try commit(at: offset) else {
            throw StrataError(
                .outOfRange, "A base stands for commits that the log has and that are durable.",
                .init(
                    offset: offset, path: catalog.paths.log, expected: "\(floor.offset + 1) to \(durableEnd.offset)",
                    found: "\(offset)"))
        }
        let (files, path) = (platform.files, catalog.paths.baseDraft)
        if try files.exists(path) { try files.remove(path) }
        let file = try files.open(path, .create)
        defer { file.close() }
        do {
            var writer = try BaseWriter(
                file, storeID: identity.storeID, baseID: platform.random.nextIdentifier(), horizon: commit.position,
                time: commit.time)
            while let payload = try next() { try writer.append(payload) }
            try writer.finish()
        } catch {
            try? files.remove(path)
            throw error
        }
        return BaseDraft(horizon: commit.position, time: commit.time, path: path, files: files)
    }

    /// Lets a base stand for the commits up to its horizon, which are let go. Reads start behind it from then on.
    public func adopt(_ draft: BaseDraft) throws {
        try catalog.requireOpen()
        let removed = try writer.withLock { writer throws -> [String] in
            // IMPORTANT: once closed, another process may be writing to the store.
            if writer.isClosed { throw LogCatalog.closedError(catalog.paths) }
            let old = catalog.read { $0.floor }
            guard draft.horizon.offset > old.position.offset else {
                throw StrataError(
                    .outOfRange, "History has been let go farther than to the base's horizon.",
                    .init(
                        offset: draft.horizon.offset, path: catalog.paths.log,
                        expected: "a horizon behind \(old.position.offset)"))
            }
            let (files, paths) = (platform.files, catalog.paths)
            // IMPORTANT: the base is durable under its name before the floor says that it is needed, and the floor
            // before anything is removed.
            try files.rename(draft.path, to: paths.base(draft.horizon.offset))
            try files.syncDirectory(paths.log)
            let mark = FloorMark(
                storeID: identity.storeID, position: draft.horizon, time: draft.time, hasBase: true)
            try files.replace(paths.floor, in: paths.log, with: mark.encoded())
            var segments: [SegmentFile] = []
            catalog.publish { segments = LogCatalog.raiseFloor(to: mark, in: &$0) }
            return segments.map(\.path) + (old.hasBase ? [paths.base(old.position.offset)] : [])
        }
        // What cannot be removed now is removed when the log is opened next.
        for path in removed { try? platform.files.remove(path) }
    }
}

extension LogCatalog {
    /// What stands for the history up to the floor; nil where that goes back to the first commit, or was only let go.
    func readBase() throws -> BaseReader? {
        try requireOpen()
        let floor = read { $0.floor }
        guard floor.hasBase else { return nil }
        do {
            let reader = try BaseReader(try files.open(paths.base(floor.position.offset), .read))
            try reader.require(floor)
            return reader
        } catch let error as StrataError where error.code == .notFound {
            guard let now = try? FloorMark.read(paths, files), now.position.offset > floor.position.offset else {
                throw error
            }
            throw Self.letGoError(floor.position.offset, floor: now.position.offset, paths)
        }
    }
}
