import StrataModel
import StrataSystem

/// A log in segment files, as used by a store on disk.
///
/// ```swift
/// let log = try SegmentedLog.open(at: "Notes.strata")
/// let commit = NewCommit(id: id, time: now, payload: envelope.encoded()[...])
/// let appended = try log.append([commit], expecting: log.end)
/// try log.close()
/// ```
///
/// Commits that are appended together share one write and one sync.
package final class SegmentedLog: EventLog, ForwardingLog {
    package let identity: StoreIdentity
    package let options: LogOptions
    /// The findings and the repairs of opening.
    package let recovery: RecoveryReport

    /// Its files are anchored at the store's directory.
    package let platform: Platform
    let catalog: LogCatalog
    package var source: LogCatalog { catalog }
    let writer: Lock<SegmentWriter>
    let space: SegmentPreallocator
    private let lock: StoreLock
    /// The failure of a sync of commits that were acknowledged without one. Held during such a sync: the system reports
    /// a failure to one caller only and then considers the data written, so that a simultaneous second sync would
    /// succeed.
    private let syncing = Lock<StrataError?>(nil)
    private let syncer: IntervalSyncer
    let sealer = Sealer()
    /// Called whenever another segment begins.
    let segmentWatcher = Lock<(@Sendable () -> Void)?>(nil)
    /// Held while an erasure begins or ends.
    let pendingErasures = Lock(PendingErasures())

    init(
        opened: OpenedLog, options: LogOptions, platform: Platform, lock: StoreLock, space: SegmentPreallocator,
        catalog: LogCatalog, writer: consuming sending SegmentWriter
    ) throws {
        identity = opened.identity
        recovery = opened.report
        self.options = options
        self.platform = platform
        self.catalog = catalog
        self.writer = Lock(writer)
        self.space = space
        self.lock = lock
        syncer = IntervalSyncer()
        if case .interval(let interval) = options.durability {
            let milliseconds = Int(min(interval, .seconds(86_400)) / .milliseconds(1))
            try syncer.start(milliseconds: milliseconds) { [weak self] in self?.syncIgnoringErrors() }
        }
    }

    deinit {
        // A log that is dropped without being closed is closed here; errors are lost.
        try? close()
    }

    package var durableEnd: Position { catalog.read { $0.durableEnd } }
    package var maximumCommitBytes: Int { LogFormat.maximumCommitBytes }
    package var assignsNextOffset: Bool { true }
    package var segments: SegmentedLog? { self }

    package func waitForEnd(past offset: UInt64) async { await catalog.waitForEnd(past: offset) }

    // MARK: Durability

    package func sync() throws {
        try catalog.requireOpen()
        // The lock is not held during the sync, so that appends can continue.
        let (file, end, refusal, isClosed) = writer.withLock { ($0.file, $0.end, $0.refusal, $0.isClosed) }
        if isClosed { throw LogCatalog.closedError(catalog.paths) }
        if let refusal { throw refusal }
        do { try makeDurable(file, through: end) } catch {
            // The commits may be lost, and only opening the store again can tell.
            writer.withLock { $0.refusal = error }
            throw error
        }
    }

    /// Syncs commits that were acknowledged without a sync: those in `file`, which holds all commits up to `end` that
    /// are not in closed segments. After a failure, every later call fails.
    func makeDurable(_ file: any File, through end: Position) throws(StrataError) {
        try syncing.withLock { (failure) throws(StrataError) in
            if let failure { throw failure }
            if durableEnd.offset >= end.offset { return }
            do { try file.sync() } catch {
                let refusal = StrataError(
                    .outcomeUnknown,
                    "A sync failed, and commits appended since the last sync may be lost; reopen the store.",
                    .init(path: catalog.paths.log), cause: error)
                failure = refusal
                throw refusal
            }
            catalog.publish { $0.durableEnd = end }
        }
    }

    /// Undoes a failed write. No other sync may run at the same time: the system reports a failure to only one of two.
    func recover(_ writer: inout SegmentWriter, from error: any Error, through limit: Int) -> AppendFailure {
        syncing.withLock { failure in
            let result = writer.recover(from: error, through: limit)
            if case .unknown(let refusal) = result { failure = refusal }
            return result
        }
    }

    private func syncIgnoringErrors() {
        // A failure is kept: the next append and the next sync report it.
        try? sync()
    }

    // MARK: Trimming

    package func trim(to offset: UInt64) throws -> Position {
        try catalog.requireOpen()
        // The writing lock keeps the list of segments unchanged.
        return try writer.withLock { writer throws -> Position in
            // IMPORTANT: once the log is closed, another process may be writing to the store.
            if writer.isClosed { throw LogCatalog.closedError(catalog.paths) }
            let (segments, floor) = catalog.read { ($0.segments, $0.floor) }
            guard let seal = segments.compactMap(\.seal).last(where: { $0.end.offset <= offset }),
                seal.end.offset > floor.position.offset, seal.end.offset < writer.segment.firstOffset
            else { return floor.position }
            let mark = FloorMark(storeID: identity.storeID, position: seal.end, time: seal.time)
            // IMPORTANT: the mark is durable before anything is removed, or the log would look damaged.
            try platform.files.replace(catalog.paths.floor, in: catalog.paths.log, with: mark.encoded())
            var removed: [SegmentFile] = []
            catalog.publish { removed = LogCatalog.raiseFloor(to: mark, in: &$0) }
            let base = floor.hasBase ? [catalog.paths.base(floor.position.offset)] : []
            // A file that cannot be removed now is removed when the log is next opened.
            for path in removed.map(\.path) + base { try? platform.files.remove(path) }
            return seal.end
        }
    }

    // MARK: Closing

    package func close() throws {
        let wasClosed = writer.withLock { writer in
            defer { writer.isClosed = true }
            return writer.isClosed
        }
        if wasClosed { return }
        syncer.stop()
        sealer.stop()
        // A caller that rewrites segments uses the draft file, which may belong to another process from here on.
        sealer.waitUntilIdle()
        // Once the thread has ended, no more zeros are written, so that the file can be truncated after its last frame.
        space.stop()
        let failure = writer.withLock { writer -> (any Error)? in
            do { try finish(&writer) } catch { return error }
            return nil
        }
        // Not closed while a caller reads or syncs it: the system gives the number of a closed descriptor to the next
        // file that is opened. It is closed when its last user releases it.
        let nothing = ClosedFile(path: writer.withLock { $0.file.path })
        writer.withLock { $0.file = nothing }
        catalog.publish { state in
            state.isClosed = true
            state.replaceNewest(state.segments[state.segments.count - 1], nothing)
        }
        lock.release()
        if let failure { throw failure }
    }

    private func finish(_ writer: inout SegmentWriter) throws {
        if let refusal = writer.refusal {
            // Commits that were acknowledged without a sync may be lost: the caller of `close` must get the error.
            if durableEnd.offset < writer.end.offset { throw refusal }
            return
        }
        try makeDurable(writer.file, through: writer.end)
        let hasCommits = writer.position > writer.segment.header.byteCount
        if hasCommits && !writer.isSealed && !writer.endsWithMark {
            writer.assembler.clear()
            writer.assembler.addClosing(
                .mark, end: writer.end, time: writer.time,
                at: writer.place(durableOffset: writer.end.offset, at: writer.position))
            try writer.file.write(writer.assembler.bytes, at: writer.position)
            writer.position += writer.assembler.count
        }
        try writer.file.truncate(to: writer.position)
        try writer.file.sync()
    }
}

/// The results of opening that exist before the log object does.
struct OpenedLog {
    var identity: StoreIdentity
    var report: RecoveryReport
}

/// Takes the place of a closed log's file.
final class ClosedFile: File {
    let path: String

    init(path: String) { self.path = path }

    private var error: StrataError { StrataError(.closed, "The log has been closed.", .init(path: path)) }

    func size() throws -> Int { throw error }
    func readSome(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int { throw error }
    func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int { throw error }
    func syncData() throws { throw error }
    func finishWriteback(_ range: Range<Int>) {}
    func allocate(_ range: Range<Int>) throws { throw error }
    func truncate(to size: Int) throws { throw error }
    func map(length: Int) throws -> any MappedMemory { throw error }
    func tryLock() throws -> Bool { throw error }
    func close() {}
}

/// Calls a function at intervals, on a thread of its own, until it is stopped.
final class IntervalSyncer: Sendable {
    private let signal = WorkSignal(hasWork: false)
    private let worker = WorkerHandle()

    func start(milliseconds: Int, _ body: @escaping @Sendable () -> Void) throws {
        try worker.start(name: "strata-sync") { [signal] in
            while signal.wait(milliseconds: milliseconds) { body() }
        }
    }

    func stop() {
        signal.end()
        worker.join()
    }
}
