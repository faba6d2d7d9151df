import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

@Suite("Checkpoints by themselves")
struct CheckpointerTests {
    private static let path = "/Notes.strata"
    private let disk = SimulatedDisk()

    private var platform: Platform {
        Platform(files: disk, time: ManualTime(microseconds: 1), random: SeededRandom(seed: 1))
    }

    private func openLog() throws -> SegmentedLog {
        try SegmentedLog.open(
            at: Self.path, options: LogOptions(segmentBytes: 64 << 10, spaceStepBytes: 0), platform: platform)
    }

    private func open(_ log: SegmentedLog) throws -> OpenedViews {
        try Views.open(
            log, store: log.identity.storeID, in: Self.path, platform: platform,
            options: PageStoreOptions(maximumPages: 1 << 16, maximumArenaPages: 1 << 14, pace: { _ in }))
    }

    /// What a pipeline does after each commit.
    private func follow(_ log: SegmentedLog, _ views: Views, _ checkpointer: Checkpointer) throws {
        try Replay(log: log, pages: views.pages).run()
        checkpointer.didPublish(views.pages.snapshot(), bytes: 500, events: 5)
    }

    @Test("One is written when enough log has come, and one at the end")
    func due() throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let views = try open(log).views
        let checkpointer = try Checkpointer(views, policy: .init(logBytes: 5_000))
        for count in 1...25 {
            try history.append(1, to: log)
            try follow(log, views, checkpointer)
            // A tenth has become due; whoever writes it does so on a thread of its own.
            let due = count / 10
            try #require(eventually { views.pages.info.checkpoints >= due })
            #expect(views.pages.info.checkpoints == due)
        }
        try checkpointer.stop()
        #expect(views.pages.info.checkpoints == 3)
        #expect(try open(log).checkpointOffset == 25)
    }

    @Test("Where commits are published before they are synced, a checkpoint has the log synced first")
    func unsyncedLog() throws {
        let log = try SegmentedLog.open(
            at: Self.path, options: LogOptions(durability: .system, segmentBytes: 64 << 10, spaceStepBytes: 0),
            platform: platform)
        var history = NoteHistory(seed: 1)
        let views = try open(log).views
        let checkpointer = try Checkpointer(views)
        try history.append(5, to: log)
        try follow(log, views, checkpointer)
        #expect(log.durableEnd.offset < 5)
        try checkpointer.stop()
        #expect(log.durableEnd.offset == 5)
        #expect(try open(log).checkpointOffset == 5)
    }

    @Test("One is written when half of what may be dirty is, and the next when that is so again")
    func dirtyPages() throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        var options = PageStoreOptions(maximumPages: 1 << 16, maximumArenaPages: 1 << 14, pace: { _ in })
        options.maximumDirtyPages = 16
        let views = try Views.open(
            log, store: log.identity.storeID, in: Self.path, platform: platform, options: options
        ).views
        let checkpointer = try Checkpointer(views, policy: .init(logBytes: .max, events: .max))
        var mostBefore = 0
        for _ in 0..<2_000 where views.pages.info.checkpoints < 2 {
            let before = views.pages.info.checkpoints
            try history.append(1, to: log)
            try follow(log, views, checkpointer)
            if before == 0, views.pages.info.checkpoints == 0 {
                mostBefore = max(mostBefore, views.pages.writablePages)
            }
            try #require(eventually { views.pages.writablePages < 8 })
        }
        #expect(views.pages.info.checkpoints >= 2 && mostBefore >= 4)
        try checkpointer.stop()
    }

    @Test("Nothing new means none", arguments: [0, 1])
    func nothingNew(commits: Int) throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let views = try open(log).views
        let checkpointer = try Checkpointer(views)
        try history.append(commits, to: log)
        if commits > 0 { try follow(log, views, checkpointer) }
        try checkpointer.stop()
        try checkpointer.stop()
        #expect(views.pages.info.checkpoints == commits)
    }

    @Test("Closing leaves changes to the next opening, but no index that became ready", arguments: [false, true])
    func builtIndex(endsBuild: Bool) throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        try history.append(1, to: log)
        let first = try open(log).views
        let firstCheckpointer = try Checkpointer(first)
        try follow(log, first, firstCheckpointer)
        try firstCheckpointer.stop()
        let views = try open(log).views
        let checkpointer = try Checkpointer(views)
        try history.append(1, to: log)
        try follow(log, views, checkpointer)
        // More pages than closing writes.
        let fork = views.pages.fork()
        for number in 0..<340 as Range<UInt64> {
            try fork.put(ViewTree.index, key: ViewKeys.numbers(number), row: [UInt8](repeating: 7, count: 100_000))
        }
        checkpointer.didPublish(try views.pages.publish(fork), bytes: 0, events: 0, endsBuild: endsBuild)
        #expect(checkpointer.leavesRest() == !endsBuild)
        try checkpointer.stop()
        #expect(try open(log).checkpointOffset == (endsBuild ? 2 : 1))
    }

    @Test("One that fails is reported, tried again when it is due, and forgotten when that succeeds")
    func failure() throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let views = try open(log).views
        let checkpointer = try Checkpointer(views, policy: .init(logBytes: 1))
        disk.fail(.write, at: 1, with: .errno(28), on: Self.path + "/views")
        try history.append(1, to: log)
        try follow(log, views, checkpointer)
        #expect(eventually { checkpointer.failure != nil })
        try history.append(1, to: log)
        try follow(log, views, checkpointer)
        try checkpointer.stop()
        #expect(checkpointer.failure == nil && views.pages.info.failedCheckpoints == 1)
        #expect(try open(log).checkpointOffset == 2)
    }

    @Test("What could not be written is tried once more at the end", arguments: [false, true])
    func lastTry(fails: Bool) throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let views = try open(log).views
        let checkpointer = try Checkpointer(views, policy: .init(logBytes: 1))
        disk.fail(.write, from: 1, with: .errno(28), on: Self.path + "/views")
        try history.append(1, to: log)
        try follow(log, views, checkpointer)
        #expect(eventually { checkpointer.failure != nil })
        if fails {
            #expect(throws: StrataError.self) { try checkpointer.stop() }
        } else {
            disk.heal()
            try checkpointer.stop()
        }
        #expect(views.pages.info.failedCheckpoints == (fails ? 2 : 1))
        disk.heal()
        #expect(try open(log).checkpointOffset == (fails ? 0 : 1))
    }
}
