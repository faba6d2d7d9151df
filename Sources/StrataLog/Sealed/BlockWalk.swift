import StrataModel
import StrataSystem

/// Reads a sealed segment block by block, from the beginning and without its index, past damaged places too.
struct BlockWalk {
    enum Piece {
        case block(Block)
        /// A range without a whole block, up to the next valid header, with the last offset that it names.
        case bad(Range<Int>, StrataError, lastOffset: UInt64)
    }

    private let header: SegmentHeader
    private let window: FileWindow
    private(set) var position: Int

    init(_ header: SegmentHeader, _ window: FileWindow) {
        self.header = header
        self.window = window
        position = header.byteCount
    }

    /// Returns the next piece; nil at the end of the file.
    mutating func next() throws -> Piece? {
        guard position < window.limit else { return nil }
        let start = position
        do {
            let block = try block(at: start)
            position += block.header.blockBytes
            return .block(block)
        } catch let error as StrataError where error.isDamage {
            position = try nextHeader(after: start) ?? window.limit
            let known = try blockHeader(at: start)
            let error = error.located(path: window.file.path, segment: header.firstOffset)
            return .bad(start..<position, error, lastOffset: known?.lastOffset ?? 0)
        }
    }

    private func nextHeader(after position: Int) throws -> Int? {
        var place = position + LogFormat.frameAlignment
        while let found = try window.firstWord(
            from: place, where: { UInt32(truncatingIfNeeded: $0) == BlockHeader.magic })
        {
            if try blockHeader(at: found) != nil { return found }
            place = found + LogFormat.frameAlignment
        }
        return nil
    }

    private func block(at position: Int) throws -> Block {
        let head = try window.bytes(at: position, count: BlockHeader.byteCount)
        let count = try BlockHeader(decoding: head, salt: header.salt, position: position).blockBytes
        return try Block(
            decoding: try window.bytes(at: position, count: count), salt: header.salt, position: position)
    }

    private func blockHeader(at position: Int) throws -> BlockHeader? {
        let head = try window.bytes(at: position, count: BlockHeader.byteCount)
        return try? BlockHeader(decoding: head, salt: header.salt, position: position)
    }

    /// Returns everything from here on that is whole by itself.
    consuming func found() throws -> FoundBehind {
        var found = FoundBehind()
        while let piece = try next() {
            switch piece {
            case .bad(let range, _, let lastOffset):
                found.badBytes.append(range)
                found.namedOffset = max(found.namedOffset, lastOffset)
            case .block(let block): found.add(block)
            }
        }
        return found
    }
}

extension BlockHeader {
    /// The offset of the last commit that the block has or closes; 0 for kinds that have none.
    fileprivate var lastOffset: UInt64 {
        guard first <= Version.maximumOffset else { return 0 }
        return switch kind {
        case .commits: first + UInt64(max(1, count)) - 1
        case .end: first
        case .changes, .filter, .names, .index, .state: 0
        }
    }
}

extension FoundBehind {
    /// Adds a block that is whole by itself, regardless of what precedes it.
    mutating func add(_ block: Block) {
        namedOffset = max(namedOffset, block.header.lastOffset)
        switch block.header.kind {
        case .commits:
            guard let commits = try? CommitBlock(block),
                (try? commits.checkChain(after: block.header.chain)) != nil
            else {
                badBytes.append(block.position..<block.position + block.header.blockBytes)
                return
            }
            standing.insert(commits.firstOffset...commits.lastOffset)
        case .end where block.header.first <= Version.maximumOffset:
            seal = SegmentFile.Seal(
                end: Position(offset: block.header.first, chain: block.header.chain), time: block.header.time,
                position: block.position)
        case .changes, .filter, .names, .index, .end, .state: break
        }
    }
}
