import StrataModel
import StrataSystem

/// Looks up a name that a segment uses but does not introduce; returns nil for an unknown one.
package typealias NameLookup = @Sendable (UsedNames.Key) throws -> InternedName?

/// Rewrites a closed segment as blocks (docs/format.md §25), into a separate file.
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

    /// - Parameters:
    ///   - draft: an empty file.
    ///   - id: a new segment id, if the payloads will change.
    init(_ segment: SegmentFile, into draft: any File, id: Identifier? = nil) throws {
        let (header, bytes) = try segment.header.sealed(frameBytes: segment.frameBytes, id: id)
        try draft.write(bytes, at: 0)
        self.segment = segment
        self.header = header
        self.draft = draft
        writer = BlockWriter(draft, salt: header.salt, at: header.byteCount)
        lists = SegmentIndex(firstOffset: segment.firstOffset, endPosition: header.byteCount)
    }

    /// Reads the whole segment, checks everything, and writes the draft, which is durable on return. Returns the sealed
    /// segment.
    ///
    /// - Parameters:
    ///   - touches: finds the touches of a payload.
    ///   - lookup: returns names that the segment does not introduce.
    ///   - pulse: called for each commit; an error that it throws ends the work.
    consuming func seal(
        from file: any File, touches: TouchFunction, lookup: NameLookup, pulse: () throws -> Void
    ) throws -> SegmentFile {
        var scanner = SegmentScanner(segment.header, FileWindow(file, limit: try file.size()))
        var chain = segment.header.chainBefore
        let found = try SegmentEnd.find(&scanner, isNewest: false) { commit in
            try pulse()
            try append(
                CommitRow(commit.header), commit.payload, try touches(commit.payload), chainBefore: chain, of: commit)
            chain = commit.header.chain
        }
        guard let seal = segment.seal, found.end == seal.end, found.time == seal.time else {
            throw StrataError(
                .brokenSequence, "A closed segment does not end at its seal.",
                .init(
                    segment: segment.firstOffset, path: segment.path, expected: "\(segment.seal?.end ?? .start)",
                    found: "\(found.end)"))
        }
        return try finish(seal, lookup)
    }

    /// Writes the draft, which is durable on return, from commits that are passed in order.
    ///
    /// - Parameter forEach: passes each commit of the segment to the function that it is given.
    consuming func seal(
        touches: @escaping TouchFunction, lookup: NameLookup,
        _ forEach: ((Commit, OriginalPayload?) throws -> Void) throws -> Void
    ) throws -> SegmentFile {
        guard let seal = segment.seal else { preconditionFailure("a segment must be closed before it is rewritten") }
        var chain = segment.header.chainBefore
        try forEach { commit, original in
            try commit.payload.withUnsafeBytes { payload in
                try append(
                    CommitRow(commit, original: original), payload, try touches(payload), chainBefore: chain)
            }
            chain = commit.chain
        }
        return try finish(seal, lookup)
    }

    /// Writes the draft from the commits of a segment that is sealed already, up to the end of the new one.
    consuming func rewrite(_ walk: BlockWalk, lookup: NameLookup) throws {
        guard let seal = segment.seal else {
            preconditionFailure("the end of a segment must be known before it is rewritten")
        }
        let (path, firstOffset) = (segment.path, segment.firstOffset)
        var walk = walk
        var end = segment.header.before
        _ = try self.seal(touches: { try Envelope.touches(of: $0) }, lookup: lookup) { append in
            while end.offset < seal.end.offset, let piece = try walk.next() {
                guard case .block(let block) = piece, block.header.kind == .commits else { continue }
                let commits = try CommitBlock(block)
                for place in 0..<commits.count where end.offset < seal.end.offset {
                    let commit = try commits.commit(at: place)
                    try append(commit, commits.original(at: place))
                    end = commit.position
                }
            }
            guard end == seal.end else {
                throw StrataError(
                    .brokenSequence, "A segment was changed since it was first read.",
                    .init(segment: firstOffset, path: path, expected: "\(seal.end)", found: "\(end)"))
            }
        }
    }

    private consuming func finish(_ seal: SegmentFile.Seal, _ lookup: NameLookup) throws -> SegmentFile {
        try finishCommits()
        try writeChanges()
        try writeFilter()
        try writeNames(try names.resolved(lookup))
        let position = try writeEnd(seal)
        try draft.sync()
        var sealed = SegmentFile(path: segment.path, header: header, seal: seal)
        sealed.seal?.position = position
        return sealed
    }

    /// A commit that takes this many bytes in its frame keeps them, in a block of its own: compressing them harder
    /// takes more processor time than the space is worth.
    private static let keptBytes = 16 << 10

    private mutating func append(
        _ row: CommitRow, _ payload: UnsafeRawBufferPointer, _ touches: [Touch], chainBefore: UInt32,
        of scanned: SegmentScanner.ScannedCommit? = nil
    ) throws {
        let kept = scanned.flatMap { $0.stored.count >= Self.keptBytes ? $0 : nil }
        if kept != nil || !builder.hasRoom(for: payload.count) { try finishCommits() }
        builder.append(row, payload, chainBefore: chainBefore)
        if let kept { try finishCommits(keeping: kept) }
        index.payloadBytes += UInt64(payload.count)
        index.touchCount += UInt64(touches.count)
        // Change lists do not need the positions of frames.
        lists.append(offset: row.offset, range: 0..<0, touches: touches, payload: payload)
        for touch in touches where touch.kind == .recordSaved || touch.kind == .recordDeleted {
            let name = UnsafeRawBufferPointer(rebasing: payload[touch.key])
            hashes.append(NameFilter.hash(zone: touch.zone, name: name))
        }
        names.add(payload)
    }

    private mutating func finishCommits(keeping kept: SegmentScanner.ScannedCommit? = nil) throws {
        guard !builder.isEmpty else { return }
        let start = writer.position
        let (header, raw) = builder.finish()
        let end = kept.flatMap { $0.header.codec == .lz4 ? (lz4: $0.stored, count: $0.payload.count) : nil }
        let count = try writer.append(header, raw, end: end, compresses: kept == nil)
        index.commits.append(.init(range: start..<start + count, firstOffset: header.first, time: header.time))
    }

    private mutating func writeChanges() throws {
        var changes = ChangeBlockBuilder()
        // Copied, because the lists are read while the index is written.
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
            body.append(counted: event.body)
            header.count += 1
            guard body.bytes.count >= CommitBlock.targetBytes || place == names.count - 1 else { continue }
            let start = writer.position
            let count = try writer.append(header, body.bytes)
            index.names.append(.init(range: start..<start + count, count: UInt64(header.count)))
            header.count = 0
            body.removeAll()
        }
    }

    /// Writes the index and the end block; returns the position of the end block.
    private mutating func writeEnd(_ found: SegmentFile.Seal) throws -> Int {
        index.position = writer.position
        try writer.append(BlockHeader(kind: .index), index.encoded(lastOffset: found.end.offset))
        let position = writer.position
        var header = BlockHeader(kind: .end)
        header.first = found.end.offset
        header.count = UInt32(clamping: found.end.offset - segment.firstOffset + 1)
        header.chain = found.end.chain
        header.time = found.time
        var body = ByteWriter(reserving: 16)
        body.append(UInt64(index.position))
        body.append(UInt64(position + BlockHeader.endBlockBytes))
        try writer.append(header, body.bytes, compresses: false)
        try writer.flush()
        return position
    }
}
