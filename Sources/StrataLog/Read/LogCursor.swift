import StrataModel
import StrataSystem

/// Reads commits in order, from the files alone, checking everything; follows the log from segment to segment.
struct LogCursor: CommitCursor {
    private let catalog: LogCatalog
    private var nextOffset: UInt64
    private var scanner: SegmentScanner?
    /// Instead of the scanner, in a segment that was sealed.
    private var sealed: SealedSegment.Cursor?
    // Closed with the last copy of the cursor that uses it; the newest segment's file is shared instead.
    private var segment: SegmentFile?
    /// The segment is closed, and the window reaches to its end.
    private var seesWholeSegment = false

    init(_ catalog: LogCatalog, from offset: UInt64) throws {
        self.catalog = catalog
        nextOffset = max(offset, 1)
        // Asked now, so that an offset below the floor is refused here and not at the first commit.
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
                    .brokenSequence, "A commit that the log has is not in its file.",
                    .init(
                        segment: scanner.segment.firstOffset, offset: nextOffset, position: UInt64(scanner.position),
                        path: scanner.window.file.path, expected: "a frame", found: "zeros"))
            }
        }
    }

    /// All of a sealed segment is visible, so that nobody needs to be asked how far to go.
    private mutating func nextSealed() throws -> Commit? {
        if sealed == nil { return nil }
        if catalog.isClosed.load(ordering: .relaxed) { throw LogCatalog.closedError(catalog.paths) }
        if let commit = try sealed?.next() {
            nextOffset = commit.offset + 1
            return commit
        }
        // Whatever comes next is in another segment.
        sealed = nil
        return nil
    }

    /// What comes behind a seal is in the next segment; looking for it in the same one again would never end.
    private func refuseEarlySeal(of scanner: SegmentScanner) throws {
        guard try catalog.segment(containing: nextOffset)?.firstOffset == scanner.segment.firstOffset else { return }
        throw StrataError(
            .brokenSequence, "A segment is closed in front of its last commit.",
            .init(
                segment: scanner.segment.firstOffset, offset: nextOffset,
                position: UInt64(scanner.position - LogFormat.frameHeaderBytes), path: scanner.window.file.path,
                expected: "a commit", found: "a seal"))
    }

    /// Makes sure that the scanner stands in the right segment and may read as far as the log reaches.
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
            // From the front no index is needed, which for a closed segment would mean reading it twice.
            scanner = SegmentScanner(segment.header, window)
        } else if let range = try catalog.withIndex(of: segment, { $0.range(of: nextOffset) }) {
            let before = try catalog.frameBefore(nextOffset, in: segment, file)
            scanner = SegmentScanner(segment.header, window, at: range.lowerBound, after: before.end, time: before.time)
        }
        self.segment = segment
    }
}

extension LogCatalog {
    /// How far readers may go now: the last offset, and where the bytes of the newest segment end.
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

    /// Position and time of the commit in front of one that is not its segment's first.
    func frameBefore(_ offset: UInt64, in segment: SegmentFile, _ file: any File) throws -> (end: Position, time: Int64)
    {
        guard let range = try withIndex(of: segment, { $0.range(of: offset - 1) }) else {
            preconditionFailure("every commit but a segment's first has one in front of it there")
        }
        let header = try FrameLoader(segment: segment, file: file).lastHeader(offset: offset - 1, in: range)
        return (Position(offset: header.offset, chain: header.chain), header.time)
    }
}
