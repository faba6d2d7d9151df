import StrataSystem

/// The rules for dividing a payload into frames and for compressing them.
enum Pieces {
    /// Compression must save at least one byte in this many.
    private static let worthwhile = 16
    /// Shorter payloads are not worth an attempt: LZ4 finds nothing in them that pays for its overhead.
    private static let minimumBytes = 96

    static func count(payloadBytes: Int) -> Int {
        max(1, (payloadBytes + LogFormat.maximumPieceBytes - 1) / LogFormat.maximumPieceBytes)
    }

    /// Returns the range of one piece in the payload.
    static func range(_ index: Int, payloadBytes: Int) -> Range<Int> {
        let start = index * LogFormat.maximumPieceBytes
        return start..<min(start + LogFormat.maximumPieceBytes, payloadBytes)
    }

    /// Compresses a piece if that pays; returns nil if the piece is to be stored as it is. `target` has room for the
    /// piece.
    static func compress(_ piece: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Int? {
        guard piece.count >= minimumBytes else { return nil }
        let limit = piece.count - piece.count / worthwhile
        return LZ4.compress(piece, into: UnsafeMutableRawBufferPointer(rebasing: target[..<limit]))
    }
}
