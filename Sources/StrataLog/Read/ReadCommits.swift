import StrataModel

/// Commits that a reader has read and not shown yet: to show each by itself costs as much as to read it.
struct ReadCommits {
    private struct Entry {
        let header: FrameHeader
        let range: Range<Int>
        let touches: [Touch]
        /// Where its payload is, if it has touches, which are ranges of it.
        let payload: Range<Int>
    }

    private static let maximumCount = 1_024
    private static let maximumBytes = 1 << 20

    private var entries: [Entry] = []
    private var payloads: [UInt8] = []
    private var lastOffset: UInt64

    /// - Parameter offset: up to there commits have been shown.
    init(after offset: UInt64) { lastOffset = offset }

    var isEmpty: Bool { entries.isEmpty }
    var isFull: Bool { entries.count >= Self.maximumCount || payloads.count >= Self.maximumBytes }

    mutating func add(_ scanned: SegmentScanner.ScannedCommit, touches: TouchFunction) throws {
        // A place that is read again gives commits again that are known already.
        guard scanned.header.offset > lastOffset else { return }
        let touches = try touches(scanned.payload)
        let start = payloads.count
        if !touches.isEmpty { payloads.append(contentsOf: scanned.payload) }
        entries.append(
            Entry(header: scanned.header, range: scanned.range, touches: touches, payload: start..<payloads.count))
        lastOffset = scanned.header.offset
    }

    /// Shows them, and forgets them.
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
