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
    /// Writes begin and end at multiples of this: of a page where there are zeros ahead. Writing a part of a page that
    /// is not in the system's cache would read it first.
    private let unitBytes: Int
    /// The position of the assembler's first byte, a multiple of ``unitBytes``. The bytes before ``written`` are in the
    /// file already, and are written again with the same content.
    private var start = 0
    private var written = 0

    init(
        segment: SegmentFile, file: any File, limitBytes: Int, found: SegmentEnd, isSealed: Bool, unitBytes: Int = 1
    ) {
        self.unitBytes = unitBytes
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

    func place(durableOffset: UInt64) -> FrameAssembler.Place {
        FrameAssembler.Place(salt: segment.header.salt, position: start, durableOffset: durableOffset)
    }

    /// The position after the last assembled frame.
    var framesEnd: Int { start + assembler.count }

    /// A write of this size takes less processor time past the system's cache than through it.
    static let directBytes = 16 << 10

    /// Empties the assembler, except for the bytes before ``position`` in the unit in which the next frame begins.
    mutating func beginFrames() throws {
        if framesEnd != position {
            let first = position - position % unitBytes
            start = first
            try assembler.begin(with: position - first) { bytes in
                guard try file.read(into: bytes, at: first) < bytes.count else { return }
                throw StrataError(
                    .inputOutput, "A segment ends before its last frame.",
                    .init(segment: segment.firstOffset, position: UInt64(first), path: file.path))
            }
        }
        written = position
    }

    /// Writes the assembled frames, and keeps those of the last unit if it is not full.
    mutating func writeFrames(in space: SegmentPreallocator, directly: Bool = false) throws {
        guard framesEnd > written else { return }
        let bytes = assembler.bytes(padding: unitBytes)
        space.willWrite(start..<start + bytes.count)
        let isDone = try directly && bytes.count >= Self.directBytes && file.writeDirectly(bytes, at: start)
        if !isDone { try file.write(bytes, at: start) }
        written = framesEnd
        start += assembler.dropWhole(unitBytes)
    }

    /// Writes a seal or a mark.
    mutating func writeClosing(_ kind: FrameHeader.Kind, in space: SegmentPreallocator) throws {
        try beginFrames()
        assembler.addClosing(kind, end: end, time: time, at: place(durableOffset: end.offset))
        try writeFrames(in: space)
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
