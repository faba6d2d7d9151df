import StrataModel

/// A segment file as it was found, with its end as far as known.
struct SegmentFile: Sendable {
    /// The content of the seal; nil for the newest segment, which may still grow.
    struct Seal: Sendable, Equatable {
        var end: Position
        var time: Int64
        /// The position of the seal frame, or of the end block of a sealed segment.
        var position: Int
    }

    let path: String
    let header: SegmentHeader
    var seal: Seal?

    var firstOffset: UInt64 { header.firstOffset }

    /// The size of the segment as frames, even if it has since been sealed; 0 if it is not closed.
    var frameBytes: Int {
        if let bytes = header.frameBytes { return Int(clamping: bytes) }
        return seal.map { $0.position + (header.form == .frames ? LogFormat.frameHeaderBytes : 0) } ?? 0
    }

    /// True if the segment is closed, and not sealed yet.
    var isToBeSealed: Bool { header.form == .frames && seal != nil }
}
