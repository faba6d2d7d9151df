import StrataModel
import StrataSystem

/// What is in one segment.
///
/// ```swift
/// let reader = try LogReader.open(at: "Notes.strata")
/// for segment in reader.segments { print(try reader.summary(of: segment)) }
/// ```
public struct SegmentSummary: Sendable {
    public enum Form: String, Sendable { case frames, blocks }

    public var path: String
    public var firstOffset: UInt64
    /// nil for an empty segment.
    public var lastOffset: UInt64?
    public var form: Form
    public var isClosed: Bool
    /// Size of the file, with space that was made ahead.
    public var fileBytes: Int
    public var commitCount: UInt64 = 0
    /// Of all payloads as they were before they were compressed.
    public var payloadBytes: UInt64 = 0
    public var firstTime: Int64?
    public var lastTime: Int64?
    /// How many changes of records and zones there are, by the zone's ordinal.
    public var touchCounts: [UInt64: UInt64] = [:]
    /// Why not all of it could be read; the numbers are of what stands in front.
    public var damage: StrataError?
}

extension LogReader {
    /// Counts what is in a segment. One of frames is read through for that; one of blocks says so itself.
    public func summary(of segment: Segment) throws -> SegmentSummary {
        let file = try catalog.files.open(segment.path, .read)
        var summary = SegmentSummary(
            path: segment.path, firstOffset: segment.firstOffset, lastOffset: segment.lastOffset, form: .frames,
            isClosed: segment.isClosed, fileBytes: try file.size())
        do {
            let header = try SegmentHeader.read(file)
            if header.form == .blocks {
                summary.form = .blocks
                let seal = try SealedSegment.readSeal(file, header)
                let known = SegmentFile(path: segment.path, header: header, seal: seal)
                // It closes the file.
                summary.add(try SealedSegment(known, file, BlockCache()))
                return summary
            }
            defer { file.close() }
            var scanner = SegmentScanner(header, FileWindow(file, limit: summary.fileBytes))
            _ = try SegmentEnd.find(&scanner, isNewest: !segment.isClosed) { summary.add($0) }
        } catch let error as StrataError where error.isDamage { summary.damage = error }
        return summary
    }
}

extension SegmentSummary {
    fileprivate mutating func add(_ commit: SegmentScanner.ScannedCommit) {
        // What has come since the reader looked is not its business.
        if let lastOffset, commit.header.offset > lastOffset { return }
        commitCount += 1
        payloadBytes += UInt64(commit.payload.count)
        firstTime = firstTime ?? commit.header.time
        lastTime = commit.header.time
        for touch in (try? Envelope.touches(of: commit.payload)) ?? [] { touchCounts[touch.zone, default: 0] += 1 }
    }

    fileprivate mutating func add(_ sealed: SealedSegment) {
        commitCount = sealed.lastOffset - sealed.segment.firstOffset + 1
        payloadBytes = sealed.index.payloadBytes
        firstTime = sealed.index.commits.first?.time
        lastTime = sealed.segment.seal?.time
        for zone in sealed.index.zones { touchCounts[zone.zone] = zone.touchCount }
    }
}
