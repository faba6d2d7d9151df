import StrataModel

/// The most recently used sealed segments, which stay open, and the indexes of more of them, so that opening one again
/// reads little.
struct OpenSegments {
    private struct Known {
        let index: SealedIndex
        var lastUse: UInt64
    }

    private static let maximumCount = 16
    private static let maximumIndexBytes = 16 << 20

    /// In the order of their use, the most recent one last.
    private var open: [SealedSegment] = []
    /// By segment id: a segment that is rewritten with other payloads has a new one.
    private var indexes: [Identifier: Known] = [:]
    /// The size of the indexes.
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

    /// Removes segments and their indexes. Indexes of segments that are not open are no longer of use, and are evicted
    /// in time.
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
