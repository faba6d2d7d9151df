import StrataModel
import StrataSystem

/// Reads single commits from places that an index names. Anything unexpected there is damage.
struct FrameLoader {
    let segment: SegmentFile
    let file: any File

    /// - Parameter range: from the commit's first frame to the next commit or the end of the frames.
    func commit(offset: UInt64, in range: Range<Int>) throws -> Commit {
        let bytes = try file.read(count: range.count, at: range.lowerBound)
        let first = try header(in: bytes, at: 0, range.lowerBound, offset: offset)
        if first.kind == .commit {
            let payload = try wholePayload(first, bytes, at: range.lowerBound)
            return Commit(offset: offset, id: first.id, time: first.time, chain: first.chain, payload: payload)
        }
        return try commitOfParts(first, bytes, at: range.lowerBound)
    }

    func firstHeader(offset: UInt64, in range: Range<Int>) throws -> FrameHeader {
        let bytes = try file.read(count: LogFormat.frameHeaderBytes, at: range.lowerBound)
        return try header(in: bytes, at: 0, range.lowerBound, offset: offset)
    }

    /// Returns the header that has the commit's chain value: the only one, or that of the last part.
    func lastHeader(offset: UInt64, in range: Range<Int>) throws -> FrameHeader {
        var position = range.lowerBound
        var last = try firstHeader(offset: offset, in: range)
        while last.kind == .part, position + last.frameBytes + LogFormat.frameHeaderBytes <= range.upperBound {
            position += last.frameBytes
            let bytes = try file.read(count: LogFormat.frameHeaderBytes, at: position)
            let decoded = bytes.withUnsafeBytes {
                FrameHeader.decode($0, salt: segment.header.salt, position: position)
            }
            // A mark or seal may follow the last part.
            guard case .valid(let header) = decoded, header.kind == .part, header.offset == offset else { break }
            last = header
        }
        return last
    }

    private func header(
        in bytes: [UInt8], at place: Int, _ position: Int, offset: UInt64
    ) throws -> FrameHeader {
        guard place + LogFormat.frameHeaderBytes <= bytes.count else {
            throw damaged(
                .impossibleLength, "The file ends inside a commit.", offset: offset, position: position + place)
        }
        let decoded = bytes.withUnsafeBytes { bytes in
            FrameHeader.decode(
                UnsafeRawBufferPointer(rebasing: bytes[place..<place + LogFormat.frameHeaderBytes]),
                salt: segment.header.salt, position: position + place)
        }
        switch decoded {
        case .valid(let header) where header.offset == offset && (header.kind == .commit || header.kind == .part):
            return header
        case .valid:
            throw damaged(
                .brokenSequence, "The expected commit was replaced by another frame.", offset: offset,
                position: position + place)
        case .invalid(let error), .unsupported(let error):
            throw error.located(path: file.path, segment: segment.firstOffset, offset: offset)
        }
    }

    private func wholePayload(
        _ header: FrameHeader, _ bytes: [UInt8], at position: Int
    ) throws -> ArraySlice<UInt8> {
        let body = try checkedBody(header, bytes, at: 0, position)
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

    private func commitOfParts(_ first: FrameHeader, _ bytes: [UInt8], at position: Int) throws -> Commit {
        var header = first
        var place = 0
        var payload: [UInt8] = []
        var index: UInt32 = 0
        var payloadBytes: UInt64?
        while true {
            let body = try checkedBody(header, bytes, at: place, position)
            let prefix = bytes.withUnsafeBytes {
                PayloadDecoder.PartPrefix(UnsafeRawBufferPointer(rebasing: $0[body]))
            }
            guard let piece = prefix.pieceRange, prefix.index == index, piece.lowerBound == payload.count,
                piece.count == Int(header.rawLength), header.kind == .part, header.id == first.id,
                prefix.payloadBytes == payloadBytes ?? prefix.payloadBytes
            else {
                throw damaged(
                    .brokenSequence, "The parts of a commit are incomplete.", offset: first.offset,
                    position: position + place)
            }
            if index == 0 { payload.reserveCapacity(Int(prefix.payloadBytes)) }
            payloadBytes = prefix.payloadBytes
            payload += try located(header) {
                try [UInt8](unsafeUninitializedCapacity: piece.count) { target, count in
                    try bytes.withUnsafeBytes { bytes in
                        try PayloadDecoder.decode(
                            UnsafeRawBufferPointer(rebasing: bytes[body.dropFirst(LogFormat.partPrefixBytes)]),
                            codec: header.codec,
                            into: UnsafeMutableRawBufferPointer(
                                rebasing: UnsafeMutableRawBufferPointer(target)[..<piece.count]),
                            offset: header.offset, position: position + place)
                    }
                    count = piece.count
                }
            }
            index += 1
            if index == prefix.count { break }
            place += header.frameBytes
            header = try self.header(in: bytes, at: place, position, offset: first.offset)
        }
        return Commit(
            offset: first.offset, id: first.id, time: first.time, chain: header.chain, payload: payload[...])
    }

    /// Returns the range of the stored body in `bytes`, without padding.
    private func checkedBody(
        _ header: FrameHeader, _ bytes: [UInt8], at place: Int, _ position: Int
    ) throws -> Range<Int> {
        guard place + header.frameBytes <= bytes.count else {
            throw damaged(
                .impossibleLength, "The file ends inside a commit.", offset: header.offset, position: position + place)
        }
        let start = place + LogFormat.frameHeaderBytes
        try located(header) {
            try bytes.withUnsafeBytes { bytes in
                try PayloadDecoder.checkBody(
                    UnsafeRawBufferPointer(rebasing: bytes[start..<place + header.frameBytes]), of: header,
                    position: position + place)
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
