import StrataModel
import StrataSystem

/// A base that has been written but does not replace any commits yet.
package struct BaseDraft: Sendable {
    package let horizon: Position
    let time: Int64
    let path: String
    let files: any FileSystem

    /// Opens the draft, to read its payloads as they will be read later.
    package func read() throws -> BaseReader { try BaseReader(try files.open(path, .read)) }

    /// Removes a draft that is not adopted.
    package func remove() throws { try files.remove(path) }
}

/// The space freed by discarding history, and the space taken by the base.
package struct FreedHistory: Sendable, Hashable {
    /// The number of segment files that were removed.
    package var segmentCount = 0
    /// The size of those files and of the previous base.
    package var freedBytes: UInt64 = 0
    /// The size of the base that replaces them.
    package var baseBytes: UInt64 = 0
}

/// A segment of a log as stored on disk.
package struct StoredSegment: Sendable, Hashable {
    package var firstOffset: UInt64
    /// Nil for the segment that grows.
    package var lastOffset: UInt64?
    package var byteCount: UInt64

    package init(firstOffset: UInt64, lastOffset: UInt64?, byteCount: UInt64) {
        self.firstOffset = firstOffset
        self.lastOffset = lastOffset
        self.byteCount = byteCount
    }
}

extension SegmentedLog {
    /// Returns the segments on disk, in order.
    package func storedSegments() throws -> [StoredSegment] { try catalog.storedSegments() }

    /// Sets a function to call whenever a segment was closed and another one begun; it must not use the log.
    package func onNewSegment(_ body: @escaping @Sendable () -> Void) { segmentWatcher.withLock { $0 = body } }

    /// Writes a base for all commits up to `offset`, as a draft; ``adopt(_:)`` makes it replace them.
    ///
    /// ```swift
    /// let draft = try log.writeBase(at: horizon) { try scan.next() }
    /// try check(try draft.read())
    /// try log.adopt(draft)
    /// ```
    /// - Parameters:
    ///   - offset: the offset of a durable commit.
    ///   - next: returns the payloads one by one; nil after the last.
    package func writeBase(at offset: UInt64, _ next: () throws -> ArraySlice<UInt8>?) throws -> BaseDraft {
        try catalog.requireOpen()
        guard offset > floor.offset, offset <= durableEnd.offset, let commit = try commit(at: offset) else {
            throw StrataError(
                .outOfRange, "A base can only replace durable commits of the log.",
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

    /// Replaces the payloads of the base, which keeps its horizon. On return, no file of the log contains the old
    /// payloads.
    ///
    /// - Parameter next: returns the payloads one by one; nil after the last.
    package func replaceBase(_ next: () throws -> ArraySlice<UInt8>?) throws {
        try catalog.requireOpen()
        let floor = catalog.read { $0.floor }
        guard floor.hasBase else {
            throw StrataError(.outOfRange, "The log has no base.", .init(path: catalog.paths.log))
        }
        let draft = try writeBase(floor.position, floor.time, next)
        try writer.withLock { writer throws -> Void in
            // IMPORTANT: once the log is closed, another process may be writing to the store.
            if writer.isClosed { throw LogCatalog.closedError(catalog.paths) }
            guard catalog.read({ $0.floor }) == floor else {
                throw StrataError(
                    .outOfRange, "The history after the base's horizon has already been compacted.",
                    .init(offset: floor.position.offset, path: catalog.paths.log))
            }
            try platform.files.rename(draft.path, to: catalog.paths.base(floor.position.offset))
        }
        try platform.files.syncDirectory(catalog.paths.log)
    }

    /// Makes a base replace the commits up to its horizon, which are discarded. From then on, reads start after it.
    ///
    /// Segments wholly at or below the horizon are removed. For the segment that has the next commit, even if it is the
    /// one that grows, only the floor moves.
    @discardableResult
    package func adopt(_ draft: BaseDraft) throws -> FreedHistory {
        try catalog.requireOpen()
        var freed = FreedHistory()
        freed.baseBytes = platform.files.byteCount(of: draft.path)
        let removed = try writer.withLock { writer throws -> [String] in
            // IMPORTANT: once the log is closed, another process may be writing to the store.
            if writer.isClosed { throw LogCatalog.closedError(catalog.paths) }
            let old = catalog.read { $0.floor }
            guard draft.horizon.offset > old.position.offset else {
                throw StrataError(
                    .outOfRange, "The history after the base's horizon has already been compacted.",
                    .init(
                        offset: draft.horizon.offset, path: catalog.paths.log,
                        expected: "a horizon after \(old.position.offset)"))
            }
            let (files, paths) = (platform.files, catalog.paths)
            // IMPORTANT: the base is durable under its name before the floor says that it is needed, and the floor is
            // durable before anything is removed.
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
                        .refusingWrites, "It is not known which base is valid; reopen the store to write.",
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
            // A file that cannot be removed now is removed when the log is next opened.
            try? platform.files.remove(path)
        }
        return freed
    }
}

extension FileSystem {
    /// Returns the size of a file; 0 if it cannot be read.
    fileprivate func byteCount(of path: String) -> UInt64 {
        guard let file = try? open(path, .read) else { return 0 }
        defer { file.close() }
        return UInt64((try? file.size()) ?? 0)
    }
}

extension LogReader {
    /// Like ``SegmentedLog/storedSegments()``.
    package func storedSegments() throws -> [StoredSegment] { try catalog.storedSegments() }
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

    /// Opens the base that replaces the history up to the floor; nil if nothing was discarded, or if no base replaces
    /// it.
    package func readBase() throws -> BaseReader? {
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
