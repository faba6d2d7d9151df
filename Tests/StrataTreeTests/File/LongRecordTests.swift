import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// Records of stores with very many retired pages, which are written part by part.
@Suite("Long records of checkpoints")
struct LongRecordTests {
    private func written(_ record: CheckpointRecord) throws -> (again: CheckpointRecord, bytes: [UInt8]) {
        let disk = SimulatedDisk()
        let file = try disk.open("/views", .create)
        let byteCount = record.encoded().count
        let run = PageRun(first: 2, count: CheckpointRecord.runPages(byteCount: byteCount))
        try file.allocate(0..<Int(run.range.upperBound) * PageLayout.pageBytes)
        let writer = SliceWriter(file: file, time: ManualTime(microseconds: 5), pace: { _ in })
        let place = try writer.write(record, to: run, epoch: 9)
        #expect(place.byteCount == byteCount && place.run == run)
        let pages = try PageFile(file, capacity: 1 << 24, access: .read(cachedPages: 1))
        let bytes = try pages.readRecord(place, epoch: 9)
        return (try CheckpointRecord.decode(bytes, pageCount: 1 << 24), bytes)
    }

    private func record(singles: Int, longer: Int) -> CheckpointRecord {
        var runs = RunList()
        for place in 0..<singles { runs.append(PageRun(first: PageNumber(2 + 3 * place), count: 1)) }
        for place in 0..<longer { runs.append(PageRun(first: PageNumber(2 + 5 * place), count: 2)) }
        let free = PageSet((0..<longer).map { PageRun(first: PageNumber(2 + 7 * $0), count: 1 + $0 % 4) })
        let lists = [RetiredList(birth: 3, end: 5, runs: runs), RetiredList(birth: 4, end: 0, runs: RunList())]
        return CheckpointRecord(roots: TreeRoots(), free: free, retired: lists, kept: [], opaque: [1, 2, 3])
    }

    /// Leaves memory behind that somebody had a secret in.
    private func soilMemory() {
        let soiled = (0..<64).map { _ in
            UnsafeMutableRawBufferPointer.allocate(byteCount: PageLayout.pageBytes, alignment: 4_096)
        }
        for buffer in soiled { buffer.initializeMemory(as: UInt8.self, repeating: 0xA5) }
        for buffer in soiled { buffer.deallocate() }
    }

    @Test("What a record leaves of its page is zeros, whatever was in memory before")
    func restOfPage() throws {
        let record = record(singles: 0, longer: 0)
        let file = try SimulatedDisk().open("/views", .create)
        try file.allocate(0..<4 * PageLayout.pageBytes)
        let writer = SliceWriter(file: file, time: ManualTime(microseconds: 5), pace: { _ in })
        for _ in 0..<20 {
            soilMemory()
            _ = try writer.write(record, to: PageRun(first: 2, count: 1), epoch: 9)
            let page = try file.read(count: PageLayout.pageBytes, at: 2 * PageLayout.pageBytes)
            #expect(page[(PageLayout.headerBytes + record.encoded().count)...].allSatisfy { $0 == 0 })
        }
    }

    @Test("What is written in parts is read as one")
    func parts() throws {
        for (singles, longer) in [(0, 0), (3, 2), (260_000, 0), (300_000, 40_000), (700_000, 1_000)] {
            let record = record(singles: singles, longer: longer)
            let (again, bytes) = try written(record)
            #expect(bytes == record.encoded(), "\(singles) and \(longer)")
            #expect(again.free == record.free && again.retired == record.retired && again.opaque == [1, 2, 3])
        }
    }

    /// A part ends where a page does: around that, one element more or less must not matter.
    @Test("Records of about one part")
    func edges() throws {
        let part = 256 * PageLayout.overflowBytesPerPage
        let others = record(singles: 0, longer: 0).encoded().count
        for singles in [-1, 0, 1, 1_024].map({ (part - others) / ViewFormat.singleBytes + $0 }) {
            let record = record(singles: singles, longer: 0)
            #expect(try written(record).bytes == record.encoded(), "\(singles)")
        }
    }
}
