import StrataModel
import StrataSystem

/// A sealed segment, open for reading. Anything unexpected in the file is damage.
final class SealedSegment: Sendable {
    let segment: SegmentFile
    let index: SealedIndex
    private let file: any File
    private let cache: BlockCache
    private let closesFile: Bool

    /// - Parameters:
    ///   - index: the index that was read from the same file before.
    ///   - closesFile: false if the file has another owner.
    init(
        _ segment: SegmentFile, _ file: any File, _ cache: BlockCache, index known: SealedIndex? = nil,
        closesFile: Bool = true
    ) throws {
        self.segment = segment
        self.file = file
        self.cache = cache
        self.closesFile = closesFile
        guard let seal = segment.seal else {
            preconditionFailure("the end of a sealed segment is known once its directory was read")
        }
        if let known {
            index = known
            return
        }
        let start = try Self.indexPosition(segment, file, endingAt: seal.position)
        let block = try Self.block(of: segment, in: file, at: start..<seal.position, kind: .index)
        index = try Self.located(segment) {
            try block.bytes.withUnsafeBytes { bytes in
                try SealedIndex(
                    decoding: bytes, startingAt: segment.header.byteCount, start, firstOffset: segment.firstOffset,
                    lastOffset: seal.end.offset)
            }
        }
    }

    deinit {
        if closesFile { file.close() }
    }

    // MARK: The end

    /// Reads the end block, which is always at the end of the file.
    static func readSeal(_ file: any File, _ header: SegmentHeader) throws -> SegmentFile.Seal {
        let size = try file.size()
        let position = size - BlockHeader.endBlockBytes
        let segment = SegmentFile(path: file.path, header: header, seal: nil)
        guard position >= header.byteCount else {
            throw StrataError(
                .impossibleLength, "A sealed segment has no end.",
                .init(
                    segment: header.firstOffset, path: file.path,
                    expected: "at least \(header.byteCount + BlockHeader.endBlockBytes) bytes", found: "\(size)"))
        }
        let end = try block(of: segment, in: file, at: position..<size, kind: .end)
        try located(segment) { try check(end, header, fileBytes: size) }
        return SegmentFile.Seal(
            end: Position(offset: end.header.first, chain: end.header.chain), time: end.header.time,
            position: position)
    }

    private static func check(_ end: Block, _ header: SegmentHeader, fileBytes: Int) throws {
        let named = end.endNumbers()?.second ?? 0
        guard named == UInt64(fileBytes) else {
            throw end.malformed(
                "The end of a sealed segment states a size that differs from the file's.",
                expected: "\(named) bytes", found: "\(fileBytes)")
        }
        let offsets = header.firstOffset...Version.maximumOffset
        guard offsets.contains(end.header.first), end.header.time >= header.timeBefore,
            end.header.first - header.firstOffset + 1 == UInt64(end.header.count)
        else {
            throw end.malformed(
                "The end of a sealed segment does not match its header.",
                expected: "an offset of at least \(offsets.lowerBound), and as many commits",
                found: "\(end.header.first), \(end.header.count) commits")
        }
    }

    private static func indexPosition(_ segment: SegmentFile, _ file: any File, endingAt limit: Int) throws -> Int {
        let end = try block(of: segment, in: file, at: limit..<limit + BlockHeader.endBlockBytes, kind: .end)
        let position = end.endNumbers()?.first ?? 0
        let places = UInt64(segment.header.byteCount)..<UInt64(limit)
        guard places.contains(position) else {
            throw located(
                segment,
                end.malformed(
                    "The end of a sealed segment has an invalid position of the index.", expected: "\(places)",
                    found: "\(position)"))
        }
        return Int(position)
    }

    // MARK: Blocks

    private static func block(
        of segment: SegmentFile, in file: any File, at range: Range<Int>, kind: BlockHeader.Kind
    ) throws -> Block {
        let bytes = try file.read(count: range.count, at: range.lowerBound)
        return try bytes.withUnsafeBytes { try block(of: segment, in: $0, at: range, kind: kind) }
    }

    private static func block(of segment: SegmentFile, in window: FileWindow, at range: Range<Int>) throws -> Block {
        try block(
            of: segment, in: try window.bytes(at: range.lowerBound, count: range.count), at: range, kind: .commits)
    }

    private static func block(
        of segment: SegmentFile, in bytes: UnsafeRawBufferPointer, at range: Range<Int>, kind: BlockHeader.Kind
    ) throws -> Block {
        try located(segment) {
            let block = try Block(decoding: bytes, salt: segment.header.salt, position: range.lowerBound)
            guard block.header.kind == kind, block.header.blockBytes == range.count else {
                throw block.malformed(
                    "A block has another kind or size than in the index.", expected: "\(kind), \(range.count) bytes",
                    found: "\(block.header.kind), \(block.header.blockBytes) bytes")
            }
            return block
        }
    }

    private func block(_ range: Range<Int>, _ kind: BlockHeader.Kind, isKept: Bool = true) throws -> Block {
        let key = BlockCache.Key(salt: segment.header.salt, firstOffset: segment.firstOffset, range.lowerBound)
        if let known = cache[key] { return known }
        let block = try Self.block(of: segment, in: file, at: range, kind: kind)
        if isKept { cache[key] = block }
        return block
    }

    private static func located<Result>(_ segment: SegmentFile, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StrataError { throw located(segment, error) }
    }

    private static func located(_ segment: SegmentFile, _ error: StrataError) -> StrataError {
        error.located(path: segment.path, segment: segment.firstOffset)
    }

    // MARK: Commits

    /// - Parameter window: reads ahead; nil to use the cache.
    func commitBlock(_ number: Int, from window: FileWindow? = nil) throws -> CommitBlock {
        let entry = index.commits[number]
        let next = number + 1 < index.commits.count ? index.commits[number + 1].firstOffset : lastOffset + 1
        return try Self.located(segment) {
            let block = try CommitBlock(
                try window.map { try Self.block(of: segment, in: $0, at: entry.range) }
                    ?? block(entry.range, .commits))
            guard block.firstOffset == entry.firstOffset, UInt64(block.count) == next - entry.firstOffset,
                block.block.header.time == entry.time
            else {
                throw block.block.malformed(
                    "A block contains other commits than those in the index.",
                    expected: "\(entry.firstOffset) to \(next - 1)",
                    found: "\(block.firstOffset) to \(block.lastOffset)")
            }
            return block
        }
    }

    var lastOffset: UInt64 { segment.seal?.end.offset ?? segment.firstOffset }

    /// - Parameter offset: one that the segment has, here and below.
    func commit(at offset: UInt64) throws -> Commit {
        let block = try commitBlock(index.commitBlock(of: offset))
        return try Self.located(segment) {
            var commit = try block.commit(at: Int(offset - block.firstOffset))
            // A copy, so that keeping one commit does not keep its block.
            commit.payload = commit.payload.withUnsafeBytes { ArraySlice($0) }
            return commit
        }
    }

    func chain(at offset: UInt64) throws -> UInt32 {
        let block = try commitBlock(index.commitBlock(of: offset))
        return block.chain(at: Int(offset - block.firstOffset))
    }

    /// Returns the first commit that is not older than `time`; the last one must not be.
    func firstOffset(notBefore time: Int64) throws -> UInt64 {
        let number = index.commitBlock(before: time)
        let block = try commitBlock(number)
        let found = block.firstIndex(notBefore: time)
        return found < block.count ? block.firstOffset + UInt64(found) : min(block.lastOffset + 1, lastOffset)
    }

    // MARK: Changes

    /// Like ``ChangeList/collect(of:after:limit:into:)``, for one zone.
    func collect(
        zone: UInt64, of name: [UInt8]? = nil, after offset: UInt64, limit: Int, into touches: inout [ZoneTouch]
    ) throws -> Bool {
        guard let known = index.zone(zone) else { return true }
        var number = index.changeBlock(of: known, after: offset)
        while number < index.changes.count, index.changes[number].zone <= zone {
            let block = try block(index.changes[number].range, .changes)
            let isComplete = try Self.located(segment) {
                try block.bytes.withUnsafeBytes { bytes in
                    var runs = try ChangeRuns(block.header, bytes)
                    while let run = try runs.next(), run.zone <= zone {
                        guard run.zone == zone else { continue }
                        let entries = UnsafeRawBufferPointer(rebasing: bytes[run.entries])
                        guard
                            try ChangeList.collect(
                                entries, of: name, startingAfter: run.offsetBefore, after: offset, limit: limit,
                                into: &touches)
                        else { return false }
                    }
                    return true
                }
            }
            if !isComplete { return false }
            number += 1
        }
        return true
    }

    /// Returns true if the segment may have touched a record; false is certain.
    func mayTouch(_ name: [UInt8], in zone: UInt64) throws -> Bool {
        guard index.filterGroups > 0 else { return false }
        let hash = name.withUnsafeBytes { NameFilter.hash(zone: zone, name: $0) }
        let group = NameFilter.group(of: hash, count: index.filterGroups)
        let block = try block(index.filters[group / NameFilter.groupsPerBlock], .filter)
        let start = group % NameFilter.groupsPerBlock * NameFilter.groupBytes
        guard start + NameFilter.groupBytes <= block.bytes.count else {
            throw Self.located(
                segment,
                block.malformed(
                    "A filter block is too short.", expected: "\(start + NameFilter.groupBytes) bytes",
                    found: "\(block.bytes.count)"))
        }
        return block.bytes.withUnsafeBytes { bytes in
            NameFilter.mayContain(
                hash, inGroup: UnsafeRawBufferPointer(rebasing: bytes[start..<start + NameFilter.groupBytes]))
        }
    }

    // MARK: Names

    /// Returns the names that the segment's commits use, as far as they were known when it was sealed.
    func names() throws -> [InternedName] {
        var names: [InternedName] = []
        for entry in index.names {
            let block = try block(entry.range, .names, isKept: false)
            names += try Self.located(segment) { try block.internedNames() }
        }
        return names
    }

    // MARK: Checking

    /// Reads the blocks that ``Cursor`` does not: all except those of commits.
    func requireWhole() throws {
        for entry in index.changes { _ = try block(entry.range, .changes, isKept: false) }
        for range in index.filters { _ = try block(range, .filter, isKept: false) }
        _ = try names()
    }

    // MARK: Reading in order

    /// Reads the commits in order, in large pieces of the file.
    struct Cursor {
        private let sealed: SealedSegment
        private let window: FileWindow
        private let checksChain: Bool
        private var number: Int
        private var block: CommitBlock
        private var place: Int

        /// - Parameters:
        ///   - offset: one that the segment has.
        ///   - checksChain: true to recompute the chain value of each commit, not only compare the values between
        ///     blocks.
        init(_ sealed: SealedSegment, from offset: UInt64, checksChain: Bool = false) throws {
            self.sealed = sealed
            self.checksChain = checksChain
            window = FileWindow(sealed.file, limit: sealed.index.position)
            number = sealed.index.commitBlock(of: offset)
            block = try sealed.commitBlock(number, from: window)
            place = Int(offset - block.firstOffset)
            try check(after: number == 0 ? sealed.segment.header.chainBefore : block.block.header.chain)
        }

        /// Returns the next commit; nil after the last.
        @inline(__always)
        mutating func next() throws -> Commit? {
            if place == block.count {
                guard number + 1 < sealed.index.commits.count else { return nil }
                try loadNext()
            }
            defer { place += 1 }
            return try block.commit(at: place)
        }

        /// The original payload of the commit that `next` returned last, if data was erased from it.
        var original: OriginalPayload? { place > 0 ? block.original(at: place - 1) : nil }

        private mutating func loadNext() throws {
            number += 1
            let chain = block.chain(at: block.count - 1)
            block = try sealed.commitBlock(number, from: window)
            place = 0
            try check(after: chain)
        }

        private func check(after chain: UInt32) throws {
            try SealedSegment.located(sealed.segment) {
                if checksChain { try block.checkChain(after: chain) } else { try block.requireContinuity(after: chain) }
                if number + 1 == sealed.index.commits.count, let end = sealed.segment.seal?.end {
                    try block.requireEnd(end)
                }
            }
        }
    }
}
