import StrataModel
import StrataSystem

extension LogCatalog: HistoryLog {
    package var end: Position { read { $0.end } }
    package var endTime: Int64? { read { $0.endTime } }
    package var floor: Position { read { $0.floor.position } }
    package func base() throws -> Position? { read { $0.floor.hasBase ? $0.floor.position : nil } }
    package func read(from offset: UInt64) throws -> any CommitCursor { try LogCursor(self, from: offset) }

    package func commit(at offset: UInt64) throws -> Commit? {
        guard offset > 0, let segment = try segment(containing: offset) else { return nil }
        return try reading(segment) { segment in
            if let sealed = try sealed(segment) { return try sealed.commit(at: offset) }
            guard let range = try withIndex(of: segment, { $0.range(of: offset) }) else { return nil }
            return try withFile(of: segment) { file in
                try FrameLoader(segment: segment, file: file).commit(offset: offset, in: range)
            }
        }
    }

    package func chain(at offset: UInt64) throws -> UInt32 {
        let known = read { state -> UInt32? in
            if offset == state.floor.position.offset { return state.floor.position.chain }
            if offset == state.end.offset { return state.end.chain }
            return nil
        }
        if let known { return known }
        guard let segment = try segment(containing: offset),
            let chain = try reading(segment, { try chainValue(at: offset, in: $0) })
        else {
            throw StrataError(
                .outOfRange, "The log has no commit at this offset.",
                .init(offset: offset, path: paths.log, expected: "at most \(read { $0.end.offset })"))
        }
        return chain
    }

    private func chainValue(at offset: UInt64, in segment: SegmentFile) throws -> UInt32? {
        if let sealed = try sealed(segment) { return try sealed.chain(at: offset) }
        guard let range = try withIndex(of: segment, { $0.range(of: offset) }) else { return nil }
        return try withFile(of: segment) { file in
            try FrameLoader(segment: segment, file: file).lastHeader(offset: offset, in: range).chain
        }
    }

    package func firstOffset(notBefore time: Int64) throws -> UInt64? {
        try requireOpen()
        let (segments, end, endTime, floor) = read { ($0.segments, $0.end, $0.endTime, $0.floor.position.offset) }
        guard let endTime, endTime >= time, end.offset > floor else { return nil }
        // The first such commit is in the last segment whose predecessor ended before `time`.
        let segment = segments.last { $0.header.timeBefore < time } ?? segments[0]
        let low = max(segment.firstOffset, floor + 1)
        let high = min(segment.seal?.end.offset ?? end.offset, end.offset)
        return try reading(segment) { segment in
            if let sealed = try sealed(segment) { return try max(low, sealed.firstOffset(notBefore: time)) }
            return try withFile(of: segment) { file in
                try firstOffset(notBefore: time, from: low, to: high, FrameLoader(segment: segment, file: file))
            }
        }
    }

    /// - Parameter high: a commit that is not older than `time`.
    private func firstOffset(
        notBefore time: Int64, from low: UInt64, to high: UInt64, _ loader: FrameLoader
    ) throws -> UInt64? {
        var low = low
        var high = high
        while low < high {
            let middle = (low + high) / 2
            guard let range = try withIndex(of: loader.segment, { $0.range(of: middle) }) else { return nil }
            if try loader.firstHeader(offset: middle, in: range).time >= time {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }

    package func touches(zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        try touches(of: nil, in: zone, after: offset, limit: limit)
    }

    /// Mostly reads only the filter of sealed segments that do not have the record.
    package func touches(record name: [UInt8], in zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        try touches(of: name, in: zone, after: offset, limit: limit)
    }

    /// - Parameter name: nil for all records.
    private func touches(of name: [UInt8]?, in zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        let (segments, end) = try segmentsWithTouches(after: offset, limit: limit)
        var page = TouchPage(touches: [], readThrough: max(end, offset), moreComing: false)
        for segment in segments where segment.seal?.end.offset ?? UInt64.max > offset {
            var found: [ZoneTouch] = []
            let isComplete = try reading(segment) {
                found = []
                return try collect(
                    zone, of: name, in: $0, after: offset, limit: limit - page.touches.count, into: &found)
            }
            page.touches += found.prefix { $0.offset <= end }
            if !isComplete || (page.touches.count >= limit && segment.firstOffset != segments.last?.firstOffset) {
                page.readThrough = page.touches.last?.offset ?? offset
                page.moreComing = true
                return page
            }
        }
        return page
    }

    package func lastTouches(
        record name: [UInt8], in zone: UInt64, through last: UInt64, limit: Int
    ) throws -> LastTouches {
        let floor = read { $0.floor.position.offset }
        let (segments, end) = try segmentsWithTouches(after: floor, limit: limit)
        var found = LastTouches(first: min(last, end) + 1, count: 0)
        for segment in segments.reversed() where segment.firstOffset < found.first && found.count < limit {
            var commits = try touchedCommits(record: name, zone: zone, in: segment, floor..<found.first)
            while found.count < limit, let commit = commits.popLast() {
                found = LastTouches(first: commit.offset, count: found.count + commit.count)
            }
        }
        return found
    }

    /// Returns the number of the record's entries in each commit after the first of the offsets and before the last.
    private func touchedCommits(
        record name: [UInt8], zone: UInt64, in segment: SegmentFile, _ offsets: Range<UInt64>
    ) throws -> [(offset: UInt64, count: Int)] {
        var commits: [(offset: UInt64, count: Int)] = []
        var (after, isComplete) = (offsets.lowerBound, false)
        while !isComplete {
            var page: [ZoneTouch] = []
            isComplete = try reading(segment) {
                page = []
                return try collect(zone, of: name, in: $0, after: after, limit: TouchPage.pieceCount, into: &page)
            }
            for touch in page {
                guard touch.offset < offsets.upperBound else { return commits }
                if commits.last?.offset == touch.offset {
                    commits[commits.count - 1].count += 1
                } else {
                    commits.append((touch.offset, 1))
                }
            }
            after = page.last?.offset ?? after
        }
        return commits
    }

    private func segmentsWithTouches(after offset: UInt64, limit: Int) throws -> ([SegmentFile], end: UInt64) {
        guard limit > 0 else {
            throw StrataError(
                .invalidArgument, "A page of touches must have room for at least one.", .init(found: "\(limit)"))
        }
        try requireOpen()
        let (segments, end, floor) = read { ($0.segments, $0.end.offset, $0.floor.position.offset) }
        guard offset >= floor else {
            throw StrataError(
                .outOfRange, "The history up to the floor has been compacted.",
                .init(offset: offset, path: paths.log, expected: "\(floor) or later", found: "\(offset)"))
        }
        return (segments, end)
    }

    /// Like ``ChangeList/collect(of:after:limit:into:)``, for one zone in one segment.
    private func collect(
        _ zone: UInt64, of name: [UInt8]?, in segment: SegmentFile, after offset: UInt64, limit: Int,
        into touches: inout [ZoneTouch]
    ) throws -> Bool {
        if let sealed = try sealed(segment) {
            if let name, try !sealed.mayTouch(name, in: zone) { return true }
            return try sealed.collect(zone: zone, of: name, after: offset, limit: limit, into: &touches)
        }
        // A copy, which shares the list's bytes, so that no thread waits for the lock while it is read.
        let list = try withIndex(of: segment) { $0.changeList(of: zone) }
        return try list?.collect(of: name, after: offset, limit: limit, into: &touches) ?? true
    }

    /// The number of attempts to read a segment that is rewritten at the same time.
    private static let replacements = 8

    /// Runs `body` with a segment as it is now: this process or another may rewrite or discard it at the same time.
    func reading<Result>(_ segment: SegmentFile, _ body: (SegmentFile) throws -> Result) throws -> Result {
        var segment = segment
        for _ in 1..<Self.replacements {
            do { return try explainingAbsence(of: segment) { try body(segment) } } catch let replaced as ReplacedSegment
            {
                segment = replaced.segment
                publish { _ = Self.replace(with: replaced.segment, in: &$0) }
            }
        }
        return try explainingAbsence(of: segment) { try body(segment) }
    }

    /// Runs `body`. If the segment's file is gone because its history has been discarded, by this process or another,
    /// the error says so.
    private func explainingAbsence<Result>(of segment: SegmentFile, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StrataError where error.code == .notFound {
            guard let floor = try? FloorMark.read(paths, files), floor.position.offset >= segment.firstOffset else {
                throw error
            }
            throw Self.letGoError(segment.firstOffset, floor: floor.position.offset, paths)
        }
    }

    static func letGoError(_ offset: UInt64, floor: UInt64, _ paths: StorePaths) -> StrataError {
        StrataError(
            .outOfRange, "The history up to the floor has been compacted.",
            .init(
                offset: offset, path: paths.log, expected: "an offset after \(floor)", found: "\(offset)"))
    }

    /// Runs `body` with the segment's file; a closed one is opened for this purpose.
    private func withFile<Result>(of segment: SegmentFile, _ body: (any File) throws -> Result) throws -> Result {
        if let file = newestFile(of: segment) { return try body(file) }
        let file = try open(segment)
        defer { file.close() }
        return try body(file)
    }
}
