import StrataModel

/// Merges neighbors in age into one run, piece by piece. Of each key the newest entry stays.
///
/// ```swift
/// var merger = try RunMerger(cursors, ranges: runs.map(\.ranges), isOldest: true)
/// let writer = PieceWriter(…)
/// try merger.writePiece(to: writer, atMost: 64 << 20)
/// let piece = try writer.finish()   // with it, the inputs are visible from `merger.consumedUpTo` on
/// ```
struct RunMerger: ~Copyable {
    private var queue: MergeQueue
    private let ranges: [DeletedRanges]
    /// True if some entry may be hidden by a range.
    private let hasRanges: Bool
    private let kept: DeletedRanges
    private let isOldest: Bool
    /// The first key that no piece has consumed yet; nil at the beginning, and again at the end.
    private(set) var consumedUpTo: RunKey?

    /// - Parameters:
    ///   - sources: newest first, each at its first entry to merge.
    ///   - ranges: the deleted ranges of each source.
    ///   - start: the key that an interrupted merge consumed up to; the sources are at or after it.
    ///   - isOldest: true if no older layer remains below, so that marks and ranges have nothing to delete.
    init(_ sources: [RunCursor], ranges: [DeletedRanges], from start: RunKey? = nil, isOldest: Bool) {
        assert(sources.count == ranges.count)
        queue = MergeQueue(sources)
        self.ranges = ranges
        hasRanges = ranges.contains { !$0.isEmpty }
        kept = isOldest ? DeletedRanges() : DeletedRanges(ranges.lazy.flatMap(\.ranges))
        self.isOldest = isOldest
        consumedUpTo = start
    }

    /// Writes entries until the piece exceeds `limit` bytes, with the blobs that were copied, or the inputs end. Writes
    /// the ranges among them, too.
    ///
    /// - Parameter convert: returns the content to write, if it is another one: of blobs that are copied.
    mutating func writePiece(
        to writer: PieceWriter, atMost limit: Int, _ convert: (BlobReference) throws -> BlobReference = { $0 }
    ) throws {
        let start = consumedUpTo
        consumedUpTo = nil
        var copiedBytes = 0
        while let entry = queue.first {
            if writer.byteCount + copiedBytes >= limit, writer.entries > 0 {
                consumedUpTo = RunKey(entry)
                break
            }
            if shows(entry) {
                var content = entry.content
                if case .blob(let reference) = content {
                    let copy = try convert(reference)
                    if copy.file != reference.file { copiedBytes += Int(copy.byteCount) }
                    content = .blob(copy)
                }
                try writer.append(tree: entry.tree, key: entry.key, content: content)
            }
            try queue.nextKey()
        }
        try queue.requireReadable()
        for range in kept.clipped(from: start, to: consumedUpTo).ranges {
            writer.addRange(tree: range.tree, lower: range.lower, upper: range.upper)
        }
    }

    private func shows(_ entry: RunEntry) -> Bool {
        if isOldest, case .mark = entry.content { return false }
        guard hasRanges else { return true }
        return !ranges[..<queue.firstSource].contains { $0.cover(entry.tree, entry.key) }
    }
}
