import StrataLog
import StrataModel

/// Writes an object for each file, frame, block, footer, and unrecognized range of bytes.
struct FrameJSON: FrameFormat {
    private static let file = Shape<LogFiles.Entry>("A log file's name") {
        Key("segment", "the segment's name: its first offset", if: "of a segment") { $0.segment }
        Key("base", "the base's name: its horizon", if: "of a base") { $0.base }
    }

    static let head = Shape<(walk: StoredPieceWalk, file: LogFiles.Entry)>(
        "A file of the log", "The line before the contents of a file."
    ) {
        Key(of: file) { $0.file }
        Key("kind", "`file`") { _ in "file" }
        Key("path", "of the file") { $0.file.path }
        Key("bytes", "its size") { $0.walk.byteCount }
        Key("form", "`frames`, `blocks` or `base`, or null if the header cannot be read") { $0.walk.head.form }
        Key("problem", "damage of the header") { $0.walk.head.problem }
    }

    static let piece = Shape<(piece: StoredPiece, file: LogFiles.Entry, isDurable: Bool?)>(
        "A piece of a file"
    ) {
        Key(of: file) { $0.file }
        Key(
            "kind",
            "of a frame `commit`, `part`, `seal` or `mark`, of a block `commits`, `changes`, `filter`, `names`, "
                + "`index`, `end` or `state`. Else `zeros`, or `nothing`: no valid frame or block"
        ) { $0.piece.content.kind }
        Key("position", "where it begins in the file") { $0.piece.range.lowerBound }
        Key("bytes", "how many bytes it takes there") { $0.piece.range.count }
        Key("firstOffset", "of the commits that it holds", if: "if it holds any") { $0.piece.offsets?.lowerBound }
        Key("lastOffset", "the last of them", if: "if it holds any") { $0.piece.offsets?.upperBound }
        Key("rawBytes", "bytes before compression", if: "frames and blocks") {
            $0.piece.content.frame?.rawLength ?? $0.piece.content.block?.rawLength
        }
        Key("storedBytes", "bytes of the body as stored", if: "frames and blocks") {
            $0.piece.content.frame?.storedLength ?? $0.piece.content.block?.storedLength
        }
        Key("codec", "`stored` or `lz4`", if: "frames and blocks") {
            ($0.piece.content.frame?.codec ?? $0.piece.content.block?.codec).map { "\($0)" }
        }
        Key(
            "time", "of the commit, for a block of its first commit, for an end of the last",
            if: "frames, `commits`, `end`"
        ) { $0.piece.content.frame?.time ?? $0.piece.content.datedBlock?.time }
        Key(
            "chain", "chain value after the frame, before the block's commits, or at the end",
            if: "frames, `commits`, `end`"
        ) { ($0.piece.content.frame?.chain ?? $0.piece.content.datedBlock?.chain).map { Hexadecimal($0) } }
        Key("undurable", "commits not known to be durable then", if: "frames") { $0.piece.content.frame?.undurable }
        Key("entries", "how many commits, runs, names or payloads it has", if: "blocks") {
            $0.piece.content.block?.count
        }
        Key("erasures", "true: part of one of its commits was erased", if: "blocks: if so") {
            $0.piece.content.block?.hasErasures == true ? true : nil
        }
        Key("bodyChecksum", "of its body", if: "frames and blocks") {
            ($0.piece.content.frame?.bodyChecksum ?? $0.piece.content.block?.bodyChecksum).map { Hexadecimal($0) }
        }
        Key("checksum", "`ok` or `wrong`", if: "frames and blocks") { line -> String? in
            if case .nothing = line.piece.content { nil } else { line.piece.problem == nil ? "ok" : "wrong" }
        }
        Key("durable", "true if its commits are known to be durable", if: "if it holds any") { $0.isDurable }
        Key("problem", "damage", if: "if it is wrong") { $0.piece.problem }
    }

    private static let block = Shape<Range<Int>>("A place of a block") {
        Key("position", "where it begins in the file") { $0.lowerBound }
        Key("bytes", "how long it is") { $0.count }
    }

    private static let commitBlock = Shape<SegmentFooter.CommitBlock>("A block of commits in a footer") {
        Key("firstOffset", "of its first commit") { $0.offsets.lowerBound }
        Key("lastOffset", "of its last commit") { $0.offsets.upperBound }
        Key(of: block) { $0.range }
        Key("time", "of its first commit") { $0.time }
    }

    private static let zone = Shape<(zone: SegmentFooter.Zone, names: KnownNames)>("A zone of a footer") {
        Key("zone", name: "zoneName", "ordinal") { ($0.zone.zone, $0.names.zone($0.zone.zone)) }
        Key("changes", "how many changes its list has") { $0.zone.touchCount }
        Key("bytes", "of its list before compression") { $0.zone.byteCount }
    }

    static let footer = Shape<(footer: SegmentFooter, file: LogFiles.Entry)>("A footer") {
        Key(of: file) { $0.file }
        Key("kind", "`footer`") { _ in "footer" }
        Key("position", "of the index block, which describes all of it") { $0.footer.indexPosition }
        Key("payloadBytes", "of all commits, before compression") { $0.footer.payloadBytes }
        Key("firstTime", "of the first commit") { $0.footer.firstTime }
        Key("lastTime", "of the last") { $0.footer.lastTime }
        Key("commitBlocks", "the blocks of commits", each: commitBlock) { $0.footer.commitBlocks }
        Key("changes", "how many entries the change lists have") { $0.footer.touchCount }
        Key("changeBlocks", "the blocks with change lists", each: block) { $0.footer.changeBlocks }
        Key("zones", "the zones that the change lists name", each: zone) { line in
            var names = KnownNames()
            for name in line.footer.names { names.add(name) }
            return line.footer.zones.map { (zone: $0, names: names) }
        }
        Key("recordNames", "how many names of records the filter has") { $0.footer.recordNameCount }
        Key("filterGroups", "its size, in groups of 64 bytes") { $0.footer.filterGroups }
        Key("filterBlocks", "its blocks", each: block) { $0.footer.filterBlocks }
        Key("names", "how many interned names the commits use") { $0.footer.names.count }
        Key("nameBlocks", "the blocks with them", each: block) { $0.footer.nameBlocks }
    }

    func write(_ head: StoredPieceWalk, _ file: LogFiles.Entry, to output: Output) throws {
        try output.writeJSON((head, file), as: Self.head)
    }

    func write(_ piece: StoredPiece, _ file: LogFiles.Entry, isDurable: Bool?, to output: Output) throws {
        try output.writeJSON((piece, file, isDurable), as: Self.piece)
    }

    func write(_ footer: SegmentFooter, _ file: LogFiles.Entry, to output: Output) throws {
        try output.writeJSON((footer, file), as: Self.footer)
    }
}

extension StoredPieceWalk.Head {
    fileprivate var form: String? {
        switch self {
        case .segment(_, let isSealed): isSealed ? "blocks" : "frames"
        case .base: "base"
        case .unreadable: nil
        }
    }

    fileprivate var problem: StrataError? { if case .unreadable(let error) = self { error } else { nil } }
}

extension StoredPiece.Content {
    fileprivate var frame: FrameHeader? { if case .frame(let header) = self { header } else { nil } }
    fileprivate var block: BlockHeader? { if case .block(let block) = self { block } else { nil } }
    fileprivate var datedBlock: BlockHeader? { block.flatMap { [.commits, .end].contains($0.kind) ? $0 : nil } }

    fileprivate var kind: String {
        switch self {
        case .frame(let header): "\(header.kind)"
        case .block(let block): "\(block.kind)"
        case .nothing(let isZero): isZero ? "zeros" : "nothing"
        }
    }
}
