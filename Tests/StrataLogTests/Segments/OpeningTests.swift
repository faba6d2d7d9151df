import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("Opening and closing a store")
struct OpeningTests {
    private let store = TinyStore()

    @Test("What was appended is there after a close, and one mark is all that a close adds")
    func reopen() throws {
        var sequence = CommitSequence(seed: 1)
        let commits = sequence.next(7)
        let log = try store.open()
        _ = try log.append(commits, expecting: .start)
        try log.close()
        let content = try store.disk.content(of: store.segment(1))
        #expect(content.count % 8 == 0)
        #expect(content[(content.count - 64)...].starts(with: Array("StFr".utf8) + [4]))
        for _ in 0..<3 {
            let log = try store.open()
            #expect(log.recovery == RecoveryReport(replayedCommits: 7))
            #expect(try log.allCommits() == expectedCommits(commits))
            #expect(log.durableEnd == log.end)
            try log.close()
            #expect(try store.disk.content(of: store.segment(1)) == content, "opening and closing changes nothing")
        }
    }

    @Test("An empty store gets no mark, and a mark in the middle is passed over")
    func marks() throws {
        for _ in 0..<3 { try store.open().close() }
        #expect(try store.disk.content(of: store.segment(1)).count == 128)
        var sequence = CommitSequence(seed: 2)
        var all: [NewCommit] = []
        for _ in 0..<4 {
            let log = try store.open()
            let commits = sequence.next(2)
            _ = try log.append(commits, expecting: log.end)
            all += commits
            #expect(try log.allCommits() == expectedCommits(all))
            try log.close()
        }
        #expect(LogVerifier.verify(at: store.path, platform: store.platform).damage == nil)
    }

    @Test("What was appended is there without a close, as after the end of a process")
    func reopenWithoutClose() throws {
        var sequence = CommitSequence(seed: 3)
        let commits = sequence.next(5)
        let log = try store.open()
        _ = try log.append(commits, expecting: .start)
        let left = store.left(keeping: .everything)
        let again = try left.open()
        #expect(try again.allCommits() == expectedCommits(commits))
        #expect(again.recovery == RecoveryReport(replayedCommits: 5))
        #expect(again.durableEnd == again.end)
        try log.close()
    }

    @Test("A log that is dropped lets go of the store")
    func dropped() throws {
        var sequence = CommitSequence(seed: 3)
        var log: SegmentedLog? = try store.open()
        _ = try log?.append(sequence.next(2), expecting: .start)
        log = nil
        #expect(try store.open().end.offset == 2)
    }

    @Test("A second writer is told who has the store, and readers are not kept out")
    func locked() throws {
        let directory = try TestDirectory()
        let path = directory.path("Notes.strata")
        let log = try SegmentedLog.open(at: path)
        var sequence = CommitSequence(seed: 4)
        _ = try log.append(sequence.next(1), expecting: .start)
        let error = thrownError { _ = try SegmentedLog.open(at: path) }
        #expect(error?.code == .locked)
        #expect(error?.context.path == path + "/LOCK")
        #expect(error?.context.found?.hasPrefix("pid \(ProcessIdentity.current.identifier) (") == true)
        #expect(try LogReader.open(at: path).end == log.end)
        try log.close()
        try SegmentedLog.open(at: path).close()
    }

    @Test("A lock that outlives the process that took it is not said to be that one's")
    func lockOfEndedProcess() throws {
        let directory = try TestDirectory()
        let path = directory.path("Notes.strata")
        let log = try SegmentedLog.open(at: path)
        defer { try? log.close() }
        // Beyond what the system gives to any process.
        try RealFileSystem().open(path + "/LOCK", .write).write([UInt8]("pid 2000000000 (gone)\n".utf8), at: 0)
        let error = thrownError { _ = try SegmentedLog.open(at: path) }
        #expect(error?.code == .locked)
        #expect(error?.context.found?.hasPrefix("pid 2000000000 (gone), which is not running here") == true)
    }

    @Test("A store that another process makes at the same moment is opened")
    func madeMeanwhile() throws {
        let directory = try TestDirectory()
        let path = directory.path("Notes.strata")
        let log = try SegmentedLog.open(at: path, platform: Platform(files: OvertakenFiles(store: path)))
        #expect(log.end == .start)
        try log.close()
    }

    @Test("A store is made only where that is allowed, and only where its directory can be")
    func noStore() throws {
        var options = TinyStore.options
        options.createsStore = false
        #expect(thrownCode { _ = try store.open(options) } == .notAStore)
        #expect(store.disk.paths.isEmpty)
        #expect(thrownCode { _ = try LogReader.open(at: store.path, platform: store.platform) } == .notAStore)
        #expect(LogVerifier.verify(at: store.path, platform: store.platform).damage?.code == .notAStore)
        #expect(thrownCode { _ = try SegmentedLog.open(at: "/none/x", platform: store.platform) } == .notFound)
        try store.open().close()
        try store.open(options).close()
    }

    @Test("A store keeps what it was made with")
    func identity() throws {
        var options = TinyStore.options
        options.containerIdentifier = "iCloud.first"
        let identity = try store.open(options).identity
        options.containerIdentifier = "iCloud.second"
        #expect(identity.containerIdentifier == "iCloud.first")
        #expect(identity.created == 1_000_000)
        #expect(try store.open(options).identity == identity)
        #expect(try LogReader.open(at: store.path, platform: store.platform).identity == identity)
    }

    @Test("A container identifier has 1 to 255 bytes", arguments: [(0, false), (1, true), (255, true), (256, false)])
    func containerIdentifiers(count: Int, isAllowed: Bool) throws {
        var options = TinyStore.options
        // Two bytes each, so that it is bytes that count.
        options.containerIdentifier =
            String(repeating: "é", count: count / 2) + String(repeating: "e", count: count % 2)
        let error = thrownError { try store.open(options).close() }
        #expect(error?.code == (isAllowed ? nil : .invalidArgument))
        if isAllowed { #expect(try store.open().identity.containerIdentifier == options.containerIdentifier) }
    }

    @Test(
        "Options out of their bounds are refused before anything is made",
        arguments: [
            LogOptions(segmentBytes: (64 << 10) - 1), LogOptions(segmentBytes: (1 << 30) + 1),
            LogOptions(segmentBytes: -1), LogOptions(firstSegmentBytes: (64 << 10) - 1),
            LogOptions(firstSegmentBytes: (1 << 30) + 1),
            LogOptions(spaceStepBytes: (1 << 30) + 1), LogOptions(spaceStepBytes: -1),
            LogOptions(durability: .interval(.milliseconds(0))), LogOptions(durability: .interval(.milliseconds(-5))),
        ])
    func options(options: LogOptions) throws {
        #expect(thrownCode { _ = try store.open(options) } == .invalidArgument)
        #expect(store.disk.paths.isEmpty)
    }

    @Test(
        "Options at their bounds are not",
        arguments: [
            LogOptions(segmentBytes: 64 << 10), LogOptions(segmentBytes: 1 << 30),
            LogOptions(firstSegmentBytes: 1 << 30), LogOptions(firstSegmentBytes: 64 << 10),
            LogOptions(spaceStepBytes: 0), LogOptions(durability: .interval(.milliseconds(1))),
            LogOptions(durability: .interval(.seconds(Int64.max))),
        ])
    func allowedOptions(options: LogOptions) throws {
        let log = try store.open(options)
        var sequence = CommitSequence(seed: 1)
        _ = try log.append(sequence.next(3), expecting: .start)
        try log.close()
        #expect(try store.open().end.offset == 3)
    }

    @Test("A folder's name may end in a slash: the folder around the store is synced all the same")
    func trailingSlash() throws {
        let synced = Lock<Set<String>>([])
        store.disk.beforeCall = { kind, path in
            if kind == .syncDirectory { synced.withLock { _ = $0.insert(path) } }
        }
        try SegmentedLog.open(at: store.path + "//", platform: store.platform).close()
        store.disk.beforeCall = nil
        #expect(synced.withLock { $0 } == ["/", store.path, store.log])
        try store.open().close()
    }

    @Test("Opening what was closed in order writes nothing back, however much was never witnessed")
    func nothingToWriteBack() throws {
        var options = TinyStore.options
        options.durability = .system
        options.segmentBytes = 8 << 20
        let log = try store.open(options)
        var sequence = CommitSequence(seed: 1, noise: 1)
        _ = try log.append(sequence.next(3, events: 1, bytesPerEvent: 2 << 20), expecting: .start)
        try log.close()
        let left = store.copy()
        #expect(try left.open(options).end.offset == 3)
        // The name in the lock, and the mark.
        #expect(left.disk.count(of: .write) == 2)
    }

    @Test("A payload that opening cannot understand is named")
    func strangePayload() throws {
        let log = try SegmentedLog.open(
            at: store.path, options: TinyStore.options, platform: store.platform, touches: LogFixture.noTouches)
        var sequence = CommitSequence(seed: 1)
        _ = try log.append([sequence.next(), sequence.raw(40, isRandom: false)], expecting: .start)
        try log.close()
        let error = thrownError { _ = try store.open() }
        #expect(error?.context.path == store.segment(1))
        #expect(error?.context.segment == 1 && error?.context.offset == 2)
    }

    @Test("Closing leaves its file to whoever is reading it: the system gives its number to the next file opened")
    func closingBesideReading() throws {
        let log = try store.open()
        var sequence = CommitSequence(seed: 1)
        let commits = expectedCommits(sequence.next(2))
        _ = try log.append(
            commits.map { NewCommit(id: $0.id, time: $0.time, payload: $0.payload) }, expecting: .start)
        let outcome = Lock("nothing was read")
        store.disk.beforeCall = { [disk = store.disk] kind, _ in
            guard kind == .read else { return }
            disk.beforeCall = nil
            let code = thrownCode { try log.close() }
            outcome.withLock { $0 = code?.rawValue ?? "closed" }
        }
        #expect(try log.commit(at: 2) == commits[1])
        #expect(outcome.withLock { $0 } == "closed")
        #expect(thrownCode { _ = try log.commit(at: 2) } == .closed)
        #expect(try store.open().allCommits() == commits)
    }
}

/// Files of this machine, where another opener makes the store just before this one makes its directory.
private struct OvertakenFiles: FileSystem {
    let store: String
    private let files = RealFileSystem()

    init(store: String) { self.store = store }

    func makeDirectory(_ path: String) throws {
        if path == store { try SegmentedLog.open(at: path).close() }
        try files.makeDirectory(path)
    }

    func open(_ path: String, _ mode: OpenMode) throws -> any File { try files.open(path, mode) }
    func exists(_ path: String) throws -> Bool { try files.exists(path) }
    func rename(_ source: String, to target: String) throws { try files.rename(source, to: target) }
    func remove(_ path: String) throws { try files.remove(path) }
    func list(_ directory: String) throws -> [String] { try files.list(directory) }
    func syncDirectory(_ directory: String) throws { try files.syncDirectory(directory) }
}
