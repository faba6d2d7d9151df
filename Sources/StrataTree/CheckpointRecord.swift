import StrataModel

/// An older checkpoint that is still whole: where the past begins.
struct KeptRecord: Equatable, Sendable {
    var epoch: UInt64
    var position: Position
    var record: RecordPlace
    var pageCount: Int
    var time: Int64
}

/// What a checkpoint says of its state: docs/format-views.md §7.
struct CheckpointRecord: Sendable {
    var roots: TreeRoots
    var free: [PageRun]
    var retired: [RetiredRun]
    var kept: [KeptRecord]
    var opaque: [UInt8]

    // MARK: Sizes

    static func byteCount(freeRuns: Int, retiredRuns: Int) -> Int {
        freeRuns * ViewFormat.freeRunBytes + retiredRuns * ViewFormat.retiredRunBytes
    }

    /// Of what a record holds besides free and retired runs.
    static func otherBytes(trees: Int, opaque: Int) -> Int {
        5 * 4 + trees * ViewFormat.treeBytes + ViewFormat.maximumKept * ViewFormat.keptBytes + opaque
    }

    /// Records take a power of two of pages, so that a later one fits where an earlier one was.
    static func runPages(byteCount: Int) -> Int {
        let pages = max(1, PageLayout.overflowPages(byteCount))
        return 1 << (Int.bitWidth - (pages - 1).leadingZeroBitCount)
    }

    // MARK: Coding

    func encoded() -> [UInt8] {
        var bytes = ByteWriter(
            reserving: Self.byteCount(freeRuns: free.count, retiredRuns: retired.count)
                + Self.otherBytes(trees: roots.ids.count, opaque: opaque.count))
        bytes.append(UInt32(roots.ids.count))
        for id in roots.ids {
            let root = roots[id]
            bytes.append(id.rawValue)
            bytes.append(UInt16(root.level))
            bytes.append(root.page)
            bytes.append(root.entryCount)
            bytes.append(root.foldedOffset)
        }
        bytes.append(UInt32(free.count))
        for run in free { bytes.append(run) }
        bytes.append(UInt32(retired.count))
        for retired in retired {
            bytes.append(retired.run)
            bytes.append(retired.birth)
            bytes.append(retired.isRecord ? 0 : retired.retired)
        }
        bytes.append(UInt32(kept.count))
        for kept in kept {
            bytes.append(kept.epoch)
            bytes.append(kept.position.offset)
            bytes.append(kept.position.chain)
            bytes.append(kept.record.run)
            bytes.append(UInt32(kept.record.byteCount))
            bytes.append(kept.record.checksum)
            bytes.append(UInt32(kept.pageCount))
            bytes.append(kept.time)
        }
        bytes.append(UInt32(opaque.count))
        bytes.append(bytes: opaque)
        return bytes.bytes
    }

    /// - Parameters:
    ///   - pageCount: of the header; no run or root lies behind.
    ///   - skipsRuns: leaves free and retired runs empty: there may be many, and only who goes on writing from this
    ///     checkpoint needs them.
    static func decode(_ bytes: [UInt8], pageCount: Int, skipsRuns: Bool = false) throws -> CheckpointRecord {
        try bytes.withUnsafeBytes { bytes in
            var reader = RecordReader(bytes, pageCount: pageCount)
            var record = CheckpointRecord(roots: try reader.readRoots(), free: [], retired: [], kept: [], opaque: [])
            if skipsRuns {
                try reader.skipRuns()
            } else {
                record.free = try reader.readFree()
                record.retired = try reader.readRetired()
            }
            record.kept = try reader.readKept()
            record.opaque = try reader.readOpaque()
            try reader.reader.expectEnd("record")
            return record
        }
    }
}

extension ByteWriter {
    fileprivate mutating func append(_ run: PageRun) {
        append(run.first)
        append(UInt32(run.count))
    }
}
