import StrataModel
import StrataSystem

/// Segments of form 1.
extension DamageScan {
    /// The whole commits before a fault.
    private struct WholePart {
        var end: Position
        var time: Int64
        /// The position after the last of them.
        var position: Int
    }

    /// Reads a segment's frames to its end, or to the first damaged one, and then searches the rest.
    mutating func scan(
        _ header: SegmentHeader, in window: FileWindow, of index: Int, _ progress: (Int) -> Void
    ) throws {
        var scanner = SegmentScanner(header, window)
        var whole = WholePart(end: header.before, time: header.timeBefore, position: header.byteCount)
        var isPayloadFault = false
        if report.damage == nil { report.end = whole.end }
        if cut == nil { keptEnd = whole.end }
        do {
            let found = try SegmentEnd.find(&scanner, isNewest: index == segments.count - 1) { commit in
                do {
                    try take(
                        Position(offset: commit.header.offset, chain: commit.header.chain), ArraySlice(commit.payload),
                        of: index)
                } catch {
                    isPayloadFault = true
                    throw error
                }
                whole = WholePart(
                    end: Position(offset: commit.header.offset, chain: commit.header.chain), time: commit.header.time,
                    position: commit.range.upperBound)
                progress(whole.position)
            }
            expected = (found.end, found.time)
            if case .torn(let limit, let error) = found.kind {
                report.unfinishedTail = LogReader.UnfinishedTail(
                    path: segments[index].path, position: found.position, byteCount: limit - found.position,
                    reason: error?.message ?? "A commit before others is missing.")
            }
        } catch let error as StrataError where error.isDamage {
            if !isPayloadFault { whole.position = scanner.position }
            try noteFault(error, header, in: window, of: index, after: whole, canBeSeal: !isPayloadFault)
        }
    }

    /// Counts a commit that follows from the preceding ones of its segment.
    mutating func take(_ position: Position, _ payload: ArraySlice<UInt8>, of index: Int) throws {
        if cut == nil {
            let count: UInt64
            do { count = try verifyPayload(payload) } catch let error as StrataError {
                throw error.located(
                    path: segments[index].path, segment: segments[index].name, offset: position.offset)
            }
            keptEnd = position
            if report.damage == nil, isCounted(position) { report.eventCount += count }
        }
        if report.damage == nil {
            if isCounted(position) { report.commitCount += 1 }
            report.end = position
        } else {
            extent.standingOffsets.insert(position.offset)
        }
    }

    /// A floor may be within a segment, whose first commits are then no longer read.
    private func isCounted(_ position: Position) -> Bool { position.offset > floor?.position.offset ?? 0 }

    /// Returns the number of events of a payload, and decodes each as far as this version knows it.
    private mutating func verifyPayload(_ payload: ArraySlice<UInt8>) throws -> UInt64 {
        let envelope = try Envelope(decoding: payload)
        _ = try payload.withUnsafeBytes { try Envelope.touches(of: $0) }
        for event in envelope.events where event.kind == .nameInterned {
            try names?.add(try InternedName(decoding: event.body))
        }
        return UInt64(envelope.events.count)
    }

    private mutating func noteFault(
        _ error: StrataError, _ header: SegmentHeader, in window: FileWindow, of index: Int, after whole: WholePart,
        canBeSeal: Bool
    ) throws {
        var search = FrameSearch(header, window)
        try search.run(from: whole.position, isFault: true)
        let seal = canBeSeal ? try certainSeal(after: whole, header, in: window, of: index, search) : nil
        note(error, cut: seal == nil ? .within(segment: index, keptBytes: whole.position) : nil)
        take(search.found, index)
        if let seal {
            mends.append(.seal(segment: index, seal))
            expected = (seal.end, seal.time)
        } else {
            expected = search.found.seal.map { ($0.end, $0.time) }
        }
    }

    /// Returns the seal that belongs after the last commit, if the successor's header says that the segment ends there.
    private func certainSeal(
        after whole: WholePart, _ header: SegmentHeader, in window: FileWindow, of index: Int, _ search: FrameSearch
    ) throws -> SegmentFile.Seal? {
        guard search.found.standing.isEmpty, whole.end.offset >= header.firstOffset,
            try isEndVouchedFor(whole.end, whole.time, of: index)
        else { return nil }
        var seal = SegmentFile.Seal(end: whole.end, time: whole.time, position: whole.position)
        // The seal may be there, with the fault after it.
        let place = whole.position - LogFormat.frameHeaderBytes
        let bytes = try window.bytes(at: place, count: LogFormat.frameHeaderBytes)
        let frame = FrameHeader(valid: bytes, salt: header.salt, position: place)
        if frame?.kind == .seal { seal.position = place }
        return seal
    }

    /// Returns true if the next segment begins where this one would end.
    func isEndVouchedFor(_ end: Position, _ time: Int64, of index: Int) throws -> Bool {
        guard index + 1 < segments.count else { return false }
        let file = try files.open(segments[index + 1].path, .read)
        defer { file.close() }
        guard let next = try? SegmentHeader.read(file) else { return false }
        return next.storeID == storeID && next.firstOffset == segments[index + 1].name && next.before == end
            && next.timeBefore == time
    }
}
