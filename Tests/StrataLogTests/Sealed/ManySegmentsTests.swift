import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("A log of very many segments", .timeLimit(.minutes(3)))
struct ManySegmentsTests {
    @Test("Few files are open at a time, whatever is read")
    func bounded() throws {
        let files = CountingFiles(SimulatedDisk())
        let store = TinyStore(SimulatedDisk(), files: files, seed: 3)
        var sequence = CommitSequence(seed: 3, zones: Array(1...9), noise: 0.9)
        let log = try store.open()
        var commits: [NewCommit] = []
        while files.segmentCount < 400 {
            let batch = sequence.next(8, bytesPerEvent: 4_000)
            for commit in batch { _ = try log.append([commit], expecting: log.end) }
            commits += batch
            while try log.sealNext() {}
        }
        let end = log.end.offset
        #expect(end == UInt64(commits.count))
        var generator = SeededGenerator(seed: 4)
        var cursors = try (0..<4).map { _ in try log.read(from: 1 + generator.next() % end) }
        for _ in 0..<1_500 {
            let offset = 1 + generator.next() % end
            try #expect(log.commit(at: offset)?.id == commits[Int(offset - 1)].id)
            _ = try log.touches(zone: 1 + offset % 9, after: offset - 1, limit: 5)
            for index in cursors.indices { _ = try cursors[index].next() }
        }
        for index in cursors.indices { while try cursors[index].next() != nil {} }
        _ = try log.touches(record: Array("nobody".utf8), in: 1, after: 0, limit: 10)
        #expect(files.mostOpen <= 32, "\(files.mostOpen) files were open")
        try log.close()
        cursors = []
        #expect(files.openCount == 0)
    }

    @Test("The segments that wait to be sealed are known, whatever happens to the log")
    func waiting() throws {
        let store = TinyStore(seed: 5)
        var sequence = CommitSequence(seed: 5, noise: 0.9)
        var log = try store.open()
        func append(_ count: Int) throws {
            for _ in 0..<count { _ = try log.append([sequence.next(bytesPerEvent: 4_000)], expecting: log.end) }
        }
        func expectWaiting() {
            // Frames that are closed: all but the newest segment.
            let frames = log.catalog.read { $0.segments }.dropLast().filter { $0.header.form == .frames }
            #expect(log.waitingCount == frames.count)
            #expect(log.catalog.read { $0.unsealed } == frames.map(\.firstOffset))
        }
        try append(60)
        expectWaiting()
        let all = log.waitingCount
        try #require(all > 4)
        for _ in 0..<3 { try #expect(log.sealNext()) }
        expectWaiting()
        #expect(log.waitingCount == all - 3)
        try append(20)
        try log.close()
        log = try store.open()
        expectWaiting()
        let segments = log.catalog.read { $0.segments }
        let floor = try #require(segments[4].seal)
        var mark = log.catalog.read { $0.floor }
        mark.position = floor.end
        log.catalog.publish { [mark] in _ = LogCatalog.raiseFloor(to: mark, in: &$0) }
        expectWaiting()
        #expect(log.catalog.read { $0.segments.first?.firstOffset } == segments[5].firstOffset)
        while try log.sealNext() {}
        #expect(log.waitingCount == 0)
        try log.close()
    }
}

/// Counts the files that are open.
private final class CountingFiles: FileSystem {
    private struct Counts {
        var open = 0
        var most = 0
        var segments = 0
    }

    private let disk: SimulatedDisk
    private let counts = Lock(Counts())

    init(_ disk: SimulatedDisk) { self.disk = disk }

    var openCount: Int { counts.withLock { $0.open } }
    var mostOpen: Int { counts.withLock { $0.most } }
    var segmentCount: Int { counts.withLock { $0.segments } }

    func open(_ path: String, _ mode: OpenMode) throws -> any File {
        let file = try disk.open(path, mode)
        counts.withLock { counts in
            counts.open += 1
            counts.most = max(counts.most, counts.open)
        }
        return CountedFile(file) { [counts] in counts.withLock { $0.open -= 1 } }
    }

    func exists(_ path: String) throws -> Bool { try disk.exists(path) }
    func makeDirectory(_ path: String) throws { try disk.makeDirectory(path) }
    func rename(_ source: String, to target: String) throws {
        if source.hasSuffix("/spare") { counts.withLock { $0.segments += 1 } }
        try disk.rename(source, to: target)
    }
    func remove(_ path: String) throws { try disk.remove(path) }
    func list(_ directory: String) throws -> [String] { try disk.list(directory) }
    func syncDirectory(_ directory: String) throws { try disk.syncDirectory(directory) }
}

private final class CountedFile: ForwardingFile {
    let file: any File
    private let onClose: @Sendable () -> Void
    private let isOpen = Lock(true)

    init(_ file: any File, onClose: @escaping @Sendable () -> Void) {
        self.file = file
        self.onClose = onClose
    }

    deinit { close() }

    func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen {
            file.close()
            onClose()
        }
    }
}
