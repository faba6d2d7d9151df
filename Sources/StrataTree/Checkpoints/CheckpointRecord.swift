import StrataModel

/// The content of a checkpoint's record: docs/format-views.md §7.
struct CheckpointRecord: Sendable {
    var roots: TreeRoots
    var free: PageSet
    var retired: [RetiredList]
    var kept: [KeptRecord]
    var opaque: [UInt8]

    // MARK: Sizes

    static func byteCount(freeRuns: Int, retired: [RetiredList]) -> Int {
        retired.reduce(freeRuns * ViewFormat.runBytes) {
            $0 + ViewFormat.retiredListBytes + $1.runs.singles.count * ViewFormat.singleBytes
                + $1.runs.longer.count * ViewFormat.runBytes
        }
    }

    /// The size of everything in a record except the free and retired runs.
    static func otherBytes(trees: Int, opaque: Int) -> Int {
        5 * 4 + trees * ViewFormat.treeBytes + ViewFormat.maximumKept * ViewFormat.keptBytes + opaque
    }

    /// The number of pages for a record, rounded up to a power of two, so that a later record fits where an earlier one
    /// was.
    static func runPages(byteCount: Int) -> Int {
        let pages = max(1, PageLayout.overflowPages(byteCount))
        return 1 << (Int.bitWidth - (pages - 1).leadingZeroBitCount)
    }

    // MARK: Coding

    /// The number of elements between two calls of `afterPart` in ``encode(into:afterPart:)``.
    private static let partElements = 4_096

    /// - Parameter afterPart: called repeatedly while the bytes accumulate; it may remove some of them.
    func encode(into bytes: inout ByteWriter, afterPart: (inout ByteWriter) throws -> Void) rethrows {
        bytes.append(UInt32(roots.ids.count))
        for id in roots.ids {
            let root = roots[id]
            bytes.append(id.rawValue)
            bytes.append(UInt16(root.level))
            bytes.append(root.page)
            bytes.append(root.entryCount)
            bytes.append(root.foldedOffset)
        }
        var elements = 0
        func count() throws {
            elements += 1
            if elements % Self.partElements == 0 { try afterPart(&bytes) }
        }
        bytes.append(UInt32(free.runCount))
        try free.forEachRun { run in
            bytes.append(run)
            try count()
        }
        bytes.append(UInt32(retired.count))
        for list in retired {
            bytes.append(list.birth)
            bytes.append(list.end)
            bytes.append(UInt32(list.runs.singles.count))
            bytes.append(UInt32(list.runs.longer.count))
            for number in list.runs.singles {
                bytes.append(number)
                try count()
            }
            for run in list.runs.longer {
                bytes.append(run)
                try count()
            }
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
    }

    /// - Parameters:
    ///   - pageCount: the header's page count; no run or root may exceed it.
    ///   - skipsRuns: true to leave free and retired runs empty. They may be numerous, and only a writer that continues
    ///     from this checkpoint needs them.
    static func decode(_ bytes: [UInt8], pageCount: Int, skipsRuns: Bool = false) throws -> CheckpointRecord {
        try bytes.withUnsafeBytes { bytes in
            var reader = RecordReader(bytes, pageCount: pageCount)
            var record = CheckpointRecord(
                roots: try reader.readRoots(), free: PageSet(), retired: [], kept: [], opaque: [])
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
