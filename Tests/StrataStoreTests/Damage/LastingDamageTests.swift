import Foundation
import Glibc
import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("Damage that folding again does not heal")
struct LastingDamageTests {
    @Test("Damage of the new views removes these and ends the store with an error", arguments: [false, true])
    func again(isFoundByReader: Bool) throws {
        let worn = try DamagedStore()
        let count = try worn.commitCount
        try worn.damage()
        _ = try worn.save([1], "new")
        // Until a flush has written them, the new trees are in memory.
        try worn.store.settleViews()
        try worn.damage()
        worn.forgetChecks()
        let numbers = Array(stride(from: 0, to: DamagedStore.noteCount, by: 10))
        if isFoundByReader {
            let error = #expect(throws: StrataError.self) { try worn.words(numbers, in: worn.store.snapshot()) }
            #expect(error?.code == .badChecksum && error?.description.contains("damaged again") == true)
        }
        for _ in 0..<2 {
            let refusal = #expect(throws: Refusal.self) { try worn.save(numbers, "new") }
            #expect(refusal?.code == .serviceUnavailable && refusal?.message.contains("damaged again") == true)
            #expect(refusal?.retryAfterSeconds == nil)
        }
        #expect(thrownCode { _ = try worn.words(numbers, in: worn.store.snapshot()) } == .badChecksum)
        #expect(worn.store.rebuilds.count == 1)
        #expect(try worn.commitCount == count + 1)
        #expect(!worn.hasStates)
        try worn.checkEndAndClose()
    }

    @Test("A row that is malformed again after it was folded again is an error of its reader")
    func malformedRow() throws {
        let worn = try DamagedStore()
        let live = worn.store.pipeline.live
        let row = StrataError(.malformed, "A row ends too early.")
        #expect(live.note(row, in: worn.store.views))
        #expect(eventually { !live.isDamaged })
        #expect(worn.store.rebuilds.count == 1)
        #expect(!live.note(row, in: worn.store.views) && !live.isDamaged)
        _ = try worn.save([1], "new")
        #expect(worn.store.rebuilds.count == 1)
        try worn.checkAndClose()
    }

    @Test("Requests that wait too long are refused once with a time to retry, and the retry succeeds")
    func patience() throws {
        let worn = try DamagedStore(patienceMilliseconds: 20)
        let count = try worn.commitCount
        let answers = Lock<[Result<Answer, any Error>]>([])
        var savers: [WorkerThread] = []
        try worn.whileFolding {
            savers = try (0..<4).map { number in
                try WorkerThread(name: "saver") {
                    let answer = Result { try worn.save([number], "new") }
                    answers.withLock { $0.append(answer) }
                }
            }
            #expect(eventually { worn.store.pipeline.state.withLock { $0.queue.count } == 4 })
            usleep(50_000)
        }
        for saver in savers { saver.join() }
        let refusals = answers.withLock { $0 }.compactMap { answer -> Refusal? in
            if case .failure(let refusal as Refusal) = answer { refusal } else { nil }
        }
        #expect(refusals.count == 4)
        for refusal in refusals {
            #expect(refusal.code == .serviceUnavailable && refusal.retryAfterSeconds == 1)
            #expect(refusal.message.contains("damaged and are being folded again: try again"))
        }
        #expect(try worn.commitCount == count)
        for number in 0..<4 { _ = try worn.save([number], "again") }
        #expect(try worn.commitCount == count + 4)
        #expect(try worn.words([0, 3, 4], in: worn.store.snapshot()) == ["again", "again", "old"])
        #expect(worn.store.rebuilds.count == 1)
        try worn.checkAndClose()
    }

    @Test("A reader that waits too long gets the one error, and a retry succeeds")
    func patienceOfReaders() throws {
        let worn = try DamagedStore(patienceMilliseconds: 20)
        try worn.damage()
        try worn.whileFolding {
            let error = #expect(throws: StrataError.self) { try worn.word(300, in: worn.store.snapshot()) }
            #expect(error?.code == .viewsDamaged)
        }
        #expect(eventually { !worn.store.pipeline.live.isDamaged })
        #expect(try worn.word(300, in: worn.store.snapshot()) == "old")
        #expect(worn.store.rebuilds.count == 1)
        try worn.checkAndClose()
    }

    @Test("New views are in memory until the disk has room for them")
    func noRoom() throws {
        let worn = try DamagedStore()
        let count = try worn.commitCount
        try worn.damage()
        worn.disk.fail(.create, from: 1, with: .errno(ENOSPC), on: "views")
        _ = try worn.save([1], "new")
        #expect(try worn.words([1, 300], in: worn.store.snapshot()) == ["new", "old"])
        #expect(try worn.commitCount == count + 1)
        #expect(worn.store.rebuilds.count == 1 && !worn.hasStates)
        #expect(thrownCode { try worn.store.settleViews() } == .noSpace)
        worn.disk.heal()
        try worn.store.settleViews()
        let hasStates = worn.hasStates
        #expect(hasStates)
        try worn.checkAndClose()
    }

    @Test("Threads that wait for new views or for indexes go on once there will be none", .timeLimit(.minutes(1)))
    func waiting() throws {
        // A reader that is not woken waits longer than the test.
        let worn = try DamagedStore(indexing: true, patienceMilliseconds: 600_000)
        let (pipeline, store) = (worn.store.pipeline, worn.store)
        try #require(pipeline.claimTurns())
        pipeline.releaseDeciding()
        pipeline.live.note(DamagedStore.error, in: store.views)
        let ended = Lock<[StrataError.Code?]>([])
        let reader = try WorkerThread(name: "awaits-views") {
            let code = thrownCode {
                _ = try pipeline.live.sound(after: DamagedStore.error, reading: store.views.trees.snapshot())
            }
            ended.withLock { $0.append(code) }
        }
        let query = try WorkerThread(name: "awaits-indexes") {
            store.awaitIndexes()
            ended.withLock { $0.append(nil) }
        }
        // Both wait for the thread that has the turn to append.
        #expect(eventually { sleeps("awaits-views") && sleeps("awaits-indexes") })
        #expect(ended.withLock { $0.isEmpty })
        worn.disk.fail(.read, from: 1, with: .errno(EIO), on: "/log/")
        _ = pipeline.following { throw DamagedStore.error }
        pipeline.releaseAppending()
        #expect(eventually { ended.withLock { $0.count } == 2 })
        #expect(ended.withLock { $0.contains(.inputOutput) && $0.contains(nil) })
        worn.disk.heal()
        try worn.checkEndAndClose()
        for thread in [reader, query] { thread.join() }
    }

    /// Returns true if the thread of that name sleeps.
    private func sleeps(_ name: String) -> Bool {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.contains { task in
            let line = try? String(contentsOfFile: "/proc/self/task/\(task)/stat", encoding: .utf8)
            return line?.contains("(\(name)) S ") == true
        }
    }

    @Test("A log that is damaged too is an error of the log, and stays as it is")
    func logToo() throws {
        let worn = try DamagedStore(segmentBytes: 64 << 10)
        let segment = try #require(worn.disk.paths.first { $0.contains("/log/") })
        let end = try #require(try worn.disk.content(of: segment).lastIndex { $0 != 0 })
        try worn.disk.flipBit(segment, byte: end / 4, bit: 1)
        // As long as the views are whole nobody cares.
        _ = try worn.save([0], "new")
        #expect(worn.store.rebuilds.count == 0)
        // A past version is read from the log.
        let old = Version(offset: 2, eventIndex: 60)
        let code = thrownCode {
            _ = try worn.store.snapshot().record(
                NoteRequest.id(DamagedStore.name(0)), at: old, in: NoteRequest.database, as: worn.anna)
        }
        #expect(code != nil)
        #expect(worn.store.rebuilds.count == 0, "damage of the log is none of the views")
        // Room may be set aside for the segment at any time: what is there grows, and stays as it is.
        let broken = try worn.disk.content(of: segment)
        try worn.damage()
        let error = #expect(throws: StrataError.self) {
            for number in stride(from: 0, to: DamagedStore.noteCount, by: 10) {
                _ = try worn.word(number, in: worn.store.snapshot())
            }
        }
        #expect(error?.context.segment != nil)
        #expect(error?.description.contains("could not be rebuilt") == true)
        #expect(worn.store.rebuilds.count == 1)
        #expect(try worn.disk.content(of: segment).starts(with: broken))
        try? worn.store.close()
    }
}

extension DamagedStore {
    /// As ``checkAndClose()`` where the state cannot be read any more.
    func checkEndAndClose() throws {
        let truth = try Views.inMemory(store.log).trees.snapshot().digests()
        try? store.close()
        let again = try Self.open(disk, options)
        #expect(try again.snapshot().digests() == truth)
        #expect(try words([0, 300], in: again.snapshot()).allSatisfy { !$0.isEmpty })
        try again.close()
    }
}
