import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// What a checkpoint gives back while it is being written.
@Suite("Checkpoints under way")
struct CheckpointProgressTests {
    private static let pages = 3_000
    private static let limit = 2_500

    /// What is found between two slices.
    private struct Look {
        var arenaPages: Int
        var writablePages: Int
        var hasRoom: Bool
        var value: [UInt8]?
    }

    private final class Looks: Sendable {
        let all = Lock<[Look]>([])
        let store = Lock<PageStore?>(nil)

        func look() {
            guard let store = store.withLock({ $0 }) else { return }
            let look = Look(
                arenaPages: store.info.arenaPages, writablePages: store.writablePages,
                hasRoom: store.awaitRoom(milliseconds: 0),
                value: try? store.snapshot().value(DurableRun.tree, Array("long 0".utf8)))
            all.withLock { $0.append(look) }
        }
    }

    private func looks(access: PageAccess) throws -> [Look] {
        let looks = Looks()
        var options = DurableRun.smallOptions
        options.maximumDirtyPages = Self.limit
        options.access = access
        options.pace = { _ in looks.look() }
        let run = try DurableRun(seed: 1, options: options)
        looks.store.withLock { $0 = run.store }
        try run.fill(pages: Self.pages)
        looks.store.withLock { $0 = nil }
        #expect(run.store.writablePages == 0)
        return looks.all.withLock { $0 }
    }

    @Test("Each slice frees its memory and makes room, and its pages are read from the file from then on")
    func slices() throws {
        let looks = try looks(access: .map)
        try #require(looks.count >= 2)
        for (index, look) in looks.prefix(2).enumerated() {
            let left = Self.pages + 100 - (index + 1) * SliceWriter.slicePages
            #expect(look.arenaPages <= left && look.writablePages <= left)
            #expect(look.hasRoom)
            #expect(look.value == [UInt8](repeating: 5, count: 200 * PageLayout.overflowBytesPerPage))
        }
    }

    /// Notes the calls that hand slices to the disk.
    private final class NotingFile: ForwardingFile {
        enum Call: Equatable {
            case write(pages: Range<Int>)
            case start(pages: Range<Int>)
            case finish(pages: Range<Int>)
        }

        let file: any File
        let calls = Lock<[Call]>([])

        init(_ file: any File) { self.file = file }

        private func note(_ make: (Range<Int>) -> Call, _ bytes: Range<Int>) {
            let pages = bytes.lowerBound / PageLayout.pageBytes..<bytes.upperBound / PageLayout.pageBytes
            let call = make(pages)
            calls.withLock { $0.append(call) }
        }

        func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int {
            note(Call.write, position..<position + source.count)
            return try file.writeSome(source, at: position)
        }

        func startWriteback(_ range: Range<Int>) { note(Call.start, range) }
        func finishWriteback(_ range: Range<Int>) { note(Call.finish, range) }
    }

    @Test("A slice is awaited once the next is handed over, and the last by the sync alone")
    func overlap() throws {
        let file = NotingFile(try SimulatedDisk().open("/views", .create))
        let writer = SliceWriter(file: file, time: ManualTime(microseconds: 5), pace: { _ in })
        let slice = SliceWriter.slicePages
        let numbers = (0..<3 * slice).map { PageNumber(2 + $0) }
        try writer.write(numbers) { _, target in
            target.initializeMemory(as: UInt8.self, repeating: 0, count: PageLayout.pageBytes)
        }
        let calls = file.calls.withLock { $0 }
        let slices = (0..<3).map { 2 + $0 * slice..<2 + ($0 + 1) * slice }
        let handed = calls.filter { if case .write = $0 { false } else { true } }
        #expect(
            handed == [
                .start(pages: slices[0]), .start(pages: slices[1]), .finish(pages: slices[0]),
                .start(pages: slices[2]), .finish(pages: slices[1]),
            ])
        // Small pieces, or later writes to the same place would be slow.
        let sizes = calls.compactMap { if case .write(let pages) = $0 { pages.count } else { nil } }
        #expect(sizes.reduce(0, +) == numbers.count && sizes.allSatisfy { $0 <= 4 })
    }

    @Test("With time left, a slice is awaited before the pause, and none is on its way during it")
    func pauses() throws {
        let file = NotingFile(try SimulatedDisk().open("/views", .create))
        let atPauses = Lock<[[NotingFile.Call]]>([])
        var writer = SliceWriter(
            file: file, time: ManualTime(microseconds: 5),
            pace: { _ in atPauses.withLock { $0.append(file.calls.withLock { $0 }) } })
        writer.isInHurry = { false }
        let slice = SliceWriter.slicePages
        try writer.write((0..<3 * slice).map { PageNumber(2 + $0) }) { _, target in
            target.initializeMemory(as: UInt8.self, repeating: 0, count: PageLayout.pageBytes)
        }
        let pauses = atPauses.withLock { $0 }
        #expect(pauses.count == 2)
        for (index, calls) in pauses.enumerated() {
            let handed = calls.filter { if case .write = $0 { false } else { true } }
            let slices = (0...index).map { 2 + $0 * slice..<2 + ($0 + 1) * slice }
            #expect(handed == slices.flatMap { [.start(pages: $0), .finish(pages: $0)] })
        }
    }

    @Test("A file that is read keeps its pages in memory until the checkpoint is over")
    func readAccess() throws {
        let looks = try looks(access: .read(cachedPages: 100))
        try #require(looks.count >= 2)
        #expect(looks.prefix(2).allSatisfy { $0.writablePages >= Self.pages && !$0.hasRoom })
    }

    @Test("A page that a failed sync lost is damage, not what was there before")
    func lostPage() throws {
        let run = try DurableRun(seed: 1)
        try run.step(changes: 300)
        try run.checkpoint()
        let root = run.store.snapshot().roots[DurableRun.tree].page
        let memory = run.store.core.memory
        let birth = try memory.page(root).birth
        memory.takeBack([MovedPage(number: root, birth: birth)])
        #expect(memory.isInArena(root))
        #expect(try run.store.snapshot().entries(DurableRun.tree).count == run.model.count)
        memory.moveToFile([root])
        memory.takeBack([MovedPage(number: root, birth: birth + 1)])
        let error = #expect(throws: StrataError.self) { try run.store.snapshot().entries(DurableRun.tree) }
        #expect(error?.code == .malformed && error?.context.offset == nil)
    }

    @Test("A checkpoint leaves half of the disk to the log, and takes all of it where writers wait for room")
    func pace() {
        func rest(_ fill: Double) -> Int64 {
            CheckpointSlice(byteCount: 4_096, microseconds: 10_000, fill: fill).restMicroseconds
        }
        #expect(rest(0) == 10_000 && rest(0.5) == 10_000)
        #expect(rest(0.5625) == 5_000 && rest(0.625) == 0 && rest(1) == 0 && rest(3) == 0)
        #expect(CheckpointSlice(byteCount: 1, microseconds: -5, fill: 0).restMicroseconds == 0)
        #expect(CheckpointSlice(byteCount: 1, microseconds: .max, fill: 0).restMicroseconds == 1_000_000)
    }

    @Test("Writers rest the longer, the less room there is, and not at all up to half of it")
    func rest() {
        let rests = stride(from: 0, through: 4_000, by: 100).map { WriteBackpressure.rest(pages: $0, limit: 4_000) }
        #expect(rests.prefix(21).allSatisfy { $0 == 0 } && rests[21] > 0)
        #expect(zip(rests[20...], rests[21...]).allSatisfy { $0 < $1 })
        #expect(rests.last == 64_000 && WriteBackpressure.rest(pages: 9_000, limit: 4_000) == 64_000)
        #expect(rests[25] < 5_000, "a little beyond half, hardly")
        for limit in 0...3 { #expect(WriteBackpressure.rest(pages: 1, limit: limit) >= 0) }
    }

    @Test("The lists of a large store are short of memory")
    func retiredRunBytes() {
        #expect(MemoryLayout<RetiredRun>.stride == 24)
        let run = PageRun(first: .max - 4, count: 3)
        let retired = RetiredRun(run: run, birth: 5, retired: 9)
        #expect(retired.run == run && retired.birth == 5 && retired.retired == 9 && !retired.isRecord)
        let record = RetiredRun.record(run, of: 5)
        #expect(record.run == run && record.birth == 5 && record.retired == 6 && record.isRecord)
    }
}
