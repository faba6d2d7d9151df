import Glibc
import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("What a store lets go of by itself", .timeLimit(.minutes(2)))
struct HistoryPolicyTests {
    private static let day: Int64 = 86_400_000_000
    /// Ten commits and a hundred bytes each; the last one grows.
    private static let segments = (0..<5).map { number in
        StoredSegment(
            firstOffset: UInt64(number) * 10 + 1, lastOffset: number < 4 ? UInt64(number) * 10 + 10 : nil,
            byteCount: 100)
    }

    private func horizon(
        _ policy: HistoryPolicy, now: Int64 = 100 * HistoryPolicyTests.day, end: UInt64 = 45, base: UInt64 = 0,
        firstKept: UInt64? = nil
    ) throws -> UInt64? {
        try policy.horizon(Self.segments, now: now, durableEnd: end, baseBytes: base) { time in
            try #require(time == now - 10 * Self.day)
            return firstKept
        }
    }

    @Test("By bytes: whole segments from the oldest on, until the rest is no more than asked for")
    func bytes() throws {
        let cases: [(UInt64, UInt64?)] = [
            (600, nil), (500, nil), (499, 10), (400, 10), (399, 20), (100, 40), (99, 40), (0, 40),
        ]
        for (bytes, expected) in cases { try #expect(horizon(HistoryPolicy(bytes: bytes)) == expected, "\(bytes)") }
        try #expect(horizon(.everything) == nil)
    }

    @Test("By age: segments all of whose commits are older")
    func days() throws {
        let policy = HistoryPolicy(days: 10)
        let cases: [(UInt64?, UInt64?)] = [
            (1, nil), (10, nil), (11, 10), (20, 10), (21, 20), (44, 40), (nil, 40),
        ]
        for (first, expected) in cases {
            try #expect(horizon(policy, firstKept: first) == expected, "\(String(describing: first))")
        }
        try #expect(horizon(policy, now: 9 * Self.day) == nil)
        try #expect(horizon(HistoryPolicy(days: .max)) == nil)
        // Whatever goes by either.
        try #expect(horizon(HistoryPolicy(days: 10, bytes: 399), firstKept: 11) == 20)
        try #expect(horizon(HistoryPolicy(days: 10, bytes: 499), firstKept: 31) == 30)
    }

    @Test("Never more than is durable, and never for less than the base takes")
    func limits() throws {
        let policy = HistoryPolicy(bytes: 0)
        try #expect(horizon(policy, end: 29) == 20)
        try #expect(horizon(policy, end: 30) == 30)
        try #expect(horizon(policy, base: 399) == 40)
        try #expect(horizon(policy, base: 400) == nil)
    }

    @Test("A store stays as small as it is told to, and keeps its state; without a policy it keeps everything")
    func store() throws {
        var notes = try CompactedNotes(history: HistoryPolicy(bytes: 150_000))
        let plain = try CompactedNotes()
        for _ in 0..<30 {
            try notes.fill(2)
            try plain.fill(2)
        }
        #expect(eventually { notes.store.log.floor.offset > notes.store.offset / 2 })
        #expect(notes.store.compactionFailure == nil)
        #expect(plain.store.log.floor.offset == 0 && notes.segments.count < plain.segments.count)
        try #expect(notes.page(since: nil).changed.count == plain.page(since: nil).changed.count)
        let digests = try notes.digests
        try notes.reopen(removingViews: true)
        try #expect(notes.digests == digests)
        try notes.store.close()
        try plain.store.close()
        // The same store with another policy is another store to this process.
        var options = StoreOptions.service
        options.history = HistoryPolicy(days: 1)
        #expect(options.differences(from: .service) == ["history"])
    }

    @Test("What has grown old is let go of when the store is opened; a long-lived operation holds it back")
    func opening() throws {
        var notes = try CompactedNotes()
        try notes.fill(10)
        try notes.store.close()
        let directory = KeptOperation.directory(inStore: CompactedNotes.path)
        let kept = KeptOperation(user: "anna", device: "phone", offset: 7, content: [1, 0])
        try notes.disk.makeDirectory(directory)
        try notes.disk.replace(directory + "/ABC-1", in: directory, with: kept.encoded())
        notes.options.history = HistoryPolicy(days: 2)
        for days in [1, 3] {
            notes.time.advance(byMicroseconds: Int64(days) * Self.day)
            try notes.reopen()
            // Nobody can wait for what is not to happen.
            if days == 1 { usleep(100_000) } else { _ = eventually { notes.store.log.floor.offset != 0 } }
            #expect(notes.store.log.floor.offset == (days == 1 ? 0 : 7))
            #expect(notes.store.compactionFailure == nil)
        }
        try notes.disk.remove(directory + "/ABC-1")
        try notes.reopen()
        #expect(eventually { notes.store.log.floor.offset > 7 })
        try notes.store.close()
    }
}
