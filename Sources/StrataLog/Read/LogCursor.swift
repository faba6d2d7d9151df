import StrataModel
import StrataSystem

/// Reads commits in order, from the files alone, and checks everything; continues from segment to segment.
struct LogCursor: CommitCursor {
    private let catalog: LogCatalog
    private var nextOffset: UInt64
    private var scanner: SegmentScanner?
    /// Used instead of the scanner in a sealed segment.
    private var sealed: SealedSegment.Cursor?
    // The scanner's segment. A closed one's file is closed with the last copy of the cursor; the newest one's is
    // shared.
    private var segment: SegmentFile?
    /// True if the segment is closed and the window reaches to its end.
    private var seesWholeSegment = false

    init(_ catalog: LogCatalog, from offset: UInt64) throws {
        self.catalog = catalog
        nextOffset = max(offset, 1)
        // Checked now, so that an offset below the floor is refused here and not at the first commit.
        _ = try catalog.segment(containing: nextOffset)
    }

    mutating func next() throws -> Commit? {
        while true {
            if let commit = try nextSealed() { return commit }
            let visible = try catalog.visibleEnd()
            guard nextOffset <= visible.offset else { return nil }
            try prepareScanner(visible)
            if sealed != nil { continue }
            guard var scanner else { return nil }
            let step = try scanner.next()
            self.scanner = scanner
            switch step {
            case .commit(let scanned):
                guard scanned.header.offset >= nextOffset else { continue }
                nextOffset = scanned.header.offset + 1
                return scanned.commit
            case .mark: continue
            case .seal:
                self.scanner = nil
                try refuseEarlySeal(of: scanner)
            case .stop(.invalid(let error)), .stop(.cannotFollow(let error)), .stop(.unsupported(let error)):
                throw error
            case .stop(.nothing):
                throw StrataError(
                    .brokenSequence, "A commit of the log is missing from its file.",
                    .init(
                        segment: scanner.segment.firstOffset, offset: nextOffset, position: UInt64(scanner.position),
                        path: scanner.window.file.path, expected: "a frame", found: "zeros"))
            }
        }
    }

    /// All of a sealed segment is visible, so that the visible end need not be checked.
    private mutating func nextSealed() throws -> Commit? {
        if sealed == nil { return nil }
        if catalog.isClosed.load(ordering: .relaxed) { throw LogCatalog.closedError(catalog.paths) }
        if let commit = try sealed?.next() {
            nextOffset = commit.offset + 1
            return commit
        }
        // The next commit is in another segment.
        sealed = nil
        return nil
    }

    /// Commits after a seal are in the next segment; looking for them in the same one again would never end.
    private func refuseEarlySeal(of scanner: SegmentScanner) throws {
        guard try catalog.segment(containing: nextOffset)?.firstOffset == scanner.segment.firstOffset else { return }
        throw StrataError(
            .brokenSequence, "A segment is closed before its last commit.",
            .init(
                segment: scanner.segment.firstOffset, offset: nextOffset,
                position: UInt64(scanner.position - LogFormat.frameHeaderBytes), path: scanner.window.file.path,
                expected: "a commit", found: "a seal"))
    }

    /// Ensures that the scanner is in the right segment and may read as far as the log reaches.
    private mutating func prepareScanner(_ visible: LogCatalog.VisibleEnd) throws {
        if let scanner, let segment {
            if visible.newestFirstOffset == segment.firstOffset {
                scanner.window.raise(limit: visible.endPosition)
            } else if !seesWholeSegment {
                scanner.window.raise(limit: try scanner.window.file.size())
                seesWholeSegment = true
            }
            return
        }
        guard let segment = try catalog.segment(containing: nextOffset) else { return }
        try catalog.reading(segment) { try begin($0, visible) }
    }

    private mutating func begin(_ segment: SegmentFile, _ visible: LogCatalog.VisibleEnd) throws {
        if let found = try catalog.sealed(segment) {
            sealed = try SealedSegment.Cursor(found, from: nextOffset)
            return
        }
        let file = try catalog.newestFile(of: segment) ?? catalog.open(segment)
        seesWholeSegment = visible.newestFirstOffset != segment.firstOffset
        let window = FileWindow(file, limit: seesWholeSegment ? try file.size() : visible.endPosition)
        if nextOffset == segment.firstOffset {
            // From the beginning no index is needed, which would mean reading a closed segment twice.
            scanner = SegmentScanner(segment.header, window)
        } else if let range = try catalog.withIndex(of: segment, { $0.range(of: nextOffset) }) {
            let before = try catalog.frameBefore(nextOffset, in: segment, file)
            scanner = SegmentScanner(segment.header, window, at: range.lowerBound, after: before.end, time: before.time)
        }
        self.segment = segment
    }
}

extension LogCatalog {
    /// The end that is visible to readers: the last offset, and the end of the newest segment's bytes.
    struct VisibleEnd: Sendable {
        var offset: UInt64
        var newestFirstOffset: UInt64
        var endPosition: Int
    }

    func visibleEnd() throws -> VisibleEnd {
        try requireOpen()
        return read { state in
            VisibleEnd(
                offset: state.end.offset, newestFirstOffset: state.newest.firstOffset,
                endPosition: state.newest.endPosition)
        }
    }

    /// Returns the position and time of the commit before one that is not the first of its segment.
    func frameBefore(_ offset: UInt64, in segment: SegmentFile, _ file: any File) throws -> (end: Position, time: Int64)
    {
        guard let range = try withIndex(of: segment, { $0.range(of: offset - 1) }) else {
            preconditionFailure("every commit except a segment's first has a predecessor there")
        }
        let header = try FrameLoader(segment: segment, file: file).lastHeader(offset: offset - 1, in: range)
        return (Position(offset: header.offset, chain: header.chain), header.time)
    }
}
