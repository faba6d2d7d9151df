import StrataModel
import StrataSystem

/// The content at one place of a segment or base: a frame, a block, or bytes that are neither.
package struct StoredPiece: Sendable {
    package enum Content: Sendable {
        case frame(FrameHeader)
        case block(BlockHeader)
        case nothing(isZero: Bool)
    }

    /// The range of all its bytes in the file.
    package var range: Range<Int>
    package var content: Content
    /// The fault in its bytes; nil if they are what was written. Bytes that are neither frame nor block have no fault
    /// here: they may be space that was written ahead.
    package var problem: StrataError?

    /// The offsets of the commits that the piece holds, wholly or in part.
    package var offsets: ClosedRange<UInt64>? {
        switch content {
        case .frame(let header) where header.kind == .commit || header.kind == .part:
            header.offset...header.offset
        case .block(let block) where block.kind == .commits && block.count > 0 && block.first <= Version.maximumOffset:
            block.first...block.first + UInt64(block.count) - 1
        default: nil
        }
    }

    /// The last commit that had been synced when this piece was written; nil if the piece does not say.
    package var durableOffset: UInt64? {
        switch content {
        case .frame(let header) where header.kind == .commit || header.kind == .part: header.witnessedOffset
        case .frame(let header): header.offset
        case .block(let block) where block.kind == .end: block.first
        case .block: offsets?.upperBound
        case .nothing: nil
        }
    }
}

/// Reads the file of a segment or base from the end of its header to its last byte, whether it is whole or not, and
/// checks what it finds. It holds one piece at a time.
///
/// ```swift
/// var walk = try StoredPieceWalk(path: "Notes.strata/log/00000000000000000001.seg")
/// while let piece = try walk.next() { print(piece.range, piece.problem == nil) }
/// ```
package struct StoredPieceWalk {
    /// The kind of the file, according to its header.
    package enum Head: Sendable {
        case segment(SegmentHeader, isSealed: Bool)
        case base(horizon: Position, time: Int64)
        case unreadable(StrataError)
    }

    package let head: Head
    package let path: String
    /// The size of the header; of an unreadable one, the size that it should have.
    package let headerBytes: Int
    private let window: FileWindow
    /// The possible starting values of header checksums in this file.
    private let salts: [UInt32]
    private var position: Int
    /// The piece that was found while looking for the end of bytes that are neither frame nor block.
    private var waiting: StoredPiece?

    /// The size of the whole file.
    package var byteCount: Int { window.limit }

    package init(path: String, files: any FileSystem = RealFileSystem()) throws {
        self.path = path
        let file = try files.open(path, .read)
        let bytes = try file.read(count: LogFormat.headerBlockMaximumBytes, at: 0)
        window = FileWindow(file, limit: try file.size())
        if let header = try? BaseHeader(decoding: bytes, path: path) {
            head = .base(horizon: header.horizon, time: header.time)
            (salts, headerBytes) = ([header.salt], header.byteCount)
        } else {
            do {
                let header = try SegmentHeader(decoding: bytes, path: path)
                head = .segment(header, isSealed: header.form == .blocks)
                (salts, headerBytes) = ([header.salt], header.byteCount)
            } catch let error as StrataError {
                head = .unreadable(error)
                headerBytes = min(bytes.count, LogFormat.segmentHeaderBytes)
                salts = HeaderBlock.possibleChecksums(of: Array(bytes.prefix(LogFormat.segmentHeaderBytes)))
            }
        }
        position = headerBytes
    }

    /// Returns the next piece; nil at the end of the file.
    package mutating func next() throws -> StoredPiece? {
        if let piece = waiting {
            waiting = nil
            return piece
        }
        guard position < window.limit else { return nil }
        if let piece = try piece(at: position) {
            position = piece.range.upperBound
            return piece
        }
        let start = position
        position = window.limit
        var place = start + LogFormat.frameAlignment
        while let found = try window.firstWord(from: place, where: Self.isMagic) {
            if let piece = try piece(at: found) {
                (waiting, position) = (piece, piece.range.upperBound)
                break
            }
            place = found + LogFormat.frameAlignment
        }
        let end = waiting?.range.lowerBound ?? window.limit
        let other = try window.firstWord(from: start) { $0 != 0 } ?? end
        return StoredPiece(range: start..<end, content: .nothing(isZero: other >= end))
    }

    func bytes(of piece: StoredPiece) throws -> [UInt8] {
        Array(try window.bytes(at: piece.range.lowerBound, count: piece.range.count))
    }

    private static func isMagic(_ word: UInt64) -> Bool {
        [LogFormat.frameMagic, BlockHeader.magic].contains(UInt32(truncatingIfNeeded: word))
    }

    /// Returns the piece at `position`, if its header is valid.
    private func piece(at position: Int) throws -> StoredPiece? {
        for salt in salts {
            if let piece = try frame(at: position, salt) ?? block(at: position, salt) { return piece }
        }
        return nil
    }

    private func frame(at position: Int, _ salt: UInt32) throws -> StoredPiece? {
        let head = try window.bytes(at: position, count: LogFormat.frameHeaderBytes)
        guard let header = FrameHeader(valid: head, salt: salt, position: position) else { return nil }
        let bytes = try window.bytes(at: position, count: header.frameBytes)
        var piece = StoredPiece(range: position..<position + bytes.count, content: .frame(header))
        do {
            let body = UnsafeRawBufferPointer(rebasing: bytes[LogFormat.frameHeaderBytes...])
            try PayloadDecoder.checkBody(body, of: header, position: position)
        } catch let error as StrataError { piece.problem = error.located(path: path) }
        return piece
    }

    private func block(at position: Int, _ salt: UInt32) throws -> StoredPiece? {
        let head = try window.bytes(at: position, count: BlockHeader.byteCount)
        guard let header = try? BlockHeader(decoding: head, salt: salt, position: position) else { return nil }
        let bytes = try window.bytes(at: position, count: header.blockBytes)
        var piece = StoredPiece(range: position..<position + bytes.count, content: .block(header))
        do { _ = try Block(decoding: bytes, salt: salt, position: position) } catch let error as StrataError {
            piece.problem = error.located(path: path)
        }
        return piece
    }
}
