import StrataModel
import StrataSystem

/// How a payload is cut into frames, and which of them are compressed.
enum Pieces {
    /// Compression must save at least one byte in this many.
    private static let worthwhile = 16
    /// Shorter payloads are not worth trying: LZ4 finds nothing in them that pays for its header.
    private static let minimumBytes = 96

    static func count(payloadBytes: Int) -> Int {
        max(1, (payloadBytes + LogFormat.maximumPieceBytes - 1) / LogFormat.maximumPieceBytes)
    }

    /// The bytes of the payload in one piece.
    static func range(_ index: Int, payloadBytes: Int) -> Range<Int> {
        let start = index * LogFormat.maximumPieceBytes
        return start..<min(start + LogFormat.maximumPieceBytes, payloadBytes)
    }

    /// Compresses a piece if that pays; nil if the piece is to be stored as it is. `target` has room for the piece.
    static func compress(_ piece: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Int? {
        guard piece.count >= minimumBytes else { return nil }
        let limit = piece.count - piece.count / worthwhile
        return LZ4.compress(piece, into: UnsafeMutableRawBufferPointer(rebasing: target[..<limit]))
    }
}

/// What can be worked out of a payload before its place in the log is known, on the thread that brings it.
struct PreparedPayload: Sendable {
    /// One for each piece; nil where the piece is stored as it is.
    let compressed: [[UInt8]?]
    let touches: [Touch]

    init(_ payload: ArraySlice<UInt8>, touches: TouchFunction) throws {
        self.touches = try payload.withUnsafeBytes { try touches($0) }
        compressed = (0..<Pieces.count(payloadBytes: payload.count)).map { index in
            let range = Pieces.range(index, payloadBytes: payload.count)
            let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { target, count in
                count = payload.withUnsafeBytes { payload in
                    Pieces.compress(
                        UnsafeRawBufferPointer(rebasing: payload[range]), into: UnsafeMutableRawBufferPointer(target))
                        ?? 0
                }
            }
            return bytes.isEmpty ? nil : bytes
        }
    }
}
