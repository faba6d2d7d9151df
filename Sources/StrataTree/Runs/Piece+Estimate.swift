extension Piece {
    /// Estimates the number of entries of a tree from `lower` up to, but not including, `upper`: frames between them
    /// count as the average frame.
    package func estimatedCount(
        _ tree: TreeID, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?
    ) throws -> Double {
        let frames = frames(of: tree)
        if frames.isEmpty { return 0 }
        let entries = Double(entries(of: tree))
        let (start, end) = (try position(lower, frames), try upper.map { try position($0, frames) })
        let isWhole = end.map { $0.frame == frames.upperBound - 1 && $0.index == $0.count } ?? true
        if isWhole, start.frame == frames.lowerBound, start.index == 0 { return entries }
        let perFrame = entries / Double(frames.count)
        guard let end else {
            let left = start.count - start.index
            return Double(left) + perFrame * Double(frames.upperBound - 1 - start.frame)
        }
        if end.frame <= start.frame { return Double(max(0, end.frame < start.frame ? 0 : end.index - start.index)) }
        return Double(start.count - start.index + end.index) + perFrame * Double(end.frame - start.frame - 1)
    }

    private func position(
        _ key: UnsafeRawBufferPointer?, _ frames: Range<Int>
    ) throws -> (frame: Int, index: Int, count: Int) {
        let number = try key.flatMap { try fences.frame(of: $0, in: frames, orEqual: false) } ?? frames.lowerBound
        let frame = try frame(number)
        return (number, try key.map { key in try reading(number) { try frame.search(key) } } ?? 0, frame.count)
    }

    /// Returns at most `count` keys after `lower` and before `upper` that divide a tree into parts of about the same
    /// size: first keys of frames.
    package func dividingKeys(
        _ tree: TreeID, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?, count: Int
    ) throws -> [[UInt8]] {
        let frames = frames(of: tree)
        let first = try lower.flatMap { try fences.frame(of: $0, in: frames, orEqual: true) } ?? frames.lowerBound
        let end = try upper.map { (try fences.frame(of: $0, in: frames, orEqual: false) ?? first) + 1 }
        let between = first + 1..<max(first + 1, end ?? frames.upperBound)
        let parts = min(count, between.count)
        return try (0..<max(0, parts)).map { part in
            [UInt8](try fences.key(ofFrame: between.lowerBound + (2 * part + 1) * between.count / (2 * parts)))
        }
    }
}

extension Run {
    /// Estimates the number of visible entries of a tree, marks included.
    package func estimatedCount(
        _ tree: TreeID, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?
    ) throws -> Double {
        func count(from lower: UnsafeRawBufferPointer?) throws -> Double {
            let none = UnsafeRawBufferPointer(start: nil, count: 0)
            let concerned = pieces[firstPiece(endingAtOrAfter: lower ?? none, tree)...].prefix { piece in
                guard let first = piece.descriptor.first else { return false }
                return first.tree <= tree && upper.map { !first.isAfter(tree, $0) } ?? true
            }
            return try concerned.reduce(0) { $0 + (try $1.estimatedCount(tree, from: lower, to: upper)) }
        }
        guard let first = visibleFrom, first.isAfter(tree, lower ?? .init(start: nil, count: 0)) else {
            return try count(from: lower)
        }
        return first.tree == tree ? try first.bytes.withUnsafeBytes { try count(from: $0) } : 0
    }
}
