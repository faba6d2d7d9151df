import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

/// Segments 1 (commits 1 to 3), 4 (4 and 5) and 6 (6 to 9), the last with a mark.
@Suite("How far damage goes")
struct DamageExtentTests {
    private let forge: StoreForge
    private var store: TinyStore { forge.store }

    init() throws { forge = try StoreForge.three() }

    /// As it was before any damage.
    private func frame(_ segment: UInt64, _ index: Int) throws -> SeenFrame {
        let whole = try StoreForge.three().store
        return try #require(SeenFrame.all(in: whole.disk.content(of: whole.segment(segment))).dropFirst(index).first)
    }

    private func extent() throws -> DamageExtent { try #require(store.verify().extent) }

    @Test("A log that is whole has none")
    func none() {
        #expect(store.verify().extent == nil && store.verify().damage == nil)
    }

    @Test("A commit that decayed is lost; those behind it in the segment stand", arguments: [0, 1, 2])
    func commit(index: Int) throws {
        let frame = try frame(6, index)
        try store.disk.flipBit(store.segment(6), byte: frame.position + 70, bit: 2)
        let report = store.verify()
        let extent = try extent()
        #expect(report.end.offset == 5 + UInt64(index) && report.commitCount == report.end.offset)
        #expect(extent.lostOffsets.ranges == [frame.offset...frame.offset])
        #expect(extent.standingOffsets.ranges == [frame.offset + 1...9])
        #expect(extent.bytes == [.init(path: store.segment(6), range: frame.range)])
        #expect(extent.furtherDamage.isEmpty && extent.strays.isEmpty && extent.missingOffsets.isEmpty)
    }

    @Test("Two places in one segment, and one in another")
    func severalPlaces() throws {
        for (segment, index) in [(UInt64(1), 1), (6, 0), (6, 2)] {
            try store.disk.flipBit(store.segment(segment), byte: try frame(segment, index).position, bit: 0)
        }
        let extent = try extent()
        #expect(extent.lostOffsets.ranges == [2...2, 6...6, 8...8])
        #expect(extent.standingOffsets.ranges == [3...5, 7...7, 9...9])
        #expect(extent.bytes.map(\.path) == [store.segment(1), store.segment(6), store.segment(6)])
        #expect(extent.furtherDamage.count == 1, "the first place of each segment is named")
    }

    @Test("A segment that is missing is named by its offsets")
    func missing() throws {
        try store.disk.removeFile(store.segment(4))
        let extent = try extent()
        #expect(extent.missingOffsets.ranges == [4...5] && extent.lostOffsets.ranges == [4...5])
        #expect(extent.standingOffsets.ranges == [6...9])
        #expect(extent.bytes.isEmpty)
    }

    @Test("A segment of another store")
    func foreign() throws {
        let other = try StoreForge.three(seed: 99).store
        store.disk.setContent(try other.disk.content(of: other.segment(4)), of: store.segment(4))
        let extent = try extent()
        #expect(extent.strays == [.init(path: store.segment(4), firstOffset: 4, isForeign: true)])
        #expect(extent.lostOffsets.ranges == [4...5] && extent.standingOffsets.ranges == [6...9])
    }

    @Test("Segments that changed their names: all is there, and both are named")
    func swapped() throws {
        let first = try store.disk.content(of: store.segment(1))
        try store.disk.copyFile(store.segment(4), to: store.segment(1))
        store.disk.setContent(first, of: store.segment(4))
        let extent = try extent()
        #expect(extent.strays.map(\.firstOffset) == [4, 1] && extent.strays.allSatisfy { !$0.isForeign })
        #expect(extent.lostOffsets.isEmpty && extent.standingOffsets.ranges == [1...9])
        #expect(extent.missingOffsets.isEmpty)
    }

    @Test("A header of which nothing is left: its frames are found by what its checksum was")
    func header() throws {
        try store.disk.overwrite(store.segment(4), at: 16, with: [UInt8](repeating: 0, count: 112))
        let extent = try extent()
        #expect(extent.bytes == [.init(path: store.segment(4), range: 0..<128)])
        #expect(extent.lostOffsets.isEmpty && extent.standingOffsets.ranges == [4...9])
        try store.disk.overwrite(store.segment(4), at: 0, with: [UInt8](repeating: 0, count: 128))
        let second = try self.extent()
        #expect(second.lostOffsets.ranges == [4...5] && second.standingOffsets.ranges == [6...9])
        let count = try store.disk.content(of: store.segment(4)).count
        #expect(second.bytes.map(\.range) == [0..<128, 128..<count])
    }

    @Test("A segment cut off in the middle of a commit")
    func cutOff() throws {
        let frame = try frame(4, 1)
        try store.disk.truncateFile(store.segment(4), to: frame.position + 80)
        let extent = try extent()
        #expect(extent.bytes == [.init(path: store.segment(4), range: frame.position..<frame.position + 80)])
        #expect(extent.lostOffsets.ranges == [5...5] && extent.standingOffsets.ranges == [6...9])
    }

    @Test("A commit of several parts stands only if all of them do")
    func parts() throws {
        var sequence = CommitSequence(seed: 9)
        var forge = try StoreForge()
        try forge.addSegment(
            [[sequence.raw(50, isRandom: true)], [sequence.raw(9 << 20, isRandom: false)], [sequence.next()]], .mark)
        let path = forge.store.segment(1)
        let frames = SeenFrame.all(in: try forge.store.disk.content(of: path))
        #expect(frames.map(\.kind) == [1, 2, 2, 2, 1, 4])
        for (damaged, standing) in [([0], 2...3), ([0, 2], 3...3), ([0, 1], 3...3), ([0, 3], 3...3)]
            as [([Int], ClosedRange<UInt64>)]
        {
            let store = forge.store.copy()
            for index in damaged { try store.disk.flipBit(path, byte: frames[index].position + 8, bit: 1) }
            let extent = try #require(store.verify().extent)
            #expect(extent.standingOffsets.ranges == [standing], "parts \(damaged)")
            #expect(extent.bytes.first?.range.lowerBound == frames[0].position)
        }
    }

    @Test("Each byte of each segment: found, and nothing is said to be whole that is not", arguments: 0..<4)
    func everyByte(variant: Int) throws {
        let forge = try StoreForge.three(.seal, seed: UInt64(variant) + 1)
        let store = forge.store
        for path in store.segments {
            let bytes = try store.disk.content(of: path)
            let frames = SeenFrame.all(in: bytes)
            for byte in bytes.indices where byte % 4 == variant {
                try store.disk.flipBit(path, byte: byte, bit: (byte / 4 + variant) % 8)
                let report = store.verify()
                try store.disk.flipBit(path, byte: byte, bit: (byte / 4 + variant) % 8)
                let lost = frames.first { $0.kind == 1 && $0.range.contains(byte) }?.offset
                // Nobody was told that a seal of the newest segment is there.
                let isLastSeal = path == store.segment(6) && frames.last?.range.contains(byte) == true
                if isLastSeal {
                    try check(report.damage == nil && report.unfinishedTail != nil, "the last seal, byte \(byte)")
                    continue
                }
                let extent = report.extent
                try check(report.damage != nil && extent != nil, "\(path), byte \(byte) was not found")
                try check(
                    extent?.bytes.contains { $0.path == path && $0.range.contains(byte) } == true,
                    "\(path), byte \(byte) is not among \(extent?.bytes ?? [])")
                try check(
                    extent?.lostOffsets == OffsetRanges(lost.map { [$0...$0] } ?? []),
                    "\(path), byte \(byte): \(extent?.lostOffsets.description ?? "") and not \(lost ?? 0)")
                var all = extent?.standingOffsets ?? OffsetRanges()
                if report.end.offset > 0 { all.insert(1...report.end.offset) }
                if let lost { all.insert(lost) }
                try check(all.ranges == [1...9], "\(path), byte \(byte): \(all) are accounted for")
            }
        }
    }
}

@Suite("Canary: the checks of verify notice what is not there")
struct VerifyCanaryTests {
    @Test("A flip that is undone is not found")
    func undone() throws {
        let store = try StoreForge.three().store
        for byte in [0, 130, 200] {
            try store.disk.flipBit(store.segment(1), byte: byte, bit: 3)
            #expect(store.verify().damage != nil)
            try store.disk.flipBit(store.segment(1), byte: byte, bit: 3)
            #expect(store.verify().damage == nil && store.verify().extent == nil)
        }
    }
}
