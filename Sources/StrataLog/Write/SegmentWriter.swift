import StrataModel
import StrataSystem

/// The writing end of a log: the segment that grows, and where the next frame goes. Used under the log's writing lock.
struct SegmentWriter: ~Copyable {
    var segment: SegmentFile
    var file: any File
    /// The segment is closed before it grows past this.
    var limitBytes: Int
    /// Where the next frame goes; all before is whole frames.
    var position: Int
    var end: Position
    var time: Int64
    /// The seal is durable; what comes next needs another segment.
    var isSealed: Bool
    /// Nothing but a mark was written since the last commit.
    var endsWithMark: Bool
    /// Why nothing may be written any more: after a failure whose outcome nobody knows.
    var refusal: StrataError?
    var isClosed = false
    var assembler = FrameAssembler()

    init(segment: SegmentFile, file: any File, limitBytes: Int, found: SegmentEnd, isSealed: Bool) {
        self.segment = segment
        self.file = file
        self.limitBytes = limitBytes
        position = found.position
        end = found.end
        time = found.time
        self.isSealed = isSealed
        endsWithMark = found.endsWithMark
    }

    /// Whether a commit goes into this segment: a segment takes at least one, whatever its size.
    func hasRoom(for frameBytes: Int, at place: Int) -> Bool {
        // The seal needs its place too.
        place == segment.header.byteCount || place + frameBytes + LogFormat.frameHeaderBytes <= limitBytes
    }

    func place(durableOffset: UInt64, at position: Int) -> FrameAssembler.Place {
        FrameAssembler.Place(salt: segment.header.salt, position: position, durableOffset: durableOffset)
    }

    /// Overwrites everything from `position` up to `limit` with zeros, so that nothing of a failed write can be read
    /// again.
    func cutBack(through limit: Int) throws {
        guard limit > position else { return }
        let zeros = [UInt8](repeating: 0, count: min(limit - position, 1 << 20))
        // What lies behind the end of the file was never written, and must not be made.
        let limit = min(limit, try file.size())
        var place = position
        while place < limit {
            let count = min(zeros.count, limit - place)
            try zeros.withUnsafeBytes { try file.write(UnsafeRawBufferPointer(rebasing: $0[..<count]), at: place) }
            place += count
        }
        try file.sync()
    }

    /// After a failure: nothing of it happened if the cut succeeds, and nobody knows if not.
    mutating func recover(from error: any Error, through limit: Int) -> AppendFailure {
        let cause = error as? StrataError ?? StrataError(.inputOutput, "Writing failed.", cause: error)
        do {
            try cutBack(through: limit)
            return .notWritten(cause)
        } catch {
            let refusal = StrataError(
                .refusingWrites, "A failed write could not be undone; open the store again to write.",
                .init(segment: segment.firstOffset, position: UInt64(position), path: file.path), cause: cause)
            self.refusal = refusal
            return .unknown(refusal)
        }
    }
}
