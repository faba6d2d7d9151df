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
        var walk = try StoredPieceWalk(path: path, files: files)
        guard try visit(.headerBlock(of: path, files: files)) else { return }
        while let piece = try walk.next() {
            guard try visit(walk.layout(of: piece)) else { return }
        }
    }
}

extension StoredPieceWalk {
    fileprivate func layout(of piece: StoredPiece) throws -> ByteLayout {
        let (position, count) = (piece.range.lowerBound, piece.range.count)
        // Zeros are only counted: there may be megabytes of them.
        if case .nothing(isZero: true) = piece.content {
            return ByteLayout(title: "\(count) zeros", position: position, bytes: [], fields: [])
        }
        let bytes = try bytes(of: piece)
        switch piece.content {
        case .frame(let header) where header.frameBytes == count: return .frame(header, bytes, at: position)
        case .block(let header) where header.blockBytes == count: return .block(header, bytes, at: position)
        case .frame, .block, .nothing:
            return ByteLayout(
                title: "no valid frame or block", position: position, bytes: bytes, fields: .unknown(count))
        }
    }
}
