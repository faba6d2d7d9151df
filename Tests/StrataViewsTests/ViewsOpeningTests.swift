import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

/// Views come back from their checkpoints, or from the log; whatever is found, the answer is that of the log.
@Suite("Opening views")
struct ViewsOpeningTests {
    private static let path = "/Notes.strata"

    private let disk = SimulatedDisk()

    private func platform(_ disk: SimulatedDisk) -> Platform {
        Platform(files: disk, time: ManualTime(microseconds: 1), random: SeededRandom(seed: 1))
    }

    private func openLog(_ disk: SimulatedDisk) throws -> SegmentedLog {
        try SegmentedLog.open(
            at: Self.path, options: LogOptions(segmentBytes: 64 << 10, spaceStepBytes: 0), platform: platform(disk))
    }

    private func openViews(_ log: SegmentedLog, _ disk: SimulatedDisk) throws -> OpenedViews {
        try Views.open(
            log, store: log.identity.storeID, in: Self.path, platform: platform(disk),
            options: PageStoreOptions(maximumPages: 1 << 16, maximumArenaPages: 1 << 14))
    }

    /// What a store does if a reader finds a damaged page that opening did not need.
    private func rebuildViews(_ log: SegmentedLog, _ disk: SimulatedDisk) throws -> OpenedViews {
        try Views.rebuild(
            log, store: log.identity.storeID, in: Self.path, platform: platform(disk),
            options: PageStoreOptions(maximumPages: 1 << 16, maximumArenaPages: 1 << 14))
    }

    /// A log of notes whose views have a checkpoint of all of it.
    private func checkpointed(_ count: Int, seed: UInt64) throws -> (log: SegmentedLog, history: NoteHistory) {
        let log = try openLog(disk)
        var history = NoteHistory(seed: seed)
        try history.append(count, to: log)
        let views = try openViews(log, disk).views
        try views.checkpoint(views.pages.snapshot())
        return (log, history)
    }

    /// What the log says, folded from its beginning.
    private func truth(_ log: any EventLog) throws -> Digests {
        try Views.inMemory(log, options: PageStoreOptions(maximumPages: 1 << 16)).pages.snapshot().digests()
    }

    private func expectTruth(_ opened: OpenedViews, _ log: SegmentedLog) throws {
        let snapshot = opened.views.pages.snapshot()
        #expect(try snapshot.digests() == truth(log))
        #expect(snapshot.foldedOffset(ViewTree.records) == log.end.offset)
        #expect(snapshot.entryCount(ViewTree.records) > 0)
    }

    @Test("Opening takes the newest checkpoint and folds only what is behind it")
    func tail() throws {
        let log = try openLog(disk)
        var history = NoteHistory(seed: 1)
        try history.append(40, to: log)
        let first = try openViews(log, disk)
        #expect(first.finding == .missing && first.checkpointOffset == 0)
        try expectTruth(first, log)
        try first.views.checkpoint(first.views.pages.snapshot())
        try history.append(7, to: log)
        let second = try openViews(log, disk)
        #expect(second.finding == .whole && second.checkpointOffset == 40)
        try expectTruth(second, log)
    }

    @Test("A checkpoint that is ahead of what the log has synced is not written")
    func aheadOfLog() throws {
        let log = try SegmentedLog.open(
            at: Self.path, options: LogOptions(durability: .system, segmentBytes: 64 << 10, spaceStepBytes: 0),
            platform: platform(disk))
        var history = NoteHistory(seed: 2)
        try history.append(3, to: log)
        let opened = try openViews(log, disk)
        #expect(throws: StrataError.self) { try opened.views.checkpoint(opened.views.pages.snapshot()) }
        try log.sync()
        try opened.views.checkpoint(opened.views.pages.snapshot())
    }

    @Test("A tail that was lost, and grew again or not, makes a checkpoint stale, not wrong", arguments: [4, 10, 30])
    func staleCheckpoint(commits: Int) throws {
        let log = try openLog(disk)
        var history = NoteHistory(seed: 3)
        try history.append(10, to: log)
        let before = disk.afterPowerLoss(seed: 1, keeping: .everything)
        var other = history
        try history.append(10, to: log)
        let opened = try openViews(log, disk)
        try opened.views.checkpoint(opened.views.pages.snapshot())
        // The log of another course of things, with these views.
        let views = try disk.content(of: Self.path + "/views")
        let otherLog = try openLog(before)
        other.diverge(seed: 99)
        try other.append(commits, to: otherLog)
        before.setContent(views, of: Self.path + "/views")
        let again = try openViews(otherLog, before)
        #expect(again.finding == .stale)
        try expectTruth(again, otherLog)
    }

    @Test("Views of a store that is another's are not taken")
    func foreign() throws {
        _ = try checkpointed(5, seed: 4)
        let elsewhere = SimulatedDisk()
        let otherLog = try SegmentedLog.open(
            at: Self.path, options: LogOptions(segmentBytes: 64 << 10, spaceStepBytes: 0),
            platform: Platform(files: elsewhere, time: ManualTime(microseconds: 1), random: SeededRandom(seed: 77)))
        var other = NoteHistory(seed: 5)
        try other.append(5, to: otherLog)
        elsewhere.setContent(try disk.content(of: Self.path + "/views"), of: Self.path + "/views")
        let again = try openViews(otherLog, elsewhere)
        #expect(again.finding == .foreign)
        try expectTruth(again, otherLog)
    }

    @Test("Whatever byte of the page file is wrong, opening gives what the log says")
    func damage() throws {
        let (log, before) = try checkpointed(60, seed: 6)
        var history = before
        try history.append(3, to: log)
        let good = try disk.content(of: Self.path + "/views")
        let expected = try truth(log)
        var generator = SeededGenerator(seed: 1)
        var (noticed, rebuilt) = (0, 0)
        for _ in 0..<60 {
            var bad = good
            let place = generator.next(below: 3) == 0 ? generator.next(below: 8_192) : generator.next(below: bad.count)
            bad[place] ^= UInt8(1 << generator.next(below: 8))
            disk.setContent(bad, of: Self.path + "/views")
            let opened = try openViews(log, disk)
            if opened.finding != .whole { noticed += 1 }
            do {
                #expect(try everything(opened) == expected, "byte \(place)")
            } catch let error as StrataError {
                // A page that opening did not need is an error of each reader, until the views are folded again.
                #expect(error.code == .badChecksum && Views.isDamage(error), "byte \(place)")
                #expect(try everything(rebuildViews(log, disk)) == expected, "byte \(place)")
                rebuilt += 1
            }
        }
        #expect(noticed > 0 && noticed + rebuilt < 60)
    }

    @Test("A page that stands in the place of another is noticed while the tail is folded, too")
    func misplacedPage() throws {
        let (log, before) = try checkpointed(60, seed: 6)
        var history = before
        try history.append(20, to: log)
        let good = try disk.content(of: Self.path + "/views")
        let expected = try truth(log)
        var rebuilt = 0
        for place in 2..<min(good.count / 4_096, 40) {
            var bad = good
            let other = place == 2 ? 3 : 2
            bad.replaceSubrange(place * 4_096..<(place + 1) * 4_096, with: good[other * 4_096..<(other + 1) * 4_096])
            disk.setContent(bad, of: Self.path + "/views")
            let opened = try openViews(log, disk)
            if opened.finding == .damaged { rebuilt += 1 }
            if (try? everything(opened)) != expected {
                #expect(try everything(rebuildViews(log, disk)) == expected, "page \(place)")
            }
        }
        #expect(rebuilt > 0)
    }

    /// The digests, after every page of every tree has been read.
    private func everything(_ opened: OpenedViews) throws -> Digests {
        let snapshot = opened.views.pages.snapshot()
        for id in snapshot.trees { try snapshot.scan(id) { _, _ in true } }
        return try snapshot.digests()
    }

    @Test("Views of another form are folded again", arguments: [Views.form - 1, Views.form + 1])
    func otherForm(form: UInt64) throws {
        let log = try openLog(disk)
        var history = NoteHistory(seed: 7)
        try history.append(6, to: log)
        let opened = try openViews(log, disk)
        let snapshot = opened.views.pages.snapshot()
        try opened.views.pages.checkpoint(
            snapshot, at: log.end, opaque: [UInt8(form)] + Views.note(try snapshot.digests()).dropFirst())
        let again = try openViews(log, disk)
        #expect(again.reasons.contains { $0.code == .newerFormat } && again.checkpointOffset == 0)
        try expectTruth(again, log)
    }

    @Test("Indexes that were behind in a checkpoint are built anew, others go on", arguments: [true, false])
    func indexes(areBehind: Bool) throws {
        let (log, first) = try checkpointed(30, seed: 8)
        var history = first
        try history.declareTitle(.queryable, to: log)
        let opened = try openViews(log, disk)
        var catchUp = opened.catchUp
        let pages = opened.views.pages
        try advance(&catchUp, pages)
        if areBehind {
            try history.append(10, to: log)
            try Replay(log: log, pages: pages).run()
        }
        try opened.views.checkpoint(pages.snapshot())
        let again = try openViews(log, disk)
        #expect((again.views.pages.snapshot().entryCount(ViewTree.index) == 0) == areBehind)
        var next = again.catchUp
        try advance(&next, again.views.pages)
        let snapshot = again.views.pages.snapshot()
        #expect(snapshot.entryCount(ViewTree.index) == snapshot.entryCount(ViewTree.records))
        #expect(try again.views.scrub(snapshot, lag: next.lag, scratch: try PageStore.inMemory()).isWhole)
    }

    private func advance(_ catchUp: inout IndexCatchUp, _ pages: PageStore) throws {
        var hasMore = true
        while hasMore {
            let fork = pages.fork()
            hasMore = try catchUp.advance(fork, to: pages.snapshot(), limit: 50)
            try pages.publish(fork)
        }
        try catchUp.build(in: pages)
    }

    @Test("What took long to fold is made durable before the store is open, as far as the log is")
    func longTail() throws {
        let log = try SegmentedLog.open(
            at: Self.path, options: LogOptions(durability: .system, segmentBytes: 64 << 10, spaceStepBytes: 0),
            platform: platform(disk))
        var history = NoteHistory(seed: 9)
        try history.append(40, to: log)
        func open(maximumDirtyPages: Int) throws -> PageStoreInfo {
            let opened = try Views.open(
                log, store: log.identity.storeID, in: Self.path, platform: platform(disk),
                options: PageStoreOptions(
                    maximumPages: 1 << 16, maximumArenaPages: 1 << 14, maximumDirtyPages: maximumDirtyPages))
            try expectTruth(opened, log)
            return opened.views.pages.info
        }
        #expect(try open(maximumDirtyPages: 2).checkpoints == 0)
        try log.sync()
        #expect(try open(maximumDirtyPages: 1_000).checkpoints == 0)
        let info = try open(maximumDirtyPages: 2)
        #expect(info.checkpoints == 1 && info.checkpointPosition == log.end)
        #expect(try open(maximumDirtyPages: 2).checkpoints == 0)
    }

    @Test("A checkpoint that cannot be written while the log is folded keeps nobody from opening")
    func fullDisk() throws {
        let log = try openLog(disk)
        var history = NoteHistory(seed: 10)
        try history.append(40, to: log)
        disk.fail(.write, from: 1, with: .errno(28), on: "/views")
        let opened = try Views.open(
            log, store: log.identity.storeID, in: Self.path, platform: platform(disk),
            options: PageStoreOptions(maximumPages: 1 << 16, maximumArenaPages: 1 << 14, maximumDirtyPages: 2))
        try expectTruth(opened, log)
        #expect(opened.reasons.map(\.code) == [.noSpace] && opened.views.pages.info.failedCheckpoints == 1)
        disk.heal()
        try opened.views.checkpoint(opened.views.pages.snapshot())
        #expect(try openViews(log, disk).checkpointOffset == 40)
    }

    @Test("Power may go at any moment: what comes back is what the log has")
    func powerLoss() throws {
        try withSeeds(12) { seed in
            let disk = SimulatedDisk()
            let log = try openLog(disk)
            var history = NoteHistory(seed: seed)
            try history.append(20, to: log)
            var opened = try openViews(log, disk)
            for round in 0..<4 {
                try history.append(5, to: log)
                opened = try openViews(log, disk)
                if round % 2 == 0 { try opened.views.checkpoint(opened.views.pages.snapshot()) }
            }
            let left = disk.afterPowerLoss(seed: seed, keeping: .random)
            let again = try openLog(left)
            try expectTruth(try openViews(again, left), again)
        }
    }
}
