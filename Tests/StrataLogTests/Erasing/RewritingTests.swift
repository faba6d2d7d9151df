import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("What is erased is nowhere in the log, and all else is as it was", .timeLimit(.minutes(5)))
struct RewritingTests {
    private enum Before: CaseIterable { case frames, sealed, sealedInPart }

    private static func erase(_ eraser: RecordEraser, in log: SegmentedLog, through offset: UInt64? = nil) throws {
        try log.rewrite(through: offset ?? log.end.offset, lookup: { _ in nil }) { try eraser.erased($1, at: $0) }
    }

    @Test("Of every segment, whatever it was: no byte is left, and positions, times and other events are the same")
    func everywhere() throws {
        for before in Before.allCases {
            let made = try ErasureStore()
            let store = made.store
            let log = try store.open()
            if before != .frames { while try log.sealNext(), before == .sealed {} }
            // The canary: the same search finds all of them before.
            #expect(try ErasureStore.found(made.secrets, on: store.disk) == made.secrets.count)
            let eraser = ErasureStore.eraser("first", "second")
            try Self.erase(eraser, in: log)
            #expect(try ErasureStore.found(made.secrets, on: store.disk) == 0, "\(before)")
            #expect(try ErasureStore.found(made.kept, on: store.disk) == made.kept.count)
            let expected = try made.commits(erasedBy: eraser)
            #expect(try firstDifference(log.allCommits(), expected) == nil)
            for commit in expected { try #expect(log.commit(at: commit.offset) == commit) }
            try log.close()
            let report = store.verify()
            #expect(report.damage == nil && report.end == made.commits.last?.position)
            #expect(report.commitCount == UInt64(made.commits.count))
            #expect(try firstDifference(store.reader().allCommits(), expected) == nil)
        }
    }

    @Test("What an erased commit has left: places, kinds, names, and no value or link")
    func stubs() throws {
        let made = try ErasureStore(count: 5)
        let erased = try made.commits(erasedBy: ErasureStore.eraser("first"))
        let (old, new) = (try Envelope(decoding: made.commits[0].payload), try Envelope(decoding: erased[0].payload))
        #expect(old.events.count == new.events.count && old.header == new.header)
        for index in [0, 2, 3] { #expect(old.events[index] == new.events[index]) }
        let (before, after) = try (
            RecordSavedEvent(decoding: old.events[1].body), RecordSavedEvent(decoding: new.events[1].body)
        )
        #expect(before.fields.count == 1 && after == before.erased)
        #expect(after.isErased && after.fields.isEmpty && after.parent == .kept && after.record == before.record)
        #expect(erased[4] == made.commits[4])
        #expect(try ErasureStore.eraser("first").erased(erased[0].payload, at: 1) == nil)
    }

    @Test("One record after another: the first length and checksum stay, and so does the chain")
    func twice() throws {
        let made = try ErasureStore(count: 60)
        let log = try made.store.open()
        try Self.erase(ErasureStore.eraser("first"), in: log)
        #expect(try ErasureStore.found(made.secrets, on: made.store.disk) == made.secrets.count / 2)
        let segments = made.store.segments.count
        let files = made.store.segments.map { try? made.store.disk.content(of: $0) }
        try Self.erase(ErasureStore.eraser("first"), in: log)
        #expect(made.store.segments.count == segments)
        #expect(files == made.store.segments.map { try? made.store.disk.content(of: $0) }, "it was done before")
        try Self.erase(ErasureStore.eraser("second"), in: log)
        #expect(try ErasureStore.found(made.secrets, on: made.store.disk) == 0)
        try log.close()
        #expect(made.store.verify().damage == nil)
        let expected = try made.commits(erasedBy: ErasureStore.eraser("first", "second"))
        #expect(try firstDifference(made.store.reader().allCommits(), expected) == nil)
    }

    @Test("Commits behind the offset stay as they are in segments behind it, and the log goes on")
    func goesOn() throws {
        let made = try ErasureStore()
        let log = try made.store.open()
        let first = try #require(log.catalog.read { $0.segments.first?.seal?.end.offset })
        try Self.erase(ErasureStore.eraser("first", "second"), in: log, through: first)
        let left = made.commits.enumerated().filter { $0.offset % 4 == 0 && $0.element.offset > first }.count
        #expect(try ErasureStore.found(made.secrets, on: made.store.disk) == left)
        var sequence = CommitSequence(seed: 3)
        var next = sequence.next()
        next.time = (made.commits.last?.time ?? 0) + 1
        let appended = try log.append([next], expecting: log.end)
        #expect(appended.positions.first?.offset == UInt64(made.commits.count) + 1)
        try Self.erase(ErasureStore.eraser("first", "second"), in: log)
        try log.close()
        #expect(try ErasureStore.found(made.secrets, on: made.store.disk) == 0)
        #expect(made.store.verify().damage == nil)
    }

    @Test("A cursor, and a reader of another process, go on through it")
    func readers() throws {
        let made = try ErasureStore()
        let log = try made.store.open()
        let reader = try made.store.reader()
        var cursors = [try log.read(from: 1), try reader.read(from: 1)]
        for index in cursors.indices { _ = try cursors[index].next() }
        try Self.erase(ErasureStore.eraser("first"), in: log)
        for index in cursors.indices {
            var offset: UInt64 = 1
            while let commit = try cursors[index].next() {
                offset += 1
                #expect(commit.position == made.commits[Int(offset) - 1].position)
            }
            #expect(offset == UInt64(made.commits.count))
        }
        _ = try reader.refresh()
        let expected = try made.commits(erasedBy: ErasureStore.eraser("first"))
        #expect(try reader.commit(at: 1) == expected[0])
        #expect(try firstDifference(made.store.reader().allCommits(), expected) == nil)
        try log.close()
    }

    @Test("A log in memory does the same")
    func memory() throws {
        let made = try ErasureStore(count: 20)
        let log = MemoryLog()
        for commit in made.commits {
            let new = NewCommit(id: commit.id, time: commit.time, payload: commit.payload)
            _ = try log.append([new], expecting: log.end)
        }
        let eraser = ErasureStore.eraser("first", "second")
        try log.rewrite(through: log.end.offset, lookup: { _ in nil }) { try eraser.erased($1, at: $0) }
        #expect(try firstDifference(log.allCommits(), made.commits(erasedBy: eraser)) == nil)
        #expect(try log.touches(zone: 9, after: 0, limit: 100).touches.count == 5)
        try log.close()
        #expect(thrownError { try log.rewrite(through: 1, lookup: { _ in nil }) { _, _ in nil } }?.code == .closed)
    }

    @Test("An erasure that begins while another is carried out keeps the note, and those who wait hear of it")
    func meanwhile() throws {
        let log = try ErasureStore(count: 5).store.open()
        let calls = Lock(0)
        log.onErasure { calls.withLock { $0 += 1 } }
        #expect(!log.isErasing)
        try log.beginErasure()
        let begun = log.begunErasures
        try log.beginErasure {
            let noted = try log.unfinishedErasures()
            #expect(noted == 5)
        }
        #expect(try !log.endErasures(begun: begun) && log.unfinishedErasures() == 5 && log.isErasing)
        #expect(try log.endErasures(begun: log.begunErasures) && log.unfinishedErasures() == nil && !log.isErasing)
        #expect(calls.withLock { $0 } == 2)
        // What cannot be appended leaves the note, and what it is for is looked for again.
        #expect(throws: StrataError.self) {
            try log.beginErasure { throw StrataError(.noSpace, "The disk is full.") }
        }
        #expect(try log.unfinishedErasures() == 5 && log.isErasing)
        try log.close()
    }

    @Test("The note of an erasure is there until it is done, and keeps the first offset")
    func note() throws {
        let made = try ErasureStore(count: 5)
        var log = try made.store.open()
        #expect(try log.unfinishedErasures() == nil)
        try log.beginErasure()
        var sequence = CommitSequence(seed: 3)
        var next = sequence.next()
        next.time = (made.commits.last?.time ?? 0) + 1
        _ = try log.append([next], expecting: log.end)
        try log.beginErasure()
        #expect(try log.unfinishedErasures() == 5)
        try log.close()
        log = try made.left().open()
        #expect(try log.unfinishedErasures() == 5)
        try log.endErasures()
        #expect(try log.unfinishedErasures() == nil)
        try log.close()
        try made.store.disk.flipBit(made.store.log + "/ERASING", byte: 30, bit: 1)
        log = try made.store.open()
        #expect(thrownError { _ = try log.unfinishedErasures() }?.code == .badChecksum)
        try log.close()
    }
}

extension ErasureStore {
    fileprivate func left() -> TinyStore { store.left() }
}
