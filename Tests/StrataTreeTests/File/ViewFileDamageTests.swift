import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

@Suite("Page files that are missing, damaged, of somebody else, or stale")
struct ViewFileDamageTests {
    private static let path = PageStore.viewsPath(DurableRun.directory)

    /// A store with checkpoints at 1 and 2, the newer one in slot 1.
    private static func whole(seed: UInt64 = 1) throws -> DurableRun {
        let run = try DurableRun(seed: seed)
        for _ in 0..<2 {
            try run.step(changes: 60)
            try run.checkpoint()
        }
        return run
    }

    private func open(_ run: DurableRun) throws -> OpenedPageStore {
        let opened = try run.reopen()
        #expect(try run.faults(of: opened) == [])
        // Whatever it was, the next checkpoint can be opened.
        try run.step()
        try run.checkpoint()
        let again = try DurableRun.open(run.disk.afterPowerLoss(seed: 1), run.options, run.log)
        #expect(again.finding == .whole && again.checkpoint?.position == run.position)
        return opened
    }

    /// Overwrites a part of both header slots, and their checksums to fit.
    private func forge(_ run: DurableRun, _ bytes: [UInt8], at place: Int, slots: [Int] = [0, 1]) throws {
        for slot in slots {
            var content = Array(try run.disk.content(of: Self.path)[slot * 4_096..<slot * 4_096 + 4_096])
            content.replaceSubrange(place..<place + bytes.count, with: bytes)
            content.replaceSubrange(12..<16, with: [0, 0, 0, 0])
            let sum = content.withUnsafeBytes { CRC32C.checksum($0) }
            content.replaceSubrange(12..<16, with: withUnsafeBytes(of: sum.littleEndian) { Array($0) })
            try run.disk.overwrite(Self.path, at: slot * 4_096, with: content)
        }
    }

    @Test("Missing, empty, and too short")
    func missing() throws {
        let run = try Self.whole()
        try run.disk.removeFile(Self.path)
        #expect(try open(run).finding == .missing)
        for size in [0, 4_096, 5_000, 8_192] {
            let run = try Self.whole()
            try run.disk.truncateFile(Self.path, to: size)
            let opened = try open(run)
            #expect(opened.finding == (size == 0 ? .missing : .damaged) && opened.checkpoint == nil, "\(size)")
        }
    }

    @Test("A damaged newest header leaves the one before")
    func damagedHeader() throws {
        for bit in [0, 40, 150, 600, 3_000] {
            let run = try Self.whole()
            try run.disk.flipBit(Self.path, byte: 4_096 + bit, bit: 3)
            let opened = try open(run)
            #expect(opened.finding == .otherSlot && opened.checkpoint?.position.offset == 1, "\(bit)")
            #expect(opened.reasons.count == 1)
        }
    }

    @Test("A damaged record leaves the checkpoint before; two leave none, and the file is put away")
    func damagedRecord() throws {
        let run = try Self.whole()
        let slots = try #require(run.store.checkpoints?.state.withLock { $0.slots })
        let records = try slots.map { Int(try #require($0.header).record.run.first) * PageLayout.pageBytes }
        try run.disk.flipBit(Self.path, byte: records[1] + 50, bit: 3)
        #expect(try run.faults(of: run.disk.afterPowerLoss(seed: 1), acceptable: [1]) == [])
        try run.disk.flipBit(Self.path, byte: records[0] + 50, bit: 3)
        #expect(try open(run).finding == .damaged)
        #expect(try run.disk.exists(Self.path + ".damaged"))
    }

    @Test("A newer version has an error of its own")
    func newer() throws {
        let run = try Self.whole()
        try forge(run, [2, 0], at: ViewFormat.versionPlace)
        let opened = try open(run)
        #expect(opened.finding == .newer && opened.reasons.map(\.code) == [.newerFormat, .newerFormat])
        #expect(try !run.disk.exists(Self.path + ".damaged"))
    }

    @Test("Another page size, places outside of the file, and epochs past all bounds are damage")
    func impossible() throws {
        for (place, bytes) in [
            (ViewFormat.pageBytesPlace, [0, 32]), (ViewFormat.pageCountPlace, [255, 255, 255, 0]),
            (ViewFormat.recordFirstPlace, [1, 0, 0, 0]), (ViewFormat.recordPagesPlace, [0, 0, 0, 0]),
            (ViewFormat.recordPagesPlace, [255, 255, 255, 255]), (ViewFormat.recordBytesPlace, [255, 255, 255, 255]),
            (ViewFormat.epochPlace, [255, 255, 255, 255, 255, 255, 255, 255]),
            (ViewFormat.sequencePlace, [255, 255, 255, 255, 255, 255, 255, 255]),
        ] as [(Int, [UInt8])] {
            let run = try Self.whole()
            try forge(run, bytes, at: place)
            let opened = try open(run)
            #expect(opened.finding == .damaged && opened.reasons.count == 2, "\(place)")
        }
    }

    @Test("Another store's file")
    func foreign() throws {
        let run = try Self.whole()
        try forge(run, [1, 2, 3], at: ViewFormat.storePlace)
        #expect(try open(run).finding == .foreign)
    }

    @Test("A log that lost its tail, and one that grew again")
    func stale() throws {
        let run = try Self.whole()
        run.loseTail(to: 1)
        let opened = try run.reopen()
        #expect(opened.finding == .otherSlot && opened.checkpoint?.position.offset == 1)
        // Another commit 2 than the one that the lost checkpoint was made of.
        try run.step(timeline: 2)
        #expect(try run.reopen().checkpoint?.position.offset == 1)
        run.loseTail(to: 0)
        #expect(try open(run).finding == .stale)
    }

    @Test("Canary: without the chain check a stale checkpoint is taken, and the states differ")
    func skipsChainCheck() throws {
        let run = try Self.whole()
        run.loseTail(to: 1)
        _ = try run.reopen()
        try run.step(timeline: 2)
        let opened = try run.reopen(checksChain: false)
        #expect(try run.faults(of: opened) != [])
    }

    @Test("A page that is damaged is an error of whoever reads it, never a trap", arguments: seeds(3))
    func flippedBytes(seed: UInt64) throws {
        let run = try Self.whole(seed: seed)
        let size = try run.disk.content(of: Self.path).count
        var random = SeededGenerator(seed: seed)
        var found = 0
        for round in 0..<400 {
            let disk = run.disk.afterPowerLoss(seed: 1, keeping: .everything)
            let count = Int.random(in: 1...3, using: &random)
            for _ in 0..<count {
                // Headers as often as all others together.
                let byte = Int.random(in: 0..<(round % 2 == 0 ? 2 * 4_096 : size), using: &random)
                try disk.flipBit(Self.path, byte: byte, bit: Int.random(in: 0..<8, using: &random))
            }
            let opened = try DurableRun.open(disk, run.options, run.log)
            do {
                let offset = opened.checkpoint?.position.offset ?? 0
                let model = try #require(run.states[offset])
                #expect(try opened.store.snapshot().entries(DurableRun.tree).map { $0[0] } == model.sortedKeys)
            } catch is StrataError { found += 1 }
        }
        #expect(found > 0)
    }

    @Test("A damaged page is an error of each reader, and an error of the medium passes; the file keeps its name")
    func keptName() throws {
        for access in DurableRun.accesses {
            let run = try Self.whole()
            run.options.access = access
            let leaf = try Self.someLeaf(of: run)
            let opened = try run.reopen()
            if access != .map {
                run.disk.fail(.read, from: 1, with: .errno(5), on: "views")
                #expect(throws: StrataError.self) { try opened.store.snapshot().entries(DurableRun.tree) }
                run.disk.heal()
            }
            try run.disk.flipBit(Self.path, byte: Int(leaf) * PageLayout.pageBytes + 2_000, bit: 3)
            for _ in 0..<2 {
                let error = #expect(throws: StrataError.self) {
                    try opened.store.snapshot().entries(DurableRun.tree)
                }
                #expect(error?.code == .badChecksum && error?.context.page == leaf)
            }
            #expect(try run.disk.exists(Self.path) && !run.disk.exists(Self.path + ".damaged"))
        }
    }

    /// The last page that the tree's root leads to.
    private static func someLeaf(of run: DurableRun) throws -> PageNumber {
        let root = run.store.snapshot().roots[DurableRun.tree]
        let page = try run.store.core.memory.page(root.page, level: root.level)
        try #require(root.level == 1)
        return page.child(page.count - 1)
    }

    @Test("What a record says is judged even if its checksum is right", arguments: seeds(2))
    func forgedRecords(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var roots = TreeRoots()
        roots[TreeID(rawValue: 3)] = TreeRoot(page: 7, level: 1, entryCount: 9, foldedOffset: 4)
        let place = RecordPlace(run: PageRun(first: 12, count: 2), byteCount: 90, checksum: 4)
        let record = CheckpointRecord(
            roots: roots, free: PageSet([PageRun(first: 2, count: 3), PageRun(first: 7, count: 1)]),
            retired: [
                RetiredList(
                    birth: 3, end: 5, runs: RunList([PageRun(first: 8, count: 1), PageRun(first: 9, count: 2)])),
                RetiredList(birth: 4, end: 0, runs: RunList([place.run])),
            ],
            kept: [
                KeptRecord(epoch: 4, position: Position(offset: 3, chain: 1), record: place, pageCount: 20, time: 5)
            ],
            opaque: [1, 2, 3])
        let bytes = record.encoded()
        let again = try CheckpointRecord.decode(bytes, pageCount: 20)
        #expect(again.free == record.free && again.retired == record.retired && again.kept == record.kept)
        #expect(again.opaque == record.opaque && again.roots.ids == roots.ids)
        #expect(again.encoded() == bytes)
        let short = try CheckpointRecord.decode(bytes, pageCount: 20, skipsRuns: true)
        #expect(short.free.isEmpty && short.retired.isEmpty && short.kept == record.kept)
        #expect(short.opaque == record.opaque && short.roots.ids == roots.ids)
        for count in bytes.indices {
            for skipsRuns in [true, false] {
                #expect(throws: StrataError.self) {
                    try CheckpointRecord.decode(Array(bytes[..<count]), pageCount: 20, skipsRuns: skipsRuns)
                }
            }
        }
        for _ in 0..<2_000 {
            var bytes = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let decoded = try? CheckpointRecord.decode(bytes, pageCount: 20) else { continue }
            #expect(decoded.encoded() == bytes)
        }
    }
}
