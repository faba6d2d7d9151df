import StrataModel

/// The sealed segments that were used last, open; and of more of them the index, so that opening one again reads
/// little.
struct OpenSegments {
    private struct Known {
        let index: SealedIndex
        var lastUse: UInt64
    }

    private static let maximumCount = 16
    private static let maximumIndexBytes = 16 << 20

    /// The last was used last.
    private var open: [SealedSegment] = []
    /// By the segment's own id: a file that replaces another has a new one.
    private var indexes: [Identifier: Known] = [:]
    /// Of the indexes.
    private var byteCount = 0
    private var uses: UInt64 = 0

    mutating func segment(_ header: SegmentHeader) -> SealedSegment? {
        guard let place = open.firstIndex(where: { $0.segment.header == header }) else { return nil }
        let found = open.remove(at: place)
        open.append(found)
        return found
    }

    mutating func index(_ header: SegmentHeader) -> SealedIndex? {
        uses += 1
        indexes[header.segmentID]?.lastUse = uses
        return indexes[header.segmentID]?.index
    }

    mutating func add(_ sealed: SealedSegment) {
        open.append(sealed)
        if open.count > Self.maximumCount { open.removeFirst() }
        let id = sealed.segment.header.segmentID
        guard indexes[id] == nil, sealed.index.byteCount <= Self.maximumIndexBytes else { return }
        uses += 1
        indexes[id] = Known(index: sealed.index, lastUse: uses)
        byteCount += sealed.index.byteCount
        while byteCount > Self.maximumIndexBytes { forgetOldestIndex() }
    }

    /// Indexes of segments that are not open are of no use any more then, and pushed out in time.
    mutating func removeAll(where isGone: (SegmentFile) -> Bool) {
        for sealed in open where isGone(sealed.segment) { forgetIndex(sealed.segment.header.segmentID) }
        open.removeAll { isGone($0.segment) }
    }

    mutating func removeAll() { self = OpenSegments() }

    private mutating func forgetOldestIndex() {
        guard let oldest = indexes.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        forgetIndex(oldest.key)
    }

    private mutating func forgetIndex(_ id: Identifier) {
        if let known = indexes.removeValue(forKey: id) { byteCount -= known.index.byteCount }
    }
}
