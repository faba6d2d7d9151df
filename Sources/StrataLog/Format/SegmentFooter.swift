import StrataModel
import StrataSystem

/// The description of a sealed segment's commits that follows them (docs/format.md §25).
///
/// ```swift
/// if let footer = try SegmentFooter(path: "Notes.strata/log/00000000000000000001.seg") {
///     for zone in footer.zones { print(zone.zone, zone.touchCount) }
/// }
/// ```
package struct SegmentFooter: Sendable {
    /// A block of commits.
    package struct CommitBlock: Sendable {
        package var range: Range<Int>
        package var offsets: ClosedRange<UInt64>
        /// The time of its first commit.
        package var time: Int64
    }

    /// The extent of a zone's touches.
    package struct Zone: Sendable {
        package var zone: UInt64
        package var touchCount: UInt64
        /// The size of its list, uncompressed.
        package var byteCount: Int
    }

    package var commitBlocks: [CommitBlock]
    package var changeBlocks: [Range<Int>]
    package var zones: [Zone]
    package var touchCount: UInt64
    /// The places of the blocks of the name filter, and its number of groups of 64 bytes.
    package var filterBlocks: [Range<Int>]
    package var filterGroups: Int
    package var recordNameCount: UInt64
    package var nameBlocks: [Range<Int>]
    /// The names that the commits use or introduce.
    package var names: [InternedName]
    /// The size of all payloads, uncompressed.
    package var payloadBytes: UInt64
    /// The position of the index that lists all of this.
    package var indexPosition: Int
    package var firstTime: Int64
    package var lastTime: Int64

    /// Reads the footer of a segment file; nil for a segment that has not been sealed.
    ///
    /// - Throws: ``StrataError`` if a block other than one of commits is damaged.
    package init?(path: String, files: any FileSystem = RealFileSystem()) throws {
        let file = try files.open(path, .read)
        let header = try SegmentHeader.read(file)
        guard header.form == .blocks else { return nil }
        let seal = try SealedSegment.readSeal(file, header)
        let sealed = try SealedSegment(SegmentFile(path: path, header: header, seal: seal), file, BlockCache())
        let index = sealed.index
        commitBlocks = index.commits.indices.map { number in
            let block = index.commits[number]
            let next = number + 1 < index.commits.count ? index.commits[number + 1].firstOffset : sealed.lastOffset + 1
            return CommitBlock(range: block.range, offsets: block.firstOffset...next - 1, time: block.time)
        }
        changeBlocks = index.changes.map(\.range)
        let sizes = try Self.listSizes(changeBlocks, file, header)
        zones = index.zones.map { Zone(zone: $0.zone, touchCount: $0.touchCount, byteCount: sizes[$0.zone] ?? 0) }
        touchCount = index.touchCount
        (filterBlocks, filterGroups) = (index.filters, index.filterGroups)
        recordNameCount = index.recordNameCount
        nameBlocks = index.names.map(\.range)
        names = try sealed.names()
        payloadBytes = index.payloadBytes
        indexPosition = index.position
        (firstTime, lastTime) = (index.commits.first?.time ?? seal.time, seal.time)
    }

    private static func listSizes(
        _ blocks: [Range<Int>], _ file: any File, _ header: SegmentHeader
    ) throws -> [UInt64: Int] {
        var sizes: [UInt64: Int] = [:]
        for range in blocks {
            let stored = try file.read(count: range.count, at: range.lowerBound)
            do {
                let block = try stored.withUnsafeBytes {
                    try Block(decoding: $0, salt: header.salt, position: range.lowerBound)
                }
                try block.bytes.withUnsafeBytes { bytes in
                    var runs = try ChangeRuns(block.header, bytes)
                    while let run = try runs.next() { sizes[run.zone, default: 0] += run.entries.count }
                }
            } catch let error as StrataError {
                throw error.located(path: file.path, segment: header.firstOffset)
            }
        }
        return sizes
    }
}
