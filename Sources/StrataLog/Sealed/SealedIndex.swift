import StrataModel

/// The places of everything in a sealed segment (docs/format.md §25, "Index").
struct SealedIndex: Sendable, Equatable {
    struct Commits: Sendable, Equatable {
        /// The range of the block in the file, here and below.
        var range: Range<Int>
        var firstOffset: UInt64
        var time: Int64
    }

    struct Changes: Sendable, Equatable {
        var range: Range<Int>
        var zone: UInt64
        /// The second number of the block's first run.
        var offsetBefore: UInt64
    }

    struct Zone: Sendable, Equatable {
        var zone: UInt64
        var touchCount: UInt64
        /// The index of the change block that has its first run.
        var block: Int
    }

    struct Names: Sendable, Equatable {
        var range: Range<Int>
        var count: UInt64
    }

    var commits: [Commits] = []
    var changes: [Changes] = []
    var filters: [Range<Int>] = []
    var filterGroups = 0
    var names: [Names] = []
    var zones: [Zone] = []
    var payloadBytes: UInt64 = 0
    var touchCount: UInt64 = 0
    var recordNameCount: UInt64 = 0
    /// The position of the index block, which is after all others but the end.
    var position = 0

    /// Its size in memory.
    var byteCount: Int {
        commits.count * MemoryLayout<Commits>.stride + changes.count * MemoryLayout<Changes>.stride
            + filters.count * MemoryLayout<Range<Int>>.stride + names.count * MemoryLayout<Names>.stride
            + zones.count * MemoryLayout<Zone>.stride
    }

    // MARK: Encoding

    func encoded(lastOffset: UInt64) -> [UInt8] {
        var writer = ByteWriter(reserving: commits.count * 8 + zones.count * 4 + 64)
        func appendLength(_ range: Range<Int>) {
            writer.appendVarint(UInt64(range.count / LogFormat.frameAlignment))
        }
        writer.appendVarint(UInt64(commits.count))
        var time: Int64 = 0
        for (index, block) in commits.enumerated() {
            appendLength(block.range)
            let next = index + 1 < commits.count ? commits[index + 1].firstOffset : lastOffset + 1
            writer.appendVarint(next - block.firstOffset)
            let delta = block.time &- time
            writer.appendVarint(index == 0 ? zigzag(delta) : UInt64(bitPattern: delta))
            time = block.time
        }
        writer.appendVarint(UInt64(changes.count))
        var zone: UInt64 = 0
        for block in changes {
            appendLength(block.range)
            writer.appendVarint(block.zone - zone)
            writer.appendVarint(block.offsetBefore)
            zone = block.zone
        }
        writer.appendVarint(UInt64(filters.count))
        writer.appendVarint(UInt64(filterGroups))
        for range in filters { appendLength(range) }
        writer.appendVarint(UInt64(names.count))
        for block in names {
            appendLength(block.range)
            writer.appendVarint(block.count)
        }
        writer.appendVarint(UInt64(zones.count))
        var last = Zone(zone: 0, touchCount: 0, block: 0)
        for zone in zones {
            writer.appendVarint(zone.zone - last.zone)
            writer.appendVarint(zone.touchCount)
            writer.appendVarint(UInt64(zone.block - last.block))
            last = zone
        }
        for number in [payloadBytes, touchCount, recordNameCount] { writer.appendVarint(number) }
        return writer.bytes
    }

    // MARK: Decoding

    /// - Parameters:
    ///   - start: the position of the first block.
    ///   - position: the position of the index block.
    init(
        decoding bytes: UnsafeRawBufferPointer, startingAt start: Int, _ position: Int, firstOffset: UInt64,
        lastOffset: UInt64
    ) throws {
        self.position = position
        var reader = IndexReader(ByteReader(bytes), start, position)
        try reader.readCommits(into: &self, firstOffset, lastOffset)
        try reader.readChanges(into: &self)
        try reader.readFilter(into: &self)
        try reader.readNames(into: &self)
        guard reader.position == position else {
            throw reader.malformed(
                "the lengths of blocks", expected: "\(position) in total", found: "\(reader.position)")
        }
        try reader.readZones(into: &self)
        try reader.readTotals(into: &self)
    }

    init() {}

    // MARK: Looking up

    /// Returns the block that has the commit, which the segment must have.
    func commitBlock(of offset: UInt64) -> Int {
        lastIndex(in: commits.count) { commits[$0].firstOffset <= offset }
    }

    /// Returns the last block that begins before `time`, or the first one.
    func commitBlock(before time: Int64) -> Int { lastIndex(in: commits.count) { commits[$0].time < time } }

    func zone(_ zone: UInt64) -> Zone? {
        guard !zones.isEmpty else { return nil }
        let found = zones[lastIndex(in: zones.count) { zones[$0].zone <= zone }]
        return found.zone == zone ? found : nil
    }

    /// Returns the first change block that may have entries of a zone after an offset.
    func changeBlock(of zone: Zone, after offset: UInt64) -> Int {
        var block = zone.block
        // A zone that fills blocks has one run at the beginning of each.
        while block + 1 < changes.count, changes[block + 1].zone == zone.zone,
            changes[block + 1].offsetBefore <= offset
        { block += 1 }
        return block
    }

    /// Returns the last index for which `isBefore` is true, or 0; such indexes must come first.
    private func lastIndex(in count: Int, where isBefore: (Int) -> Bool) -> Int {
        max(0, (0..<count).endOfPrefix(where: isBefore) - 1)
    }
}

/// Reads an index, and keeps track of the positions of the blocks.
private struct IndexReader {
    private var reader: ByteReader
    /// The position of the next block.
    private(set) var position: Int
    private let limit: Int

    init(_ reader: ByteReader, _ start: Int, _ limit: Int) {
        self.reader = reader
        position = start
        self.limit = limit
    }

    func malformed(_ what: StaticString, expected: String, found: String) -> StrataError {
        reader.malformed(what, expected: expected, found: found)
    }

    /// Reads a number of entries. Each has at least one byte, so that no number requests more memory than the index
    /// has.
    private mutating func readCount(_ what: StaticString) throws -> Int {
        Int(try reader.readVarint(what, atMost: UInt64(reader.remaining)))
    }

    /// Returns the range of the next block, and advances past it.
    private mutating func readRange() throws -> Range<Int> {
        let start = position
        let room = UInt64(limit - position) / UInt64(LogFormat.frameAlignment)
        let length = try reader.readVarint("the length of a block", atMost: room)
        guard length * UInt64(LogFormat.frameAlignment) >= UInt64(BlockHeader.byteCount) else {
            throw reader.malformed("the length of a block", expected: "enough for its header", found: "\(length)")
        }
        position += Int(length) * LogFormat.frameAlignment
        return start..<position
    }

    mutating func readCommits(into index: inout SealedIndex, _ firstOffset: UInt64, _ lastOffset: UInt64) throws {
        let count = try readCount("the number of commit blocks")
        index.commits.reserveCapacity(count)
        var (offset, time) = (firstOffset, Int64(0))
        for number in 0..<count {
            let range = try readRange()
            let commits = try reader.readVarint("the commits of a block", atMost: lastOffset + 1 - offset)
            let delta = try reader.readVarint("the time of a block")
            if number == 0 {
                time = unzigzag(delta)
            } else {
                let (next, isOver) = time.addingReportingOverflow(Int64(bitPattern: delta))
                guard !isOver, next >= time else {
                    throw reader.malformed("the time of a block", expected: "\(time) or later", found: "\(next)")
                }
                time = next
            }
            guard commits > 0 else { throw reader.malformed("the commits of a block", expected: "at least one") }
            index.commits.append(.init(range: range, firstOffset: offset, time: time))
            offset += commits
        }
        guard count > 0, offset == lastOffset + 1 else {
            throw reader.malformed(
                "the commits of all blocks", expected: "those up to offset \(lastOffset)", found: "\(offset - 1)")
        }
    }

    mutating func readChanges(into index: inout SealedIndex) throws {
        let count = try readCount("the number of change blocks")
        var zone: UInt64 = 0
        for _ in 0..<count {
            let range = try readRange()
            zone += try reader.readVarint("the zone of a change block", atMost: UInt64.max - zone)
            let offset = try reader.readVarint("the offset before a change block", atMost: Version.maximumOffset)
            index.changes.append(.init(range: range, zone: zone, offsetBefore: offset))
        }
    }

    mutating func readFilter(into index: inout SealedIndex) throws {
        let count = try readCount("the number of filter blocks")
        index.filterGroups = Int(try reader.readVarint("the groups of the filter", atMost: UInt64(UInt32.max)))
        guard count == (index.filterGroups + NameFilter.groupsPerBlock - 1) / NameFilter.groupsPerBlock else {
            throw reader.malformed(
                "the number of filter blocks", expected: "the number that \(index.filterGroups) groups need",
                found: "\(count)")
        }
        for _ in 0..<count { index.filters.append(try readRange()) }
    }

    mutating func readNames(into index: inout SealedIndex) throws {
        for _ in 0..<(try readCount("the number of name blocks")) {
            let range = try readRange()
            index.names.append(.init(range: range, count: try reader.readVarint("the names of a block")))
        }
    }

    mutating func readZones(into index: inout SealedIndex) throws {
        let count = try readCount("the number of zones")
        var last = SealedIndex.Zone(zone: 0, touchCount: 0, block: 0)
        index.zones.reserveCapacity(count)
        for _ in 0..<count {
            let delta = try reader.readVarint("a zone", atMost: UInt64.max - last.zone)
            guard delta > 0 || index.zones.isEmpty else {
                throw reader.malformed("a zone", expected: "greater than the previous zone")
            }
            last.zone += delta
            last.touchCount = try reader.readVarint("the touches of a zone")
            let blocks = UInt64(max(0, index.changes.count - 1 - last.block))
            last.block += Int(try reader.readVarint("the change block of a zone", atMost: blocks))
            index.zones.append(last)
        }
        guard count == 0 || !index.changes.isEmpty else {
            throw reader.malformed("the number of zones", expected: "0 without change blocks", found: "\(count)")
        }
    }

    mutating func readTotals(into index: inout SealedIndex) throws {
        index.payloadBytes = try reader.readVarint("the bytes of all payloads")
        index.touchCount = try reader.readVarint("the number of touches")
        index.recordNameCount = try reader.readVarint("the number of record names")
        try reader.expectEnd("the index")
    }
}
