import StrataModel
import StrataSystem

/// The end of a segment's frames, found by reading them all and judged by the recovery table.
struct SegmentEnd {
    enum Kind {
        case open
        case closed
        /// Bytes of an unfinished write, from the `position` of the scanner up to this one.
        case torn(through: Int, StrataError?)
    }

    var kind: Kind
    /// The position after the last whole frame.
    var position: Int
    var end: Position
    var time: Int64
    var endsWithMark: Bool

    /// The content of a closed segment's last 64 bytes, which are a seal frame or an end block.
    var seal: SegmentFile.Seal {
        SegmentFile.Seal(end: end, time: time, position: position - LogFormat.frameHeaderBytes)
    }

    var isClosed: Bool { if case .closed = kind { true } else { false } }

    /// Reads the rest of a segment and passes each commit to `visit`.
    /// - Throws: the damage, or the operating system's error.
    static func find(
        _ scanner: inout SegmentScanner, isNewest: Bool, visit: (SegmentScanner.ScannedCommit) throws -> Void
    ) throws -> SegmentEnd {
        var endsWithMark = false
        while true {
            let (place, error): (RecoveryTable.Place, StrataError?)
            switch try scanner.next() {
            case .commit(let commit):
                endsWithMark = false
                try visit(commit)
                continue
            case .mark:
                endsWithMark = true
                continue
            case .seal: (place, error) = (.seal, nil)
            case .stop(.nothing): (place, error) = (.nothing, nil)
            case .stop(.invalid(let found)): (place, error) = (.invalid, found)
            case .stop(.cannotFollow(let found)): (place, error) = (.cannotFollow, found)
            case .stop(.unsupported(let found)): (place, error) = (.unsupported, found)
            }
            return try judge(scanner, place, error, isNewest: isNewest, endsWithMark: endsWithMark)
        }
    }

    private static func judge(
        _ scanner: SegmentScanner, _ place: RecoveryTable.Place, _ error: StrataError?, isNewest: Bool,
        endsWithMark: Bool
    ) throws -> SegmentEnd {
        let restIsZero = try scanner.restIsZero(from: scanner.position)
        let hasWitness = try place != .seal && !restIsZero && scanner.hasWitness()
        let verdict = RecoveryTable.verdict(
            for: .init(place: place, restIsZero: restIsZero, hasWitness: hasWitness, isNewest: isNewest))
        let kind: Kind
        switch verdict {
        case .end: kind = .open
        case .closed: kind = .closed
        case .tornTail: kind = .torn(through: try scanner.lastNonzero(), error)
        case .damage, .noSeal, .unsupported: throw error ?? defaultError(verdict, place, scanner)
        }
        return SegmentEnd(
            kind: kind, position: scanner.position, end: scanner.end, time: scanner.time, endsWithMark: endsWithMark)
    }

    private static func defaultError(
        _ verdict: RecoveryTable.Verdict, _ place: RecoveryTable.Place, _ scanner: SegmentScanner
    ) -> StrataError {
        let context = StrataError.Context(
            segment: scanner.segment.firstOffset, offset: scanner.nextOffset, position: UInt64(scanner.position),
            path: scanner.window.file.path, expected: place == .seal ? "zeros after the seal" : "a frame or a seal",
            found: place == .seal ? "something else" : "zeros")
        switch (verdict, place) {
        case (.noSeal, _):
            return StrataError(.unsealedSegment, "A segment with a successor is not closed.", context)
        case (_, .seal): return StrataError(.brokenSequence, "A closed segment has bytes after its end.", context)
        default: return StrataError(.brokenSequence, "A synced commit is missing.", context)
        }
    }
}

extension SegmentEnd {
    /// The end of a sealed segment, which needs no reading; nil for any other segment.
    init?(ofSealed segment: SegmentFile) {
        guard segment.header.form == .blocks, let seal = segment.seal else { return nil }
        self.init(
            kind: .closed, position: seal.position + BlockHeader.endBlockBytes, end: seal.end, time: seal.time,
            endsWithMark: false)
    }
}

extension SegmentScanner {
    /// Returns the position after the last nonzero word; the present position if only zeros follow.
    func lastNonzero() throws -> Int {
        var last = position
        while let found = try window.firstWord(from: last, where: { $0 != 0 }) {
            // Skips a nonzero run in one go, so that long garbage does not cost a search per word.
            last = try window.firstWord(from: found, where: { $0 == 0 }) ?? window.limit
        }
        return last
    }
}
