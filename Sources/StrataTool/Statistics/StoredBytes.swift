import StrataLog
import StrataModel

/// The size of a part of a log on disk, and the space that compacting it might free.
struct StoredBytes {
    /// The number of segments that were read completely. The byte counts below cover only these.
    private(set) var segmentCount = 0
    private(set) var payloadBytes: UInt64 = 0
    private(set) var storedBytes: UInt64 = 0

    /// A segment of the log, in order of offsets.
    private struct Segment {
        let firstOffset: UInt64
        let lastOffset: UInt64
        let byteCount: UInt64
        let isClosed: Bool
        var payloadBytes: UInt64 = 0
    }

    private var segments: [Segment] = []
    private var current = 0
    /// The offsets of the commits that were added; nil for none.
    private var offsets: ClosedRange<UInt64>?
    private let baseBytes: UInt64
    private let floor: UInt64
    private let end: UInt64

    init(_ store: StoreAccess) throws {
        let reader = store.reader
        (floor, end) = (reader.floor.offset, reader.end.offset)
        baseBytes = UInt64(((try? reader.readBase()) ?? nil)?.byteCount ?? 0)
        for segment in reader.segments {
            guard let last = segment.lastOffset else { continue }
            segments.append(
                Segment(
                    firstOffset: segment.firstOffset, lastOffset: last,
                    byteCount: try Self.byteCount(of: segment, through: last, reader), isClosed: segment.isClosed))
        }
    }

    /// Returns the size of a segment without preallocated space.
    private static func byteCount(of segment: LogReader.Segment, through last: UInt64, _ reader: LogReader) throws
        -> UInt64
    {
        if !segment.isClosed, let place = try reader.place(of: last) { return UInt64(place.range.upperBound) }
        let file = try ReadOnlyFiles().open(segment.path, .read)
        defer { file.close() }
        return UInt64(try file.size())
    }

    /// Adds a commit. Commits must be added in order.
    mutating func add(_ commit: Commit) {
        offsets = (offsets?.lowerBound ?? commit.offset)...commit.offset
        while current < segments.count, segments[current].lastOffset < commit.offset { current += 1 }
        guard current < segments.count, segments[current].firstOffset <= commit.offset else { return }
        segments[current].payloadBytes += UInt64(commit.payload.count)
    }

    /// Sums up the segments, after all commits were added.
    mutating func finish() {
        guard let offsets else { return }
        for segment in segments
        where offsets.contains(max(segment.firstOffset, floor + 1)) && offsets.contains(segment.lastOffset)
            && segment.firstOffset > floor
        {
            segmentCount += 1
            payloadBytes += segment.payloadBytes
            storedBytes += segment.byteCount
        }
    }

    // MARK: Compaction

    /// The effect of a compaction that keeps only the last commit.
    struct Compaction {
        /// The offset of the last commit that would be compacted.
        var horizon: UInt64
        var segmentCount: Int
        /// The bytes of those segments and of the existing base.
        var freedBytes: UInt64
        /// The bytes of the new base file, or of its records before compression.
        var baseBytes: UInt64
        var isEstimate: Bool
    }

    /// Estimates a compaction from the statistics. The files to remove are known. For the base, records are assumed to
    /// have the average size of their creations, and to compress like the log.
    ///
    /// Returns nil if there is nothing to compact.
    func compaction(_ counts: RecordCounts) -> Compaction? {
        guard end > floor + 1 else { return nil }
        let horizon = end - 1
        let gone = segments.filter { $0.isClosed && $0.lastOffset <= horizon }
        let ended = min(counts.created, counts.deleted + counts.erased)
        var records = 0.0
        if counts.created > 0 {
            records = Double(counts.createdBytes) * Double(counts.created - ended) / Double(counts.created)
        }
        if payloadBytes > 0 { records = records * Double(storedBytes) / Double(payloadBytes) }
        return Compaction(
            horizon: horizon, segmentCount: gone.count, freedBytes: gone.reduce(baseBytes) { $0 + $1.byteCount },
            baseBytes: baseBytes + UInt64(records), isEstimate: true)
    }
}
