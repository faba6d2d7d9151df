import StrataModel
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

/// A piece that was compressed ahead of time. Its buffer returns to the pool when the piece is released.
final class CompressedPiece: Sendable {
    private let buffer: RawBuffer
    private let pool: BufferPool
    private let count: Int

    /// Nil if compressing does not pay.
    init?(_ piece: UnsafeRawBufferPointer, _ pool: BufferPool) {
        buffer = pool.take(piece.count)
        self.pool = pool
        guard let count = Pieces.compress(piece, into: buffer.bytes) else {
            self.count = 0
            return nil
        }
        self.count = count
    }

    deinit { pool.give(buffer) }

    /// Valid as long as this object lives.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]) }
}

/// The results that are computed from a payload before its place in the log is known, on the caller's thread.
struct PreparedPayload: Sendable {
    /// One for each piece; nil where the piece is stored as it is.
    let compressed: [CompressedPiece?]
    let touches: [Touch]

    init(_ payload: ArraySlice<UInt8>, touches: TouchFunction, pool: BufferPool) throws {
        compressed = payload.withUnsafeBytes { payload in
            (0..<Pieces.count(payloadBytes: payload.count)).map { index in
                let range = Pieces.range(index, payloadBytes: payload.count)
                return CompressedPiece(UnsafeRawBufferPointer(rebasing: payload[range]), pool)
            }
        }
        // After the compression, which reads the bytes in order: finding touches skips from event to event, and would
        // wait for memory at each of them.
        self.touches = try Self.touches(of: payload, by: touches)
    }

    /// Returns the touches of a payload; throws if change lists cannot store them.
    static func touches(of payload: ArraySlice<UInt8>, by function: TouchFunction) throws -> [Touch] {
        let touches = try payload.withUnsafeBytes { try function($0) }
        if let long = touches.first(where: { $0.key.count > Envelope.maximumNameBytes }) {
            throw StrataError(
                .outOfRange, "The name of a record or zone touched by an event is too long.",
                .init(
                    position: UInt64(long.key.lowerBound), expected: "at most \(Envelope.maximumNameBytes) bytes",
                    found: "\(long.key.count)"))
        }
        return touches
    }
}
