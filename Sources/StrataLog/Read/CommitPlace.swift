import StrataSystem

/// The place of a commit on the medium.
///
/// ```swift
/// let reader = try LogReader.open(at: "Notes.strata")
/// if let place = try reader.place(of: 12) { print(place.path, place.range) }
/// ```
package struct CommitPlace: Sendable, Equatable {
    /// A piece of the commit as it was written (docs/format.md §4).
    package struct Frame: Sendable, Equatable {
        package var position: Int
        package var header: FrameHeader
    }

    package var path: String
    /// The first offset of the segment.
    package var segment: UInt64
    /// The range of all bytes of the commit; in a sealed segment, that of its block.
    package var range: Range<Int>
    /// One frame, or one for each part of a large payload; none in a sealed segment.
    package var frames: [Frame] = []
    /// The block of a commit in a sealed segment.
    package var block: Block?

    /// A block of commits of a sealed segment (docs/format.md §25).
    package struct Block: Sendable, Equatable {
        package var firstOffset: UInt64
        package var commitCount: Int
        /// The length of its body before compression.
        package var rawLength: UInt32
        package var storedLength: UInt32
        package var bodyChecksum: UInt32
    }
}

extension LogReader {
    /// Returns the place of the commit at `offset`; nil after the end.
    package func place(of offset: UInt64) throws -> CommitPlace? {
        guard let segment = try catalog.segment(containing: offset) else { return nil }
        return try catalog.reading(segment) { segment in
            if let sealed = try catalog.sealed(segment) { return try sealed.place(of: offset) }
            return try place(of: offset, in: segment)
        }
    }

    private func place(of offset: UInt64, in segment: SegmentFile) throws -> CommitPlace? {
        guard let range = try catalog.withIndex(of: segment, { $0.range(of: offset) }) else { return nil }
        let file = try catalog.newestFile(of: segment) ?? catalog.open(segment)
        let loader = FrameLoader(segment: segment, file: file)
        var place = CommitPlace(
            path: segment.path, segment: segment.firstOffset, range: range.lowerBound..<range.lowerBound)
        // A mark or seal may follow the last piece.
        while place.range.upperBound < range.upperBound,
            let header = try? loader.firstHeader(offset: offset, in: place.range.upperBound..<range.upperBound)
        {
            place.frames.append(.init(position: place.range.upperBound, header: header))
            place.range = place.range.lowerBound..<place.range.upperBound + header.frameBytes
            if header.kind == .commit { break }
        }
        return place
    }
}

extension SealedSegment {
    fileprivate func place(of offset: UInt64) throws -> CommitPlace {
        let entry = index.commits[index.commitBlock(of: offset)]
        let header = try commitBlock(index.commitBlock(of: offset)).block.header
        return CommitPlace(
            path: segment.path, segment: segment.firstOffset, range: entry.range,
            block: .init(
                firstOffset: header.first, commitCount: Int(header.count), rawLength: header.rawLength,
                storedLength: header.storedLength, bodyChecksum: header.bodyChecksum))
    }
}
