import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("Reading beside a writer")
struct LogReaderTests {
    private let store = TinyStore()

    @Test("A reader follows through segment switches, and sees commits only when it looks", arguments: [0, 8 << 10])
    func following(step: Int) throws {
        var options = TinyStore.options
        options.spaceStepBytes = step
        let log = try store.open(options)
        let reader = try store.reader()
        #expect(reader.end == .start)
        #expect(reader.endTime == nil)
        var cursor = try reader.read(from: 1)
        var sequence = CommitSequence(seed: 1, noise: 1)
        var seen: [Commit] = []
        for round in 0..<12 {
            let commits = sequence.next(round % 4, events: 2, bytesPerEvent: 5_000)
            _ = try log.append(commits, expecting: log.end)
            #expect(try cursor.next() == nil)
            #expect(try reader.refresh() == !commits.isEmpty)
            #expect(reader.end == log.end && reader.endTime == log.endTime)
            while let commit = try cursor.next() { seen.append(commit) }
        }
        #expect(store.segments.count > 2)
        #expect(try seen == log.allCommits())
        try compare(reader, log)
        #expect(reader.segments.map(\.path) == store.segments)
        #expect(reader.segments.map(\.isClosed) == store.segments.map { $0 != store.segments.last })
        #expect(reader.unfinishedTail == nil)
        try log.close()
        #expect(try !reader.refresh())
        try compare(try store.reader(), try store.open())
    }

    private func compare(_ reader: LogReader, _ log: SegmentedLog) throws {
        for commit in try log.allCommits() {
            try check(try reader.commit(at: commit.offset) == commit, "commit \(commit.offset)")
            try check(try reader.chain(at: commit.offset) == commit.chain, "chain \(commit.offset)")
            let found = try reader.firstOffset(notBefore: commit.time)
            try check(try found == log.firstOffset(notBefore: commit.time), "time of \(commit.offset)")
        }
        for zone in 1...3 as ClosedRange<UInt64> {
            let (left, right) = try (
                reader.touches(zone: zone, after: 0, limit: 1_000), log.touches(zone: zone, after: 0, limit: 1_000)
            )
            try check(left == right, "touches of zone \(zone)")
        }
    }

    @Test("Bytes that nobody finished are not read, and told; they are read once they are whole")
    func unfinishedTail() throws {
        let log = try store.open()
        var sequence = CommitSequence(seed: 1)
        _ = try log.append(sequence.next(3), expecting: .start)
        let whole = try store.disk.content(of: store.segment(1))
        let three = log.end
        _ = try log.append(sequence.next(1, events: 3, bytesPerEvent: 300), expecting: log.end)
        let more = try store.disk.content(of: store.segment(1))
        for cut in stride(from: whole.count + 1, to: more.count, by: 13) {
            let copy = store.copy()
            try copy.disk.truncateFile(copy.segment(1), to: cut)
            let reader = try copy.reader()
            try check(reader.end == three, "cut at \(cut)")
            let tail = try #require(reader.unfinishedTail)
            try check(tail.position == whole.count && tail.byteCount > 0, "the tail of a cut at \(cut): \(tail)")
            copy.disk.setContent(more, of: copy.segment(1))
            try check(try reader.refresh() && reader.end == log.end, "whole again after \(cut)")
            #expect(reader.unfinishedTail == nil)
        }
    }

    @Test("A reader that saw the first try of a segment switch goes on with the second")
    func repeatedSwitch() throws {
        let log = try store.open()
        var sequence = CommitSequence(seed: 1, noise: 1)
        _ = try log.append(sequence.next(1, events: 10, bytesPerEvent: 6_000), expecting: .start)
        let reader = try store.reader()
        store.disk.fail(.syncDirectory, at: 1, with: .errno(5))
        let next = sequence.next(1, events: 10, bytesPerEvent: 6_000)
        #expect(appendOutcome { _ = try log.append(next, expecting: log.end) } == "not written")
        try reader.refresh()
        _ = try log.append(next, expecting: log.end)
        try reader.refresh()
        #expect(reader.end == log.end)
        #expect(try reader.allCommits() == log.allCommits())
    }

    @Test("A reader needs no lock, changes nothing, and works on a medium that cannot be written")
    func readOnly() throws {
        let log = try store.open()
        var sequence = CommitSequence(seed: 1)
        _ = try log.append(sequence.next(20, bytesPerEvent: 3_000), expecting: .start)
        let left = store.copy()
        left.disk.isReadOnly = true
        #expect(thrownCode { _ = try left.open() } == .readOnlyMedium)
        #expect(try left.reader().allCommits() == log.allCommits())
        #expect(left.verify().damage == nil)
        #expect(left.disk.count(of: .write) + left.disk.count(of: .lock) + left.disk.count(of: .rename) == 0)
    }

    @Test("Without permission the error says so")
    func denied() throws {
        try store.open().close()
        store.disk.deny(store.log)
        #expect(thrownCode { _ = try store.open() } == .permissionDenied)
        #expect(thrownCode { _ = try store.reader() } == .permissionDenied)
        #expect(store.verify().damage?.code == .permissionDenied)
        store.disk.allow(store.log)
        store.disk.deny(store.path + "/LOCK")
        let error = thrownError { _ = try store.open() }
        #expect(error?.code == .permissionDenied && error?.context.path == store.path + "/LOCK")
        #expect(try store.reader().end == .start)
    }
}
