import StrataModel
import StrataSystem

/// Reads all files of a log in order and notes the damage, from the first place to the last.
///
/// Some damage can be mended without loss, because the original content is certain: the survey continues after it as if
/// it had been mended. At the first other damage, the log has to be cut.
struct DamageScan {
    /// The place where a log has to be cut, so that everything before it is whole.
    enum Cut: Equatable {
        /// No part of the log can be kept as a log.
        case everything
        /// The whole segment leaves, and all segments after it.
        case before(segment: Int)
        /// Only the first `keptBytes` of the segment stay.
        case within(segment: Int, keptBytes: Int)
        /// The segment, which is sealed, is rewritten with its first commits only.
        case rewritten(segment: Int, SealedRewrite)
    }

    /// A repair without loss, because the original content is certain.
    enum RepairStep: Equatable {
        /// These bytes belong at the beginning: the preceding segment, the file's name and a checksum prove it.
        case header(segment: Int, [UInt8])
        /// A seal frame belongs at the end of the commits; the segment's successor proves it.
        case seal(segment: Int, SegmentFile.Seal)
        /// The segment is sealed, and the data derived from its commits has to be rebuilt.
        case rewritten(segment: Int, SealedRewrite)
        /// `FLOOR`, if it exists, is removed: the segments begin at 1.
        case noFloor
        /// `FLOOR` is rewritten with the mark after which the segments begin.
        case floor(FloorMark)
    }

    struct Segment {
        let path: String
        /// The first offset according to the file's name.
        let name: UInt64
        var fileBytes = 0
    }

    private static let attempts = 3

    let paths: StorePaths
    let files: any FileSystem
    var report = VerificationReport()
    var segments: [Segment] = []
    var cut: Cut?
    var mends: [RepairStep] = []
    /// The last commit before the cut.
    var keptEnd: Position = .start
    var floor: FloorMark?
    /// The files outside the log that prove how far it reached.
    var witnesses: [EndWitness] = []

    var extent = DamageExtent()
    var storeID: Identifier?
    var isFloorKnown = true
    /// The end that the next segment must continue; nil if it is unknown.
    var expected: (end: Position, time: Int64)?
    // Names that were interned below the floor are gone, so that later commits cannot be judged by themselves.
    var names: NameTable?
    /// The largest offset that anything valid names.
    var namedOffset: UInt64 = 0

    init(_ paths: StorePaths, _ files: any FileSystem) {
        self.paths = paths
        self.files = files
    }

    /// - Throws: the operating system's errors, and `.notAStore`; damage is noted.
    static func run(
        at paths: StorePaths, _ files: any FileSystem, _ progress: (Int, Int) -> Void
    ) throws -> DamageScan {
        // A trim, or a program that begins the next segment, may remove a file during the scan.
        try LogReader.retrying(.notFound) {
            var survey = DamageScan(paths, files)
            try survey.run(progress)
            return survey
        }
    }

    private mutating func run(_ progress: (Int, Int) -> Void) throws {
        witnesses = try EndWitness.all(paths, files)
        try readIdentity()
        // Names first: a trim in between leaves names of files that are gone, which is noticed.
        let listed = try LogDirectory.names(paths, files)
        try readFloor()
        let offset = floor?.position.offset ?? 0
        for (index, name) in listed.enumerated() {
            // A segment whose successor begins at or before the floor's next offset is a leftover of a trim.
            if index + 1 < listed.count, offset > 0, listed[index + 1] <= offset + 1 { continue }
            segments.append(Segment(path: paths.segment(name), name: name))
        }
        if segments.isEmpty {
            note(StrataError(.missingSegment, "The store has no segments.", .init(path: paths.log)), cut: .everything)
        }
        var total = 0
        for index in segments.indices {
            let file = try files.open(segments[index].path, .read)
            segments[index].fileBytes = try file.size()
            total += segments[index].fileBytes
            file.close()
        }
        total += try floor.map(baseBytes) ?? 0
        names = floor == nil && isFloorKnown ? NameTable() : nil
        try readBase()
        expected = isFloorKnown ? (floor?.position ?? .start, floor?.time ?? Int64.min) : nil
        for index in segments.indices.dropLast() { try examine(index, progress, total) }
        if !segments.isEmpty { try examineNewest(progress, total) }
        checkEndIsWhole()
        finish()
    }

    /// A writer may just be writing the bytes that are read here; only damage that persists counts.
    private mutating func examineNewest(_ progress: (Int, Int) -> Void, _ total: Int) throws {
        let before = self
        for attempt in 1...Self.attempts {
            self = before
            try examine(segments.count - 1, progress, total)
            checkFloorIsReached()
            if report.damage == nil || before.report.damage != nil || attempt == Self.attempts { return }
        }
    }

    private mutating func finish() {
        guard report.damage != nil else { return }
        // Without the commits up to the floor, nothing after it can be read.
        if cut != nil, let floor, keptEnd.offset < floor.position.offset { cut = .everything }
        // A segment that is read only up to its damage seems to end with an unfinished commit.
        report.unfinishedTail = nil
        let standing = extent.standingOffsets
        namedOffset = max(namedOffset, standing.ranges.last?.upperBound ?? 0)
        // Commits that are stored under another name are not missing.
        extent.missingOffsets = OffsetRanges(extent.missingOffsets.ranges.flatMap { standing.missing(in: $0).ranges })
        if namedOffset > report.end.offset {
            extent.lostOffsets = standing.missing(in: report.end.offset + 1...namedOffset)
        }
        report.extent = extent
    }

    /// - Parameter cut: nil if the damage can be mended without loss.
    mutating func note(_ error: StrataError, cut: Cut?) {
        if report.damage == nil {
            report.damage = error
        } else {
            extent.furtherDamage.append(error)
        }
        if let cut, self.cut == nil { self.cut = cut }
    }

    // MARK: Segments

    private mutating func examine(_ index: Int, _ progress: (Int, Int) -> Void, _ total: Int) throws {
        let segment = segments[index]
        let file = try files.open(segment.path, .read)
        defer { file.close() }
        let done = report.fileBytes
        report.fileBytes += segment.fileBytes
        let window = FileWindow(file, limit: try file.size())
        do {
            let header = try checkedHeader(try readHeader(file, index), index)
            if report.damage == nil { report.segmentCount += 1 }
            switch header.form {
            case .frames: try scan(header, in: window, of: index) { progress(done + $0, total) }
            case .blocks: try scanBlocks(header, in: window, of: index) { progress(done + $0, total) }
            }
        } catch let error as StrataError where error.isDamage {
            noteHeader(error, index)
            try searchBehindHeader(file, window, index)
        }
        progress(report.fileBytes, total)
    }

    private mutating func readHeader(_ file: any File, _ index: Int) throws -> SegmentHeader {
        do { return try SegmentHeader.read(file) } catch let error as StrataError {
            let error = error.located(segment: segments[index].name)
            guard error.isDamage, error.code != .newerFormat, cut == nil, let certain = try certainHeader(file, index)
            else { throw error }
            note(error, cut: nil)
            extent.bytes.append(.init(path: segments[index].path, range: 0..<certain.bytes.count))
            mends.append(.header(segment: index, certain.bytes))
            return certain.header
        }
    }

    /// Returns the original of a damaged header. Everything in it is known except the segment's id and former size.
    /// These are confirmed by the checksum, or by the frame or block after the header, which was made with that
    /// checksum.
    private func certainHeader(_ file: any File, _ index: Int) throws -> (header: SegmentHeader, bytes: [UInt8])? {
        guard let storeID, let expected, segments[index].name == expected.end.offset + 1 else { return nil }
        let head = try file.read(count: LogFormat.segmentHeaderBytes, at: 0)
        guard head.count == LogFormat.segmentHeaderBytes, let segmentID = SegmentHeader.segmentID(in: head) else {
            return nil
        }
        let frames = try SegmentHeader.make(
            storeID: storeID, segmentID: segmentID, after: expected.end, timeBefore: expected.time)
        let blocks = try frames.header.sealed(frameBytes: SegmentHeader.frameBytes(in: head))
        let certain = try [frames, blocks].first { certain in
            if head[HeaderBlock.checksumRange].elementsEqual(certain.bytes[HeaderBlock.checksumRange]) { return true }
            // If only the checksum decayed, the following frame or block was made with the right one.
            let isOnlyChecksum = zip(head, certain.bytes).enumerated()
                .allSatisfy { HeaderBlock.checksumRange.contains($0) || $1.0 == $1.1 }
            return try isOnlyChecksum && beginsWithPiece(file, certain.header)
        }
        if let certain { return certain }
        // If one byte of the unknown fields decayed, the checksum leaves no choice, and what follows was made with it.
        let unknown = [SegmentHeader.segmentIDRange, SegmentHeader.frameBytesRange]
        var blocksBytes = blocks.bytes
        blocksBytes.replaceSubrange(unknown[1], with: head[unknown[1]])
        for (bytes, places) in [(frames.bytes, [unknown[0]]), (blocksBytes, unknown)] {
            guard let bytes = HeaderBlock.changingOneByte(of: bytes, in: places, toFit: head) else { continue }
            let header = try SegmentHeader(decoding: bytes, path: file.path)
            if try beginsWithPiece(file, header) { return (header, bytes) }
        }
        return nil
    }

    /// Returns true if a valid frame or block follows the header, according to its form, or if nothing does.
    private func beginsWithPiece(_ file: any File, _ header: SegmentHeader) throws -> Bool {
        let bytes = try file.read(count: LogFormat.frameHeaderBytes, at: header.byteCount)
        guard bytes.contains(where: { $0 != 0 }) else { return true }
        guard bytes.count == LogFormat.frameHeaderBytes else { return false }
        return bytes.withUnsafeBytes { bytes in
            if header.form == .frames {
                return FrameHeader(valid: bytes, salt: header.salt, position: header.byteCount) != nil
            }
            let head = UnsafeRawBufferPointer(rebasing: bytes[..<BlockHeader.byteCount])
            return (try? BlockHeader(decoding: head, salt: header.salt, position: header.byteCount)) != nil
        }
    }

    /// Returns the header, if the segment is the one that its name and its predecessor promise.
    private mutating func checkedHeader(_ header: SegmentHeader, _ index: Int) throws -> SegmentHeader {
        let segment = segments[index]
        if storeID == nil { storeID = header.storeID }
        if let storeID, header.storeID != storeID {
            extent.strays.append(.init(path: segment.path, firstOffset: header.firstOffset, isForeign: true))
            throw LogDirectory.foreign(segment.path, segment.name, expected: storeID, found: header.storeID)
        }
        guard header.firstOffset == segment.name else {
            extent.strays.append(.init(path: segment.path, firstOffset: header.firstOffset, isForeign: false))
            throw LogDirectory.misnamed(segment.path, segment.name, header)
        }
        guard let expected else { return header }
        if header.firstOffset > expected.end.offset + 1 {
            extent.missingOffsets.insert(expected.end.offset + 1...header.firstOffset - 1)
        }
        let file = SegmentFile(path: segment.path, header: header, seal: nil)
        if index == 0 {
            try LogDirectory.checkFirst(file, after: expected.end)
        } else {
            try LogDirectory.checkNeighbour(file, after: expected.end, time: expected.time)
        }
        return header
    }

    private mutating func noteHeader(_ error: StrataError, _ index: Int) {
        // Commits after a gap cannot be reached, and without its first commits nothing of a log can be read.
        note(error, cut: index == 0 ? .everything : .before(segment: index))
        expected = nil
        if segments[index].name <= Version.maximumOffset { namedOffset = max(namedOffset, segments[index].name - 1) }
    }

    /// Looks for whole commits in a segment that does not belong to the log according to its header.
    private mutating func searchBehindHeader(_ file: any File, _ window: FileWindow, _ index: Int) throws {
        if let header = try? SegmentHeader.read(file) {
            guard header.storeID == storeID else { return }
            let found = try find(header, window)
            take(found, index)
            if header.firstOffset == segments[index].name { expected = found.seal.map { ($0.end, $0.time) } }
            return
        }
        let head = try file.read(count: LogFormat.segmentHeaderBytes, at: 0)
        if !head.isEmpty { extent.bytes.append(.init(path: segments[index].path, range: 0..<head.count)) }
        for salt in HeaderBlock.possibleChecksums(of: head) {
            for form in [SegmentHeader.Form.frames, .blocks] {
                let header = SegmentHeader(
                    guessing: storeID ?? .zero, firstOffset: segments[index].name, form: form, salt: salt)
                let found = try find(header, window)
                guard found.namedOffset > 0 else { continue }
                expected = found.seal.map { ($0.end, $0.time) }
                return take(found, index)
            }
        }
        if window.limit > head.count {
            extent.bytes.append(.init(path: segments[index].path, range: head.count..<window.limit))
        }
    }

    private func find(_ header: SegmentHeader, _ window: FileWindow) throws -> FoundBehind {
        if header.form == .blocks { return try BlockWalk(header, window).found() }
        var search = FrameSearch(header, window)
        try search.run(from: header.byteCount, isFault: false)
        return search.found
    }

    mutating func take(_ found: FoundBehind, _ index: Int) {
        extent.bytes += found.badBytes.map { .init(path: segments[index].path, range: $0) }
        for range in found.standing.ranges where range.upperBound > report.end.offset {
            extent.standingOffsets.insert(max(range.lowerBound, report.end.offset + 1)...range.upperBound)
        }
        namedOffset = max(namedOffset, found.namedOffset)
    }
}
