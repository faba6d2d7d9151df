import StrataModel

/// The commits of a block, as a table (docs/format.md §25): a commit is found without reading those before it.
// A class, because cursors pass it on with every commit.
final class CommitBlock: Sendable {
    static let targetBytes = 64 << 10
    /// The maximum size of a commit besides its payload.
    static let rowBytes = 16 + 8 + 4 + 4
    /// The additional size of a commit from which data was erased.
    static let erasureBytes = 4 + OriginalPayload.byteCount

    let block: Block
    private let timeWidth: Int
    private let endWidth: Int
    private let times: Int
    private let chains: Int
    private let ends: Int
    private let erasures: Int
    private let erasureCount: Int
    private let payloads: Int

    var firstOffset: UInt64 { block.header.first }
    var count: Int { Int(block.header.count) }
    var lastOffset: UInt64 { firstOffset + UInt64(count) - 1 }

    init(_ block: Block) throws {
        let header = block.header
        guard header.kind == .commits, header.count > 0, header.first > 0,
            header.first <= Version.maximumOffset - UInt64(header.count) + 1
        else {
            throw block.malformed(
                "A block is not a block of commits.", expected: "kind 1, at least one commit",
                found: "kind \(header.kind.rawValue), \(header.count) from \(header.first) on")
        }
        self.block = block
        let widths = block.bytes.first ?? 0
        (timeWidth, endWidth) = (Int(widths & 0x0F), Int(widths >> 4))
        let count = Int(header.count)
        times = 1 + count * 16
        chains = times + count * timeWidth
        ends = chains + count * 4
        erasures = ends + count * endWidth
        erasureCount = try Self.erasureCount(block, at: erasures)
        payloads = erasures + (header.hasErasures ? 4 : 0) + erasureCount * Self.erasureBytes
        guard [0, 1, 2, 4, 8].contains(timeWidth), [1, 2, 4].contains(endWidth), payloads <= block.bytes.count else {
            throw block.malformed(
                "The table of a block of commits is invalid.", expected: "at most \(block.bytes.count) bytes",
                found: "\(payloads) for \(count) commits, widths \(widths)")
        }
        let (lastTime, lastEnd) = (number(times + (count - 1) * timeWidth, timeWidth), end(at: count - 1))
        guard timeWidth == Self.timeWidth(lastTime), endWidth == Self.endWidth(lastEnd),
            lastEnd == block.bytes.count - payloads
        else {
            throw block.malformed(
                "The table of a block of commits does not match its payloads.",
                expected: "\(block.bytes.count - payloads) bytes, with the narrowest possible widths",
                found: "\(lastEnd)")
        }
        try checkErasures()
    }

    private static func erasureCount(_ block: Block, at place: Int) throws -> Int {
        guard block.header.hasErasures else { return 0 }
        let number = place + 4 <= block.bytes.count ? block.bytes[place..<place + 4] : []
        let count = number.reversed().reduce(0) { $0 << 8 | Int($1) }
        guard (1...Int(block.header.count)).contains(count) else {
            throw block.malformed(
                "A block of commits has an invalid number of erasures.",
                expected: "1 to \(block.header.count)", found: "\(count)")
        }
        return count
    }

    private func checkErasures() throws {
        var last = -1
        for erasure in 0..<erasureCount {
            let index = erasedIndex(erasure)
            guard index > last, index < count else {
                throw block.malformed(
                    "The erasures of a block of commits are out of order or beyond its commits.",
                    expected: "\(last + 1) to \(count - 1)", found: "\(index)")
            }
            last = index
        }
    }

    private func erasedIndex(_ erasure: Int) -> Int { Int(number(erasures + 4 + erasure * Self.erasureBytes, 4)) }

    /// Returns the original payload of a commit from which data was erased; nil for any other commit.
    func original(at index: Int) -> OriginalPayload? {
        let found = (0..<erasureCount).endOfPrefix { erasedIndex($0) < index }
        guard found < erasureCount, erasedIndex(found) == index else { return nil }
        let place = erasures + 4 + found * Self.erasureBytes
        return OriginalPayload(
            byteCount: number(place + 4, 8), checksum: UInt32(truncatingIfNeeded: number(place + 12, 4)))
    }

    static func timeWidth(_ time: UInt64) -> Int {
        time == 0 ? 0 : time < 1 << 8 ? 1 : time < 1 << 16 ? 2 : time < 1 << 32 ? 4 : 8
    }

    static func endWidth(_ end: Int) -> Int { end < 1 << 8 ? 1 : end < 1 << 16 ? 2 : 4 }

    @inline(__always)
    private func number(_ place: Int, _ width: Int) -> UInt64 {
        // The bounds were checked against the array in `init`, and the array never changes.
        block.bytes.withUnsafeBytes { bytes in
            switch width {
            case 0: 0
            case 1: UInt64(bytes[place])
            case 2: UInt64(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self)))
            case 4: UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
            default: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            }
        }
    }

    @inline(__always)
    private func end(at index: Int) -> Int { Int(number(ends + index * endWidth, endWidth)) }

    /// - Parameter index: less than `count`, here and below.
    func id(at index: Int) -> Identifier {
        precondition(index >= 0 && index < count, "the index is outside the block's commits")
        return block.bytes.withUnsafeBytes { bytes in
            Identifier(
                high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 1 + index * 16, as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 9 + index * 16, as: UInt64.self)))
        }
    }

    func time(at index: Int) -> Int64 {
        precondition(index >= 0 && index < count, "the index is outside the block's commits")
        return block.header.time &+ Int64(bitPattern: number(times + index * timeWidth, timeWidth))
    }

    func chain(at index: Int) -> UInt32 {
        precondition(index >= 0 && index < count, "the index is outside the block's commits")
        return UInt32(truncatingIfNeeded: number(chains + index * 4, 4))
    }

    /// Returns the range of the payload in the block's bytes.
    @inline(__always)
    private func payload(at index: Int) throws -> Range<Int> {
        let (start, end) = (index == 0 ? 0 : end(at: index - 1), end(at: index))
        guard start <= end, payloads + end <= block.bytes.count else {
            throw block.malformed(
                "The end of a payload is before its beginning or after the block's end.",
                expected: "at least \(start)", found: "\(end)")
        }
        return payloads + start..<payloads + end
    }

    /// Returns a commit whose payload shares the block's memory.
    @inline(__always)
    func commit(at index: Int) throws -> Commit {
        Commit(
            offset: firstOffset + UInt64(index), id: id(at: index), time: time(at: index), chain: chain(at: index),
            payload: block.bytes[try payload(at: index)])
    }

    /// Checks that each chain value follows from the previous one and the commit. The block's checksum detects decay;
    /// this detects values that were never right.
    ///
    /// - Parameter chain: the chain value before the block.
    func checkChain(after chain: UInt32) throws {
        try requireContinuity(after: chain)
        try block.bytes.withUnsafeBytes { bytes in
            var chain = chain
            var time = block.header.time
            for index in 0..<count {
                let next = self.time(at: index)
                guard next >= time else {
                    throw block.malformed(
                        "A commit's time is before that of the previous commit.", expected: "\(time) or later",
                        found: "\(next)")
                }
                time = next
                let offset = firstOffset + UInt64(index)
                let payload = UnsafeRawBufferPointer(rebasing: bytes[try payload(at: index)])
                if let original = original(at: index) {
                    chain = try checkedChain(after: chain, offset, time, original)
                } else {
                    chain = Chain.value(after: chain, offset: offset, time: time, payload: payload)
                }
                guard chain == self.chain(at: index) else { throw brokenChain(offset, chain, self.chain(at: index)) }
            }
        }
    }

    private func checkedChain(
        after chain: UInt32, _ offset: UInt64, _ time: Int64, _ original: OriginalPayload
    ) throws -> UInt32 {
        guard original.byteCount <= UInt64(LogFormat.maximumCommitBytes) else {
            throw block.malformed(
                "The original length of a partly erased payload is invalid.",
                expected: "at most \(LogFormat.maximumCommitBytes) bytes", found: "\(original.byteCount)")
        }
        return Chain.value(after: chain, offset: offset, time: time, original: original)
    }

    func requireContinuity(after chain: UInt32) throws {
        guard chain == block.header.chain else { throw brokenChain(firstOffset, chain, block.header.chain) }
    }

    /// Throws unless this block, the last one, ends as the segment does.
    func requireEnd(_ end: Position) throws {
        guard chain(at: count - 1) == end.chain else {
            throw brokenChain(lastOffset, end.chain, chain(at: count - 1))
        }
    }

    private func brokenChain(_ offset: UInt64, _ expected: UInt32, _ found: UInt32) -> StrataError {
        StrataError(
            .brokenChain, "A commit's chain value does not follow from the commits before it.",
            .init(
                offset: offset, position: UInt64(block.position), expected: hexadecimal(expected),
                found: hexadecimal(found)))
    }

    /// Returns the index of the first commit that is not older; `count` if all are older.
    func firstIndex(notBefore time: Int64) -> Int {
        (0..<count).endOfPrefix { self.time(at: $0) < time }
    }
}

/// Collects the commits of a block.
struct CommitBlockBuilder {
    private var ids = ByteWriter(reserving: 8 << 10)
    private var times: [UInt64] = []
    private var chains = ByteWriter(reserving: 2 << 10)
    private var ends: [Int] = []
    private var payloads = ByteWriter(reserving: CommitBlock.targetBytes)
    private var erasures = ByteWriter()
    private var erasureCount = 0
    private var header = BlockHeader(kind: .commits)

    var isEmpty: Bool { ends.isEmpty }

    /// Returns true if a commit with a payload of this size belongs in this block, which takes at least one.
    func hasRoom(for payloadBytes: Int) -> Bool {
        isEmpty
            || 1 + (ends.count + 1) * CommitBlock.rowBytes + erasures.bytes.count + payloads.bytes.count
                + payloadBytes <= CommitBlock.targetBytes
    }

    /// - Parameter chainBefore: the chain value before the commit.
    mutating func append(
        _ row: CommitRow, _ payload: UnsafeRawBufferPointer, chainBefore: UInt32
    ) {
        if isEmpty {
            header.first = row.offset
            header.chain = chainBefore
            header.time = row.time
        }
        if let original = row.original {
            erasures.append(UInt32(ends.count))
            erasures.append(original.byteCount)
            erasures.append(original.checksum)
            erasureCount += 1
        }
        ids.append(row.id)
        times.append(UInt64(bitPattern: row.time &- header.time))
        chains.append(row.chain)
        payloads.append(bytes: payload)
        ends.append(payloads.bytes.count)
    }

    /// Returns the block's header and raw body, and empties the builder.
    mutating func finish() -> (header: BlockHeader, raw: [UInt8]) {
        precondition(!isEmpty, "a block must have commits")
        let timeWidth = CommitBlock.timeWidth(times[times.count - 1])
        let endWidth = CommitBlock.endWidth(ends[ends.count - 1])
        var writer = ByteWriter(reserving: 1 + ends.count * CommitBlock.rowBytes + payloads.bytes.count)
        writer.append(UInt8(timeWidth | endWidth << 4))
        writer.append(bytes: ids.bytes)
        for time in times { writer.append(time, width: timeWidth) }
        writer.append(bytes: chains.bytes)
        for end in ends { writer.append(UInt64(end), width: endWidth) }
        if erasureCount > 0 {
            writer.append(UInt32(erasureCount))
            writer.append(bytes: erasures.bytes)
        }
        writer.append(bytes: payloads.bytes)
        var header = header
        header.hasErasures = erasureCount > 0
        header.count = UInt32(ends.count)
        self.header = BlockHeader(kind: .commits)
        ids.removeAll()
        chains.removeAll()
        payloads.removeAll()
        erasures.removeAll()
        erasureCount = 0
        times.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        return (header, writer.bytes)
    }
}

extension ByteWriter {
    fileprivate mutating func append(_ number: UInt64, width: Int) {
        switch width {
        case 0: break
        case 1: append(UInt8(truncatingIfNeeded: number))
        case 2: append(UInt16(truncatingIfNeeded: number))
        case 4: append(UInt32(truncatingIfNeeded: number))
        default: append(number)
        }
    }
}
