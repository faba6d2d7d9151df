import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("A reader shows the newest segment's commits in batches", .timeLimit(.minutes(3)))
struct ReadCommitsTests {
    /// One segment of so many commits.
    private func store(_ count: Int) throws -> (store: TinyStore, commits: [Commit]) {
        let store = TinyStore()
        var sequence = CommitSequence(seed: 4, zones: [1, 2])
        let made = (0..<count).map { _ in sequence.next(events: 1, bytesPerEvent: 20) }
        var options = TinyStore.options
        (options.segmentBytes, options.firstSegmentBytes) = (16 << 20, 16 << 20)
        let log = try store.open(options)
        for start in stride(from: 0, to: count, by: 50) {
            _ = try log.append(Array(made[start..<min(count, start + 50)]), expecting: log.end)
        }
        try log.close()
        try check(store.segments.count == 1, "there is a second segment")
        return (store, expectedCommits(made))
    }

    @Test("All of them, with their changes, around the size of a batch", arguments: [1, 1_023, 1_024, 1_025, 3_000])
    func all(count: Int) throws {
        let (store, commits) = try store(count)
        let reader = try store.reader()
        #expect(reader.end == commits.last?.position && reader.endTime == commits.last?.time)
        var cursor = try reader.read(from: 1)
        for commit in commits { try #expect(cursor.next() == commit) }
        try #expect(cursor.next() == nil)
        for offset in [1, UInt64(count / 2) + 1, UInt64(count)] {
            try #expect(reader.commit(at: offset) == commits[Int(offset) - 1])
        }
        for zone: UInt64 in [1, 2] {
            let expected = try commits.flatMap { commit in
                try commit.payload.withUnsafeBytes { payload in
                    try Envelope.touches(of: payload).filter { $0.zone == zone }.map { touch in
                        ZoneTouch(
                            offset: commit.offset, eventIndex: touch.eventIndex, kind: touch.kind, type: touch.type,
                            key: [UInt8](payload[touch.key]))
                    }
                }
            }
            try #expect(reader.touches(zone: zone, after: 0, limit: Int.max).touches == expected)
        }
    }

    @Test("What comes in front of a payload that has no changes to tell is there")
    func untoldChanges() throws {
        let (store, commits) = try store(1_500)
        let (asked, refused) = (Lock(UInt64(0)), StrataError(.malformed, "No changes can be told."))
        let reader = try LogReader.open(at: store.path, platform: store.platform, touches: { _ in [] })
        #expect(reader.end == commits.last?.position)
        let failure = #expect(throws: StrataError.self) {
            try LogReader.open(at: store.path, platform: store.platform) { payload in
                let count = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                if count > 1_200 { throw refused }
                return try Envelope.touches(of: payload)
            }
        }
        // Each further look begins behind what has been shown.
        #expect(failure?.context.offset == 1_201)
        #expect(asked.withLock { $0 } == 1_203)
    }
}
