import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

@Suite("Flushes by themselves")
struct FlusherTests {
    private static let path = "/Notes.strata"
    private let disk = SimulatedDisk()

    private var platform: Platform {
        Platform(files: disk, time: ManualTime(microseconds: 1), random: SeededRandom(seed: 1))
    }

    private func openLog(_ durability: Durability = .commit) throws -> SegmentedLog {
        try SegmentedLog.open(
            at: Self.path, options: LogOptions(durability: durability, segmentBytes: 64 << 10, spaceStepBytes: 0),
            platform: platform)
    }

    private func open(_ log: SegmentedLog, generationBytes: Int = 64 << 20) throws -> OpenedViews {
        var options = TreeStoreOptions()
        options.generationBytes = generationBytes
        return try Views.open(
            log, store: log.identity.storeID, in: Self.path, platform: platform, options: options)
    }

    /// What a pipeline does after each commit.
    private func follow(_ log: SegmentedLog, _ views: Views, _ flusher: Flusher) throws {
        try Replay(log: log, trees: views.trees).run()
        flusher.didPublish()
    }

    @Test("A state is written when a generation is full, and one at the end")
    func due() throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let views = try open(log, generationBytes: 64 << 10).views
        let flusher = try Flusher(views)
        var positions: Set<UInt64> = []
        for _ in 1...200 {
            try history.append(1, to: log)
            try follow(log, views, flusher)
            #expect(eventually { views.trees.waitingGenerations == 0 })
            if let position = views.trees.durablePosition { positions.insert(position.offset) }
        }
        #expect(positions.count > 2 && !positions.contains(200))
        #expect(views.trees.snapshot().foldedOffset(ViewTree.records) == 200)
        try views.trees.freeze()
        try flusher.stop()
        #expect(try open(log).beginning == 200)
    }

    @Test("Where commits are published before they are synced, a flush has the log synced first")
    func unsyncedLog() throws {
        let log = try openLog(.system)
        var history = NoteHistory(seed: 1)
        let views = try open(log).views
        let flusher = try Flusher(views)
        try history.append(5, to: log)
        try follow(log, views, flusher)
        #expect(log.durableEnd.offset < 5)
        try flusher.stop()
        #expect(log.durableEnd.offset == 5)
        #expect(try open(log).beginning == 5)
    }

    @Test("At rest the owner may let go of what was replaced: until it can, and again when more is replaced")
    func atRest() throws {
        let log = try openLog()
        let views = try open(log).views
        let (calls, ticks) = (Lock(0), Lock(0))
        let flusher = try Flusher(views, restMilliseconds: 5)
        flusher.onRest {
            calls.withLock { count in
                count += 1
                return count > 2
            }
        }
        let clock = try Flusher(try Views.inMemory(log), restMilliseconds: 5)
        clock.onRest {
            ticks.withLock { $0 += 1 }
            return false
        }
        func awaitTicks() {
            let start = ticks.withLock { $0 }
            #expect(eventually { ticks.withLock { $0 > start + 20 } })
        }
        #expect(eventually { calls.withLock { $0 == 3 } })
        awaitTicks()
        #expect(calls.withLock { $0 } == 3)
        var history = NoteHistory(seed: 1)
        try history.append(1, to: log)
        try follow(log, views, flusher)
        awaitTicks()
        #expect(calls.withLock { $0 } == 3, "nothing was replaced")
        try views.trees.freeze()
        flusher.didPublish()
        #expect(eventually { calls.withLock { $0 == 4 } })
        clock.abandon()
        try flusher.stop()
    }

    @Test("A merge that rest begins goes on without another rest between its steps")
    func restingMerge() throws {
        var options = TreeStoreOptions()
        (options.frameBytes, options.pieceBytes) = (1_024, 1)
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let views = try Views.open(
            log, store: log.identity.storeID, in: Self.path, platform: platform, options: options
        ).views
        for _ in 1...3 {
            try history.append(20, to: log)
            try Replay(log: log, trees: views.trees).run()
            try views.settle()
        }
        let flusher = try Flusher(views, restMilliseconds: 5)
        let (rests, restsAtSteps) = (Lock(0), Lock<[Int]>([]))
        flusher.onAttempt { _ in restsAtSteps.withLock { $0.append(rests.withLock { $0 }) } }
        flusher.onRest {
            rests.withLock { $0 += 1 }
            return false
        }
        #expect(eventually { rests.withLock { $0 > 0 } && !views.trees.isMergeDue(isAtRest: true) })
        try flusher.stop()
        let found = restsAtSteps.withLock { $0 }
        #expect(found.count > 2 && Set(found).count == 1, "\(found)")
    }

    @Test("Closing leaves a few changes to the next opening, but writes a first state")
    func rest() throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        for (count, expected) in [(3, 3), (2, 3)] as [(Int, UInt64)] {
            let views = try open(log).views
            let flusher = try Flusher(views)
            try history.append(count, to: log)
            try follow(log, views, flusher)
            try flusher.stop()
            #expect(try open(log).beginning == expected)
        }
    }

    @Test(
        "Closing writes a state, however few the changes, if the log removed what the last state needs",
        arguments: [3, 5])
    func belowFloor(floor: UInt64) throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        var atFloor: Snapshot?
        for count in [3, 2] {
            let views = try open(log).views
            let flusher = try Flusher(views)
            try history.append(count, to: log)
            try follow(log, views, flusher)
            let snapshot = views.trees.snapshot()
            if snapshot.foldedOffset(ViewTree.records) == floor { atFloor = snapshot }
            if count == 2, let atFloor {
                var scan = try BaseScan(atFloor, chain: log.chain(at: floor))
                try log.adopt(try log.writeBase(at: floor) { try scan.next().map { $0[...] } })
            }
            try flusher.stop()
        }
        #expect(try log.floor.offset == floor && open(log).beginning == floor)
    }

    @Test("Closing writes changes that the log does not have, however few")
    func beyondLog() throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        for (isInLog, expected) in [(true, 2), (true, 2), (false, 6)] as [(Bool, UInt64)] {
            let views = try open(log).views
            let flusher = try Flusher(views)
            try history.append(2, to: log)
            try Replay(log: log, trees: views.trees).run()
            flusher.didPublish(isInLog: isInLog)
            try flusher.stop()
            #expect(try open(log).beginning == expected)
        }
    }

    @Test("Nothing is written of views that were abandoned, however large the changes")
    func abandoned() throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let views = try open(log).views
        let flusher = try Flusher(views)
        try history.append(3, to: log)
        try follow(log, views, flusher)
        flusher.abandon()
        try views.trees.freeze()
        try flusher.stop()
        #expect(views.trees.durablePosition == nil && views.trees.waitingGenerations == 1)
        #expect(try !flusher.awaitFlush(through: 3))
    }

    @Test("Nothing new means no state")
    func nothingNew() throws {
        let log = try openLog()
        let views = try open(log).views
        let flusher = try Flusher(views)
        try flusher.stop()
        try flusher.stop()
        #expect(views.trees.durablePosition == nil)
    }

    /// Holds the calls of a kind for files of views until the result is called.
    private func hold(_ held: SimulatedDisk.CallKind) -> () -> Void {
        let isFree = Monitor(false)
        disk.beforeCall = { kind, path in
            if kind == held, path.contains("/views/") { isFree.wait { $0 ? () : nil } }
        }
        return {
            isFree.withLock { $0 = true }
            isFree.notifyAll()
        }
    }

    @Test("A writer waits while two generations wait, and goes on when one is written")
    func room() throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let views = try open(log, generationBytes: 64 << 10).views
        let flusher = try Flusher(views)
        let release = hold(.write)
        for _ in 0..<2_000 where views.trees.waitingGenerations < 2 {
            try history.append(1, to: log)
            try follow(log, views, flusher)
        }
        #expect(views.trees.waitingGenerations >= 2 && !flusher.awaitRoom(milliseconds: 1))
        release()
        #expect(flusher.awaitRoom(milliseconds: 20_000))
        try flusher.stop()
        disk.beforeCall = nil
    }

    @Test("While flushes fail nobody waits, and there is an end to what is taken into memory")
    func full() throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let views = try open(log, generationBytes: 64 << 10).views
        let flusher = try Flusher(views)
        disk.fail(.write, from: 1, with: .errno(28), on: Self.path + "/views")
        for _ in 0..<5_000 where !flusher.isFull {
            try history.append(1, to: log)
            try follow(log, views, flusher)
        }
        #expect(flusher.isFull && eventually { flusher.failure != nil })
        #expect(flusher.awaitRoom(milliseconds: 20_000) && flusher.isFull)
        disk.heal()
        #expect(eventually { views.trees.waitingGenerations == 0 })
        #expect(!flusher.isFull)
        try flusher.stop()
    }

    /// Views with so many runs that a writer waits for a merge.
    private func crowded(_ log: SegmentedLog, _ history: inout NoteHistory) throws -> Views {
        let views = try open(log).views
        while !views.trees.isCrowded {
            try history.append(1, to: log)
            try Replay(log: log, trees: views.trees).run()
            try views.settle()
        }
        #expect(log.end.offset == 25)
        return views
    }

    @Test("A writer waits while there are more than 24 runs, and goes on when they are merged")
    func manyRuns() throws {
        var history = NoteHistory(seed: 1)
        let views = try crowded(openLog(), &history)
        let release = hold(.create)
        let flusher = try Flusher(views)
        #expect(!flusher.awaitRoom(milliseconds: 1) && views.trees.isCrowded)
        release()
        #expect(flusher.awaitRoom(milliseconds: 20_000) && !views.trees.isCrowded)
        try flusher.stop()
        disk.beforeCall = nil
    }

    @Test("While merges fail nobody waits for them, and they are tried again")
    func failingMerges() throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let views = try crowded(log, &history)
        disk.fail(.create, from: 1, with: .errno(28), on: Self.path + "/views")
        let flusher = try Flusher(views)
        #expect(flusher.awaitRoom(milliseconds: 20_000) && views.trees.isCrowded)
        #expect((flusher.failure as? StrataError)?.code == .noSpace)
        disk.heal()
        try history.append(1, to: log)
        try follow(log, views, flusher)
        try views.trees.freeze()
        flusher.didPublish()
        #expect(eventually { views.trees.durablePosition?.offset == 26 && !views.trees.isCrowded })
        #expect(eventually { flusher.failure == nil })
        try flusher.stop()
    }

    @Test("Opening merges what are too many runs, but a merge that fails prevents no opening")
    func openingManyRuns() throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let digests = try crowded(log, &history).trees.snapshot().digests()
        disk.fail(.create, from: 1, with: .errno(28), on: Self.path + "/views")
        let crowded = try open(log)
        #expect(crowded.views.trees.isCrowded && crowded.reasons.map(\.code) == [.noSpace])
        disk.heal()
        let opened = try open(log)
        #expect(!opened.views.trees.isCrowded && opened.finding == .whole && opened.reasons.isEmpty)
        #expect(try opened.views.trees.snapshot().digests() == digests)
        #expect(try open(log).views.trees.snapshot().digests() == digests)
    }

    @Test("A flush that fails is reported, tried again, and forgotten when that succeeds")
    func failure() throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let views = try open(log).views
        let flusher = try Flusher(views)
        let reports = Lock<[Bool]>([])
        flusher.onAttempt { error in reports.withLock { $0.append(error == nil) } }
        disk.fail(.write, at: 1, with: .errno(28), on: Self.path + "/views")
        try history.append(1, to: log)
        try follow(log, views, flusher)
        try views.trees.freeze()
        flusher.didPublish()
        #expect(eventually { flusher.failure != nil })
        #expect(eventually { flusher.failure == nil })
        try flusher.stop()
        #expect(reports.withLock { $0 } == [false, true])
        #expect(try open(log).beginning == 1)
    }

    @Test("What could not be written before its commits were compacted is written nevertheless")
    func compacted() throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let views = try open(log).views
        let flusher = try Flusher(views)
        disk.fail(.write, from: 1, with: .errno(28), on: Self.path + "/views")
        try history.append(5, to: log)
        try follow(log, views, flusher)
        try views.trees.freeze()
        flusher.didPublish()
        #expect(eventually { flusher.failure != nil })
        try history.append(5, to: log)
        try follow(log, views, flusher)
        var scan = try BaseScan(views.trees.snapshot(), chain: log.chain(at: 10))
        try log.adopt(try log.writeBase(at: 10) { try scan.next().map { $0[...] } })
        disk.heal()
        #expect(eventually { views.trees.waitingGenerations == 0 })
        #expect(views.trees.durablePosition?.offset == 5)
        // The log has not what follows that state.
        try flusher.stop()
        #expect(views.trees.durablePosition?.offset == 10)
    }

    @Test("What could not be written is tried once more at the end", arguments: [false, true])
    func lastTry(fails: Bool) throws {
        let log = try openLog()
        var history = NoteHistory(seed: 1)
        let views = try open(log).views
        let flusher = try Flusher(views)
        disk.fail(.write, from: 1, with: .errno(28), on: Self.path + "/views")
        try history.append(1, to: log)
        try follow(log, views, flusher)
        try views.trees.freeze()
        flusher.didPublish()
        #expect(eventually { flusher.failure != nil })
        if fails {
            #expect(throws: StrataError.self) { try flusher.stop() }
        } else {
            disk.heal()
            try flusher.stop()
        }
        disk.heal()
        #expect(try open(log).beginning == (fails ? 0 : 1))
    }
}
