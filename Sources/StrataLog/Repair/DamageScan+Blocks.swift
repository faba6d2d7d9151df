import StrataModel

/// Segments of form 2.
extension DamageScan {
    /// A segment as far as it has been read.
    private struct SealedReading {
        var content: SealedContent
        var end: Position
        var time: Int64
        var behind = FoundBehind()
        var fault: StrataError?
        /// True if a commit is damaged, and not only data derived from commits.
        var isCommitWrong = false

        mutating func note(_ error: StrataError, _ segment: Segment, _ range: Range<Int>?) {
            fault = fault ?? error.located(path: segment.path, segment: segment.name)
            if let range { behind.badBytes.append(range) }
        }
    }

    /// Reads a sealed segment block by block, and compares its description of the commits with the commits.
    mutating func scanBlocks(
        _ header: SegmentHeader, in window: FileWindow, of index: Int, _ progress: (Int) -> Void
    ) throws {
        var reading = SealedReading(content: SealedContent(header), end: header.before, time: header.timeBefore)
        if report.damage == nil { report.end = reading.end }
        if cut == nil { keptEnd = reading.end }
        let segment = segments[index]
        var walk = BlockWalk(header, window)
        while let piece = try walk.next() {
            switch piece {
            case .bad(let range, let error, let lastOffset):
                reading.note(error, segment, range)
                reading.behind.namedOffset = max(reading.behind.namedOffset, lastOffset)
            case .block(let block): try read(block, of: index, &reading)
            }
            progress(walk.position)
        }
        if reading.fault == nil {
            do {
                // After a cut, it is unknown which names were introduced.
                try reading.content.check(
                    against: cut == nil ? names : nil, endingAt: reading.end, time: reading.time,
                    fileBytes: window.limit)
            } catch let error as StrataError where error.isDamage { reading.note(error, segment, nil) }
        }
        guard let fault = reading.fault else {
            expected = (reading.end, reading.time)
            return
        }
        try note(fault, of: index, header, reading)
    }

    private mutating func read(_ block: Block, of index: Int, _ reading: inout SealedReading) throws {
        let range = block.position..<block.position + block.header.blockBytes
        do {
            if reading.fault == nil { try reading.content.add(block) }
            if reading.fault != nil, block.header.kind == .names { try? reading.content.add(block) }
            guard block.header.kind == .commits, !reading.isCommitWrong else { return reading.behind.add(block) }
            let commits = try CommitBlock(block)
            // After a damaged place, whole commits may be missing.
            if reading.fault != nil, commits.firstOffset != reading.end.offset + 1 {
                return reading.behind.add(block)
            }
            try read(commits, of: index, &reading)
        } catch let error as StrataError where error.isDamage {
            reading.isCommitWrong = reading.isCommitWrong || block.header.kind == .commits
            reading.note(error, segments[index], range)
        }
    }

    private mutating func read(_ block: CommitBlock, of index: Int, _ reading: inout SealedReading) throws {
        let header = block.block.header
        guard header.first == reading.end.offset + 1, header.time == block.time(at: 0) else {
            throw block.block.malformed(
                "A block of commits is out of order.", expected: "\(reading.end.offset + 1)",
                found: "\(header.first)")
        }
        guard header.time >= reading.time else {
            throw block.block.malformed(
                "A commit's time is before that of the previous commit.", expected: "\(reading.time) or later",
                found: "\(header.time)")
        }
        try block.checkChain(after: reading.end.chain)
        for place in 0..<block.count {
            let commit = try block.commit(at: place)
            try take(commit.position, commit.payload, of: index)
            (reading.end, reading.time) = (commit.position, commit.time)
            if reading.fault == nil { try reading.content.add(commit.offset, commit.payload) }
        }
    }

    /// Notes a fault. Data derived from the commits can be rebuilt if all commits are present.
    private mutating func note(
        _ fault: StrataError, of index: Int, _ header: SegmentHeader, _ reading: SealedReading
    ) throws {
        let seal = reading.behind.seal
        let isComplete =
            try !reading.isCommitWrong
            && (seal.map { $0.end == reading.end && $0.time == reading.time } ?? false
                || isEndVouchedFor(reading.end, reading.time, of: index))
        let rewrite = SealedRewrite(end: reading.end, time: reading.time, names: reading.content.names, table: names)
        if isComplete, cut == nil, reading.end.offset >= header.firstOffset {
            note(fault, cut: nil)
            mends.append(.rewritten(segment: index, rewrite))
            expected = (reading.end, reading.time)
        } else {
            let isEmpty = reading.end.offset < header.firstOffset
            let nothing: Cut = index == 0 ? .everything : .before(segment: index)
            note(fault, cut: isEmpty ? nothing : .rewritten(segment: index, rewrite))
            expected = seal.map { ($0.end, $0.time) }
        }
        take(reading.behind, index)
    }
}
