import StrataSystem
import TestSupport
import Testing

@Suite("Files that count what is written")
struct CountedFilesTests {
    private let disk = SimulatedDisk()
    private let files: CountedFiles

    init() throws {
        files = CountedFiles(disk)
        for path in ["/s", "/s/log", "/s/views.files"] { try disk.makeDirectory(path) }
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let file = try files.open(path, .writeOrCreate)
        defer { file.close() }
        try file.write(bytes, at: 0)
        try file.sync()
    }

    @Test(
        "The kind of a file comes from its path",
        arguments: [
            ("/s/log/00001.seg", WriteCounts.Kind.commits), ("/s/log/spare", .commits), ("/s/log/sealing", .sealing),
            ("/s/views", .views), ("/s/views.build", .views), ("/s/views.files/1.run", .views), ("/s/STORE", .other),
            ("/s/log/FLOOR", .other), ("/s/spare", .other),
        ])
    func kinds(path: String, kind: WriteCounts.Kind) throws {
        try write([7, 0, 0], to: path)
        #expect(files.counts[kind] == files.counts.total)
        #expect(files.counts.total.bytes == 3)
        #expect(files.counts.total.writes == 1)
        #expect(files.counts.total.syncs == 1)
    }

    @Test("Only zeros in a segment count as such, and so does the sync after them")
    func zeros() throws {
        try write([0, 0, 0, 0], to: "/s/log/spare")
        #expect(files.counts[.zeros].bytes == 4)
        #expect(files.counts[.zeros].syncs == 1)
        try write([0, 0, 0, 1], to: "/s/log/spare")
        try write([0], to: "/s/views")
        #expect(files.counts[.zeros].bytes == 4)
        #expect(files.counts[.commits].bytes == 4)
        #expect(files.counts[.views].bytes == 1)
    }

    @Test("Short writes, failed calls and directories count as they happened")
    func calls() throws {
        disk.fail(.write, at: 1, with: .shortWrite(2))
        try write([1, 2, 3], to: "/s/log/00001.seg")
        #expect(files.counts[.commits].bytes == 3)
        #expect(files.counts[.commits].writes == 2)
        disk.fail(.syncData, at: 1, with: .errno(5))
        #expect(throws: (any Error).self) { try write([1], to: "/s/log/00001.seg") }
        #expect(files.counts[.commits].syncs == 1)
        try files.syncDirectory("/s/log")
        #expect(files.counts[.other].syncs == 1)
    }

    @Test("Sums and differences are by kind")
    func arithmetic() throws {
        try write([1], to: "/s/views")
        let before = files.counts
        try write([1, 2], to: "/s/log/sealing")
        let used = files.counts - before
        #expect(used[.views].bytes == 0)
        #expect(used[.sealing].bytes == 2)
        #expect(before + used == files.counts)
    }
}
