import StrataLog
import StrataModel

/// What a part of a log takes on the medium, and what letting go of it might give back.
struct StoredBytes {
    /// Of whole segments that lie within what was read.
    private(set) var segmentCount = 0
    private(set) var payloadBytes: UInt64 = 0
    private(set) var storedBytes: UInt64 = 0

    /// In order.
    private struct Segment {
        let firstOffset: UInt64
        let lastOffset: UInt64
        let byteCount: UInt64
        let isClosed: Bool
        var payloadBytes: UInt64 = 0
    }

    private var segments: [Segment] = []
    private var current = 0
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

    /// Without the space that was made ahead.
    private static func byteCount(of segment: LogReader.Segment, through last: UInt64, _ reader: LogReader) throws
        -> UInt64
    {
        if !segment.isClosed, let place = try reader.place(of: last) { return UInt64(place.range.upperBound) }
        let file = try ReadOnlyFiles().open(segment.path, .read)
        defer { file.close() }
        return UInt64(try file.size())
    }

    mutating func add(_ commit: Commit) {
        while current < segments.count, segments[current].lastOffset < commit.offset { current += 1 }
        guard current < segments.count, segments[current].firstOffset <= commit.offset else { return }
        segments[current].payloadBytes += UInt64(commit.payload.count)
    }

    /// To be called once all have been added.
    /// - Parameter offsets: those that were read; nil for none.
    mutating func finish(_ offsets: ClosedRange<UInt64>?) {
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

    // MARK: Letting go

    /// What a compaction that keeps the last commit alone would come to.
    struct Compaction {
        /// All commits up to here would go.
        var horizon: UInt64
        var segmentCount: Int
        /// Of those, and of the base that there is.
        var freedBytes: UInt64
        /// Of the new base as a file, or of its records before compression.
        var baseBytes: UInt64
        var isEstimate: Bool
    }

    /// From the numbers alone: it is known which files would go; for the base, records are taken to be as large as
    /// their creations on average, and to compress as the log does.
    ///
    /// - Returns: nil where there is nothing to let go.
    func compaction(_ saves: LogStatistics.Saves, _ ends: LogStatistics.Ends) -> Compaction? {
        guard end > floor + 1 else { return nil }
        let horizon = end - 1
        let gone = segments.filter { $0.isClosed && $0.lastOffset <= horizon }
        let ended = min(saves.created, ends.deleted + ends.erased)
        var records = 0.0
        if saves.created > 0 {
            records = Double(saves.createdBytes) * Double(saves.created - ended) / Double(saves.created)
        }
        if payloadBytes > 0 { records = records * Double(storedBytes) / Double(payloadBytes) }
        return Compaction(
            horizon: horizon, segmentCount: gone.count, freedBytes: gone.reduce(baseBytes) { $0 + $1.byteCount },
            baseBytes: baseBytes + UInt64(records), isEstimate: true)
    }
}
