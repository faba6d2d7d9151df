import StrataModel
import StrataSystem

/// Takes a segment or base apart from its first byte to its last, whether it is whole or not.
package struct SegmentByteLayout {
    private let path: String
    private let files: any FileSystem

    package init(path: String, files: any FileSystem = RealFileSystem()) {
        self.path = path
        self.files = files
    }

    /// - Parameter visit: returns true to continue.
    package func walk(_ visit: (ByteLayout) throws -> Bool) throws {
        let file = try files.open(path, .read)
        defer { file.close() }
        let head = try file.read(count: LogFormat.headerBlockMaximumBytes, at: 0)
        let block = ByteLayout.headerBlock(head, path: path)
        guard try visit(block) else { return }
        let window = FileWindow(file, limit: try file.size())
        let known =
            (try? SegmentHeader(decoding: head, path: path).salt) ?? (try? BaseHeader(decoding: head, path: path).salt)
        let salts =
            known.map { [$0] }
            ?? HeaderBlock.possibleChecksums(of: Array(head.prefix(LogFormat.segmentHeaderBytes)))
        var position = block.bytes.count
        while position < window.limit {
            if let piece = try piece(at: position, window, salts) {
                guard try visit(piece) else { return }
                position += piece.bytes.count
                continue
            }
            let next = try nextPiece(after: position, window, salts) ?? window.limit
            guard try visit(gap(position..<next, window)) else { return }
            position = next
        }
    }

    /// Returns the frame or block at `position`, if its header is valid.
    private func piece(at position: Int, _ window: FileWindow, _ salts: [UInt32]) throws -> ByteLayout? {
        for salt in salts {
            let head = try window.bytes(at: position, count: LogFormat.frameHeaderBytes)
            if head.count == LogFormat.frameHeaderBytes,
                case .valid(let header) = FrameHeader.decode(head, salt: salt, position: position),
                position + header.frameBytes <= window.limit
            {
                return .frame(header, Array(try window.bytes(at: position, count: header.frameBytes)), at: position)
            }
            let block = try window.bytes(at: position, count: BlockHeader.byteCount)
            if let header = try? BlockHeader(decoding: block, salt: salt, position: position),
                position + header.blockBytes <= window.limit
            {
                return .block(header, Array(try window.bytes(at: position, count: header.blockBytes)), at: position)
            }
        }
        return nil
    }

    private func nextPiece(after position: Int, _ window: FileWindow, _ salts: [UInt32]) throws -> Int? {
        var place = position + LogFormat.frameAlignment
        while let found = try window.firstWord(
            from: place, where: { [LogFormat.frameMagic, BlockHeader.magic].contains(UInt32(truncatingIfNeeded: $0)) })
        {
            if try piece(at: found, window, salts) != nil { return found }
            place = found + LogFormat.frameAlignment
        }
        return nil
    }

    /// Bytes that are neither. Zeros are only counted: there may be megabytes of them.
    private func gap(_ range: Range<Int>, _ window: FileWindow) throws -> ByteLayout {
        let other = try window.firstWord(from: range.lowerBound) { $0 != 0 } ?? range.upperBound
        if other >= range.upperBound {
            return ByteLayout(title: "\(range.count) zeros", position: range.lowerBound, bytes: [], fields: [])
        }
        let bytes = Array(try window.bytes(at: range.lowerBound, count: range.count))
        return ByteLayout(
            title: "no valid frame or block", position: range.lowerBound, bytes: bytes, fields: .unknown(bytes.count))
    }
}
