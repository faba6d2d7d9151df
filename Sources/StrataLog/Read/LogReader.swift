import StrataModel
import StrataSystem

/// Reads a store's log without its lock: beside a writer in another process, or from a medium that cannot be written.
///
/// It sees whole commits only; what stands unfinished behind them may be somebody at work. Beside a living writer it
/// sees no more than that writer vouches for. ``refresh()`` looks for more, ``follow(from:)`` gives it as it comes.
/// Both throw `directoryGone` once the store's directory is no longer at its path.
///
/// ```swift
/// let reader = try LogReader.open(at: "Notes.strata")
/// var cursor = try reader.read(from: 1)
/// while let commit = try cursor.next() { print(commit.offset) }
/// ```
public final class LogReader: Sendable {
    /// Bytes behind the last whole commit that are not one.
    public struct UnfinishedTail: Sendable, Equatable {
        public var path: String
        public var position: Int
        public var byteCount: Int
        public var reason: String
    }

    /// A segment as a reader knows it.
    public struct Segment: Sendable, Equatable {
        public var path: String
        public var firstOffset: UInt64
        /// nil for an empty segment.
        public var lastOffset: UInt64?
        public var isClosed: Bool
    }

    /// How far a reader goes beside a living writer. Where none lives it goes to the last whole commit.
    public enum Extent: Sendable {
        /// To the last commit that survives a loss of power.
        case durable
        /// To the last commit that the writer shows to its own process: farther where the log's
        /// ``LogOptions/durability`` promises less than a sync, and with lazy commits.
        case written
    }

    /// How often a place that looks damaged is read again, because a writer may have been in the middle of it.
    private static let attempts = 3

    public let identity: StoreIdentity
    public let extent: Extent
    let catalog: LogCatalog
    let tail: TailReader
    let watch = LogWatch()
    private let unfinished = Lock<UnfinishedTail?>(nil)
    /// Held while one thread looks for more: two would each publish the same commits. It counts the looks, because the
    /// thread sanitizer takes a state without size for the field behind it.
    private let looks = Lock(0)

    /// Opens a log for reading.
    ///
    /// - Parameter requiresWholeEnd: true to reject a log that lacks synced commits at its end, as another file of the
    ///   store proves. Pass false to read the commits that are left.
    public static func open(
        at path: String, extent: Extent = .durable, requiresWholeEnd: Bool = true, platform: Platform = Platform(),
        touches: @escaping TouchFunction = { try Envelope.touches(of: $0) }
    ) throws -> LogReader {
        try besideCompactions(of: path, platform.files) {
            let witnesses = requiresWholeEnd ? try EndWitness.all(StorePaths(path), platform.files) : []
            let reader = try openOnce(at: path, extent: extent, platform: platform, touches: touches)
            let lost = witnesses.lostEnd(behind: reader.end.offset, of: reader.identity.storeID) { reader }
            if let lost { throw lost }
            return reader
        }
    }

    /// Runs `body`, and runs it again when it fails although all that happened is that a compaction in another process
    /// moved the floor meanwhile: files are removed only after the floor has moved past them.
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
        // Known again once it has been read through to its end, which a sealed one need not be.
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

    /// Whether the writer is taking something out of the files of a store, or was when it ended.
    public static func isErasing(in path: String, files: any FileSystem) throws -> Bool {
        try files.exists(StorePaths(path).erasing)
    }

    /// Up to which offset a store's history has been let go, by its files as they are now.
    public static func floorOffset(in path: String, files: any FileSystem) throws -> UInt64 {
        try FloorMark.read(StorePaths(path), files)?.position.offset ?? 0
    }

    private init(identity: StoreIdentity, extent: Extent, catalog: LogCatalog, tail: TailReader) {
        self.identity = identity
        self.extent = extent
        self.catalog = catalog
        self.tail = tail
    }

    deinit { watch.stop() }

    public var end: Position { catalog.read { $0.end } }
    public var endTime: Int64? { catalog.read { $0.endTime } }
    public var floor: Position { catalog.read { $0.floor.position } }
    public var unfinishedTail: UnfinishedTail? { unfinished.withLock { $0 } }

    public var segments: [Segment] {
        catalog.read { state in
            state.segments.map { segment in
                let last = segment.seal?.end.offset ?? state.end.offset
                return Segment(
                    path: segment.path, firstOffset: segment.firstOffset,
                    lastOffset: last >= segment.firstOffset ? last : nil, isClosed: segment.seal != nil)
            }
        }
    }

    /// As ``EventLog/base()``.
    public func base() throws -> Position? { catalog.read { $0.floor.hasBase ? $0.floor.position : nil } }
    public func readBase() throws -> BaseReader? { try catalog.readBase() }

    /// Those that have been sealed, open.
    var sealedSegments: [SealedSegment] {
        get throws { try catalog.read { $0.segments }.compactMap { try catalog.sealed($0) } }
    }

    public func commit(at offset: UInt64) throws -> Commit? { try catalog.commit(at: offset) }
    public func read(from offset: UInt64) throws -> any CommitCursor { try LogCursor(catalog, from: offset) }
    public func chain(at offset: UInt64) throws -> UInt32 { try catalog.chain(at: offset) }
    public func firstOffset(notBefore time: Int64) throws -> UInt64? { try catalog.firstOffset(notBefore: time) }

    public func touches(zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        try catalog.touches(zone: zone, after: offset, limit: limit)
    }

    public func touches(
        record name: [UInt8], in zone: UInt64, after offset: UInt64, limit: Int
    ) throws -> TouchPage {
        try catalog.touches(record: name, zone: zone, after: offset, limit: limit)
    }

    /// Where the last `limit` entries of a record up to `last` begin: read from the newest segment on, no further than
    /// need be. There are more from that commit on where it has several, and fewer if there are not so many.
    public func lastTouches(
        record name: [UInt8], in zone: UInt64, through last: UInt64, limit: Int
    ) throws -> LastTouches {
        try catalog.lastTouches(record: name, zone: zone, through: last, limit: limit)
    }

    /// Looks for commits and segments that have come since; returns whether the end has moved.
    ///
    /// - Throws: `.directoryGone` if the store's directory is no longer at its path; any error that keeps the log from
    ///   being read.
    @discardableResult
    public func refresh() throws -> Bool { try look().hasMoved }

    /// - Returns: besides, what there is to wait on for more.
    func look() throws -> (hasMoved: Bool, outlook: TailOutlook) {
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

    /// Reads as far as the writer vouches for, or as far as there is something where no writer does.
    private func readOn() throws -> TailOutlook {
        for _ in 0..<Self.attempts {
            let outlook = tail.outlook()
            switch outlook {
            case .live(let hint, _):
                if try readOn(upTo: extent == .durable ? hint.durableEnd : hint.end) { return outlook }
                // The files do not bear out the hint. They are the truth.
                while try readOn(unless: nil) {}
                return outlook
            case .alone(let block):
                do {
                    while try readOn(unless: { self.tail.hasChanged(since: block) }) {}
                    return outlook
                } catch is WriterHasCome { continue }
            case .unknown:
                while try readOn(unless: nil) {}
                return outlook
            }
        }
        // Writers come and go; the next look will find more.
        return .unknown
    }

    /// Thrown where a commit may not be published any more, because the writer that has come may still take it back.
    private struct WriterHasCome: Error {}

    /// A writer that fails in the middle of a segment switch makes the new segment a second time, under the same name.
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

    /// A segment that this reader comes to late may have been sealed already.
    private func open(_ path: String) throws -> (segment: SegmentFile, file: any File) {
        let file = try catalog.files.open(path, .read)
        let header = try SegmentHeader.read(file)
        let seal = header.form == .blocks ? try SealedSegment.readSeal(file, header) : nil
        return (SegmentFile(path: path, header: header, seal: seal), file)
    }

    /// All of a sealed segment is there at once.
    private static func showSealed(_ segment: SegmentFile, in state: inout LogCatalog.State) {
        guard let seal = segment.seal else { return }
        (state.end, state.endTime, state.durableEnd) = (seal.end, seal.time, seal.end)
    }

    /// Reads the newest segment on; true if it turned out closed and its successor has been taken up.
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
            // Until the successor is there the seal stays in front, so that the next look finds it again.
            return try takeUpSuccessor(of: segment, found)
        }
        catalog.publish { $0.newest.extend(to: found.position) }
        return false
    }

    private var newestSegment: SegmentFile { catalog.read { $0.segments[$0.segments.count - 1] } }

    /// Goes through what has not been read yet of the newest segment.
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
                .impossibleLength, "A segment has become shorter than what has been read of it.",
                .init(
                    segment: segment.firstOffset, path: segment.path, expected: "at least \(position) bytes",
                    found: "\(size)"))
        }
        return SegmentScanner(
            segment.header, FileWindow(file, limit: size, readBytes: readBytes), at: position, after: end, time: time)
    }

    /// Reads on up to a position that a writer vouches for, and looks at nothing behind it.
    /// - Returns: false if that is not in the files.
    private func readOn(upTo limit: Position) throws -> Bool {
        unfinished.withLock { $0 = nil }
        while end.offset < limit.offset {
            guard try readNewest(upTo: limit) else { return false }
        }
        return end.offset > limit.offset || end.chain == limit.chain
    }

    /// The newest segment, or what it has in front of the limit; false if it has not what must be there.
    private func readNewest(upTo limit: Position) throws -> Bool {
        let segment = newestSegment
        if let sealed = SegmentEnd(ofSealed: segment) { return try takeUpSuccessor(of: segment, sealed) }
        // Where little is missing it is not worth to read what is only zeros yet.
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
            reason: error?.message ?? "A commit in front of others is not there.")
    }

    /// Publishes what `body` visits, a batch at a time.
    /// - Parameter hasWriterCome: asked behind the bytes, so that whoever has not come has changed nothing in them.
    private func publishing<Result>(
        unless hasWriterCome: (() -> Bool)? = nil,
        _ body: (_ visit: (SegmentScanner.ScannedCommit) throws -> Void) throws -> Result
    ) throws -> Result {
        var batch = ReadCommits(after: end.offset)
        func publish() throws {
            if batch.isEmpty { return }
            if let hasWriterCome, hasWriterCome() { throw WriterHasCome() }
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
            // What comes in front of a place that must be read again has been read.
            try publish()
            throw error
        }
        try publish()
        return result
    }

    private func takeUpSuccessor(of segment: SegmentFile, _ found: SegmentEnd) throws -> Bool {
        let path = catalog.paths.segment(found.end.offset + 1)
        guard try catalog.files.exists(path) else {
            try refuseIfLetGo(behind: found.end.offset)
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

    /// A trim may have taken the successor before this reader came to it; then there is nothing to wait for.
    private func refuseIfLetGo(behind offset: UInt64) throws {
        guard let floor = try FloorMark.read(catalog.paths, catalog.files), floor.position.offset > offset,
            // A log that ends before the floor that it was opened with has lost its end.
            floor.position.offset > self.floor.offset
        else { return }
        throw LogCatalog.letGoError(offset + 1, floor: floor.position.offset, catalog.paths)
    }

    /// - Parameter code: errors worth another try; nil for all that tell of damage.
    static func retrying<Result>(_ code: StrataError.Code?, _ body: () throws -> Result) throws -> Result {
        for _ in 1..<attempts {
            do { return try body() } catch let error as StrataError {
                guard code == nil || error.code == code else { throw error }
            }
        }
        return try body()
    }
}
