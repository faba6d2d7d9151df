import StrataLog
import StrataModel

/// A way to print the contents of a log.
protocol FrameFormat {
    func write(_ head: StoredPieceWalk, _ file: LogFiles.Entry, to output: Output) throws
    /// - Parameter isDurable: nil for a piece that holds no commits.
    func write(_ piece: StoredPiece, _ file: LogFiles.Entry, isDurable: Bool?, to output: Output) throws
    func write(_ footer: SegmentFooter, _ file: LogFiles.Entry, to output: Output) throws
}

/// Lists the contents of files, and records the first problem.
struct FrameListing {
    /// The offsets whose frames are listed; nil for none.
    let offsets: ClosedRange<UInt64>?
    /// True if pieces without commits are listed too.
    let isWhole: Bool
    let durableEnd: UInt64
    let format: any FrameFormat
    let output: Output
    private(set) var damage: StrataError?
    /// The first problem in the growing segment.
    private(set) var newestProblem: StrataError?

    mutating func list(_ file: LogFiles.Entry) throws {
        var walk = try StoredPieceWalk(path: file.path, files: ReadOnlyFiles())
        var (isSealed, isGrowing) = (false, false)
        switch walk.head {
        case .segment(_, isSealed: true): isSealed = true
        case .segment: isGrowing = file.isNewest
        case .base: break
        case .unreadable(let error): damage = damage ?? error
        }
        try format.write(walk, file, to: output)
        var last = (file.segment ?? 1) - 1
        var gap: StoredPiece?
        while let piece = try walk.next() {
            if let gap { note(Self.problem(of: gap, file), isGrowing) }
            gap = nil
            if case .nothing(let isZero) = piece.content {
                // Zeros are preallocated space, unless something follows them.
                if isZero { gap = piece } else { note(Self.problem(of: piece, file), isGrowing) }
            }
            if let problem = piece.problem { note(problem, isGrowing) }
            if isListed(piece, after: last) {
                let isDurable = piece.offsets.map { !file.isNewest || $0.upperBound <= durableEnd }
                try format.write(piece, file, isDurable: isDurable, to: output)
            }
            last = piece.offsets?.upperBound ?? last
        }
        if isSealed, isWhole { try listFooter(file) }
    }

    private mutating func listFooter(_ file: LogFiles.Entry) throws {
        do {
            guard let footer = try SegmentFooter(path: file.path, files: ReadOnlyFiles()) else { return }
            try format.write(footer, file, to: output)
        } catch let error as StrataError where error.isDamage { damage = damage ?? error }
    }

    /// - Parameter last: the last offset before the piece. Bytes that are not a frame may have held a later commit.
    private func isListed(_ piece: StoredPiece, after last: UInt64) -> Bool {
        if isWhole { return true }
        guard let offsets else { return false }
        if let held = piece.offsets { return held.overlaps(offsets) }
        if case .nothing(isZero: false) = piece.content { return last < offsets.upperBound }
        return false
    }

    private mutating func note(_ problem: StrataError, _ isGrowing: Bool) {
        if isGrowing { newestProblem = newestProblem ?? problem } else { damage = damage ?? problem }
    }

    private static func problem(of gap: StoredPiece, _ file: LogFiles.Entry) -> StrataError {
        StrataError(
            .malformed, "Some bytes of a log file are not a valid frame or block.",
            .init(
                segment: file.segment, position: UInt64(gap.range.lowerBound), path: file.path,
                found: gap.range.count.counted("byte")))
    }
}

// MARK: For people

/// One line for each frame or block.
struct FrameLines: FrameFormat {
    private static let titles = [
        "POSITION", "BYTES", "KIND", "OFFSETS", "RAW", "STORED", "CODEC", "SAVED", "CHECKSUM", "DURABLE",
    ]
    /// Wide enough for nearly all cells. Longer ones push the rest of the line to the right.
    private static let widths = [10, 9, 7, 17, 9, 9, 6, 6, 8, 7]
    /// Words are aligned left, numbers right.
    private static let wordColumns: Set<Int> = [2, 3, 6, 8, 9]
    /// The columns to drop on a narrow terminal, in this order: CODEC, SAVED, RAW, DURABLE, STORED and OFFSETS.
    private static let expendable = [6, 7, 4, 9, 5, 3]

    func write(_ head: StoredPieceWalk, _ file: LogFiles.Entry, to output: Output) throws {
        output.write(Printable.escaped(file.path), .heading)
        output.write(": \(head.byteCount.counted("byte")), ")
        switch head.head {
        case .segment(let header, let isSealed):
            output.write("a segment of \(isSealed ? "blocks" : "frames"), from \(header.firstOffset)")
        case .base(let horizon, _):
            output.write("a base for all commits up to \(horizon.offset)")
        case .unreadable(let error):
            output.write("a header that cannot be read: \(Printable.escaped(error.description))", .removed)
        }
        try output.endLine()
        try write(cells: Self.titles, to: output)
    }

    func write(_ piece: StoredPiece, _ file: LogFiles.Entry, isDurable: Bool?, to output: Output) throws {
        var cells = ["\(piece.range.lowerBound)", "\(piece.range.count)"]
        switch piece.content {
        case .frame(let header):
            cells += ["\(header.kind)", Self.text(piece.offsets)]
            cells += Self.cells(header.rawLength, header.storedLength, header.codec)
        case .block(let block):
            cells += ["\(block.kind)", Self.text(piece.offsets)]
            cells += Self.cells(block.rawLength, block.storedLength, block.codec)
        case .nothing(let isZero):
            cells += [isZero ? "zeros" : "no valid frame or block"]
            return try write(cells: cells, to: output, isWrong: !isZero)
        }
        cells += [piece.problem == nil ? "ok" : "wrong", isDurable.map { $0 ? "yes" : "no" } ?? "-"]
        try write(cells: cells, to: output, isWrong: piece.problem != nil)
    }

    func write(_ footer: SegmentFooter, _ file: LogFiles.Entry, to output: Output) throws {
        var names = KnownNames()
        for name in footer.names { names.add(name) }
        func line(_ text: String) throws {
            try output.writeLine("  " + Printable.escaped(text))
        }
        let (first, last) = (Timestamp(microseconds: footer.firstTime), Timestamp(microseconds: footer.lastTime))
        let place = footer.indexPosition
        try line("footer: \(footer.payloadBytes.counted("byte")) of payloads, \(first) to \(last); index at \(place)")
        for block in footer.commitBlocks {
            try line(
                "  commits \(Self.text(block.offsets)) at \(block.range.lowerBound), "
                    + "\(block.range.count.counted("byte")), from \(Timestamp(microseconds: block.time))")
        }
        let changes = "\(footer.touchCount.counted("change")) of \(footer.zones.count.counted("zone"))"
        try line("  \(changes) in \(Self.text(footer.changeBlocks))")
        for zone in footer.zones {
            let name = names.zone(zone.zone).map { " \($0)" } ?? ""
            try line(
                "    zone \(zone.zone)\(name): \(zone.touchCount.counted("change")), \(zone.byteCount.counted("byte"))")
        }
        try line(
            "  filter of \(footer.recordNameCount.counted("record name")): \(footer.filterGroups.counted("group")) in "
                + Self.text(footer.filterBlocks))
        try line("  \(footer.names.count.counted("name")) in \(Self.text(footer.nameBlocks))")
    }

    private static func cells(_ raw: UInt32, _ stored: UInt32, _ codec: FrameHeader.Codec) -> [String] {
        ["\(raw)", "\(stored)", "\(codec)", SavedSpace.percent(of: UInt64(raw), in: UInt64(stored))]
    }

    private static func text(_ offsets: ClosedRange<UInt64>?) -> String {
        guard let offsets else { return "-" }
        return offsets.count == 1 ? "\(offsets.lowerBound)" : "\(offsets.lowerBound) to \(offsets.upperBound)"
    }

    private static func text(_ blocks: [Range<Int>]) -> String {
        "\(blocks.count.counted("block")) of \(blocks.reduce(0) { $0 + $1.count }.counted("byte"))"
    }

    private func write(cells: [String], to output: Output, isWrong: Bool = false) throws {
        var line = ""
        let shown = Columns.fitting(Self.widths, in: output.columns, leavingOut: Self.expendable)
            .filter { $0 < cells.count }
        for column in shown {
            let cell = cells[column]
            let isLast = column == shown.last
            let padding = "".padded(to: Self.widths[column] - cell.count, separation: 0)
            line += Self.wordColumns.contains(column) ? cell + (isLast ? "" : padding) : padding + cell
            if !isLast { line += "  " }
        }
        if isWrong { output.write(line, .removed) } else { output.write(line) }
        try output.endLine()
    }
}
