import StrataModel
import StrataSystem

extension SegmentedLog {
    /// Opens a store's log for writing, or creates the store; judges and mends what a crash left (docs/format.md §10).
    ///
    /// - Parameters:
    ///   - path: the store's directory; its parent must exist.
    ///   - original: the identity of the store of which this is a copy. Commits at the end that other files record may
    ///     then be missing; ``RecoveryReport/missingEnd`` reports them. Nil for the store itself.
    ///   - touches: finds the touches of a payload; by default, payloads are envelopes.
    /// - Throws: ``StrataError``; damage is never truncated here.
    package static func open(
        at path: String, copyOf original: StoreIdentity? = nil, options: LogOptions = LogOptions(),
        platform: Platform = Platform(), touches: @escaping TouchFunction = { try Envelope.touches(of: $0) }
    ) throws -> SegmentedLog {
        try options.validate()
        let paths = StorePaths(path)
        if try !platform.files.exists(paths.identity) {
            guard options.createsStore else {
                throw StrataError(
                    .notAStore, "This is not a Strata store: it has no STORE file.", .init(path: path))
            }
            try platform.files.makeDirectory(path)
            try refuseForeignContent(of: paths, platform.files)
        }
        var platform = platform
        platform.files = try platform.files.anchored(at: paths.store)
        let lock = try StoreLock(paths, platform.files)
        do {
            let opener = LogOpener(
                paths: paths, original: original, options: options, platform: platform, touches: touches)
            return try opener.open(lock)
        } catch {
            lock.release()
            throw error
        }
    }

    /// Rejects a directory that holds other files. A store is created in a new directory, an empty one, or one with the
    /// remains of an interrupted creation.
    private static func refuseForeignContent(of paths: StorePaths, _ files: any FileSystem) throws {
        let own: Set = ["LOCK", "STORE.new", "log", "readers", "views", "keys", "assets", "operations"]
        guard let foreign = try files.list(paths.store).filter({ !own.contains($0) }).min() else { return }
        // Another process may have created the store in the meantime.
        if try files.exists(paths.identity) { return }
        // Segments without a `STORE` still belong to a store: the next steps report what is missing.
        let names = (try? files.list(paths.log)) ?? []
        if names.contains(where: { LogFormat.firstOffset(ofSegmentNamed: $0) != nil }) { return }
        throw StrataError(
            .notAStore, "The directory contains other files but no store; use an empty or new directory.",
            .init(path: paths.store, expected: "an empty directory", found: foreign))
    }
}

/// The steps of opening, with the lock held.
private struct LogOpener {
    let paths: StorePaths
    let original: StoreIdentity?
    let options: LogOptions
    let platform: Platform
    let touches: TouchFunction
    var files: any FileSystem { platform.files }

    func open(_ lock: StoreLock) throws -> SegmentedLog {
        if try !files.exists(paths.identity) { try create() }
        try makeNamesDurable()
        let witnesses = try EndWitness.all(paths, files)
        let directory = try LogDirectory.load(paths, files)
        try checkOriginal(directory.identity)
        var report = RecoveryReport()
        guard var newest = directory.segments.last else {
            throw StrataError(
                .missingSegment, "The store has no segments.",
                .init(
                    path: paths.log, expected: "a segment that begins at \((directory.floor?.position.offset ?? 0) + 1)"
                ))
        }
        var segments = directory.segments
        var file = try files.open(newest.path, .write)
        var index = SegmentIndex(firstOffset: newest.firstOffset, endPosition: newest.header.byteCount)
        var found = try readNewest(newest, file, in: directory, witnesses: witnesses, into: &index, report: &report)
        report.removedFiles = try removeLeftovers(directory.leftovers)
        if case .closed = found.kind {
            segments[segments.count - 1].seal = found.seal
            file.close()
            (newest, file) = try SegmentMaker(paths: paths, platform: platform, storeID: directory.identity.storeID)
                .make(after: found.end, time: found.time, spare: nil)
            segments.append(newest)
            index = SegmentIndex(firstOffset: newest.firstOffset, endPosition: newest.header.byteCount)
            found.position = newest.header.byteCount
            found.endsWithMark = false
            report.madeSuccessor = true
        }
        return try makeLog(
            in: directory, segments: segments, newestFile: file, index: index, found: found, report: report, lock: lock)
    }

    private func makeLog(
        in directory: LogDirectory, segments: [SegmentFile], newestFile file: any File, index: SegmentIndex,
        found: SegmentEnd, report: RecoveryReport, lock: StoreLock
    ) throws -> SegmentedLog {
        let segment = segments[segments.count - 1]
        let floor =
            directory.floor ?? FloorMark(storeID: directory.identity.storeID, position: .start, time: Int64.min)
        let catalog = LogCatalog(
            paths: paths, files: files, touches: touches,
            tail: TailPublisher.make(paths, platform, storeID: directory.identity.storeID, end: found.end),
            state: LogCatalog.State(
                floor: floor, segments: segments, newest: index, newestFile: file, end: found.end,
                endTime: found.time == Int64.min ? nil : found.time, durableEnd: found.end))
        // Zeros ahead make syncs cheap; where no caller waits for syncs, they would only be written in addition.
        let stepBytes = options.durability == .commit ? options.spaceStepBytes : 0
        let previous = segments.dropLast().last?.frameBytes ?? 0
        let limitBytes = options.segmentLimit(after: previous)
        // Checked first: an error after the next line would leave a thread without an owner.
        let filled = max(try file.size(), found.position)
        let space = try SegmentPreallocator(paths: paths, files: files, stepBytes: stepBytes)
        space.begin(
            segment.path, filled: filled, limitBytes: limitBytes,
            nextLimitBytes: options.segmentLimit(after: limitBytes))
        return try SegmentedLog(
            opened: OpenedLog(identity: directory.identity, report: report), options: options, platform: platform,
            lock: lock, space: space, catalog: catalog,
            writer: SegmentWriter(segment: segment, file: file, limitBytes: limitBytes, found: found, isSealed: false))
    }

    /// Reads all of the newest segment, and overwrites an unfinished write with zeros.
    private func readNewest(
        _ segment: SegmentFile, _ file: any File, in directory: LogDirectory, witnesses: [EndWitness],
        into index: inout SegmentIndex, report: inout RecoveryReport
    ) throws -> SegmentEnd {
        if let sealed = SegmentEnd(ofSealed: segment) {
            try checkEnd(sealed.end, directory, witnesses, into: &report)
            return sealed
        }
        var scanner = SegmentScanner(segment.header, FileWindow(file, limit: try file.size()))
        var witnessed = segment.header.before.offset
        let found = try SegmentEnd.find(&scanner, isNewest: true) { commit in
            witnessed = max(witnessed, commit.header.witnessedOffset ?? 0)
            index.append(
                offset: commit.header.offset, range: commit.range, touches: try touches(of: commit, segment),
                payload: commit.payload)
            report.replayedCommits += 1
        }
        // Before any change: the bytes after the end may be all that is left of the missing commits.
        try checkEnd(found.end, directory, witnesses, into: &report)
        index.extend(to: found.position)
        if case .torn(let limit, let error) = found.kind {
            let writer = SegmentWriter(
                segment: segment, file: file, limitBytes: options.segmentBytes, found: found, isSealed: false)
            try writer.cutBack(through: limit)
            report.tornTail = RecoveryReport.TornTail(
                path: segment.path, position: found.position, byteCount: limit - found.position,
                lastOffset: found.end.offset, reason: error?.message ?? "A commit before others is missing.")
        }
        // A mark or a seal proves that everything before it had been synced.
        let start =
            found.endsWithMark || found.isClosed
            ? found.position - LogFormat.frameHeaderBytes
            : index.range(of: witnessed)?.lowerBound ?? segment.header.byteCount
        try makeDurable(file, start..<found.position)
        return found
    }

    private func checkOriginal(_ identity: StoreIdentity) throws {
        guard let original, identity.storeID != original.storeID else { return }
        throw StrataError(
            .invalidArgument, "The directory has another store than the one to copy; choose another directory.",
            .init(path: paths.store, expected: "\(original.storeID)", found: "\(identity.storeID)"))
    }

    private func checkEnd(
        _ end: Position, _ directory: LogDirectory, _ witnesses: [EndWitness], into report: inout RecoveryReport
    ) throws {
        try directory.checkEnd(end, paths)
        if original != nil {
            // Other copies, or the sequencer, have the missing commits.
            let missing = witnesses.beyond(end.offset, of: directory.identity.storeID).map(\.position)
            report.missingEnd = missing.max { $0.offset < $1.offset }
            return
        }
        let error = witnesses.lostEnd(after: end.offset, of: directory.identity.storeID) {
            try LogReader.open(at: paths.store, requiresWholeEnd: false, platform: platform) { _ in [] }
        }
        if let error { throw error }
    }

    private func touches(of commit: SegmentScanner.ScannedCommit, _ segment: SegmentFile) throws -> [Touch] {
        do { return try touches(commit.payload) } catch let error as StrataError {
            throw error.located(path: segment.path, segment: segment.firstOffset, offset: commit.header.offset)
        }
    }

    /// Writes a range back and syncs it; from then on, all of it counts as durable.
    ///
    /// The process that wrote it may have ended before its sync, or after a failed one. Then the bytes are in memory
    /// only, and the operating system may consider them written, so that a sync alone would do nothing.
    private func makeDurable(_ file: any File, _ range: Range<Int>) throws {
        try file.copyContent(of: file, range)
        try file.sync()
    }

    /// Syncs the directories: names that an earlier opener changed may not have reached the medium either.
    private func makeNamesDurable() throws {
        try files.syncDirectory(paths.log)
        try files.syncDirectory(paths.store)
        do { try files.syncDirectory(paths.parent) } catch let error as StrataError
            where error.code == .permissionDenied
        {
            // The parent directory may belong to another user, who is responsible for it.
        }
    }

    /// Removes the remains of an interrupted creation, switch, replacement or trim.
    private func removeLeftovers(_ trimmed: [String]) throws -> [String] {
        var removed = trimmed
        let drafts = [paths.identity, paths.floor, paths.erasing].map { $0 + ".new" }
        for path in [paths.spare, paths.sealing, paths.baseDraft] + drafts where try files.exists(path) {
            removed.append(path)
        }
        for path in removed { try files.remove(path) }
        if !removed.isEmpty { try files.syncDirectory(paths.log) }
        return removed
    }

    // MARK: Creation

    /// Creates the first segment, then `STORE`: a store that has its identity also has its log.
    private func create() throws {
        try files.makeDirectory(paths.log)
        try refuseOrphans()
        let identity =
            try original
            ?? StoreIdentity(
                storeID: platform.random.nextIdentifier(), containerIdentifier: options.containerIdentifier,
                created: platform.time.nowMicroseconds())
        let maker = SegmentMaker(paths: paths, platform: platform, storeID: identity.storeID)
        try maker.make(after: .start, time: Int64.min, spare: nil).file.close()
        try files.syncDirectory(paths.store)
        try files.replace(paths.identity, in: paths.store, with: identity.encoded())
    }

    /// Refuses segments without a `STORE`, which are the history of a store. Only the empty first one of an interrupted
    /// creation is removed.
    private func refuseOrphans() throws {
        for name in try files.list(paths.log) {
            guard let first = LogFormat.firstOffset(ofSegmentNamed: name) else { continue }
            let path = paths.segment(first)
            let file = try files.open(path, .read)
            defer { file.close() }
            let frames = try FileWindow(file, limit: try file.size())
                .firstWord(from: LogFormat.segmentHeaderBytes) { $0 != 0 }
            guard first == 1, frames == nil else {
                throw StrataError(
                    .notAStore, "The store has segments but no STORE file; put the file back to open it.",
                    .init(segment: first, path: paths.identity))
            }
            try files.remove(path)
        }
    }
}
