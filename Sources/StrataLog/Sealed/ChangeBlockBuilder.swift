import StrataModel

/// Divides change lists into blocks (docs/format.md §25, "Changes").
struct ChangeBlockBuilder {
    private static let targetBytes = 32 << 10

    struct Finished {
        var header: BlockHeader
        var raw: [UInt8]
        /// The second number of the first run.
        var offsetBefore: UInt64
    }

    private var writer = ByteWriter(reserving: targetBytes + (8 << 10))
    private var header = BlockHeader(kind: .changes)
    private var offsetBefore: UInt64 = 0

    /// Adds a run; returns the previous block if the run did not fit into it.
    mutating func append(zone: UInt64, offsetBefore: UInt64, _ entries: [UInt8]) -> Finished? {
        let isFull = header.count > 0 && writer.bytes.count + entries.count > Self.targetBytes
        let finished = isFull ? finish() : nil
        if header.count == 0 {
            header.first = zone
            self.offsetBefore = offsetBefore
        }
        header.count += 1
        writer.appendVarint(zone)
        writer.appendVarint(offsetBefore)
        writer.append(counted: entries)
        return finished
    }

    /// Finishes the last block; returns nil if nothing was added since the previous one.
    mutating func finish() -> Finished? {
        guard header.count > 0 else { return nil }
        let finished = Finished(header: header, raw: writer.bytes, offsetBefore: offsetBefore)
        header = BlockHeader(kind: .changes)
        writer.removeAll()
        return finished
    }
}

/// Reads the runs of a change block.
struct ChangeRuns {
    struct Run {
        var zone: UInt64
        var offsetBefore: UInt64
        /// The range of the entries in the block's bytes.
        var entries: Range<Int>
    }

    private var reader: ByteReader
    private var runCount: Int

    /// `bytes`, the raw body of the block, must stay alive as long as the runs are used.
    init(_ header: BlockHeader, _ bytes: UnsafeRawBufferPointer) throws {
        reader = ByteReader(bytes)
        runCount = Int(header.count)
        guard header.kind == .changes, runCount > 0, runCount <= bytes.count else {
            throw reader.malformed("a change block", expected: "kind 2 and at least one run")
        }
    }

    mutating func next() throws -> Run? {
        guard runCount > 0 else {
            try reader.expectEnd("a change block")
            return nil
        }
        runCount -= 1
        let zone = try reader.readVarint("the zone of a run")
        let before = try reader.readVarint("the offset before a run", atMost: Version.maximumOffset)
        let count = try reader.readVarint("the bytes of a run")
        return Run(zone: zone, offsetBefore: before, entries: try reader.readRange(count: count, "a run"))
    }
}
