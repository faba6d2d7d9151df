import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

/// Readers of other processes, and backups by hard link, rest on this.
@Suite("The file of a segment is never written again once it is closed", .timeLimit(.minutes(10)))
struct ClosedFilesTests {
    @Test("Over 10,000 commits, while segments are sealed, rewritten and trimmed, and the store is reopened")
    func links() throws {
        let harness = try LinkHarness()
        try harness.run(commits: 10_000, isBusy: true)
        #expect(harness.linkCount > 200)
        try harness.check()
    }

    @Test("Canary: a log that uses closed files again is noticed")
    func recycling() throws {
        let harness = try LinkHarness(files: RecyclingFiles())
        try harness.run(commits: 600, isBusy: false)
        #expect(throws: Mismatch.self) { try harness.check() }
    }

    @Test("Canary: so is one byte that is written into a closed file, at its end too", arguments: [0, 200, Int.max])
    func oneByte(position: Int) throws {
        let harness = try LinkHarness()
        try harness.run(commits: 600, isBusy: true)
        try harness.writeByte(at: position)
        #expect(throws: Mismatch.self) { try harness.check() }
    }
}

/// A log that is appended to, and a second name of every closed segment that it ever had.
private final class LinkHarness {
    private struct Link {
        let path: String
        let checksum: UInt32
        let byteCount: Int
    }

    private static let options = {
        // Zeros ahead, so that closed files could be of use.
        var options = LogOptions(segmentBytes: 64 << 10, firstSegmentBytes: 64 << 10, spaceStepBytes: 16 << 10)
        options.maximumWaitingSegments = 0
        return options
    }()

    private let directory: TestDirectory
    private let paths: StorePaths
    private let platform: Platform
    private var links: [FileIdentity: Link] = [:]
    private var sequence = CommitSequence(seed: 3, noise: 0.9)

    var linkCount: Int { links.count }

    init(files: any FileSystem = RealFileSystem()) throws {
        directory = try TestDirectory()
        paths = StorePaths(directory.path("Linked.strata"))
        platform = Platform(files: files)
        try RealFileSystem().makeDirectory(directory.path("links"))
    }

    private func open() throws -> SegmentedLog {
        try SegmentedLog.open(at: paths.store, options: Self.options, platform: platform)
    }

    /// - Parameter isBusy: whether all is done that replaces or removes segments, too.
    func run(commits count: Int, isBusy: Bool) throws {
        var log = try open()
        for step in 0..<count / 20 {
            // Now and then one whose stored bytes are kept when it is sealed.
            let batch = (0..<20).map { index in
                sequence.next(events: 1, bytesPerEvent: index == 0 && step % 3 == 0 ? 20_000 : 800)
            }
            for group in [batch[..<1], batch[1...]] { _ = try log.append(Array(group), expecting: log.end) }
            try linkClosed()
            guard isBusy else { continue }
            if step % 4 == 0 { while try log.sealNext() {} }
            if step % 50 == 10 {
                let wanted = log.end.offset - 5
                let other = sequence.next().payload
                try log.rewrite(through: wanted, lookup: { _ in nil }) { offset, _ in
                    offset == wanted ? Array(other) : nil
                }
            }
            if step % 100 == 60 { _ = try log.trim(to: log.end.offset / 2) }
            if step % 40 == 20 {
                try log.close()
                log = try open()
            }
            try linkClosed()
        }
        try log.close()
    }

    /// Gives every closed segment a second name that has none yet.
    private func linkClosed() throws {
        let files = RealFileSystem()
        let names = try files.list(paths.log).filter { $0.hasSuffix(".seg") }.sorted()
        for name in names.dropLast() {
            let file = try files.open("\(paths.log)/\(name)", .read)
            defer { file.close() }
            let identity = try file.identity()
            guard links[identity] == nil else { continue }
            let link = directory.path("links/\(links.count)")
            try files.hardLink(file.path, to: link)
            let bytes = try file.read(count: 1 << 20, at: 0)
            links[identity] = Link(
                path: link, checksum: bytes.withUnsafeBytes { CRC32C.checksum($0) }, byteCount: bytes.count)
        }
    }

    func check() throws {
        for link in links.values {
            let bytes = try RealFileSystem().readAll(link.path, atMost: 1 << 20)
            let isSame = bytes.count == link.byteCount && bytes.withUnsafeBytes { CRC32C.checksum($0) } == link.checksum
            guard isSame else { throw Mismatch("\(link.path) was written after it was closed") }
        }
    }

    /// - Parameter position: in the file, or its end if it is shorter.
    func writeByte(at position: Int) throws {
        let link = try #require(links.values.min { $0.path < $1.path })
        let file = try RealFileSystem().open(link.path, .write)
        defer { file.close() }
        let position = min(position, link.byteCount - 1)
        let byte = try file.read(count: 1, at: position)
        try file.write(byte.map { $0 ^ 1 }, at: position)
    }
}

/// Takes a closed segment where the log makes a new file for the next one.
private struct RecyclingFiles: FileSystem {
    private let files = RealFileSystem()

    func open(_ path: String, _ mode: OpenMode) throws -> any File {
        guard case .create = mode, path.hasSuffix("/spare") else { return try files.open(path, mode) }
        let log = String(path.dropLast("/spare".count))
        let segments = try files.list(log).filter { $0.hasSuffix(".seg") }.sorted()
        guard segments.count > 3 else { return try files.open(path, mode) }
        try files.hardLink("\(log)/\(segments[0])", to: path)
        return try files.open(path, .write)
    }

    func exists(_ path: String) throws -> Bool { try files.exists(path) }
    func makeDirectory(_ path: String) throws { try files.makeDirectory(path) }
    func rename(_ source: String, to target: String) throws { try files.rename(source, to: target) }
    func remove(_ path: String) throws { try files.remove(path) }
    func list(_ directory: String) throws -> [String] { try files.list(directory) }
    func syncDirectory(_ directory: String) throws { try files.syncDirectory(directory) }
}
