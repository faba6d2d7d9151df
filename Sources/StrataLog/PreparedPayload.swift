import StrataModel
import StrataSystem

/// A payload with what can be worked out before its place in the log is known: its pieces compressed, and what it touches.
struct PreparedPayload: Sendable {
    struct Piece: Sendable {
        var codec: FrameHeader.Codec
        /// Of the payload, from its start.
        var raw: Range<Int>
        /// nil where the raw bytes are stored as they are.
        var compressed: ArraySlice<UInt8>?
    }

    /// Compression must save at least one byte in this many.
    private static let worthwhile = 16
    /// Shorter payloads are not worth trying: LZ4 finds nothing in them that pays for its header.
    private static let minimumBytes = 96

    let pieces: [Piece]
    let touches: [Touch]

    init(_ payload: ArraySlice<UInt8>, touches: TouchFunction) throws {
        self.touches = try payload.withUnsafeBytes { try touches($0) }
        if payload.count <= LogFormat.maximumPieceBytes {
            pieces = [Self.piece(of: payload, 0..<payload.count)]
        } else {
            pieces = stride(from: 0, to: payload.count, by: LogFormat.maximumPieceBytes).map { start in
                Self.piece(of: payload, start..<min(start + LogFormat.maximumPieceBytes, payload.count))
            }
        }
    }

    /// Bytes of all frames together.
    var frameBytes: Int {
        let prefix = pieces.count > 1 ? LogFormat.partPrefixBytes : 0
        return pieces.reduce(0) { sum, piece in
            sum + LogFormat.frameHeaderBytes + LogFormat.padded(prefix + (piece.compressed?.count ?? piece.raw.count))
        }
    }

    private static func piece(of payload: ArraySlice<UInt8>, _ range: Range<Int>) -> Piece {
        guard range.count >= minimumBytes else { return Piece(codec: .stored, raw: range, compressed: nil) }
        let limit = range.count - range.count / worthwhile
        let compressed = [UInt8](unsafeUninitializedCapacity: limit) { target, count in
            payload.withUnsafeBytes { payload in
                count =
                    LZ4.compress(
                        UnsafeRawBufferPointer(rebasing: payload[range]), into: UnsafeMutableRawBufferPointer(target))
                    ?? 0
            }
        }
        if compressed.isEmpty { return Piece(codec: .stored, raw: range, compressed: nil) }
        return Piece(codec: .lz4, raw: range, compressed: compressed[...])
    }
}
