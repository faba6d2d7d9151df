import StrataModel
import StrataSystem

/// The writing end of a log: the segment that grows, and the place of the next frame. Used under the log's writing
/// lock.
struct SegmentWriter: ~Copyable {
    var segment: SegmentFile
    var file: any File
    /// The segment is closed before it exceeds this size.
    var limitBytes: Int
    /// The position of the next frame; everything before it is whole frames.
    var position: Int
    var end: Position
    var time: Int64
    /// True if the seal is durable, so that the next commit needs another segment.
    var isSealed: Bool
    /// True if nothing but a mark was written since the last commit.
    var endsWithMark: Bool
    /// The reason why nothing more may be written: a failure with an unknown outcome.
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

    /// Returns true if a commit belongs in this segment, which takes at least one, whatever its size.
    func hasRoom(for frameBytes: Int, at place: Int) -> Bool {
        // The seal needs space too.
        place == segment.header.byteCount || place + frameBytes + LogFormat.frameHeaderBytes <= limitBytes
    }

    func place(durableOffset: UInt64, at position: Int) -> FrameAssembler.Place {
        FrameAssembler.Place(salt: segment.header.salt, position: position, durableOffset: durableOffset)
    }

    /// Overwrites the bytes from `position` to `limit` with zeros, so that nothing of a failed write can be read again.
    func cutBack(through limit: Int) throws {
        guard limit > position else { return }
        let zeros = [UInt8](repeating: 0, count: min(limit - position, 1 << 20))
        // Bytes after the end of the file were never written, and must not be created.
        let limit = min(limit, try file.size())
        var place = position
        while place < limit {
            let count = min(zeros.count, limit - place)
            try zeros.withUnsafeBytes { try file.write(UnsafeRawBufferPointer(rebasing: $0[..<count]), at: place) }
            place += count
        }
        try file.sync()
    }

    /// Handles a failed write: if it can be undone, nothing was written; if not, the outcome is unknown.
    mutating func recover(from error: any Error, through limit: Int) -> AppendFailure {
        let cause = error as? StrataError ?? StrataError(.inputOutput, "Writing failed.", cause: error)
        do {
            try cutBack(through: limit)
            return .notWritten(cause)
        } catch {
            let refusal = StrataError(
                .refusingWrites, "A failed write could not be undone; reopen the store to write.",
                .init(segment: segment.firstOffset, position: UInt64(position), path: file.path), cause: cause)
            self.refusal = refusal
            return .unknown(refusal)
        }
    }
}
