import StrataModel

/// The expected content of the blocks after a sealed segment's commits, computed from the commits, and the found
/// content.
struct SealedContent {
    private let header: SegmentHeader
    private var lists: SegmentIndex
    private var hashes: Set<UInt64> = []
    private var brought: [UsedNames.Key: InternedName] = [:]
    // From the blocks themselves, in the order in which they are stored.
    private var seen = SealedIndex()
    private var changes: [UInt64: [UInt8]] = [:]
    private var changeOrder: [UInt64] = []
    private var lastTouches: [UInt64: UInt64] = [:]
    private var filter: [UInt8] = []
    private var lastKind = BlockHeader.Kind.commits
    private var storedIndex: Block?
    private var end: Block?
    /// The names in the blocks.
    private(set) var names: [UsedNames.Key: InternedName] = [:]

    init(_ header: SegmentHeader) {
        self.header = header
        lists = SegmentIndex(firstOffset: header.firstOffset, endPosition: header.byteCount)
    }

    // MARK: Adding commits

    /// - Parameter payload: the payload of the next commit.
    mutating func add(_ offset: UInt64, _ payload: ArraySlice<UInt8>) throws {
        try payload.withUnsafeBytes { payload in
            let touches = try Envelope.touches(of: payload)
            seen.payloadBytes += UInt64(payload.count)
            seen.touchCount += UInt64(touches.count)
            lists.append(offset: offset, range: 0..<0, touches: touches, payload: payload)
            for touch in touches where touch.kind == .recordSaved || touch.kind == .recordDeleted {
                let name = UnsafeRawBufferPointer(rebasing: payload[touch.key])
                hashes.insert(NameFilter.hash(zone: touch.zone, name: name))
            }
        }
        for event in try Envelope(decoding: payload).events where event.kind == .nameInterned {
            let interned = try InternedName(decoding: event.body)
            brought[UsedNames.Key(interned.name.namespace, interned.ordinal)] = interned
        }
    }

    // MARK: Adding blocks

    /// - Throws: the fault of the block itself, or of its place among the others.
    mutating func add(_ block: Block) throws {
        let header = block.header
        guard header.kind.rawValue >= lastKind.rawValue, end == nil,
            header.kind.rawValue < BlockHeader.Kind.index.rawValue || header.kind != lastKind
        else {
            throw block.malformed(
                "A block is out of order.", expected: "a kind that may follow \(lastKind)", found: "\(header.kind)")
        }
        lastKind = header.kind
        let range = block.position..<block.position + header.blockBytes
        switch header.kind {
        case .commits:
            seen.commits.append(.init(range: range, firstOffset: header.first, time: header.time))
        case .changes: try addChanges(block, range)
        case .filter:
            guard header.first == UInt64(seen.filters.count),
                Int(header.count) * NameFilter.groupBytes == block.bytes.count
            else { throw block.malformed("A filter block is out of order or has the wrong size.") }
            seen.filters.append(range)
            seen.filterGroups += Int(header.count)
            filter += block.bytes
        case .names: try addNames(block, range)
        case .index: (storedIndex, seen.position) = (block, block.position)
        case .end: end = block
        case .state: throw block.malformed("A segment contains a block of a base.")
        }
    }

    private mutating func addChanges(_ block: Block, _ range: Range<Int>) throws {
        try block.bytes.withUnsafeBytes { bytes in
            var runs = try ChangeRuns(block.header, bytes)
            var isFirst = true
            while let run = try runs.next() {
                if isFirst {
                    guard run.zone == block.header.first else {
                        throw block.malformed("The zone in a change block's header differs from that of its first run.")
                    }
                    seen.changes.append(.init(range: range, zone: run.zone, offsetBefore: run.offsetBefore))
                }
                isFirst = false
                if changes[run.zone] == nil {
                    changeOrder.append(run.zone)
                    seen.zones.append(.init(zone: run.zone, touchCount: 0, block: seen.changes.count - 1))
                }
                guard changeOrder.last == run.zone, run.offsetBefore == lastTouches[run.zone, default: 0] else {
                    throw block.malformed("A run of changes does not continue the previous one.")
                }
                let entries = UnsafeRawBufferPointer(rebasing: bytes[run.entries])
                var touches: [ZoneTouch] = []
                _ = try ChangeList.collect(
                    entries, startingAfter: run.offsetBefore, after: 0, limit: Int.max, into: &touches)
                lastTouches[run.zone] = touches.last?.offset ?? run.offsetBefore
                seen.zones[seen.zones.count - 1].touchCount += UInt64(touches.count)
                changes[run.zone, default: []] += entries
            }
        }
    }

    private mutating func addNames(_ block: Block, _ range: Range<Int>) throws {
        for name in try block.internedNames() { names[UsedNames.Key(name.name.namespace, name.ordinal)] = name }
        seen.names.append(.init(range: range, count: UInt64(block.header.count)))
    }

    // MARK: Comparing

    /// - Parameters:
    ///   - known: all names up to the segment's end, if they are known.
    /// - Throws: the first thing that does not follow from the commits.
    mutating func check(against known: NameTable?, endingAt last: Position, time: Int64, fileBytes: Int) throws {
        guard let storedIndex, let end else {
            throw error(.impossibleLength, "A sealed segment has no end.", at: fileBytes)
        }
        try checkChanges()
        try checkFilter()
        try checkNames(known)
        seen.recordNameCount = UInt64(hashes.count)
        let index = try storedIndex.bytes.withUnsafeBytes { bytes in
            try SealedIndex(
                decoding: bytes, startingAt: header.byteCount, storedIndex.position, firstOffset: header.firstOffset,
                lastOffset: last.offset)
        }
        guard index == seen else {
            throw error(
                .malformed, "The index of a sealed segment does not match its blocks.",
                at: storedIndex.position)
        }
        let places = (UInt64(storedIndex.position), UInt64(fileBytes))
        guard end.endNumbers() ?? (0, 0) == places, end.header.first == last.offset, end.header.chain == last.chain,
            end.header.time == time, end.header.count == UInt32(clamping: last.offset - header.firstOffset + 1)
        else {
            throw error(
                .brokenSequence, "The end of a sealed segment does not match its commits.", at: end.position,
                expected: "\(last)", found: "\(Position(offset: end.header.first, chain: end.header.chain))")
        }
    }

    private func checkChanges() throws {
        var zones: [UInt64] = []
        try lists.forEachChangeList { zone, list in
            zones.append(zone)
            var entries: [UInt8] = []
            list.forEachPiece { entries += $1 }
            guard changes[zone] == entries else {
                throw error(
                    .malformed, "The changes of a zone do not match the segment's commits.",
                    at: seen.changes.first?.range.lowerBound, expected: "zone \(zone): \(list.count) changes",
                    found: "\(seen.zones.first { $0.zone == zone }?.touchCount ?? 0)")
            }
        }
        guard zones == changeOrder else {
            throw error(
                .malformed, "The changes of a sealed segment do not match its zones.",
                at: seen.changes.first?.range.lowerBound, expected: "\(zones.count) zones",
                found: "\(changeOrder.count)")
        }
    }

    private func checkFilter() throws {
        let isComplete = filter.withUnsafeBytes { filter in
            hashes.allSatisfy { hash in
                guard seen.filterGroups > 0 else { return false }
                let start = NameFilter.group(of: hash, count: seen.filterGroups) * NameFilter.groupBytes
                return NameFilter.mayContain(
                    hash, inGroup: UnsafeRawBufferPointer(rebasing: filter[start..<start + NameFilter.groupBytes]))
            }
        }
        guard isComplete, seen.filterGroups >= NameFilter.groupCount(names: hashes.count) else {
            throw error(
                .malformed, "The filter of a sealed segment lacks a record that the segment touches.",
                at: seen.filters.first?.lowerBound)
        }
    }

    private func checkNames(_ known: NameTable?) throws {
        for (key, name) in brought where names[key] != name {
            throw wrongName(key, expected: name.name)
        }
        for (key, name) in names {
            guard let right = known?.name(key.namespace, key.ordinal), right != name.name else { continue }
            throw wrongName(key, expected: right)
        }
    }

    private func wrongName(_ key: UsedNames.Key, expected: InternedName.Name) -> StrataError {
        error(
            .malformed, "A sealed segment and its commits give an ordinal different names.",
            at: seen.names.first?.range.lowerBound, expected: "\(expected)",
            found: names[key].map { "\($0.name)" } ?? "none")
    }

    private func error(
        _ code: StrataError.Code, _ message: StaticString, at position: Int?, expected: String? = nil,
        found: String? = nil
    ) -> StrataError {
        StrataError(
            code, message,
            .init(
                segment: header.firstOffset, position: position.map(UInt64.init), expected: expected, found: found))
    }
}
