import StrataModel
import StrataSystem

/// Looks up a name that a segment uses and does not bring; nil for one that is not known.
public typealias NameLookup = @Sendable (UsedNames.Key) throws -> InternedName?

/// Rewrites a closed segment as blocks (docs/format.md §25), into a file of its own.
struct SegmentSealer: ~Copyable {
    private let segment: SegmentFile
    private let header: SegmentHeader
    private let draft: any File
    private var writer: BlockWriter
    private var builder = CommitBlockBuilder()
    private var index = SealedIndex()
    private var lists: SegmentIndex
    private var hashes: [UInt64] = []
    private var names = UsedNames()

    /// - Parameter draft: an empty file.
    init(_ segment: SegmentFile, into draft: any File) throws {
        let (header, bytes) = try segment.header.sealed(frameBytes: segment.frameBytes)
        try draft.write(bytes, at: 0)
        self.segment = segment
        self.header = header
        self.draft = draft
        writer = BlockWriter(draft, salt: header.salt, at: header.byteCount)
        lists = SegmentIndex(firstOffset: segment.firstOffset, endPosition: header.byteCount)
    }

    /// Reads the segment through, checking everything, and writes the draft, which is durable on return.
    ///
    /// - Parameters:
    ///   - touches: what a payload touches.
    ///   - lookup: names that the segment does not bring.
    ///   - isStopped: asked from time to time.
    /// - Returns: the sealed segment; nil if it was stopped.
    consuming func seal(
        from file: any File, touches: TouchFunction, lookup: NameLookup, isStopped: () -> Bool
    ) throws -> SegmentFile? {
        var scanner = SegmentScanner(segment.header, FileWindow(file, limit: try file.size()))
        var chain = segment.header.chainBefore
        var isInterrupted = false
        let found = try SegmentEnd.find(&scanner, isNewest: false) { commit in
            guard !isInterrupted else { return }
            try append(commit, try touches(commit.payload), chainBefore: chain)
            chain = commit.header.chain
            isInterrupted = builder.isEmpty && isStopped()
        }
        if isInterrupted || isStopped() { return nil }
        guard let seal = segment.seal, found.end == seal.end, found.time == seal.time else {
            throw StrataError(
                .brokenSequence, "A closed segment does not end where its seal says.",
                .init(
                    segment: segment.firstOffset, path: segment.path, expected: "\(segment.seal?.end ?? .start)",
                    found: "\(found.end)"))
        }
        var sealed = SegmentFile(path: segment.path, header: header, seal: seal)
        sealed.seal?.position = try finish(found.end, found.time, lookup)
        return sealed
    }

    /// Writes the draft from the commits of a segment that is sealed already, up to what this one is to end with.
    consuming func rewrite(_ walk: consuming BlockWalk, lookup: NameLookup) throws {
        guard let seal = segment.seal else { preconditionFailure("who rewrites a segment knows its end") }
        var end = segment.header.before
        while end.offset < seal.end.offset, let piece = try walk.next() {
            guard case .block(let block) = piece, block.header.kind == .commits else { continue }
            let commits = try CommitBlock(block)
            for place in 0..<commits.count where end.offset < seal.end.offset {
                let commit = try commits.commit(at: place)
                try append(commit, chainBefore: end.chain)
                end = commit.position
            }
        }
        guard end == seal.end else {
            throw StrataError(
                .brokenSequence, "A segment has changed since it was looked at.",
                .init(segment: segment.firstOffset, path: segment.path, expected: "\(seal.end)", found: "\(end)"))
        }
        try finish(end, seal.time, lookup)
    }

    private mutating func append(_ commit: Commit, chainBefore: UInt32) throws {
        let header = FrameHeader(
            kind: .commit, codec: .stored, offset: commit.offset, id: commit.id, time: commit.time, rawLength: 0,
            storedLength: 0, chain: commit.chain, undurable: 0, bodyChecksum: 0)
        try commit.payload.withUnsafeBytes { payload in
            try append(
                SegmentScanner.ScannedCommit(header: header, range: 0..<0, payload: payload),
                try Envelope.touches(of: payload), chainBefore: chainBefore)
        }
    }

    /// Writes all that stands behind the commits; returns where the end stands.
    @discardableResult
    private mutating func finish(_ end: Position, _ time: Int64, _ lookup: NameLookup) throws -> Int {
        try finishCommits()
        try writeChanges()
        try writeFilter()
        try writeNames(try names.resolved(lookup))
        let position = try writeEnd(end, time)
        try draft.sync()
        return position
    }

    private mutating func append(
        _ commit: SegmentScanner.ScannedCommit, _ touches: [Touch], chainBefore: UInt32
    ) throws {
        if !builder.hasRoom(for: commit.payload.count) { try finishCommits() }
        builder.append(commit.header, commit.payload, chainBefore: chainBefore)
        index.payloadBytes += UInt64(commit.payload.count)
        index.touchCount += UInt64(touches.count)
        lists.append(offset: commit.header.offset, range: commit.range, touches: touches, payload: commit.payload)
        for touch in touches where touch.kind == .recordSaved || touch.kind == .recordDeleted {
            let name = UnsafeRawBufferPointer(rebasing: commit.payload[touch.key])
            hashes.append(NameFilter.hash(zone: touch.zone, name: name))
        }
        names.add(commit.payload)
    }

    private mutating func finishCommits() throws {
        guard !builder.isEmpty else { return }
        let start = writer.position
        let (header, raw) = builder.finish()
        let count = try writer.append(header, raw)
        index.commits.append(.init(range: start..<start + count, firstOffset: header.first, time: header.time))
    }

    private mutating func writeChanges() throws {
        var changes = ChangeBlockBuilder()
        // Taken out, since the lists are read while the index is written.
        let lists = lists
        try lists.forEachChangeList { zone, list in
            var isFirst = true
            try list.forEachPiece { before, entries in
                if let finished = changes.append(zone: zone, offsetBefore: before, entries) { try write(finished) }
                if isFirst {
                    index.zones.append(
                        .init(zone: zone, touchCount: UInt64(list.count), block: index.changes.count))
                }
                isFirst = false
            }
        }
        if let finished = changes.finish() { try write(finished) }
    }

    private mutating func write(_ block: ChangeBlockBuilder.Finished) throws {
        let start = writer.position
        let count = try writer.append(block.header, block.raw)
        index.changes.append(
            .init(range: start..<start + count, zone: block.header.first, offsetBefore: block.offsetBefore))
    }

    private mutating func writeFilter() throws {
        hashes.sort()
        var distinct: [UInt64] = []
        distinct.reserveCapacity(hashes.count)
        for hash in hashes where hash != distinct.last { distinct.append(hash) }
        hashes = []
        index.recordNameCount = UInt64(distinct.count)
        index.filterGroups = NameFilter.groupCount(names: distinct.count)
        for (number, bits) in NameFilter.blocks(of: distinct).enumerated() {
            var header = BlockHeader(kind: .filter)
            header.first = UInt64(number)
            header.count = UInt32(bits.count / NameFilter.groupBytes)
            let start = writer.position
            index.filters.append(start..<start + (try writer.append(header, bits, compresses: false)))
        }
    }

    private mutating func writeNames(_ names: [InternedName]) throws {
        var body = ByteWriter()
        var header = BlockHeader(kind: .names)
        for (place, name) in names.enumerated() {
            let event = name.event
            body.appendVarint(UInt64(event.body.count))
            body.append(bytes: event.body)
            header.count += 1
            guard body.bytes.count >= CommitBlock.targetBytes || place == names.count - 1 else { continue }
            let start = writer.position
            let count = try writer.append(header, body.bytes)
            index.names.append(.init(range: start..<start + count, count: UInt64(header.count)))
            header.count = 0
            body.removeAll()
        }
    }

    static let endBytes = BlockHeader.byteCount + 16

    /// Writes index and end; returns where the end stands.
    private mutating func writeEnd(_ end: Position, _ time: Int64) throws -> Int {
        index.position = writer.position
        try writer.append(BlockHeader(kind: .index), index.encoded(lastOffset: end.offset))
        let position = writer.position
        var header = BlockHeader(kind: .end)
        header.first = end.offset
        header.count = UInt32(clamping: end.offset - segment.firstOffset + 1)
        header.chain = end.chain
        header.time = time
        var body = ByteWriter(reserving: 16)
        body.append(UInt64(index.position))
        body.append(UInt64(position + Self.endBytes))
        try writer.append(header, body.bytes, compresses: false)
        try writer.flush()
        return position
    }
}
