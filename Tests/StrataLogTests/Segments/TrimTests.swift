import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("Letting go of segments")
struct TrimTests {
    private let store = TinyStore()

    private func fill(_ log: SegmentedLog, _ count: Int, seed: UInt64 = 1) throws -> [Commit] {
        var sequence = CommitSequence(seed: seed, noise: 1)
        let before = log.end
        for var commit in sequence.next(count, events: 3, bytesPerEvent: 2_000) {
            commit.time += log.endTime ?? 0
            _ = try log.append([commit], expecting: log.end)
        }
        return try log.commits(from: before.offset + 1)
    }

    @Test("Whole segments go, at every offset, and the rest is there after opening again")
    func everyOffset() throws {
        let original = TinyStore()
        let log = try original.open()
        let all = try fill(log, 30)
        try log.close()
        let firsts = original.segments.map { UInt64($0.suffix(24).prefix(20)) ?? 0 }
        #expect(firsts.count == 3)
        for offset in 0...31 as ClosedRange<UInt64> {
            let store = original.copy()
            let log = try store.open()
            let floor = try log.trim(to: offset)
            let expected = (firsts.last { $0 <= offset + 1 } ?? 1) - 1
            try check(floor.offset == expected, "trimming to \(offset) gave \(floor)")
            try check(store.segments == firsts.filter { $0 > expected }.map(store.segment), "segments at \(offset)")
            try log.close()
            let again = try store.open()
            try check(again.floor == floor && again.recovery.removedFiles.isEmpty, "the floor at \(offset)")
            try check(try again.allCommits() == Array(all.dropFirst(Int(expected))), "commits at \(offset)")
            try check(try store.reader().allCommits() == again.allCommits(), "a reader at \(offset)")
            try check(store.verify().damage == nil, "\(String(describing: store.verify().damage))")
        }
    }

    @Test("Segments below the floor that a crash left are removed by the next writer, and readers do not mind them")
    func leftovers() throws {
        let log = try store.open()
        let all = try fill(log, 30)
        let before = store.copy()
        let floor = try log.trim(to: 25)
        #expect(floor.offset > 10)
        let mark = try store.disk.content(of: store.log + "/FLOOR")
        before.disk.setContent(mark, of: before.log + "/FLOOR")
        let below = before.segments.filter { !store.segments.contains($0) }
        #expect(below.count == 2)
        #expect(try before.reader().allCommits().first?.offset == floor.offset + 1)
        #expect(before.verify().damage == nil)
        let again = try before.open()
        #expect(again.recovery.removedFiles == below)
        #expect(before.segments == store.segments)
        #expect(try again.allCommits() == Array(all.dropFirst(Int(floor.offset))))
    }

    @Test("A log whose history was all let go knows its end, and no time is found in it")
    func everything() throws {
        let log = try store.open()
        let all = try fill(log, 10)
        // A segment switch whose first commit cannot be written leaves an empty newest segment.
        let next = store.segment(11)
        store.disk.fail(.write, at: 1, with: .errno(28), on: next)
        var sequence = CommitSequence(seed: 50, noise: 1)
        var commit = sequence.next(events: 3, bytesPerEvent: 9_000)
        commit.time = log.endTime ?? 0
        #expect(thrownCode { _ = try log.append([commit], expecting: log.end) } == .noSpace)
        #expect(store.segments.last == next)
        let end = log.end
        #expect(try log.trim(to: end.offset) == end)
        for log in [log, try store.copy().open()] {
            #expect(log.floor == end && log.end == end)
            #expect(try log.allCommits().isEmpty)
            let last = try #require(all.last)
            #expect(log.endTime == last.time)
            #expect(try log.firstOffset(notBefore: last.time) == nil)
            #expect(try log.firstOffset(notBefore: last.time + 1) == nil)
            #expect(try log.touches(zone: 1, after: end.offset, limit: 5).touches.isEmpty)
        }
    }

    @Test("A cursor goes on in a segment that was let go meanwhile, or says that it is gone")
    func cursorBesideTrim() throws {
        let log = try store.open()
        let all = try fill(log, 30)
        var cursor = try log.read(from: 1)
        #expect(try cursor.next() == all[0])
        let floor = try log.trim(to: 30)
        var seen: [Commit] = []
        let code = thrownCode { while let commit = try cursor.next() { seen.append(commit) } }
        #expect(code == nil || code == .outOfRange)
        #expect(seen == Array(all[1...].prefix(seen.count)))
        #expect(floor.offset > 0)
    }

    @Test("Nothing is let go once closing has begun: another process may be writing")
    func closing() throws {
        let log = try store.open()
        _ = try fill(log, 30)
        // What a trim meets that waited for the writing lock while another thread closed.
        log.writer.withLock { $0.isClosed = true }
        let before = store.disk.paths
        #expect(thrownCode { _ = try log.trim(to: 30) } == .closed)
        #expect(thrownCode { try log.sync() } == .closed)
        #expect(store.disk.paths == before)
        log.writer.withLock { $0.isClosed = false }
    }

    @Test("A reader that opens while history is let go finds no damage")
    func openingBesideTrim() throws {
        let log = try store.open()
        let all = try fill(log, 30)
        let floor = Lock(Position.start)
        store.disk.beforeCall = { [disk = store.disk] kind, _ in
            guard kind == .list else { return }
            disk.beforeCall = nil
            if let trimmed = try? log.trim(to: 30) { floor.withLock { $0 = trimmed } }
        }
        let reader = try store.reader()
        #expect(floor.withLock { $0.offset } > 0)
        #expect(reader.floor == floor.withLock { $0 })
        #expect(try reader.allCommits() == Array(all[Int(reader.floor.offset)...]))
    }

    @Test("A reader left behind by a trim is told so, wherever it looks")
    func readerBehindTrim() throws {
        let log = try store.open()
        let all = try fill(log, 3)
        let early = try store.reader()
        let rest = try fill(log, 27, seed: 2)
        let late = try store.reader()
        let floor = try log.trim(to: 30)
        #expect(floor.offset == 20)
        let error = thrownError { try early.refresh() }
        #expect(error?.code == .outOfRange)
        // What it has open it still reads.
        #expect(try early.commit(at: 2) == all[1])
        #expect(thrownCode { _ = try late.commit(at: 1) } == .outOfRange)
        #expect(thrownCode { _ = try late.chain(at: 1) } == .outOfRange)
        #expect(thrownCode { _ = try late.touches(zone: 1, after: 0, limit: 5) } == .outOfRange)
        #expect(thrownCode { _ = try late.firstOffset(notBefore: 0) } == .outOfRange)
        #expect(thrownCode { _ = try late.allCommits() } == .outOfRange)
        #expect(try late.commit(at: 30) == rest.last)
    }
}
