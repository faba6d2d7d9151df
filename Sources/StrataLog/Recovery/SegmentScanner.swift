import StrataModel
import StrataSystem

/// Reads a segment frame by frame and checks everything, up to the first place that is not the frame that must come
/// next.
///
/// Recovery, cursors, `verify` and the indexes of closed segments all read with this type, so that they agree on what
/// is valid.
struct SegmentScanner {
    /// A whole commit. Its payload is valid until the scanner moves on.
    struct ScannedCommit {
        var header: FrameHeader
        /// The range of its frames, from the first to the last.
        var range: Range<Int>
        var payload: UnsafeRawBufferPointer
        /// The payload as its frame holds it, by the header's codec; empty for a commit of parts.
        var stored: UnsafeRawBufferPointer

        var commit: Commit {
            Commit(
                offset: header.offset, id: header.id, time: header.time, chain: header.chain,
                payload: ArraySlice(payload))
        }
    }

    enum Step {
        case commit(ScannedCommit)
        case mark
        /// The segment is closed; nothing follows.
        case seal(FrameHeader)
        /// The bytes here are not the next frame.
        case stop(Place)
    }

    /// Why a scan stopped (docs/format.md §10, column *place*).
    enum Place {
        case nothing
        case invalid(StrataError)
        case cannotFollow(StrataError)
        case unsupported(StrataError)
    }

    let segment: SegmentHeader
    let window: FileWindow
    /// Everything before this position is whole commits, marks and the seal.
    private(set) var position: Int
    private(set) var end: Position
    private(set) var time: Int64
    private let scratch = RawBuffer()
    /// True if the commit before the next one is unknown, so that the next one's chain value cannot be checked.
    private var adoptsChain = false

    init(_ segment: SegmentHeader, _ window: FileWindow) {
        self.segment = segment
        self.window = window
        position = segment.byteCount
        end = segment.before
        time = segment.timeBefore
    }

    /// Continues in the middle of a segment: the commit after `end` begins at `position`.
    init(_ segment: SegmentHeader, _ window: FileWindow, at position: Int, after end: Position, time: Int64) {
        self.segment = segment
        self.window = window
        self.position = position
        self.end = end
        self.time = time
    }

    /// Begins with the frame at `position`, regardless of what precedes it.
    init(_ segment: SegmentHeader, _ window: FileWindow, at position: Int, adopting frame: FrameHeader) {
        let isClosing = frame.kind == .seal || frame.kind == .mark
        self.init(
            segment, window, at: position,
            after: Position(offset: isClosing ? frame.offset : frame.offset - 1, chain: frame.chain),
            time: isClosing ? frame.time : Int64.min)
        adoptsChain = !isClosing
    }

    var nextOffset: UInt64 { end.offset + 1 }

    /// - Throws: only the operating system's errors; damage is a `Step`.
    mutating func next() throws -> Step {
        let bytes = try window.bytes(at: position, count: LogFormat.frameHeaderBytes)
        guard bytes.contains(where: { $0 != 0 }) else { return .stop(.nothing) }
        let header: FrameHeader
        switch decode(bytes, at: position) {
        case .valid(let decoded): header = decoded
        case .invalid(let error): return .stop(.invalid(located(error)))
        case .unsupported(let error): return .stop(.unsupported(located(error)))
        }
        if let error = sequenceFault(header) ?? placeFault(header) { return .stop(.cannotFollow(error)) }
        switch header.kind {
        case .commit: return try wholeCommit(header)
        case .part: return try commitOfParts(header)
        case .mark, .seal:
            // Neither has a body, and the checksum of no bytes is 0.
            guard header.bodyChecksum == 0 else {
                return .stop(
                    .cannotFollow(fault(.badChecksum, "A frame without a body has a checksum.", at: position)))
            }
            // The successor of an empty segment would have the same name.
            guard header.kind == .mark || end.offset >= segment.firstOffset else {
                return .stop(
                    .cannotFollow(
                        fault(.brokenSequence, "A seal closes a segment without commits.", at: position)))
            }
            position += LogFormat.frameHeaderBytes
            return header.kind == .mark ? .mark : .seal(header)
        }
    }

    private func decode(_ bytes: UnsafeRawBufferPointer, at position: Int) -> FrameHeader.Decoded {
        guard bytes.count == LogFormat.frameHeaderBytes else {
            return .invalid(
                fault(
                    .impossibleLength, "The file ends inside a frame's header.", at: position,
                    found: "\(bytes.count) bytes"))
        }
        return FrameHeader.decode(bytes, salt: segment.salt, position: position)
    }

    /// Commits begin below the maximum size of a segment, so that an index needs only 32 bits for each.
    private func placeFault(_ header: FrameHeader) -> StrataError? {
        guard header.kind == .commit || header.kind == .part, position >= LogFormat.maximumSegmentBytes else {
            return nil
        }
        return located(
            StrataError(
                .impossibleLength, "A commit begins after the maximum size of a segment.",
                .init(expected: "a position below \(LogFormat.maximumSegmentBytes)", found: "\(position)")))
    }

    private func sequenceFault(_ header: FrameHeader) -> StrataError? {
        let closing = header.kind == .seal || header.kind == .mark
        let expected = closing ? end.offset : nextOffset
        guard header.offset == expected else {
            return fault(
                .brokenSequence, "A frame does not have the next offset.", at: position,
                expected: "\(expected)", found: "\(header.offset)")
        }
        guard closing ? header.time == time : header.time >= time else {
            return fault(
                .brokenSequence, "A frame's time is before that of the previous commit.", at: position,
                expected: "\(time) or later", found: "\(header.time)")
        }
        guard !closing || header.chain == end.chain else {
            return fault(
                .brokenChain, "The chain value of a closing frame differs from that of the previous commit.",
                at: position, expected: hexadecimal(end.chain), found: hexadecimal(header.chain))
        }
        return nil
    }

    /// Returns the body of the frame at `place`, checked with its padding; or the reason why it is not whole.
    private func body(
        of header: FrameHeader, at place: Int
    ) throws -> Result<UnsafeRawBufferPointer, StrataError> {
        let count = LogFormat.padded(Int(header.storedLength))
        let padded = try window.bytes(at: place + LogFormat.frameHeaderBytes, count: count)
        guard padded.count == count else {
            return .failure(
                fault(
                    .impossibleLength, "The file ends inside a frame's body.", at: place, expected: "\(count) bytes",
                    found: "\(padded.count) bytes"))
        }
        do { try PayloadDecoder.checkBody(padded, of: header, position: place) } catch let error as StrataError {
            return .failure(located(error))
        }
        return .success(UnsafeRawBufferPointer(rebasing: padded[..<Int(header.storedLength)]))
    }

    private mutating func wholeCommit(_ header: FrameHeader) throws -> Step {
        let (stored, payload): (UnsafeRawBufferPointer, UnsafeRawBufferPointer)
        switch try body(of: header, at: position) {
        case .failure(let error): return .stop(.invalid(error))
        case .success(let body):
            stored = body
            if header.codec == .stored {
                payload = body
            } else {
                scratch.ensure(Int(header.rawLength))
                let target = UnsafeMutableRawBufferPointer(rebasing: scratch.bytes[..<Int(header.rawLength)])
                if let error = decodingFault(body, header, into: target, at: position) { return .stop(.invalid(error)) }
                payload = UnsafeRawBufferPointer(target)
            }
        }
        let chain = Chain.value(after: end.chain, offset: header.offset, time: header.time, payload: payload)
        if let error = chainFault(chain, header, at: position) { return .stop(.cannotFollow(error)) }
        return accept(header, payload: payload, stored: stored, through: position + header.frameBytes)
    }

    private mutating func commitOfParts(_ first: FrameHeader) throws -> Step {
        var header = first
        var place = position
        var running = CRC32C()
        var payloadBytes: UInt64?
        var next: UInt32 = 0
        while true {
            let piece: Range<Int>
            let prefix: PayloadDecoder.PartPrefix
            switch try body(of: header, at: place) {
            case .failure(let error): return .stop(.invalid(error))
            case .success(let body):
                prefix = PayloadDecoder.PartPrefix(body)
                guard let range = prefix.pieceRange, range.count == Int(header.rawLength), prefix.index == next,
                    prefix.payloadBytes == payloadBytes ?? prefix.payloadBytes
                else {
                    return .stop(
                        .cannotFollow(
                            fault(
                                .brokenSequence, "A part of a commit is out of order.", at: place,
                                expected: "part \(next)" + (payloadBytes.map { " of \($0) bytes" } ?? ""),
                                found: "part \(prefix.index) of \(prefix.payloadBytes) bytes, \(header.rawLength) here")
                        ))
                }
                piece = range
                if payloadBytes == nil {
                    payloadBytes = prefix.payloadBytes
                    scratch.ensure(Int(prefix.payloadBytes))
                    running = Chain.begin(
                        after: end.chain, offset: header.offset, time: header.time,
                        payloadBytes: Int(prefix.payloadBytes))
                }
                let target = UnsafeMutableRawBufferPointer(rebasing: scratch.bytes[piece])
                let stored = UnsafeRawBufferPointer(rebasing: body[LogFormat.partPrefixBytes...])
                if let error = decodingFault(stored, header, into: target, at: place) { return .stop(.invalid(error)) }
                running.update(UnsafeRawBufferPointer(target))
            }
            if let error = chainFault(running.value, header, at: place) { return .stop(.cannotFollow(error)) }
            place += header.frameBytes
            next += 1
            if next == prefix.count {
                let payload = UnsafeRawBufferPointer(rebasing: scratch.bytes[..<piece.upperBound])
                return accept(header, payload: payload, stored: .init(start: nil, count: 0), through: place)
            }
            switch try continuation(of: first, at: place) {
            case .success(let following): header = following
            case .failure(let error): return .stop(.invalid(error))
            }
        }
    }

    /// Returns the header of the next part; anything else leaves the commit incomplete.
    private func continuation(of first: FrameHeader, at place: Int) throws -> Result<FrameHeader, StrataError> {
        let bytes = try window.bytes(at: place, count: LogFormat.frameHeaderBytes)
        switch decode(bytes, at: place) {
        case .valid(let header)
        where header.kind == .part && header.offset == first.offset && header.id == first.id
            && header.time == first.time:
            return .success(header)
        case .invalid(let error), .unsupported(let error): return .failure(located(error))
        case .valid:
            return .failure(fault(.brokenSequence, "The parts of a commit are incomplete.", at: place))
        }
    }

    private func decodingFault(
        _ stored: UnsafeRawBufferPointer, _ header: FrameHeader, into target: UnsafeMutableRawBufferPointer,
        at place: Int
    ) -> StrataError? {
        do {
            try PayloadDecoder.decode(
                stored, codec: header.codec, into: target, offset: header.offset, position: place)
            return nil
        } catch {
            return located(
                error as? StrataError ?? StrataError(.malformed, "A frame's body cannot be decoded.", cause: error))
        }
    }

    private func chainFault(_ chain: UInt32, _ header: FrameHeader, at place: Int) -> StrataError? {
        guard chain != header.chain, !adoptsChain else { return nil }
        return fault(
            .brokenChain, "A commit's chain value does not follow from the commits before it.", at: place,
            expected: hexadecimal(chain), found: hexadecimal(header.chain))
    }

    private mutating func accept(
        _ header: FrameHeader, payload: UnsafeRawBufferPointer, stored: UnsafeRawBufferPointer, through limit: Int
    ) -> Step {
        let range = position..<limit
        position = limit
        end = Position(offset: header.offset, chain: header.chain)
        time = header.time
        adoptsChain = false
        return .commit(ScannedCommit(header: header, range: range, payload: payload, stored: stored))
    }

    private func fault(
        _ code: StrataError.Code, _ message: StaticString, at place: Int, expected: String? = nil, found: String? = nil
    ) -> StrataError {
        located(StrataError(code, message, .init(position: UInt64(place), expected: expected, found: found)))
    }

    private func located(_ error: StrataError) -> StrataError {
        error.located(path: window.file.path, segment: segment.firstOffset, offset: nextOffset)
    }
}

extension SegmentScanner {
    /// Returns true if everything from `place` on is zero.
    func restIsZero(from place: Int) throws -> Bool {
        try window.firstWord(from: place) { $0 != 0 } == nil
    }

    /// Returns true if a later frame proves that the frame expected here had been synced.
    func hasWitness() throws -> Bool {
        var place = position
        while true {
            let found = try window.firstWord(from: place) { UInt32(truncatingIfNeeded: $0) == LogFormat.frameMagic }
            guard let found else { return false }
            let bytes = try window.bytes(at: found, count: LogFormat.frameHeaderBytes)
            let header = FrameHeader(valid: bytes, salt: segment.salt, position: found)
            if header?.witnessedOffset ?? 0 >= nextOffset { return true }
            place = found + 8
        }
    }
}
