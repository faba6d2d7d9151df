import StrataModel

/// Commits that a reader has read and not yet published: publishing each by itself costs as much as reading it.
struct ReadCommits {
    private struct Entry {
        let header: FrameHeader
        let range: Range<Int>
        let touches: [Touch]
        /// The range of its payload, to which its touches refer; empty if it has none.
        let payload: Range<Int>
    }

    private static let maximumCount = 1_024
    private static let maximumBytes = 1 << 20

    private var entries: [Entry] = []
    private var payloads: [UInt8] = []
    private var lastOffset: UInt64

    /// - Parameter offset: the last commit that has been published.
    init(after offset: UInt64) { lastOffset = offset }

    var isEmpty: Bool { entries.isEmpty }
    var isFull: Bool { entries.count >= Self.maximumCount || payloads.count >= Self.maximumBytes }

    mutating func add(_ scanned: SegmentScanner.ScannedCommit, touches: TouchFunction) throws {
        // A place that is read again yields commits that are known already.
        guard scanned.header.offset > lastOffset else { return }
        let touches = try touches(scanned.payload)
        let start = payloads.count
        if !touches.isEmpty { payloads.append(contentsOf: scanned.payload) }
        entries.append(
            Entry(header: scanned.header, range: scanned.range, touches: touches, payload: start..<payloads.count))
        lastOffset = scanned.header.offset
    }

    /// Publishes the commits, and removes them from the batch.
    mutating func move(into state: inout LogCatalog.State) {
        guard let last = entries.last?.header else { return }
        payloads.withUnsafeBytes { bytes in
            for entry in entries {
                state.newest.append(
                    offset: entry.header.offset, range: entry.range, touches: entry.touches,
                    payload: UnsafeRawBufferPointer(rebasing: bytes[entry.payload]))
            }
        }
        state.end = Position(offset: last.offset, chain: last.chain)
        state.endTime = last.time
        state.durableEnd = state.end
        entries.removeAll(keepingCapacity: true)
        payloads.removeAll(keepingCapacity: true)
    }
}
