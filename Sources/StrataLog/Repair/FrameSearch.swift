import StrataModel

/// The findings after a damaged place.
struct FoundBehind {
    /// The offsets of whole commits.
    var standing = OffsetRanges()
    var badBytes: [Range<Int>] = []
    /// The largest offset that a valid header names.
    var namedOffset: UInt64 = 0
    /// The end of the segment, if its seal is whole.
    var seal: SegmentFile.Seal?
}

/// Finds the whole frames after a damaged place of a segment of frames: those whose header checksum matches the segment
/// and the position, which nothing else can match.
struct FrameSearch {
    let segment: SegmentHeader
    let window: FileWindow
    private(set) var found = FoundBehind()

    init(_ segment: SegmentHeader, _ window: FileWindow) {
        self.segment = segment
        self.window = window
    }

    /// - Parameters:
    ///   - position: the start of the damage.
    ///   - isFault: true if a valid frame at `position` is itself the damage.
    mutating func run(from position: Int, isFault: Bool) throws {
        var bad = position
        var place = position
        if isFault, let header = try frame(at: position) {
            found.namedOffset = max(found.namedOffset, header.offset)
            place += LogFormat.frameAlignment
        }
        while let start = try window.firstWord(
            from: place, where: { UInt32(truncatingIfNeeded: $0) == LogFormat.frameMagic })
        {
            place = start + LogFormat.frameAlignment
            guard let header = try frame(at: start), header.offset > 0 else { continue }
            found.namedOffset = max(found.namedOffset, header.offset)
            let end = try follow(header, from: start)
            guard end > start else { continue }
            if start > bad { found.badBytes.append(bad..<start) }
            (bad, place) = (end, end)
        }
        let rest = SegmentScanner(segment, window, at: bad, after: .start, time: 0)
        let limit = try rest.lastNonzero()
        if limit > bad { found.badBytes.append(bad..<min(limit, window.limit)) }
    }

    /// Reads whole commits from `position` on and returns the position after them.
    private mutating func follow(_ header: FrameHeader, from position: Int) throws -> Int {
        var scanner = SegmentScanner(segment, window, at: position, adopting: header)
        while true {
            switch try scanner.next() {
            case .commit(let commit):
                found.standing.insert(commit.header.offset)
                found.namedOffset = max(found.namedOffset, commit.header.offset)
            case .mark: continue
            case .seal(let header):
                found.seal = SegmentFile.Seal(
                    end: Position(offset: header.offset, chain: header.chain), time: header.time,
                    position: scanner.position - LogFormat.frameHeaderBytes)
                return scanner.position
            case .stop: return scanner.position
            }
        }
    }

    private func frame(at position: Int) throws -> FrameHeader? {
        let bytes = try window.bytes(at: position, count: LogFormat.frameHeaderBytes)
        let header = FrameHeader(valid: bytes, salt: segment.salt, position: position)
        return header.flatMap { $0.offset <= Version.maximumOffset ? $0 : nil }
    }
}
