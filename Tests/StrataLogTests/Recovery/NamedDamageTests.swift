import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

/// One kind of damage, what it is called, and where the error must point.
struct NamedDamage: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var code: StrataError.Code
    /// Path ends with this; nil where the error has none to name.
    var path: String
    var position: UInt64?
    /// Whether opening a store for writing reads that far; otherwise reading or verifying finds it.
    var isFoundAtOpening = true
    /// What the verifier says, which looks closer, where that is something else.
    var verifiedCode: StrataError.Code?
    var ending = StoreForge.Ending.mark
    var damage: @Sendable (TinyStore) throws -> Void

    init(
        _ name: String, _ code: StrataError.Code, in path: String, at position: UInt64? = nil,
        isFoundAtOpening: Bool = true, verified: StrataError.Code? = nil, ending: StoreForge.Ending = .mark,
        _ damage: @escaping @Sendable (TinyStore) throws -> Void
    ) {
        (testDescription, self.code, self.path, self.position) = (name, code, path, position)
        (self.isFoundAtOpening, self.ending, self.damage) = (isFoundAtOpening, ending, damage)
        verifiedCode = verified
    }

    static let first = "00001.seg", second = "00004.seg", third = "00006.seg"

    private static func frame(_ store: TinyStore, _ segment: UInt64, _ index: Int) throws -> SeenFrame {
        SeenFrame.all(in: try store.disk.content(of: store.segment(segment)))[index]
    }

    static let headers: [NamedDamage] = [
        .init("STORE with a wrong magic", .wrongMagic, in: "STORE", at: 0) {
            try $0.disk.overwrite($0.path + "/STORE", at: 3, with: [0x58])
        },
        .init("a segment with a wrong magic", .wrongMagic, in: second, at: 0) {
            try $0.disk.overwrite($0.segment(4), at: 0, with: Array("StrataSt".utf8))
        },
        .init("STORE of a newer version", .newerFormat, in: "STORE", at: 8) {
            try $0.disk.patchHeader($0.path + "/STORE", at: 8, with: [2, 0])
        },
        .init("a segment of a newer version", .newerFormat, in: third, at: 8) {
            try $0.disk.patchHeader($0.segment(6), at: 8, with: [2, 0])
        },
        .init("a header with a bad checksum", .badChecksum, in: first, at: 12) {
            try $0.disk.flipBit($0.segment(1), byte: 30, bit: 1)
        },
        .init("a header that claims an impossible size", .impossibleLength, in: first, at: 10) {
            try $0.disk.overwrite($0.segment(1), at: 10, with: [0xF0, 0x7F])
        },
        .init("a header whose size is no multiple of 8", .impossibleLength, in: first, at: 10) {
            try $0.disk.overwrite($0.segment(1), at: 10, with: [124, 0])
        },
        .init("an empty STORE", .wrongMagic, in: "STORE", at: 0) {
            try $0.disk.truncateFile($0.path + "/STORE", to: 0)
        },
        .init("an unknown mandatory field in STORE", .newerFormat, in: "STORE") {
            try $0.disk.addHeaderField($0.path + "/STORE", tag: 9, value: [1, 2])
        },
        .init("an unknown mandatory field in a segment", .newerFormat, in: third) {
            try $0.disk.addHeaderField($0.segment(6), tag: 7, value: [1])
        },
        .init("a form that nobody knows", .newerFormat, in: second) {
            // Tag 4 is the fourth field: 20 + 12 + 8 bytes behind the prelude, its value 4 further.
            try $0.disk.patchHeader($0.segment(4), at: 16 + 20 + 12 + 8 + 4, with: [3, 0, 0, 0])
        },
        .init("an impossible first offset", .malformed, in: second) {
            try $0.disk.patchHeader($0.segment(4), at: 16 + 20 + 4, with: [UInt8](repeating: 0xFF, count: 8))
        },
        .init("tags out of order", .malformed, in: second) {
            try $0.disk.patchHeader($0.segment(4), at: 16 + 20, with: [9, 0])
        },
        .init("a FLOOR of another store", .foreignSegment, in: "FLOOR") {
            let floor = FloorMark(storeID: Identifier(high: 1, low: 2), position: .start, time: 0)
            $0.disk.setContent(floor.encoded(), of: $0.log + "/FLOOR")
        },
        .init("a FLOOR behind the end", .missingSegment, in: "log") {
            let id = try $0.reader().identity.storeID
            let floor = FloorMark(storeID: id, position: Position(offset: 100, chain: 1), time: 0)
            $0.disk.setContent(floor.encoded(), of: $0.log + "/FLOOR")
        },
    ]

    static let segments: [NamedDamage] = [
        .init("no STORE", .notAStore, in: "STORE") { try $0.disk.removeFile($0.path + "/STORE") },
        .init("the first segment is missing", .missingSegment, in: second) { try $0.disk.removeFile($0.segment(1)) },
        .init("a segment in the middle is missing", .missingSegment, in: third) {
            try $0.disk.removeFile($0.segment(4))
        },
        .init("all segments are missing", .missingSegment, in: "log") {
            for path in $0.segments { try $0.disk.removeFile(path) }
        },
        .init("a segment of another store", .foreignSegment, in: second) {
            let other = try StoreForge.three(seed: 99).store
            $0.disk.setContent(try other.disk.content(of: other.segment(4)), of: $0.segment(4))
        },
        .init("two segments swapped", .brokenSequence, in: first) {
            let first = try $0.disk.content(of: $0.segment(1))
            try $0.disk.copyFile($0.segment(4), to: $0.segment(1))
            $0.disk.setContent(first, of: $0.segment(4))
        },
        .init("a segment repeated under another name", .brokenSequence, in: "00005.seg") {
            try $0.disk.copyFile($0.segment(4), to: $0.segment(5))
        },
        .init("a segment of another history of this store", .brokenChain, in: third) {
            // The same header fields but for the chain value: what a store restored from an old copy would have.
            try $0.disk.patchHeader($0.segment(6), at: 16 + 20 + 12 + 4, with: [1, 2, 3, 4])
        },
        .init("an unsealed segment with a successor", .unsealedSegment, in: first) {
            let seal = try frame($0, 1, 3)
            try $0.disk.truncateFile($0.segment(1), to: seal.position)
        },
        .init(
            "garbage behind the seal of a segment with a successor", .unsealedSegment, in: second,
            verified: .brokenSequence
        ) {
            let count = try $0.disk.content(of: $0.segment(4)).count
            try $0.disk.overwrite($0.segment(4), at: count, with: [0, 0, 0, 0, 0, 0, 0, 0, 7])
        },
        .init("a seal at an impossible offset", .brokenSequence, in: first) {
            try $0.disk.patchFrame($0.segment(1), try frame($0, 1, 3), at: 8, with: [UInt8](repeating: 0xFF, count: 8))
        },
        .init("a seal in front of its segment", .brokenSequence, in: second) {
            try $0.disk.patchFrame($0.segment(4), try frame($0, 4, 2), at: 8, with: [2])
        },
        .init("garbage behind the seal of the newest segment", .brokenSequence, in: third, ending: .seal) {
            let count = try $0.disk.content(of: $0.segment(6)).count
            try $0.disk.overwrite($0.segment(6), at: count + 100, with: [7])
        },
        .init("an empty newest segment", .wrongMagic, in: third, at: 0) {
            try $0.disk.truncateFile($0.segment(6), to: 0)
        },
    ]

    static let frames: [NamedDamage] = [
        .init("a frame without magic in the durable part", .wrongMagic, in: third, at: 128) {
            try $0.disk.overwrite($0.segment(6), at: 128, with: [0])
        },
        .init("a frame's header decayed", .badChecksum, in: third, at: 128) {
            try $0.disk.flipBit($0.segment(6), byte: 128 + 20, bit: 3)
        },
        .init("a frame's body decayed", .badChecksum, in: third, at: 128) {
            try $0.disk.flipBit($0.segment(6), byte: 128 + 70, bit: 3)
        },
        .init("the durable part is zero", .brokenSequence, in: third, at: 128) {
            let frame = try frame($0, 6, 0)
            try $0.disk.overwrite($0.segment(6), at: 128, with: [UInt8](repeating: 0, count: frame.byteCount))
        },
        .init("a body decayed in a closed segment", .badChecksum, in: first, at: 128, isFoundAtOpening: false) {
            try $0.disk.flipBit($0.segment(1), byte: 128 + 70, bit: 3)
        },
        .init("a broken chain", .brokenChain, in: third, at: 128) {
            try $0.disk.patchFrame($0.segment(6), try frame($0, 6, 0), at: 48, with: [1, 2, 3, 4])
        },
        .init("a payload that was exchanged", .brokenChain, in: third, at: 128) {
            try $0.disk.patchFrame($0.segment(6), try frame($0, 6, 0), at: 70, with: [0xEE])
        },
        .init("an offset that skips", .brokenSequence, in: third, at: 128) {
            try $0.disk.patchFrame($0.segment(6), try frame($0, 6, 0), at: 8, with: [7])
        },
        .init("a time that falls", .brokenSequence, in: third, at: 128) {
            try $0.disk.patchFrame($0.segment(6), try frame($0, 6, 0), at: 32, with: [0, 0, 0, 0, 0, 0, 0, 0])
        },
        .init("a raw length beyond the limit", .impossibleLength, in: third, at: 128) {
            try $0.disk.patchFrame($0.segment(6), try frame($0, 6, 0), at: 40, with: [1, 0, 0x40, 0])
        },
        .init("a stored length beyond the file", .impossibleLength, in: third, at: 128) {
            let both: [UInt8] = [0, 0, 0x40, 0, 0, 0, 0x40, 0]
            try $0.disk.patchFrame($0.segment(6), try frame($0, 6, 0), at: 40, with: both)
        },
        .init("a body that does not decompress", .malformed, in: second, isFoundAtOpening: false) {
            try $0.disk.patchFrame($0.segment(4), try frame($0, 4, 0), at: 64, with: [0xFF, 0xFF, 0xFF, 0xFF])
        },
        .init("an unknown kind", .newerFormat, in: third, at: 128) {
            try $0.disk.patchFrame($0.segment(6), try frame($0, 6, 0), at: 4, with: [5])
        },
        .init("an unknown codec", .newerFormat, in: third, at: 128) {
            try $0.disk.patchFrame($0.segment(6), try frame($0, 6, 0), at: 5, with: [2])
        },
        .init("an unknown mandatory flag", .newerFormat, in: third, at: 128) {
            try $0.disk.patchFrame($0.segment(6), try frame($0, 6, 0), at: 6, with: [1])
        },
        .init("an unknown kind at the very end", .newerFormat, in: third) {
            try $0.disk.patchFrame($0.segment(6), try frame($0, 6, 4), at: 4, with: [0x66])
        },
        .init("a mark of another chain", .brokenChain, in: third) {
            try $0.disk.patchFrame($0.segment(6), try frame($0, 6, 4), at: 48, with: [0, 0, 0, 1])
        },
        .init("a seal that names another end", .brokenSequence, in: third, ending: .seal) {
            try $0.disk.patchFrame($0.segment(6), try frame($0, 6, 4), at: 8, with: [3])
        },
        .init("a part too short for what every part begins with", .impossibleLength, in: third, at: 128) {
            try $0.disk.patchFrame($0.segment(6), try frame($0, 6, 0), at: 4, with: [2])
        },
    ]
}

@Suite("Damage, each with its own error and place")
struct NamedDamageTests {
    private func check(_ error: StrataError?, _ damage: NamedDamage, code: StrataError.Code? = nil) {
        #expect(error?.code == code ?? damage.code, "\(String(describing: error))")
        #expect(error?.context.path?.hasSuffix(damage.path) == true, "\(String(describing: error))")
        if let position = damage.position { #expect(error?.context.position == position) }
    }

    @Test("Found by writer, reader and verifier alike", arguments: NamedDamage.headers + NamedDamage.segments)
    func found(damage: NamedDamage) throws { try run(damage) }

    @Test("Frames that are not what must come next", arguments: NamedDamage.frames)
    func frames(damage: NamedDamage) throws { try run(damage) }

    private func run(_ damage: NamedDamage) throws {
        let forge = try StoreForge.three(damage.ending)
        let store = forge.store
        try damage.damage(store)
        let before = try store.disk.paths.filter { !$0.hasSuffix("LOCK") }.map { try store.disk.content(of: $0) }
        let report = store.verify()
        if damage.code == .notAStore {
            #expect(report.damage?.code == .notAStore)
        } else {
            check(report.damage, damage, code: damage.verifiedCode)
        }
        if damage.isFoundAtOpening {
            check(thrownError { _ = try store.open() }, damage)
        } else {
            let log = try store.copy().open()
            check(thrownError { _ = try log.allCommits() }, damage)
            check(thrownError { _ = try log.touches(zone: 1, after: 0, limit: 100) }, damage)
        }
        // Nothing is mended, cut or removed; only the name in the lock is new.
        let after = try store.disk.paths.filter { !$0.hasSuffix("LOCK") }.map { try store.disk.content(of: $0) }
        #expect(before == after)
    }

    /// Its successor would have the same name: a reader would take it up again and again, a writer replace it.
    @Test("A seal in a segment without commits", arguments: [[], [30]])
    func sealedEmptySegment(sizes: [Int]) async throws {
        await #expect(processExitsWith: .success) { [sizes] in
            // Where it does not end, nothing else stops it.
            _ = alarm(20)
            var forge = try StoreForge()
            var sequence = CommitSequence(seed: 1, noise: 1)
            for size in sizes {
                try forge.addSegment([sequence.next(1, events: 1, bytesPerEvent: size)], .seal)
            }
            try forge.addSegment([], .seal)
            let store = forge.store
            for error in [
                thrownError { _ = try store.reader() }, store.verify().damage, thrownError { _ = try store.open() },
            ] {
                guard error?.code == .brokenSequence, error?.context.position == 128 else {
                    throw Mismatch("found \(String(describing: error))")
                }
            }
        }
    }

    @Test("What is reserved for later versions is skipped where it says so")
    func optionalFields() throws {
        let forge = try StoreForge.three()
        let store = forge.store
        try store.disk.addHeaderField(store.path + "/STORE", tag: 0x8000 | 9, value: [1, 2, 3])
        let frame = SeenFrame.all(in: try store.disk.content(of: store.segment(6)))[0]
        try store.disk.patchFrame(store.segment(6), frame, at: 7, with: [0x80])
        #expect(store.verify().damage == nil)
        let log = try store.open()
        #expect(try log.allCommits() == forge.commits)
        #expect(log.recovery.tornTail == nil)
    }

    @Test("A segment's optional field is skipped, and its header may be longer for it")
    func optionalSegmentField() throws {
        let store = TinyStore()
        try store.open().close()
        try store.disk.addHeaderField(store.segment(1), tag: 0x8000 | 9, value: [UInt8](repeating: 7, count: 200))
        let log = try store.open()
        var sequence = CommitSequence(seed: 1)
        let commits = sequence.next(3)
        _ = try log.append(commits, expecting: .start)
        try log.close()
        #expect(try store.open().allCommits() == expectedCommits(commits))
    }

    @Test("A frame copied from elsewhere is no frame, in its place or another")
    func copiedFrames() throws {
        let forge = try StoreForge.three(.open)
        let store = forge.store
        let path = store.segment(6)
        let content = try store.disk.content(of: path)
        let last = SeenFrame.all(in: content)[3]
        // Behind the end, where it could be taken for the next commit.
        try store.disk.overwrite(path, at: content.count, with: Array(content[last.range]))
        let log = try store.copy().open()
        #expect(log.recovery.tornTail?.position == content.count)
        #expect(try log.allCommits() == forge.commits)
        // The same bytes in another segment, at the very same position.
        let other = try StoreForge.three(.open, seed: 2)
        try store.disk.truncateFile(path, to: last.position)
        let stranger = try other.store.disk.content(of: other.store.segment(6))
        try store.disk.overwrite(path, at: last.position, with: Array(stranger[last.range]))
        #expect(try store.open().end.offset == last.offset - 1)
    }

    @Test("A floor at the largest offset is an error, not a trap")
    func largestFloor() async throws {
        await #expect(processExitsWith: .success) {
            let store = try StoreForge.three().store
            let id = try store.reader().identity.storeID
            let floor = FloorMark(storeID: id, position: Position(offset: .max, chain: 1), time: 0)
            store.disk.setContent(floor.encoded(), of: store.log + "/FLOOR")
            guard thrownError({ _ = try store.open() }) != nil else { throw Mismatch("the store was opened") }
        }
    }

    @Test("A second seal in front of the one at the end is damage, not the end, and reading stops there")
    func earlySeal() throws {
        let forge = try StoreForge.three()
        let store = forge.store
        let frames = SeenFrame.all(in: try store.disk.content(of: store.segment(1)))
        let reader = try store.reader()
        var header = try store.disk.content(of: store.segment(1))[..<128]
        let segment = try SegmentHeader(decoding: Array(header), path: "")
        var assembler = FrameAssembler()
        assembler.addClosing(
            .seal, end: .start, time: Int64.min, at: .init(salt: segment.salt, position: 128, durableOffset: 0))
        header += Array(assembler.bytes)
        try store.disk.overwrite(store.segment(1), at: 0, with: Array(header))
        let gap = [UInt8](repeating: 0, count: frames[3].position - header.count)
        try store.disk.overwrite(store.segment(1), at: header.count, with: gap)
        store.disk.fail(.read, from: 100, with: .errno(5))
        #expect(thrownCode { _ = try reader.allCommits() } == .brokenSequence)
    }
}
