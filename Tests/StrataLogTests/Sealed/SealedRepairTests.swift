import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

/// The tiny store of three segments, of which 1 (commits 1 to 3) and 4 (4 and 5) are sealed, each with one block of
/// commits, and 6 (6 to 9) is not.
struct SealedForge {
    let store: TinyStore
    let commits: [Commit]

    init(seed: UInt64 = 1) throws {
        let forge = try StoreForge.three(seed: seed)
        (store, commits) = (forge.store, forge.commits)
        let log = try store.open()
        while try log.sealNext(lookup: SealedStore.lookup) {}
        try log.close()
    }

    /// Where the blocks of each kind stand in a segment.
    func blocks(_ segment: UInt64) throws -> [(kind: BlockHeader.Kind, range: Range<Int>)] {
        let bytes = try store.disk.content(of: store.segment(segment))
        var position = 128
        var blocks: [(kind: BlockHeader.Kind, range: Range<Int>)] = []
        while position < bytes.count {
            let stored = Int(SeenFrame.number(bytes, at: position + 24, bytes: 4))
            let range = position..<position + 48 + (stored + 7) / 8 * 8
            blocks.append((try #require(BlockHeader.Kind(rawValue: bytes[position + 4])), range))
            position = range.upperBound
        }
        return blocks
    }

    func range(_ segment: UInt64, _ kind: BlockHeader.Kind) throws -> Range<Int> {
        try #require(try blocks(segment).first { $0.kind == kind }).range
    }
}

@Suite("Damage of sealed segments: how far it goes, and its repair")
struct SealedRepairTests {
    private let forge: SealedForge
    private var store: TinyStore { forge.store }

    init() throws { forge = try SealedForge() }

    /// Repairs, and sees that the log ends with `last`, opens, and goes on.
    private func expectRepaired(
        _ store: TinyStore, to last: Int, steps: [RepairPlan.Step.Kind], _ comment: String = ""
    ) throws {
        let damaged = store.copy()
        let plan = try store.repair()
        try check(plan.steps.map(\.kind) == steps, "\(comment): \(plan.steps) \(plan.obstacle ?? "")")
        try check(plan.end.offset == UInt64(last), "\(comment): ends with \(plan.end)")
        try check(store.verify().damage == nil, "\(comment): \(String(describing: store.verify().damage))")
        try check(try store.repair().isWhole, "\(comment): again")
        try SurvivalOracle(damaged).checkNothingIsThrownAway(damaged, store)
        let log = try store.open()
        try check(try log.allCommits() == Array(forge.commits[..<last]), "\(comment): other commits")
        try log.close()
        try check(store.verify().damage == nil, "\(comment): after it was open")
    }

    @Test("A store with sealed segments is whole")
    func whole() throws {
        #expect(try forge.blocks(1).map(\.kind) == [.commits, .changes, .filter, .names, .index, .end])
        let report = store.verify()
        #expect(report.damage == nil && report.commitCount == 9 && report.end == forge.commits.last?.position)
        #expect(report.segmentCount == 3 && report.eventCount > 9)
        #expect(try store.repair().isWhole)
        let larger = try SealedStore(seed: 5)
        #expect(larger.store.verify().damage == nil)
        #expect(larger.store.verify().commitCount == UInt64(larger.commits.count))
    }

    @Test("Each byte: found, told how far it goes, and repaired as it must be", arguments: [1, 4] as [UInt64])
    func everyByte(segment: UInt64) throws {
        let path = store.segment(segment)
        let original = try store.disk.content(of: path)
        let blocks = try forge.blocks(segment)
        let offsets: ClosedRange<UInt64> = segment == 1 ? 1...3 : 4...5
        for byte in original.indices {
            let store = store.copy()
            try store.disk.flipBit(path, byte: byte, bit: (byte * 5 + 1) % 8)
            let report = store.verify()
            let place = "segment \(segment), byte \(byte)"
            try check(report.damage != nil, "\(place) was not found")
            try check(
                report.damage?.context.path == path && report.damage?.context.position != nil,
                "\(place): \(String(describing: report.damage))")
            let extent = report.extent
            try check(
                extent?.bytes.contains { $0.path == path && $0.range.contains(byte) } == true,
                "\(place) is not among \(extent?.bytes ?? [])")
            let kind = blocks.first { $0.range.contains(byte) }?.kind
            let lost = kind == .commits ? OffsetRanges([offsets]) : OffsetRanges()
            try check(extent?.lostOffsets == lost, "\(place): \(extent?.lostOffsets.description ?? "")")
            // Repairs take their time: some bytes of the header and some of the rest are tried.
            guard byte < 128 ? byte % 3 == 0 : byte % 9 == 4 else { continue }
            switch kind {
            case .commits? where segment == 1: try check(store.plan().obstacle != nil, place)
            case .commits?: try expectRepaired(store, to: 3, steps: [.move, .move], place)
            case nil:
                try expectRepaired(store, to: 9, steps: [.copy, .header], place)
                try check(try store.disk.content(of: path) == original, "\(place): written otherwise")
            default:
                try expectRepaired(store, to: 9, steps: [.copy, .rewrite], place)
                // Names that nobody interned are lost with their block.
                if kind != .names { try check(try store.disk.content(of: path) == original, "\(place): otherwise") }
            }
        }
    }

    @Test("A segment that is cut off anywhere: what is behind its commits is made again")
    func cutOff() throws {
        let path = store.segment(4)
        let original = try store.disk.content(of: path)
        let commits = try forge.range(4, .commits)
        for count in stride(from: 0, to: original.count, by: 23) {
            let store = store.copy()
            try store.disk.truncateFile(path, to: count)
            let isWhole = count >= commits.upperBound
            try expectRepaired(
                store, to: isWhole ? 9 : 3, steps: isWhole ? [.copy, .rewrite] : [.move, .move], "cut at \(count)")
        }
    }

    @Test("Bytes behind the end, and a segment that is missing or foreign")
    func others() throws {
        let path = store.segment(4)
        let behind = store.copy()
        try behind.disk.overwrite(path, at: try store.disk.content(of: path).count, with: [1, 2, 3, 4, 5, 6, 7, 8])
        try expectRepaired(behind, to: 9, steps: [.copy, .rewrite])
        let missing = store.copy()
        try missing.disk.removeFile(path)
        #expect(missing.verify().extent?.missingOffsets.ranges == [4...5])
        try expectRepaired(missing, to: 3, steps: [.move])
        let foreign = store.copy()
        foreign.disk.setContent(try SealedForge(seed: 9).store.disk.content(of: path), of: path)
        #expect(foreign.verify().extent?.strays.first?.isForeign == true)
        try expectRepaired(foreign, to: 3, steps: [.move, .move])
        let swapped = store.copy()
        try swapped.disk.copyFile(store.segment(1), to: path)
        #expect(swapped.verify().extent?.strays.first?.firstOffset == 1)
        try expectRepaired(swapped, to: 3, steps: [.move, .move])
    }

    @Test(
        "A whole block that does not say what the commits say is found",
        arguments: [.changes, .filter, .names, .index] as [BlockHeader.Kind])
    func contentAgainstCommits(kind: BlockHeader.Kind) throws {
        let path = store.segment(1)
        var bytes = try store.disk.content(of: path)
        let range = try forge.range(1, kind)
        // The body decoded, one thing in it changed, and all checksums made to fit.
        let salt = try SegmentHeader(decoding: Array(bytes.prefix(128)), path: path).salt
        let block = try bytes.withUnsafeBytes {
            try Block(decoding: UnsafeRawBufferPointer(rebasing: $0[range]), salt: salt, position: range.lowerBound)
        }
        var raw = block.bytes
        switch kind {
        case .changes: raw[raw.count - 1] ^= 1
        case .filter: raw = raw.map { _ in 0 }
        case .names: raw[raw.count - 1] ^= 1
        default: raw[raw.count - 1] ^= 1
        }
        let draft = try store.disk.open("/draft", .create)
        var writer = BlockWriter(draft, salt: salt, at: range.lowerBound)
        let count = try writer.append(block.header, raw, compresses: block.header.codec == .lz4)
        try writer.flush()
        try #require(count == range.count, "the block keeps its size")
        bytes.replaceSubrange(range, with: try draft.read(count: count, at: range.lowerBound))
        store.disk.setContent(bytes, of: path)
        try store.disk.removeFile("/draft")
        let damage = store.verify().damage
        if kind == .names {
            // Nobody interned these: nothing contradicts them.
            #expect(damage == nil)
            return
        }
        #expect(damage?.code == .malformed && damage?.context.path == path)
        try expectRepaired(store, to: 9, steps: [.copy, .rewrite])
    }

    @Test("A segment of several blocks is kept up to the damaged one")
    func severalBlocks() throws {
        let store = TinyStore()
        let options = LogOptions(segmentBytes: 256 << 10, spaceStepBytes: 0)
        let writing = try store.open(options)
        var made = CommitSequence(seed: 6, noise: 0.9)
        for _ in 0..<300 {
            _ = try writing.append([made.next(events: 3, bytesPerEvent: 700)], expecting: writing.end)
        }
        while try writing.sealNext(lookup: SealedStore.lookup) {}
        let commits = try writing.allCommits()
        let touches = try (1...3).map { try writing.touches(zone: $0, after: 0, limit: Int.max).touches }
        try writing.close()
        let segments = try store.reader().sealedSegments
        let segment = try #require(segments.dropFirst().first { $0.index.commits.count > 2 })
        for block in segment.index.commits.prefix(3) {
            try expectKept(store.copy(), upTo: block, of: segment, commits, touches, options)
        }
    }

    private func expectKept(
        _ store: TinyStore, upTo block: SealedIndex.Commits, of segment: SealedSegment, _ commits: [Commit],
        _ touches: [[ZoneTouch]], _ options: LogOptions
    ) throws {
        try store.disk.flipBit(segment.segment.path, byte: block.range.lowerBound + 60, bit: 2)
        let damaged = store.copy()
        let plan = try store.repair()
        #expect(plan.end.offset == block.firstOffset - 1)
        #expect(plan.keptAsideOffsets.contains(UInt64(commits.count)))
        #expect(store.verify().damage == nil && store.verify().end == plan.end)
        try SurvivalOracle(damaged).checkNothingIsThrownAway(damaged, store)
        let log = try store.open(options)
        let difference = firstDifference(try log.allCommits(), Array(commits[..<Int(block.firstOffset - 1)]))
        #expect(difference == nil)
        for (zone, all) in zip(1...3 as ClosedRange<UInt64>, touches) {
            let expected = all.filter { $0.offset < block.firstOffset }
            #expect(try log.touches(zone: zone, after: 0, limit: Int.max).touches == expected)
        }
        var sequence = CommitSequence(seed: 4)
        var commit = sequence.next()
        commit.time += log.endTime ?? 0
        _ = try log.append([commit], expecting: log.end)
        try log.close()
        #expect(store.verify().damage == nil)
    }
}
