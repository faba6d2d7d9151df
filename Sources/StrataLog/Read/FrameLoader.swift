import StrataModel
import StrataSystem

/// Reads single commits from places that an index names. Anything unexpected there is damage.
struct FrameLoader {
    let segment: SegmentFile
    let file: any File

    /// - Parameter range: from the commit's first frame to the next commit or the end of the frames.
    func commit(offset: UInt64, in range: Range<Int>) throws -> Commit {
        // The first of several frames is at most this large.
        let bytes = try file.read(
            count: min(range.count, LogFormat.maximumPieceBytes + LogFormat.frameHeaderBytes), at: range.lowerBound)
        let first = try header(in: bytes, at: range.lowerBound, offset: offset)
        if first.kind == .commit {
            let payload = try wholePayload(first, bytes, at: range.lowerBound)
            return Commit(offset: offset, id: first.id, time: first.time, chain: first.chain, payload: payload)
        }
        return try commitOfParts(first, in: range)
    }

    func firstHeader(offset: UInt64, in range: Range<Int>) throws -> FrameHeader {
        let bytes = try file.read(count: LogFormat.frameHeaderBytes, at: range.lowerBound)
        return try header(in: bytes, at: range.lowerBound, offset: offset)
    }

    /// Returns the header that has the commit's chain value: the only one, or that of the last part.
    func lastHeader(offset: UInt64, in range: Range<Int>) throws -> FrameHeader {
        var position = range.lowerBound
        var last = try firstHeader(offset: offset, in: range)
        while last.kind == .part, position + last.frameBytes + LogFormat.frameHeaderBytes <= range.upperBound {
            position += last.frameBytes
            let bytes = try file.read(count: LogFormat.frameHeaderBytes, at: position)
            let header = bytes.withUnsafeBytes {
                FrameHeader(valid: $0, salt: segment.header.salt, position: position)
            }
            // A mark or seal may follow the last part.
            guard let header, header.kind == .part, header.offset == offset else { break }
            last = header
        }
        return last
    }

    private func header(in bytes: [UInt8], at position: Int, offset: UInt64) throws -> FrameHeader {
        guard bytes.count >= LogFormat.frameHeaderBytes else {
            throw damaged(.impossibleLength, "The file ends inside a commit.", offset: offset, position: position)
        }
        let decoded = bytes.withUnsafeBytes { bytes in
            FrameHeader.decode(
                UnsafeRawBufferPointer(rebasing: bytes[..<LogFormat.frameHeaderBytes]), salt: segment.header.salt,
                position: position)
        }
        switch decoded {
        case .valid(let header) where header.offset == offset && (header.kind == .commit || header.kind == .part):
            return header
        case .valid:
            throw damaged(
                .brokenSequence, "The expected commit was replaced by another frame.", offset: offset,
                position: position)
        case .invalid(let error), .unsupported(let error):
            throw error.located(path: file.path, segment: segment.firstOffset, offset: offset)
        }
    }

    private func wholePayload(
        _ header: FrameHeader, _ bytes: [UInt8], at position: Int
    ) throws -> ArraySlice<UInt8> {
        let body = try checkedBody(header, bytes, at: position)
        // A body that was stored as it is needs no second copy.
        if header.codec == .stored { return bytes[body] }
        return try located(header) {
            let payload = try [UInt8](unsafeUninitializedCapacity: Int(header.rawLength)) { target, count in
                let target = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(target)[..<Int(header.rawLength)])
                try bytes.withUnsafeBytes { bytes in
                    try PayloadDecoder.decode(
                        UnsafeRawBufferPointer(rebasing: bytes[body]), codec: header.codec, into: target,
                        offset: header.offset, position: position)
                }
                count = target.count
            }
            return payload[...]
        }
    }

    private func commitOfParts(_ first: FrameHeader, in range: Range<Int>) throws -> Commit {
        let window = FileWindow(file, limit: range.upperBound)
        var scanner = SegmentScanner(segment.header, window, at: range.lowerBound, adopting: first)
        switch try scanner.next() {
        case .commit(let commit): return commit.commit
        case .stop(.invalid(let error)), .stop(.cannotFollow(let error)), .stop(.unsupported(let error)): throw error
        case .stop(.nothing), .mark, .seal:
            throw damaged(
                .brokenSequence, "The parts of a commit are incomplete.", offset: first.offset,
                position: range.lowerBound)
        }
    }

    /// Returns the range of the stored body in `bytes`, without padding.
    private func checkedBody(_ header: FrameHeader, _ bytes: [UInt8], at position: Int) throws -> Range<Int> {
        guard header.frameBytes <= bytes.count else {
            throw damaged(
                .impossibleLength, "The file ends inside a commit.", offset: header.offset, position: position)
        }
        let start = LogFormat.frameHeaderBytes
        try located(header) {
            try bytes.withUnsafeBytes { bytes in
                try PayloadDecoder.checkBody(
                    UnsafeRawBufferPointer(rebasing: bytes[start..<header.frameBytes]), of: header, position: position)
            }
        }
        return start..<start + Int(header.storedLength)
    }

    private func located<Result>(_ header: FrameHeader, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StrataError {
            throw error.located(path: file.path, segment: segment.firstOffset, offset: header.offset)
        }
    }

    private func damaged(
        _ code: StrataError.Code, _ message: StaticString, offset: UInt64, position: Int
    ) -> StrataError {
        StrataError(
            code, message,
            .init(segment: segment.firstOffset, offset: offset, position: UInt64(position), path: file.path))
    }
}
