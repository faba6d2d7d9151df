import StrataTree

/// The first of many places in an order (``SortEncoder``). The tie of a place identifies its record, which is not kept.
struct TopPlaces: Sendable {
    /// A place without memory of its own, so that it is cheap to move.
    private struct Candidate {
        /// The first eight bytes as a number, which distinguishes most places.
        var head: UInt64
        var start: Int
        var count: Int
        /// The offset of the tie in the place.
        var tie: Int
    }

    private let limit: Int
    private var bytes: [UInt8] = []
    private var candidates: [Candidate] = []
    /// The head of the last place that can still be among the first; nil as long as any place can.
    private var lastHead: UInt64?

    init(_ limit: Int) { self.limit = limit }

    /// Returns true if a place that begins with these bytes may be among the first.
    func mayAccept(_ start: [UInt8]) -> Bool {
        guard let lastHead else { return limit > 0 }
        return Self.head(start[...]) <= lastHead
    }

    /// - Parameter tie: the offset of the tie in the place.
    mutating func add(_ place: ArraySlice<UInt8>, tie: Int) {
        let head = Self.head(place)
        if let lastHead, head > lastHead { return }
        candidates.append(Candidate(head: head, start: bytes.count, count: place.count, tie: tie))
        bytes += place
        // Occasional sorting costs less than constant ordering.
        if candidates.count >= max(64, 2 * limit) { prune() }
    }

    mutating func add(_ other: TopPlaces) {
        for candidate in other.candidates {
            add(other.bytes[candidate.start..<candidate.start + candidate.count], tie: candidate.tie)
        }
    }

    private mutating func prune() {
        let kept = bytes.withUnsafeBytes { bytes in
            func place(_ candidate: Candidate) -> UnsafeRawBufferPointer {
                UnsafeRawBufferPointer(rebasing: bytes[candidate.start..<candidate.start + candidate.count])
            }
            return candidates.sorted {
                $0.head != $1.head ? $0.head < $1.head : place($0).lexicographicallyPrecedes(place($1))
            }.prefix(max(0, limit))
        }
        if kept.count == limit { lastHead = kept.last?.head }
        let old = bytes
        bytes.removeAll(keepingCapacity: true)
        candidates.removeAll(keepingCapacity: true)
        for candidate in kept {
            candidates.append(candidate)
            candidates[candidates.count - 1].start = bytes.count
            bytes += old[candidate.start..<candidate.start + candidate.count]
        }
    }

    /// The keys of the records of the kept places, in order.
    mutating func sorted(_ ties: QueryOrder.Ties) throws -> KeyList {
        prune()
        var records = KeyList()
        for candidate in candidates {
            let place = bytes[candidate.start..<candidate.start + candidate.count]
            records.append(
                try place.dropFirst(candidate.tie).withUnsafeBytes { try SortEncoder.record(ofTie: $0, ties) })
        }
        return records
    }

    /// Missing bytes count as zeros, so that of two places with different heads the one with the lower head comes
    /// first.
    private static func head(_ place: ArraySlice<UInt8>) -> UInt64 {
        place.withUnsafeBytes { place in
            if place.count >= 8 { return UInt64(bigEndian: place.loadUnaligned(as: UInt64.self)) }
            var head: UInt64 = 0
            for index in 0..<8 { head = head << 8 | (index < place.count ? UInt64(place[index]) : 0) }
            return head
        }
    }
}
