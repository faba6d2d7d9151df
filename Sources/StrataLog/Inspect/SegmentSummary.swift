import StrataModel
import StrataSystem

/// A summary of one segment, or of the base that precedes the segments.
///
/// ```swift
/// let reader = try LogReader.open(at: "Notes.strata")
/// if let base = try reader.summaryOfBase() { print(base) }
/// for segment in reader.segments { print(try reader.summary(of: segment)) }
/// ```
package struct SegmentSummary: Sendable {
    package enum Form: String, Sendable { case frames, blocks, base }

    package var path: String
    /// Always 1 for a base, which replaces all commits from there on and contains none of them.
    package var firstOffset: UInt64
    /// Nil for an empty segment.
    package var lastOffset: UInt64?
    package var form: Form
    package var isClosed: Bool
    /// The size of the file, including space that was written ahead.
    package var fileBytes: Int
    package var commitCount: UInt64 = 0
    /// The size of all payloads, or of those of the base, before compression.
    package var payloadBytes: UInt64 = 0
    package var firstTime: Int64?
    package var lastTime: Int64?
    /// The number of changes of records and zones, by the zone's ordinal.
    package var touchCounts: [UInt64: UInt64] = [:]
    /// The damage that kept part of it from being read; the numbers cover only what precedes it.
    package var damage: StrataError?
}

extension LogReader {
    /// Summarizes the base that replaces discarded history, which is read in full; nil if there is no base.
    package func summaryOfBase() throws -> SegmentSummary? {
        guard var base = try readBase() else { return nil }
        var summary = SegmentSummary(
            path: base.path, firstOffset: 1, lastOffset: base.horizon.offset, form: .base, isClosed: true,
            fileBytes: base.byteCount)
        summary.lastTime = base.time
        do {
            while let payload = try base.next() { summary.payloadBytes += UInt64(payload.count) }
        } catch let error as StrataError where error.isDamage { summary.damage = error }
        return summary
    }

    /// Counts the contents of a segment. One of frames is read in full; one of blocks has the numbers in its index.
    package func summary(of segment: Segment) throws -> SegmentSummary {
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
                // The sealed segment closes the file.
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
        // Commits appended since the reader looked are not counted.
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
