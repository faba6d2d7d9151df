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

    /// Takes back one that is not adopted.
    public func remove() throws { try files.remove(path) }
}

/// What letting go of history gave back, and what it took.
public struct FreedHistory: Sendable, Hashable {
    /// Files of whole segments that are gone.
    public var segmentCount = 0
    /// Of those, and of the base before.
    public var freedBytes: UInt64 = 0
    /// Of the base that stands for them.
    public var baseBytes: UInt64 = 0
}

/// A segment of a log as it lies on disk.
public struct StoredSegment: Sendable, Hashable {
    public var firstOffset: UInt64
    /// Nil for the one that grows.
    public var lastOffset: UInt64?
    public var byteCount: UInt64

    public init(firstOffset: UInt64, lastOffset: UInt64?, byteCount: UInt64) {
        self.firstOffset = firstOffset
        self.lastOffset = lastOffset
        self.byteCount = byteCount
    }
}

extension SegmentedLog {
    public func base() throws -> Position? { catalog.read { $0.floor.hasBase ? $0.floor.position : nil } }

    public func readBase() throws -> BaseReader? { try catalog.readBase() }

    /// Those that there are, in order.
    public func storedSegments() throws -> [StoredSegment] { try catalog.storedSegments() }

    /// Has a function called whenever a segment was closed and another one begun; it must not use the log.
    public func onNewSegment(_ body: @escaping @Sendable () -> Void) { segmentWatcher.withLock { $0 = body } }

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
        return try writeBase(commit.position, commit.time, next)
    }

    private func writeBase(
        _ horizon: Position, _ time: Int64, _ next: () throws -> ArraySlice<UInt8>?
    ) throws -> BaseDraft {
        let (files, path) = (platform.files, catalog.paths.baseDraft)
        if try files.exists(path) { try files.remove(path) }
        let file = try files.open(path, .create)
        defer { file.close() }
        do {
            var writer = try BaseWriter(
                file, storeID: identity.storeID, baseID: platform.random.nextIdentifier(), horizon: horizon,
                time: time)
            while let payload = try next() { try writer.append(payload) }
            try writer.finish()
        } catch {
            try? files.remove(path)
            throw error
        }
        return BaseDraft(horizon: horizon, time: time, path: path, files: files)
    }

    /// Puts other payloads into the place of those of the base, which goes on to stand for the same commits: what is
    /// replaced is in no file of the log any more on return.
    ///
    /// - Parameter next: gives the payloads; nil behind the last.
    public func replaceBase(_ next: () throws -> ArraySlice<UInt8>?) throws {
        try catalog.requireOpen()
        let floor = catalog.read { $0.floor }
        guard floor.hasBase else {
            throw StrataError(.outOfRange, "The log has no base.", .init(path: catalog.paths.log))
        }
        let draft = try writeBase(floor.position, floor.time, next)
        try writer.withLock { writer throws -> Void in
            // IMPORTANT: once closed, another process may be writing to the store.
            if writer.isClosed { throw LogCatalog.closedError(catalog.paths) }
            guard catalog.read({ $0.floor }) == floor else {
                throw StrataError(
                    .outOfRange, "History has been let go farther than to the base's horizon.",
                    .init(offset: floor.position.offset, path: catalog.paths.log))
            }
            try platform.files.rename(draft.path, to: catalog.paths.base(floor.position.offset))
        }
        try platform.files.syncDirectory(catalog.paths.log)
    }

    /// Lets a base stand for the commits up to its horizon, which are let go. Reads start behind it from then on.
    ///
    /// Segments that are wholly at or below the horizon are removed. Of the one that has the next commit, be it the one
    /// that grows, only the floor moves.
    @discardableResult
    public func adopt(_ draft: BaseDraft) throws -> FreedHistory {
        try catalog.requireOpen()
        var freed = FreedHistory()
        freed.baseBytes = platform.files.byteCount(of: draft.path)
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
            do { try files.replace(paths.floor, in: paths.log, with: mark.encoded()) } catch {
                let kept = try? FloorMark.read(paths, files)?.position ?? .start
                if kept == old.position {
                    try? files.remove(paths.base(draft.horizon.offset))
                } else {
                    writer.refusal = StrataError(
                        .refusingWrites, "Nobody knows which base counts; open the store again to write.",
                        .init(path: paths.floor), cause: error)
                }
                throw error
            }
            var segments: [SegmentFile] = []
            catalog.publish { segments = LogCatalog.raiseFloor(to: mark, in: &$0) }
            freed.segmentCount = segments.count
            return segments.map(\.path) + (old.hasBase ? [paths.base(old.position.offset)] : [])
        }
        catalog.forgetSealed(through: draft.horizon.offset)
        for path in removed {
            freed.freedBytes += platform.files.byteCount(of: path)
            // What cannot be removed now is removed when the log is opened next.
            try? platform.files.remove(path)
        }
        return freed
    }
}

extension FileSystem {
    /// 0 for a file that cannot be looked at.
    fileprivate func byteCount(of path: String) -> UInt64 {
        guard let file = try? open(path, .read) else { return 0 }
        defer { file.close() }
        return UInt64((try? file.size()) ?? 0)
    }
}

extension LogReader {
    /// As ``SegmentedLog/storedSegments()``.
    public func storedSegments() throws -> [StoredSegment] { try catalog.storedSegments() }
}

extension LogCatalog {
    func storedSegments() throws -> [StoredSegment] {
        try requireOpen()
        return read { $0.segments }.map { segment in
            StoredSegment(
                firstOffset: segment.firstOffset, lastOffset: segment.seal?.end.offset,
                byteCount: files.byteCount(of: segment.path))
        }
    }

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
