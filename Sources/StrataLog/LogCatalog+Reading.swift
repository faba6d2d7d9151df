import StrataModel
import StrataSystem

extension LogCatalog {
    /// The commit at exactly this offset.
    func commit(at offset: UInt64) throws -> Commit? {
        guard offset > 0, let segment = try segment(containing: offset) else { return nil }
        return try reading(segment) { segment in
            if let sealed = try sealed(segment) { return try sealed.commit(at: offset) }
            guard let range = try withIndex(of: segment, { $0.range(of: offset) }) else { return nil }
            return try withFile(of: segment) { file in
                try FrameLoader(segment: segment, file: file).commit(offset: offset, in: range)
            }
        }
    }

    func chain(at offset: UInt64) throws -> UInt32 {
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
                .outOfRange, "There is no commit at this offset.",
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

    func firstOffset(notBefore time: Int64) throws -> UInt64? {
        try requireOpen()
        let (segments, end, endTime, floor) = read { ($0.segments, $0.end, $0.endTime, $0.floor.position.offset) }
        guard let endTime, endTime >= time, end.offset > floor else { return nil }
        // The last segment whose predecessor ended before `time` is where the first such commit is.
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

    func touches(zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        let (segments, end) = try segmentsWithTouches(after: offset, limit: limit)
        var page = TouchPage(touches: [], readThrough: max(end, offset), moreComing: false)
        for segment in segments where segment.seal?.end.offset ?? UInt64.max > offset {
            var found: [ZoneTouch] = []
            let isComplete = try reading(segment) {
                try collect(zone, in: $0, after: offset, limit: limit - page.touches.count, into: &found)
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

    /// As ``EventLog/touches(record:in:after:limit:)``; sealed segments that do not have the record cost a look at
    /// their filter.
    func touches(record name: [UInt8], in zone: UInt64, after offset: UInt64, limit: Int) throws -> TouchPage {
        let (segments, end) = try segmentsWithTouches(after: offset, limit: limit)
        var page = TouchPage(touches: [], readThrough: max(end, offset), moreComing: false)
        for segment in segments where segment.seal?.end.offset ?? UInt64.max > offset {
            guard try reading(segment, { try sealed($0)?.mayTouch(name, in: zone) ?? true }) else { continue }
            var (after, isComplete) = (offset, false)
            while !isComplete {
                var found: [ZoneTouch] = []
                isComplete = try reading(segment) {
                    found = []
                    return try collect(zone, in: $0, after: after, limit: TouchPage.pieceCount, into: &found)
                }
                page.touches += found.filter { $0.offset <= end && $0.isOf(record: name) }
                after = found.last?.offset ?? after
                if page.touches.count >= limit, !isComplete || segment.firstOffset != segments.last?.firstOffset {
                    page.readThrough = min(after, end)
                    page.moreComing = true
                    return page
                }
            }
        }
        return page
    }

    private func segmentsWithTouches(after offset: UInt64, limit: Int) throws -> ([SegmentFile], end: UInt64) {
        guard limit > 0 else {
            throw StrataError(.invalidArgument, "A page of touches has at least one.", .init(found: "\(limit)"))
        }
        try requireOpen()
        let (segments, end, floor) = read { ($0.segments, $0.end.offset, $0.floor.position.offset) }
        guard offset >= floor else {
            throw StrataError(
                .outOfRange, "The history up to the floor has been let go.",
                .init(offset: offset, path: paths.log, expected: "\(floor) or later", found: "\(offset)"))
        }
        return (segments, end)
    }

    /// As ``ChangeList/collect(after:limit:into:)``, of one zone in one segment.
    private func collect(
        _ zone: UInt64, in segment: SegmentFile, after offset: UInt64, limit: Int, into touches: inout [ZoneTouch]
    ) throws -> Bool {
        if let sealed = try sealed(segment) {
            return try sealed.collect(zone: zone, after: offset, limit: limit, into: &touches)
        }
        // A copy, which shares the list's bytes, so that nobody waits for the lock while it is read.
        let list = try withIndex(of: segment) { $0.changeList(of: zone) }
        return try list?.collect(after: offset, limit: limit, into: &touches) ?? true
    }

    /// How often a segment may be rewritten while one call looks at it.
    private static let replacements = 8

    /// Runs `body` with a segment as it is now: it may be rewritten meanwhile, by this process or another, or let go.
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

    /// Runs `body`; if the segment's file is gone because its history was let go meanwhile, by this process or another,
    /// that is what the error says.
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
            .outOfRange, "The history up to the floor has been let go.",
            .init(
                offset: offset, path: paths.log, expected: "an offset behind \(floor)", found: "\(offset)"))
    }

    /// Runs `body` with the segment's file: closed ones are opened for the occasion.
    private func withFile<Result>(of segment: SegmentFile, _ body: (any File) throws -> Result) throws -> Result {
        if let file = newestFile(of: segment) { return try body(file) }
        let file = try open(segment)
        defer { file.close() }
        return try body(file)
    }
}
