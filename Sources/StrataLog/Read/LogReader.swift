import StrataModel
import StrataSystem

/// Reads a store's log without its lock: while another process writes it, or from a medium that is read-only.
///
/// It sees only whole commits; unfinished bytes after them may be a write in progress. While a writer is alive, it sees
/// only what that writer vouches for. ``refresh()`` looks for new commits, ``follow(from:)`` returns them as they are
/// appended. Both throw `directoryGone` once the store's directory is no longer at its path.
///
/// ```swift
/// let reader = try LogReader.open(at: "Notes.strata")
/// var cursor = try reader.read(from: 1)
/// while let commit = try cursor.next() { print(commit.offset) }
/// ```
package final class LogReader: ForwardingLog, Sendable {
    /// Bytes after the last whole commit that do not form one.
    package struct UnfinishedTail: Sendable, Equatable {
        package var path: String
        package var position: Int
        package var byteCount: Int
        package var reason: String
    }

    /// A segment as known to a reader.
    package struct Segment: Sendable, Equatable {
        package var path: String
        package var firstOffset: UInt64
        /// Nil for an empty segment.
        package var lastOffset: UInt64?
        package var isClosed: Bool
    }

    /// The extent to which a reader reads while a writer is alive. Without one, it reads up to the last whole commit.
    package enum Extent: Sendable {
        /// Up to the last commit that survives a loss of power.
        case durable
        /// Up to the last commit that the writer shows to its own process: farther if the log's
        /// ``LogOptions/durability`` promises less than a sync, and with lazy commits.
        case written
    }

    /// The number of attempts to read a place that looks damaged, because a writer may be in the middle of it.
    private static let attempts = 3

    package let identity: StoreIdentity
    package let extent: Extent
    let catalog: LogCatalog
    package var source: LogCatalog { catalog }
    let tail: TailReader
    let watch = LogWatch()
    private let unfinished = Lock<UnfinishedTail?>(nil)
    /// Held while one thread looks for new commits: two threads would both publish the same ones. It counts the looks,
    /// because the thread sanitizer takes a state without size for the field after it.
    private let looks = Lock(0)

    /// Opens a log for reading.
    ///
    /// - Parameter requiresWholeEnd: true to reject a log that lacks synced commits at its end, as another file of the
    ///   store proves. Pass false to read the commits that are left.
    package static func open(
        at path: String, extent: Extent = .durable, requiresWholeEnd: Bool = true, platform: Platform = Platform(),
        touches: @escaping TouchFunction = { try Envelope.touches(of: $0) }
    ) throws -> LogReader {
        try besideCompactions(of: path, platform.files) {
            let witnesses = requiresWholeEnd ? try EndWitness.all(StorePaths(path), platform.files) : []
            let reader = try openOnce(at: path, extent: extent, platform: platform, touches: touches)
            let lost = witnesses.lostEnd(after: reader.end.offset, of: reader.identity.storeID) { reader }
            if let lost { throw lost }
            return reader
        }
    }

    /// Runs `body`, and runs it again if it fails while a compaction in another process has moved the floor: files are
    /// removed only after the floor has moved past them.
    package static func besideCompactions<Result>(
        of path: String, _ files: any FileSystem, _ body: () throws -> Result
    ) throws -> Result {
        var floor = try? floorOffset(in: path, files: files)
        while true {
            do { return try body() } catch let error as StrataError {
                guard let moved = try? floorOffset(in: path, files: files), moved != floor else { throw error }
                floor = moved
            }
        }
    }

    private static func openOnce(
        at path: String, extent: Extent, platform: Platform, touches: @escaping TouchFunction
    ) throws -> LogReader {
        let paths = StorePaths(path)
        // Loading reports a directory that cannot be opened.
        let files = (try? platform.files.anchored(at: paths.store)) ?? platform.files
        let directory = try retrying(.notFound) { try LogDirectory.load(paths, files) }
        guard let newest = directory.segments.last else {
            throw StrataError(.missingSegment, "The store has no segments.", .init(path: paths.log))
        }
        let floor =
            directory.floor ?? FloorMark(storeID: directory.identity.storeID, position: .start, time: Int64.min)
        let file = try files.open(newest.path, .read)
        var segments = directory.segments
        // The seal is found again when the segment is read to its end, which a sealed one need not be.
        let sealed = SegmentEnd(ofSealed: newest)
        if sealed == nil { segments[segments.count - 1].seal = nil }
        let before = sealed?.end ?? newest.header.before
        let timeBefore = sealed?.time ?? newest.header.timeBefore
        let catalog = LogCatalog(
            paths: paths, files: files, touches: touches,
            state: LogCatalog.State(
                floor: floor, segments: segments,
                newest: SegmentIndex(firstOffset: newest.firstOffset, endPosition: newest.header.byteCount),
                newestFile: file, end: before, endTime: timeBefore == Int64.min ? nil : timeBefore,
                durableEnd: before))
        let reader = LogReader(
            identity: directory.identity, extent: extent, catalog: catalog,
            tail: TailReader(paths, files, storeID: directory.identity.storeID))
        try reader.refresh()
        try directory.checkEnd(reader.end, paths)
        return reader
    }

    /// Returns true if the writer is erasing data from a store's files, or was when it ended.
    package static func isErasing(in path: String, files: any FileSystem) throws -> Bool {
        try files.exists(StorePaths(path).erasing)
    }

    /// Returns the offset up to which a store's history has been discarded, according to its present files.
    package static func floorOffset(in path: String, files: any FileSystem) throws -> UInt64 {
        try FloorMark.read(StorePaths(path), files)?.position.offset ?? 0
    }

    private init(identity: StoreIdentity, extent: Extent, catalog: LogCatalog, tail: TailReader) {
        self.identity = identity
        self.extent = extent
        self.catalog = catalog
        self.tail = tail
    }

    deinit { watch.stop() }

    package var unfinishedTail: UnfinishedTail? { unfinished.withLock { $0 } }

    package var segments: [Segment] {
        catalog.read { state in
            state.segments.map { segment in
                let last = segment.seal?.end.offset ?? state.end.offset
                return Segment(
                    path: segment.path, firstOffset: segment.firstOffset,
                    lastOffset: last >= segment.firstOffset ? last : nil, isClosed: segment.seal != nil)
            }
        }
    }

    /// Looks for new commits and segments; returns true if the end has moved.
    ///
    /// - Throws: `.directoryGone` if the store's directory is no longer at its path; any error that keeps the log from
    ///   being read.
    @discardableResult
    package func refresh() throws -> Bool { try look().hasMoved }

    /// Like ``refresh()``; also returns the outlook by which to wait for more.
    func look() throws -> (hasMoved: Bool, outlook: TailStatus) {
        let (before, outlook) = try looks.withLock { count in
            count += 1
            try catalog.files.checkAnchor()
            let before = end.offset
            try replaceIfMadeAgain()
            return (before, try readOn())
        }
        let hasMoved = end.offset > before
        if hasMoved { watch.wake(end: end.offset) }
        return (hasMoved, outlook)
    }

    /// Reads as far as the writer vouches for, or up to the last whole commit if no writer does.
    private func readOn() throws -> TailStatus {
        for _ in 0..<Self.attempts {
            let outlook = tail.outlook()
            switch outlook {
            case .live(let hint, _):
                if try readOn(upTo: extent == .durable ? hint.durableEnd : hint.end) { return outlook }
                // The files do not confirm the hint, and they are authoritative.
                while try readOn(unless: nil) {}
                return outlook
            case .alone(let block):
                do {
                    while try readOn(unless: { self.tail.hasChanged(since: block) }) {}
                    return outlook
                } catch is WriterAppeared { continue }
            case .unknown:
                while try readOn(unless: nil) {}
                return outlook
            }
        }
        // Writers come and go; the next look will find more.
        return .unknown
    }

    /// Thrown if a commit may no longer be published, because a new writer may still undo it.
    private struct WriterAppeared: Error {}

    /// Takes up a newest segment that was created again: a writer that fails in the middle of a segment switch creates
    /// the new segment a second time, under the same name.
    private func replaceIfMadeAgain() throws {
        let (segment, isEmpty) = catalog.read { ($0.segments[$0.segments.count - 1], $0.newest.count == 0) }
        guard isEmpty, try catalog.files.exists(segment.path) else { return }
        let (found, file) = try open(segment.path)
        guard found.header.segmentID != segment.header.segmentID, found.header.storeID == identity.storeID,
            found.header.before == segment.header.before
        else { return }
        catalog.publish { state in
            state.replaceNewest(found, file)
            Self.showSealed(found, in: &state)
        }
    }

    /// Opens a segment, which may have been sealed before this reader reached it.
    private func open(_ path: String) throws -> (segment: SegmentFile, file: any File) {
        let file = try catalog.files.open(path, .read)
        let header = try SegmentHeader.read(file)
        let seal = header.form == .blocks ? try SealedSegment.readSeal(file, header) : nil
        return (SegmentFile(path: path, header: header, seal: seal), file)
    }

    /// Shows a sealed segment, all of which is readable immediately.
    private static func showSealed(_ segment: SegmentFile, in state: inout LogCatalog.State) {
        guard let seal = segment.seal else { return }
        (state.end, state.endTime, state.durableEnd) = (seal.end, seal.time, seal.end)
    }

    /// Reads more of the newest segment; returns true if it turned out closed and its successor has been taken up.
    private func readOn(unless hasWriterCome: (() -> Bool)?) throws -> Bool {
        let segment = newestSegment
        if let sealed = SegmentEnd(ofSealed: segment) { return try takeUpSuccessor(of: segment, sealed) }
        let found = try Self.retrying(nil) {
            var scanner = try scannerOfTheRest(readBytes: FileWindow.largePieceBytes)
            return try publishing(unless: hasWriterCome) { visit in
                try SegmentEnd.find(&scanner, isNewest: true, visit: visit)
            }
        }
        unfinished.withLock { $0 = Self.tail(found, segment) }
        if case .closed = found.kind {
            // Until the successor exists, the end stays before the seal, so that the next look finds it again.
            return try takeUpSuccessor(of: segment, found)
        }
        catalog.publish { $0.newest.extend(to: found.position) }
        return false
    }

    private var newestSegment: SegmentFile { catalog.read { $0.segments[$0.segments.count - 1] } }

    /// Returns a scanner of the unread part of the newest segment.
    private func scannerOfTheRest(readBytes: Int) throws -> SegmentScanner {
        let (segment, file, position, end, time) = catalog.read { state in
            (
                state.segments[state.segments.count - 1], state.newestFile, state.newest.endPosition, state.end,
                state.endTime ?? Int64.min
            )
        }
        let size = try file.size()
        guard size >= position else {
            throw StrataError(
                .impossibleLength, "A segment is shorter than the part of it that was read before.",
                .init(
                    segment: segment.firstOffset, path: segment.path, expected: "at least \(position) bytes",
                    found: "\(size)"))
        }
        return SegmentScanner(
            segment.header, FileWindow(file, limit: size, readBytes: readBytes), at: position, after: end, time: time)
    }

    /// Reads up to a position that a writer vouches for, and nothing after it. Returns false if the position is not in
    /// the files.
    private func readOn(upTo limit: Position) throws -> Bool {
        unfinished.withLock { $0 = nil }
        while end.offset < limit.offset {
            guard try readNewest(upTo: limit) else { return false }
        }
        return end.offset > limit.offset || end.chain == limit.chain
    }

    /// Reads the newest segment up to the limit; returns false if it lacks what must be there.
    private func readNewest(upTo limit: Position) throws -> Bool {
        let segment = newestSegment
        if let sealed = SegmentEnd(ofSealed: segment) { return try takeUpSuccessor(of: segment, sealed) }
        // If little is missing, it is not worth reading space that is still zeros.
        let isLittle = limit.offset - end.offset < 32
        var scanner = try scannerOfTheRest(readBytes: isLittle ? 16 << 10 : FileWindow.largePieceBytes)
        let step = try publishing { visit -> SegmentScanner.Step? in
            while scanner.end.offset < limit.offset {
                let step = try scanner.next()
                switch step {
                case .commit(let commit): try visit(commit)
                case .mark: continue
                case .seal, .stop: return step
                }
            }
            return nil
        }
        guard case .seal? = step else { return step == nil }
        let found = SegmentEnd(
            kind: .closed, position: scanner.position, end: scanner.end, time: scanner.time, endsWithMark: false)
        return try takeUpSuccessor(of: segment, found)
    }

    private static func tail(_ found: SegmentEnd, _ segment: SegmentFile) -> UnfinishedTail? {
        guard case .torn(let limit, let error) = found.kind else { return nil }
        return UnfinishedTail(
            path: segment.path, position: found.position, byteCount: limit - found.position,
            reason: error?.message ?? "A commit before others is missing.")
    }

    /// Publishes the commits that `body` visits, a batch at a time.
    /// - Parameter hasWriterCome: called after the bytes were read; if no writer has come, none has changed them.
    private func publishing<Result>(
        unless hasWriterCome: (() -> Bool)? = nil,
        _ body: (_ visit: (SegmentScanner.ScannedCommit) throws -> Void) throws -> Result
    ) throws -> Result {
        var batch = ReadCommits(after: end.offset)
        func publish() throws {
            if batch.isEmpty { return }
            if let hasWriterCome, hasWriterCome() { throw WriterAppeared() }
            catalog.publish { batch.move(into: &$0) }
        }
        let result: Result
        do {
            result = try body { scanned in
                do { try batch.add(scanned, touches: catalog.touches) } catch let error as StrataError {
                    throw error.located(path: catalog.paths.log, offset: scanned.header.offset)
                }
                if batch.isFull { try publish() }
            }
        } catch {
            // The commits before a place that must be read again have been read.
            try publish()
            throw error
        }
        try publish()
        return result
    }

    private func takeUpSuccessor(of segment: SegmentFile, _ found: SegmentEnd) throws -> Bool {
        let path = catalog.paths.segment(found.end.offset + 1)
        guard try catalog.files.exists(path) else {
            try throwIfCompacted(after: found.end.offset)
            return false
        }
        let (successor, file) = try open(path)
        guard successor.header.storeID == identity.storeID, successor.header.before == found.end else {
            throw StrataError(
                .brokenChain, "A segment does not continue the history of its predecessor.",
                .init(
                    segment: found.end.offset + 1, path: path, expected: "\(found.end)",
                    found: "\(successor.header.before)"))
        }
        catalog.publish { state in
            state.newest.extend(to: found.position)
            LogCatalog.startSegment(successor, file, closing: found.seal, in: &state)
            Self.showSealed(successor, in: &state)
        }
        return true
    }

    /// Throws if the successor was trimmed before this reader reached it; then there is nothing to wait for.
    private func throwIfCompacted(after offset: UInt64) throws {
        guard let floor = try FloorMark.read(catalog.paths, catalog.files), floor.position.offset > offset,
            // A log that ends before the floor that it was opened with has lost its end.
            floor.position.offset > self.floor.offset
        else { return }
        throw LogCatalog.letGoError(offset + 1, floor: floor.position.offset, catalog.paths)
    }

    /// - Parameter code: the error that is worth another attempt; nil for every error.
    static func retrying<Result>(_ code: StrataError.Code?, _ body: () throws -> Result) throws -> Result {
        for _ in 1..<attempts {
            do { return try body() } catch let error as StrataError {
                guard code == nil || error.code == code else { throw error }
            }
        }
        return try body()
    }
}
