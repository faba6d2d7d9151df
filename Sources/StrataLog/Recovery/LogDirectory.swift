import StrataModel
import StrataSystem

/// The segments of a log, with their headers and seals checked against each other; commits have not been read.
struct LogDirectory {
    let identity: StoreIdentity
    let floor: FloorMark?
    /// In order. All but the last are closed; the last may be.
    let segments: [SegmentFile]
    /// Segments and bases that a trim or a compaction should have removed.
    let leftovers: [String]

    static func readIdentity(_ paths: StorePaths, _ files: any FileSystem) throws -> StoreIdentity {
        let bytes: [UInt8]
        do { bytes = try files.readAll(paths.identity, atMost: LogFormat.headerBlockMaximumBytes) } catch let error
            as StrataError where error.code == .notFound
        {
            throw StrataError(
                .notAStore, "This is not a Strata store: it has no STORE file.", .init(path: paths.store), cause: error)
        }
        return try StoreIdentity(decoding: bytes, path: paths.identity)
    }

    static func load(_ paths: StorePaths, _ files: any FileSystem) throws -> LogDirectory {
        let identity = try readIdentity(paths, files)
        // In this order: a trim in between leaves names of files that are gone, which is noticed. In the other order,
        // the floor would be too low for the names, which looks like damage.
        let named = try names(paths, files)
        let floor = try readFloor(paths, files, identity)
        let floorOffset = floor?.position.offset ?? 0
        var segments: [SegmentFile] = []
        var leftovers: [String] = []
        for (index, first) in named.enumerated() {
            // A segment whose successor begins at or before the floor's next offset is wholly below the floor.
            if index + 1 < named.count, named[index + 1] <= floorOffset + 1 {
                leftovers.append(paths.segment(first))
                continue
            }
            let isNewest = index == named.count - 1
            segments.append(try readSegment(paths.segment(first), named: first, identity, files, isNewest: isNewest))
        }
        try checkNeighbours(segments, floor)
        leftovers += try bases(paths, files).filter { !(floor?.hasBase == true && $0 == floorOffset) }.map(paths.base)
        if let floor, floor.hasBase, try !files.exists(paths.base(floorOffset)) {
            throw StrataError(
                .missingSegment, "The base that replaces the history up to the floor is missing.",
                .init(offset: floorOffset, path: paths.base(floorOffset)))
        }
        return LogDirectory(identity: identity, floor: floor, segments: segments, leftovers: leftovers)
    }

    static func names(_ paths: StorePaths, _ files: any FileSystem) throws -> [UInt64] {
        do {
            return try files.list(paths.log).compactMap(LogFormat.firstOffset(ofSegmentNamed:)).sorted()
        } catch let error as StrataError where error.code == .notFound {
            return []
        }
    }

    static func bases(_ paths: StorePaths, _ files: any FileSystem) throws -> [UInt64] {
        try files.list(paths.log).compactMap(LogFormat.horizon(ofBaseNamed:)).sorted()
    }

    private static func readFloor(
        _ paths: StorePaths, _ files: any FileSystem, _ identity: StoreIdentity
    ) throws -> FloorMark? {
        guard let floor = try FloorMark.read(paths, files) else { return nil }
        guard floor.storeID == identity.storeID else {
            throw foreign(paths.floor, nil, expected: identity.storeID, found: floor.storeID)
        }
        return floor
    }

    private static func readSegment(
        _ path: String, named first: UInt64, _ identity: StoreIdentity, _ files: any FileSystem, isNewest: Bool
    ) throws -> SegmentFile {
        let file = try files.open(path, .read)
        defer { file.close() }
        let header: SegmentHeader
        do { header = try SegmentHeader.read(file) } catch let error as StrataError {
            throw error.located(segment: first)
        }
        guard header.storeID == identity.storeID else {
            throw foreign(path, first, expected: identity.storeID, found: header.storeID)
        }
        guard header.firstOffset == first else {
            throw misnamed(path, first, header)
        }
        if header.form == .blocks {
            return SegmentFile(path: path, header: header, seal: try SealedSegment.readSeal(file, header))
        }
        let seal = try findSeal(file, header)
        if seal == nil && !isNewest {
            throw StrataError(
                .unsealedSegment, "A segment with a successor is not closed.",
                .init(segment: first, path: path, expected: "a seal frame at the end"))
        }
        return SegmentFile(path: path, header: header, seal: seal)
    }

    static func misnamed(_ path: String, _ first: UInt64, _ header: SegmentHeader) -> StrataError {
        StrataError(
            .brokenSequence, "The first offset in a segment's header differs from the segment's file name.",
            .init(segment: first, path: path, expected: "\(first)", found: "\(header.firstOffset)"))
    }

    static func foreign(
        _ path: String, _ segment: UInt64?, expected: Identifier, found: Identifier
    ) -> StrataError {
        StrataError(
            .foreignSegment, "The file belongs to another store.",
            .init(segment: segment, path: path, expected: "store \(expected)", found: "store \(found)"))
    }

    /// Returns the seal if the last nonzero bytes are one. Whether it follows from the commits is checked by a scan.
    static func findSeal(_ file: any File, _ header: SegmentHeader) throws -> SegmentFile.Seal? {
        guard let last = try lastNonzeroByte(file) else { return nil }
        let position = last & ~(LogFormat.frameAlignment - 1) + LogFormat.frameAlignment - LogFormat.frameHeaderBytes
        guard position >= header.byteCount else { return nil }
        let bytes = try file.read(count: LogFormat.frameHeaderBytes, at: position)
        let frame = bytes.withUnsafeBytes { FrameHeader(valid: $0, salt: header.salt, position: position) }
        guard let frame, frame.kind == .seal else { return nil }
        let possible = header.firstOffset - 1...Version.maximumOffset
        guard possible.contains(frame.offset) else {
            throw StrataError(
                .brokenSequence, "A seal names an invalid last offset for its segment.",
                .init(
                    segment: header.firstOffset, position: UInt64(position), path: file.path,
                    expected: "\(possible.lowerBound) to \(possible.upperBound)", found: "\(frame.offset)"))
        }
        return SegmentFile.Seal(
            end: Position(offset: frame.offset, chain: frame.chain), time: frame.time, position: position)
    }

    /// Searches from the end, where a closed segment has at most zeros that were written ahead.
    private static func lastNonzeroByte(_ file: any File) throws -> Int? {
        var limit = try file.size()
        // A short piece first: closed segments are truncated right after their seal.
        var pieceBytes = 4_096
        while limit > 0 {
            let count = min(limit, pieceBytes)
            let piece = try file.read(count: count, at: limit - count)
            if let index = lastNonzero(piece) { return limit - count + index }
            limit -= count
            pieceBytes = 1 << 20
        }
        return nil
    }

    private static func lastNonzero(_ bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBytes { bytes in
            var limit = bytes.count
            // Whole words first: a segment may end in megabytes of zeros.
            while limit >= 8, bytes.loadUnaligned(fromByteOffset: limit - 8, as: UInt64.self) == 0 { limit -= 8 }
            while limit > 0, bytes[limit - 1] == 0 { limit -= 1 }
            return limit > 0 ? limit - 1 : nil
        }
    }

    private static func checkNeighbours(_ segments: [SegmentFile], _ floor: FloorMark?) throws {
        if let first = segments.first { try checkFirst(first, after: floor?.position ?? .start) }
        for (left, right) in zip(segments, segments.dropFirst()) {
            if let seal = left.seal { try checkNeighbour(right, after: seal.end, time: seal.time) }
        }
    }

    /// - Parameter start: the end of the discarded history, or the start of the log.
    static func checkFirst(_ first: SegmentFile, after start: Position) throws {
        if first.firstOffset > start.offset + 1 { throw missing(before: first, expected: start.offset + 1) }
        guard first.firstOffset == start.offset + 1, first.header.chainBefore != start.chain else { return }
        throw StrataError(
            .brokenChain, "The first segment does not continue the compacted history.",
            .init(
                segment: first.firstOffset, path: first.path, expected: hexadecimal(start.chain),
                found: hexadecimal(first.header.chainBefore)))
    }

    /// - Parameters:
    ///   - end: the end of the preceding segment.
    ///   - time: the time of its last commit.
    static func checkNeighbour(_ right: SegmentFile, after end: Position, time: Int64) throws {
        if right.firstOffset > end.offset + 1 { throw missing(before: right, expected: end.offset + 1) }
        guard right.firstOffset == end.offset + 1 else {
            throw StrataError(
                .brokenSequence, "A segment begins before its predecessor ends.",
                .init(
                    segment: right.firstOffset, path: right.path, expected: "\(end.offset + 1)",
                    found: "\(right.firstOffset)"))
        }
        guard right.header.chainBefore == end.chain, right.header.timeBefore == time else {
            throw StrataError(
                .brokenChain, "A segment does not continue the history of its predecessor.",
                .init(
                    segment: right.firstOffset, offset: end.offset, path: right.path,
                    expected: hexadecimal(end.chain), found: hexadecimal(right.header.chainBefore)))
        }
    }

    /// Throws if the log does not reach its floor.
    func checkEnd(_ end: Position, _ paths: StorePaths) throws {
        if let floor, end.offset < floor.position.offset { throw Self.endsBeforeFloor(end, floor, paths) }
    }

    static func endsBeforeFloor(_ end: Position, _ floor: FloorMark, _ paths: StorePaths) -> StrataError {
        StrataError(
            .missingSegment, "The log ends before its floor.",
            .init(
                segment: end.offset + 1, path: paths.log, expected: "commits up to \(floor.position.offset)",
                found: "commit \(end.offset) as the last one"))
    }

    private static func missing(before segment: SegmentFile, expected: UInt64) -> StrataError {
        StrataError(
            .missingSegment, "A segment is missing.",
            .init(
                segment: expected, path: segment.path, expected: "a segment that begins at \(expected)",
                found: "one that begins at \(segment.firstOffset)"))
    }
}
