import StrataModel
import StrataSystem
import Synchronization

/// The state that the readers of a log share: its segments, the places of commits, and the end. The writer publishes
/// into it.
package final class LogCatalog: Sendable {
    struct State: Sendable {
        var floor: FloorMark
        /// In order; the last is the one that grows.
        fileprivate(set) var segments: [SegmentFile]
        /// The first offsets of the closed segments that are to be sealed, in order.
        fileprivate(set) var unsealed: [UInt64]
        /// The index of the last segment, and its file, which stays open.
        var newest: SegmentIndex
        fileprivate(set) var newestFile: any File
        var end: Position
        var endTime: Int64?
        var durableEnd: Position
        var isClosed = false
        fileprivate var closedIndexes: [(firstOffset: UInt64, index: ClosedSegmentIndex)] = []

        init(
            floor: FloorMark, segments: [SegmentFile], newest: SegmentIndex, newestFile: any File, end: Position,
            endTime: Int64?, durableEnd: Position
        ) {
            self.floor = floor
            self.segments = segments
            unsealed = segments.dropLast().filter(\.isToBeSealed).map(\.firstOffset)
            self.newest = newest
            self.newestFile = newestFile
            self.end = end
            self.endTime = endTime
            self.durableEnd = durableEnd
        }

        /// Replaces the newest segment, which is empty, by another empty one.
        mutating func replaceNewest(_ segment: SegmentFile, _ file: any File) {
            segments[segments.count - 1] = segment
            newest = SegmentIndex(firstOffset: segment.firstOffset, endPosition: segment.header.byteCount)
            newestFile = file
        }
    }

    /// The maximum size of the indexes of closed segments, of which the most recently used are kept.
    private static let closedIndexBytes = 24 << 20

    let paths: StorePaths
    let files: any FileSystem
    let touches: TouchFunction
    private let state: Lock<State>
    /// As in the state, for readers that check it for each commit.
    let isClosed = Atomic(false)
    private let waiters = EndWaiters()
    private let openSealed = Lock(OpenSegments())
    private let blocks = BlockCache()
    /// A writer's announcements to other processes.
    private let tail: TailPublisher?

    init(
        paths: StorePaths, files: any FileSystem, touches: @escaping TouchFunction, tail: TailPublisher? = nil,
        state: sending State
    ) {
        self.paths = paths
        self.files = files
        self.touches = touches
        self.tail = tail
        self.state = Lock(state)
    }

    func read<Result: Sendable>(_ body: (borrowing State) throws -> sending Result) rethrows -> Result {
        try state.withLock { state in try body(state) }
    }

    /// Changes the state that readers see, then wakes those that wait for it.
    func publish(_ change: (inout State) -> Void) {
        let (end, isClosed, hasNews) = state.withLock { state in
            change(&state)
            // Within the lock, so that the page and the state change in the same order.
            let hasNews = tail?.update(durableEnd: state.durableEnd, end: state.end, isClosed: state.isClosed) ?? false
            return (state.end.offset, state.isClosed, hasNews)
        }
        if isClosed {
            self.isClosed.store(true, ordering: .relaxed)
            // A reader that uses one keeps it open until it is done.
            openSealed.withLock { $0.removeAll() }
        }
        waiters.wake(end: end, isClosed: isClosed)
        if hasNews { tail?.announce() }
    }

    func waitForEnd(past offset: UInt64) async {
        await waiters.wait(past: offset) { read { $0.isClosed || $0.end.offset > offset } }
    }

    // MARK: Finding segments and indexes

    func requireOpen() throws {
        if state.withLock({ $0.isClosed }) { throw Self.closedError(paths) }
    }

    static func closedError(_ paths: StorePaths) -> StrataError {
        StrataError(.closed, "The log has been closed.", .init(path: paths.store))
    }

    /// Returns the segment that has the offset; nil after the end.
    func segment(containing offset: UInt64) throws -> SegmentFile? {
        try state.withLock { state in
            if state.isClosed { throw Self.closedError(paths) }
            guard offset > state.floor.position.offset else {
                throw StrataError(
                    .outOfRange, "The history up to the floor has been compacted.",
                    .init(
                        offset: offset, path: paths.log, expected: "an offset after \(state.floor.position.offset)",
                        found: "\(offset)"))
            }
            guard offset <= state.end.offset else { return nil }
            return state.segments[Self.index(of: offset, in: state.segments)]
        }
    }

    /// Returns the index of the segment that has the offset, if any has it.
    static func index(of offset: UInt64, in segments: [SegmentFile]) -> Int {
        max(0, segments.endOfPrefix { $0.firstOffset <= offset } - 1)
    }

    /// Runs `body` with a segment's index: the growing one under the lock, closed ones from the cache or the file.
    func withIndex<Result: Sendable>(
        of segment: SegmentFile, _ body: (borrowing SegmentIndex) throws -> sending Result
    ) throws -> Result {
        let growing = try state.withLock { state -> Result? in
            guard state.newest.firstOffset == segment.firstOffset else { return nil }
            return try body(state.newest)
        }
        if let growing { return growing }
        return try body(try closedIndex(of: segment).index)
    }

    /// Returns the open file of the segment, if it is the one that grows.
    func newestFile(of segment: SegmentFile) -> (any File)? {
        state.withLock { $0.newest.firstOffset == segment.firstOffset ? $0.newestFile : nil }
    }

    private func closedIndex(of segment: SegmentFile) throws -> ClosedSegmentIndex {
        let cached = state.withLock { state -> ClosedSegmentIndex? in
            guard let place = state.closedIndexes.firstIndex(where: { $0.firstOffset == segment.firstOffset }) else {
                return nil
            }
            let entry = state.closedIndexes.remove(at: place)
            state.closedIndexes.append(entry)
            return entry.index
        }
        if let cached { return cached }
        let file = try open(segment)
        defer { file.close() }
        var index = SegmentIndex(firstOffset: segment.firstOffset, endPosition: segment.header.byteCount)
        var scanner = SegmentScanner(segment.header, FileWindow(file, limit: try file.size()))
        let end = try SegmentEnd.find(&scanner, isNewest: false) { commit in
            index.append(
                offset: commit.header.offset, range: commit.range, touches: try touches(commit.payload),
                payload: commit.payload)
        }
        index.extend(to: end.position)
        let closed = ClosedSegmentIndex(index)
        state.withLock { Self.keep(closed, in: &$0) }
        return closed
    }

    private static func keep(_ closed: ClosedSegmentIndex, in state: inout State) {
        state.closedIndexes.removeAll { $0.firstOffset == closed.index.firstOffset }
        state.closedIndexes.append((closed.index.firstOffset, closed))
        var bytes = state.closedIndexes.reduce(0) { $0 + $1.index.index.byteCount }
        while bytes > closedIndexBytes, state.closedIndexes.count > 1 {
            bytes -= state.closedIndexes.removeFirst().index.index.byteCount
        }
    }

    // MARK: Sealed segments

    /// Returns a sealed segment, opened if necessary; nil for one of frames.
    func sealed(_ segment: SegmentFile) throws -> SealedSegment? {
        guard segment.header.form == .blocks else { return nil }
        let (known, index) = openSealed.withLock { open in
            let known = open.segment(segment.header)
            return (known, known == nil ? open.index(segment.header) : nil)
        }
        if let known { return known }
        let sealed = try SealedSegment(segment, try open(segment), blocks, index: index)
        // Another file may have replaced it since.
        let newest = read { $0.segments[Self.index(of: segment.firstOffset, in: $0.segments)].header }
        guard newest == segment.header else { return sealed }
        openSealed.withLock { $0.add(sealed) }
        return sealed
    }

    /// Releases the files of segments that were discarded.
    func forgetSealed(through offset: UInt64) {
        openSealed.withLock { open in
            open.removeAll { ($0.seal?.end.offset).map { $0 <= offset } ?? false }
        }
    }

    /// Closes a segment that another file has replaced, once no reader uses it.
    func release(of segment: SegmentFile) { openSealed.withLock { $0.removeAll { $0.header == segment.header } } }

    /// Opens a closed segment.
    ///
    /// - Throws: ``ReplacedSegment`` if another file has replaced it since it was looked up.
    func open(_ segment: SegmentFile) throws -> any File {
        let file = try files.open(segment.path, .read)
        do {
            let header = try SegmentHeader.read(file)
            if header == segment.header { return file }
            guard header.form == .blocks, header.storeID == segment.header.storeID,
                header.before == segment.header.before
            else {
                throw StrataError(
                    .foreignSegment, "A segment's file was replaced by another file.",
                    .init(
                        segment: segment.firstOffset, path: segment.path,
                        expected: "segment \(segment.header.segmentID)",
                        found: "segment \(header.segmentID) of store \(header.storeID)"))
            }
            let seal = try SealedSegment.readSeal(file, header)
            throw ReplacedSegment(segment: SegmentFile(path: segment.path, header: header, seal: seal))
        } catch {
            file.close()
            throw error
        }
    }

    /// Replaces a segment by its rewritten form; returns false if the segment is gone.
    static func replace(with segment: SegmentFile, in state: inout State) -> Bool {
        let place = index(of: segment.firstOffset, in: state.segments)
        let replaced = state.segments[place]
        guard replaced.firstOffset == segment.firstOffset, replaced.seal?.end == segment.seal?.end else { return false }
        state.segments[place] = segment
        if !segment.isToBeSealed { state.unsealed.removeAll { $0 == segment.firstOffset } }
        state.closedIndexes.removeAll { $0.firstOffset == segment.firstOffset }
        return true
    }

    /// Adds a new segment after the last one, whose seal is now known, and keeps the index of the closed one.
    static func startSegment(
        _ segment: SegmentFile, _ file: any File, closing seal: SegmentFile.Seal, in state: inout State
    ) {
        let last = state.segments.count - 1
        state.segments[last].seal = seal
        if state.segments[last].isToBeSealed { state.unsealed.append(state.segments[last].firstOffset) }
        let closed = ClosedSegmentIndex(state.newest)
        state.newest = SegmentIndex(firstOffset: segment.firstOffset, endPosition: segment.header.byteCount)
        state.newestFile = file
        keep(closed, in: &state)
        state.segments.append(segment)
    }

    /// Removes segments that are wholly at or below the new floor, and returns them.
    static func raiseFloor(to floor: FloorMark, in state: inout State) -> [SegmentFile] {
        state.floor = floor
        let removed = state.segments.dropLast().prefix { segment in
            segment.seal.map { $0.end.offset <= floor.position.offset } ?? false
        }
        state.segments.removeFirst(removed.count)
        let first = state.segments[0].firstOffset
        state.unsealed.removeAll { $0 < first }
        state.closedIndexes.removeAll { $0.firstOffset < first }
        return Array(removed)
    }
}

/// Thrown if a closed segment was rewritten since it was looked up, with the segment that replaced it.
struct ReplacedSegment: Error {
    var segment: SegmentFile
}
